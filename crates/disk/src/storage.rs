//! The storage under one volume: its journal and its host files together.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::{BLOCK_BYTES, DataId, Error, Storage};

use crate::acknowledged::Acknowledged;
use crate::checked::{ReadOutcome, damaged_block};
use crate::data_files::{DataFiles, file_name};
use crate::folder::Folders;
use crate::journal::Journal;
use crate::lock::VolumeLock;
use crate::pool::Pool;
use crate::recover::Carryover;
use crate::{Log, host};

/// Maximum number of damaged blocks that are counted once each.
const REMEMBERED: usize = 100_000;

/// Number of damaged blocks that are reported one by one; later, only their count is reported.
const NAMED: usize = 20;

const CHECKSUM: &str = "checksum mismatch";

/// A volume's directory.
pub(crate) struct Disk {
    folders: Arc<Folders>,
    log: Arc<Log>,
    state: Mutex<State>,
    _lock: VolumeLock,
}

#[derive(Debug)]
struct State {
    /// `None` until the file system has passed on its tree.
    journal: Option<Journal>,
    /// `None` until the first journal is complete.
    acknowledged: Option<Acknowledged>,
    /// The number of the newest journal.
    number: u64,
    data_files: DataFiles,
    /// The last reported operation and error, so that a persistent failure is reported once.
    reported: Option<(&'static str, Option<i32>)>,
    /// The last operation failed because the disk is full.
    is_full: bool,
    /// A sync failed, so later writes to the host cannot be trusted.
    has_failed: bool,
    /// Damaged blocks found so far.
    damaged: HashSet<(DataId, u64)>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Disk({})", self.folders.volume.path().display())
    }
}

impl Disk {
    pub(crate) fn new(
        folders: Arc<Folders>,
        pool: Pool,
        carryover: Carryover,
        log: Arc<Log>,
        lock: VolumeLock,
    ) -> Disk {
        let data_files = DataFiles::new(Arc::clone(&folders), pool, carryover.dirty);
        let state = State {
            journal: None,
            acknowledged: None,
            number: carryover.journal,
            data_files,
            reported: None,
            is_full: false,
            has_failed: false,
            damaged: HashSet::new(),
        };
        Disk { folders, log, state: Mutex::new(state), _lock: lock }
    }

    /// A panic while the lock is held can only leave counts that are too high.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a failure to the operator; returns the NFS error.
    fn report(&self, state: &mut State, operation: &'static str, error: &io::Error) -> Error {
        let nfs_error = host::nfs_error(error);
        state.is_full = nfs_error == Error::NoSpc;
        let failure = Some((operation, error.raw_os_error()));
        if state.reported != failure {
            state.reported = failure;
            let remedy = match nfs_error {
                Error::NoSpc => self.full_disk_remedy(),
                Error::Jukebox => {
                    "; clients get NFS3ERR_JUKEBOX and retry; raise the limit of open files \
                     (ulimit -n), or allow fewer connections"
                        .to_owned()
                }
                _ => String::new(),
            };
            let path = self.folders.volume.path().display();
            (self.log)(&format!("{operation} in {path}: {error}{remedy}"));
        }
        nfs_error
    }

    fn full_disk_remedy(&self) -> String {
        let volume = &self.folders.volume;
        let free = volume.free_bytes().map_or(String::new(), |(free, all)| {
            format!(" ({} of {} MiB free)", free >> 20, all >> 20)
        });
        let path = volume.path().display();
        format!("; free space on the disk of {path}{free}; until then clients get NFS3ERR_NOSPC")
    }

    /// Reports a damaged block; returns the NFS error. Each block is counted once. The first blocks
    /// are reported individually, then whenever the count reaches the next power of ten.
    fn report_damage(&self, state: &mut State, data: DataId, block: u64, why: &str) -> Error {
        if state.damaged.len() < REMEMBERED && state.damaged.insert((data, block)) {
            let count = state.damaged.len();
            let path = self.folders.data.path().join(file_name(data));
            if count <= NAMED || count.ilog10() > (count - 1).ilog10() {
                (self.log)(&format!(
                    "{}: bytes {} to {} are damaged ({why}); reads of them fail with NFS3ERR_IO \
                     until they are rewritten; damaged blocks so far: {count}",
                    path.display(),
                    block * BLOCK_BYTES,
                    (block + 1) * BLOCK_BYTES,
                ));
            }
        }
        Error::Io
    }

    /// Performs an operation and reports its failure. After a success, the next failure of the same
    /// operation is reported again.
    fn attempt<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        match work(&mut state) {
            Ok(value) => {
                if state.reported.is_some_and(|(reported, _)| reported == operation) {
                    state.reported = None;
                }
                Ok(value)
            }
            Err(error) => Err(self.report(&mut state, operation, &error)),
        }
    }
}

/// Closes the volume, so that checksums are valid even after a loss of power.
impl Drop for Disk {
    fn drop(&mut self) {
        let mut state = self.state();
        if !state.has_failed {
            let flushed = state.data_files.sync_all();
            let synced = state.acknowledged.as_ref().map_or(Ok(()), Acknowledged::sync);
            if let Err(error) = flushed.and(synced) {
                self.report(&mut state, "close the volume", &error);
            }
        }
        state.data_files.close();
    }
}

impl Storage for Disk {
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let file = self.attempt("open a file's data", |state| state.data_files.find(data))?;
        // Without the lock, so that reads do not wait for each other.
        let Some(file) = file else {
            let block = offset / BLOCK_BYTES;
            let why = "the host file is missing";
            return Err(self.report_damage(&mut self.state(), data, block, why));
        };
        match file.read(offset, into) {
            Ok(ReadOutcome::Valid) => Ok(into.len()),
            Ok(ReadOutcome::Damaged { block }) => {
                let error = self.report_damage(&mut self.state(), data, block, CHECKSUM);
                match (block * BLOCK_BYTES).saturating_sub(offset) {
                    0 => Err(error),
                    valid => Ok(valid as usize),
                }
            }
            Err(error) => Err(self.report(&mut self.state(), "read a file's data", &error)),
        }
    }

    fn write(&self, data: DataId, offset: u64, bytes: &[u8], stable: bool) -> Result<(), Error> {
        let mut state = self.state();
        match state.data_files.write(data, offset, bytes, stable) {
            Err(error) if let Some(block) = damaged_block(&error) => {
                Err(self.report_damage(&mut state, data, block, CHECKSUM))
            }
            written => {
                drop(state);
                self.attempt("write a file's data", |_| written)
            }
        }
    }

    fn open(&self, data: DataId) -> Result<(), Error> {
        self.attempt("open a file's data", |state| state.data_files.open(data).map(drop))
    }

    fn truncate(&self, data: DataId, size: u64) -> Result<(), Error> {
        self.attempt("truncate a file's data", |state| state.data_files.truncate(data, size))
    }

    fn commit(&self, data: DataId) -> Result<(), Error> {
        self.attempt("sync a file's data", |state| state.data_files.commit(data))
    }

    fn remove(&self, data: DataId) {
        self.state().data_files.remove(data);
    }

    fn append(&self, records: &[u8], durable: bool) -> Result<(), Error> {
        self.attempt("append to the journal", |state| {
            state.append(records, durable).inspect_err(|_| state.has_failed = true)
        })?;
        if durable {
            // If this fails, the records are durable, but their loss would not be detected.
            let _reported = self.attempt("record what is acknowledged", State::write_acknowledged);
        }
        Ok(())
    }

    fn rewrite(&self, batches: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        let created = self.attempt("write a new journal", |state| {
            Journal::create(&self.folders.volume, state.number + 1, batches)
        });
        let mut state = self.state();
        match (created, &mut state.journal) {
            (Ok(journal), _) => {
                state.number = journal.number;
                state.journal = Some(journal);
            }
            // The old journal stays in use.
            (Err(_), Some(old)) => {
                old.postpone_rewrite();
                return Ok(());
            }
            (Err(error), None) => return Err(error),
        }
        drop(state);
        self.attempt("sync the directory", |state| {
            let State { journal: Some(journal), acknowledged, .. } = state else { return Ok(()) };
            let volume = &self.folders.volume;
            volume.sync()?;
            let (number, length) = (journal.number, journal.durable);
            match acknowledged {
                Some(acknowledged) => acknowledged.write(number, length, 0)?,
                None => *acknowledged = Some(Acknowledged::create(volume, number, length)?),
            }
            // Now that the space of the old journal is free.
            journal.reserve()
        })
    }

    fn is_rewrite_due(&self) -> bool {
        self.state().journal.as_ref().is_some_and(Journal::is_rewrite_due)
    }

    fn is_full(&self) -> bool {
        self.state().is_full
    }

    fn check_space(&self) -> Result<(), Error> {
        let full = |state: &State| state.journal.as_ref().is_some_and(|journal| journal.full);
        let mut state = self.state();
        state.is_full = false;
        if !full(&state) {
            return Ok(());
        }
        drop(state);
        self.attempt("reserve space for the journal", |state| {
            if let Some(journal) = &mut state.journal {
                journal.reserve()?;
            }
            if full(state) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }
}

impl State {
    /// Appends records; if `durable`, makes them and all stable writes durable.
    fn append(&mut self, records: &[u8], durable: bool) -> io::Result<()> {
        if durable {
            self.data_files.sync_stable_writes()?;
        }
        let journal = self.journal.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        if !records.is_empty() {
            journal.append(records)?;
        }
        if durable {
            journal.sync()?;
            self.data_files.delete_removed()?;
        }
        Ok(())
    }

    /// Writes the length of the journal that may be acknowledged.
    fn write_acknowledged(&mut self) -> io::Result<()> {
        match (&self.journal, &mut self.acknowledged) {
            (Some(journal), Some(acknowledged)) => {
                acknowledged.write(journal.number, journal.durable, journal.durable_batches)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
