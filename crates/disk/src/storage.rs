//! The storage under one volume: its journal and its host files together.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::{BLOCK_BYTES, DataId, Error, Storage};

use crate::acknowledged::Acknowledged;
use crate::bodies::{Bodies, name};
use crate::checked::{ReadOutcome, damaged_block};
use crate::directory::{Folders, Held};
use crate::host;
use crate::journal::Journal;
use crate::pool::Pool;
use crate::recover::Carryover;

/// Who is told of what went wrong.
pub(crate) type Tell = dyn Fn(&str) + Send + Sync;

/// Damaged blocks that are remembered, so that each is counted once.
const REMEMBERED: usize = 100_000;

/// Damaged blocks that are named one by one; of more, only their count is reported.
const NAMED: usize = 20;

/// How damage is known.
const CHECKSUM: &str = "checksum mismatch";

/// One volume's directory.
pub(crate) struct Disk {
    folders: Arc<Folders>,
    tell: Arc<Tell>,
    state: Mutex<State>,
    /// The lock on the directory of all volumes, and this volume's name in it.
    _held: Held,
}

#[derive(Debug)]
struct State {
    /// `None` until the file system has handed over its tree.
    journal: Option<Journal>,
    /// `None` until the journal has its name.
    acknowledged: Option<Acknowledged>,
    /// The number of the newest journal.
    number: u64,
    bodies: Bodies,
    /// What was told last, so that a disk that stays full is told of once.
    told: Option<(&'static str, Option<i32>)>,
    /// The last attempt failed for want of room on the disk.
    is_full: bool,
    /// The host failed to make something safe; what it took since is not to be believed.
    has_failed: bool,
    /// Blocks that were found damaged.
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
        tell: Arc<Tell>,
        held: Held,
    ) -> Disk {
        let bodies = Bodies::new(Arc::clone(&folders), pool, carryover.being_written);
        let state = State {
            journal: None,
            acknowledged: None,
            number: carryover.journal,
            bodies,
            told: None,
            is_full: false,
            has_failed: false,
            damaged: HashSet::new(),
        };
        Disk { folders, tell, state: Mutex::new(state), _held: held }
    }

    /// A thread that panicked while it held the lock left counts that are right or too high.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a failure, which is told.
    fn refuse(&self, state: &mut State, what: &'static str, error: &io::Error) -> Error {
        let answer = host::answer(error);
        state.is_full = answer == Error::NoSpc;
        let kind = Some((what, error.raw_os_error()));
        if state.told != kind {
            state.told = kind;
            let remedy = match answer {
                Error::NoSpc => self.room_left(),
                Error::Jukebox => {
                    "; clients are asked to retry (NFS3ERR_JUKEBOX); raise the limit \
                                   of open files (ulimit -n), or allow fewer connections"
                        .to_owned()
                }
                _ => String::new(),
            };
            let path = self.folders.volume.path().display();
            (self.tell)(&format!("{what} in {path}: {error}{remedy}"));
        }
        answer
    }

    /// What to do about a full disk.
    fn room_left(&self) -> String {
        let volume = &self.folders.volume;
        let free = volume.free_bytes().map_or(String::new(), |(free, all)| {
            format!(" ({} of {} MiB free)", free >> 20, all >> 20)
        });
        let path = volume.path().display();
        format!(
            "; free space on the disk that holds {path}{free}; until then clients get \
             NFS3ERR_NOSPC"
        )
    }

    /// The answer to damage. Each block is counted once and the first ones are named, then every
    /// tenfold count is reported.
    fn refuse_damaged(&self, state: &mut State, data: DataId, block: u64, how: &str) -> Error {
        if state.damaged.len() < REMEMBERED && state.damaged.insert((data, block)) {
            let count = state.damaged.len();
            let path = self.folders.data.path().join(name(data));
            if count <= NAMED || count.ilog10() > (count - 1).ilog10() {
                (self.tell)(&format!(
                    "{}: bytes {} to {} are damaged ({how}); reads of them fail with NFS3ERR_IO \
                     until they are rewritten; damaged blocks so far: {count}",
                    path.display(),
                    block * BLOCK_BYTES,
                    (block + 1) * BLOCK_BYTES,
                ));
            }
        }
        Error::Io
    }

    /// Does something that may fail; success ends the silence about what failed before.
    fn attempt<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        match work(&mut state) {
            Ok(value) => {
                if state.told.is_some_and(|(told, _)| told == what) {
                    state.told = None;
                }
                Ok(value)
            }
            Err(error) => Err(self.refuse(&mut state, what, &error)),
        }
    }
}

/// Closes the volume: what was written has its checksums also after a loss of power.
impl Drop for Disk {
    fn drop(&mut self) {
        let mut state = self.state();
        if !state.has_failed {
            let settled = state.bodies.settle();
            let synced = state.acknowledged.as_ref().map_or(Ok(()), Acknowledged::sync);
            if let Err(error) = settled.and(synced) {
                self.refuse(&mut state, "close the volume", &error);
            }
        }
        state.bodies.close();
    }
}

impl Storage for Disk {
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let file = self.attempt("open a file's data", |state| state.bodies.find(data))?;
        // Not under the lock, so that one reading does not wait for another.
        let Some(file) = file else {
            let block = offset / BLOCK_BYTES;
            let how = "the host file is missing";
            return Err(self.refuse_damaged(&mut self.state(), data, block, how));
        };
        match file.read(offset, into) {
            Ok(ReadOutcome::Whole) => Ok(into.len()),
            Ok(ReadOutcome::Damaged { block }) => {
                let answer = self.refuse_damaged(&mut self.state(), data, block, CHECKSUM);
                match (block * BLOCK_BYTES).saturating_sub(offset) {
                    0 => Err(answer),
                    before => Ok(before as usize),
                }
            }
            Err(error) => Err(self.refuse(&mut self.state(), "read a file's data", &error)),
        }
    }

    fn write(&self, data: DataId, offset: u64, bytes: &[u8], stable: bool) -> Result<(), Error> {
        let mut state = self.state();
        match state.bodies.write(data, offset, bytes, stable) {
            Err(error) if let Some(block) = damaged_block(&error) => {
                Err(self.refuse_damaged(&mut state, data, block, CHECKSUM))
            }
            written => {
                drop(state);
                self.attempt("write a file's data", |_| written)
            }
        }
    }

    fn open(&self, data: DataId) -> Result<(), Error> {
        self.attempt("open a file's data", |state| state.bodies.open(data).map(drop))
    }

    fn cut(&self, data: DataId, size: u64) -> Result<(), Error> {
        self.attempt("cut a file's data", |state| state.bodies.cut(data, size))
    }

    fn commit(&self, data: DataId) -> Result<(), Error> {
        self.attempt("sync a file's data", |state| state.bodies.commit(data))
    }

    fn forget(&self, data: DataId) {
        self.state().bodies.forget(data);
    }

    fn append(&self, records: &[u8], durable: bool) -> Result<(), Error> {
        self.attempt("append to the journal", |state| {
            state.keep(records, durable).inspect_err(|_| state.has_failed = true)
        })?;
        if durable {
            // What is safe stays safe where this fails; only a cut would not be noticed.
            let _told = self.attempt("note what is acknowledged", State::note_acknowledged);
        }
        Ok(())
    }

    fn replace(&self, units: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        let begun = self.attempt("write a new journal", |state| {
            Journal::begin(&self.folders.volume, state.number + 1, units)
        });
        let mut state = self.state();
        match (begun, &mut state.journal) {
            (Ok(journal), _) => {
                state.number = journal.number;
                state.journal = Some(journal);
            }
            // The old one still has its name and goes on; what failed was told.
            (Err(_), Some(old)) => {
                old.grow_on();
                return Ok(());
            }
            (Err(error), None) => return Err(error),
        }
        drop(state);
        self.attempt("sync the directory", |state| {
            let State { journal: Some(journal), acknowledged, .. } = state else { return Ok(()) };
            let volume = &self.folders.volume;
            volume.sync()?;
            let (number, safe) = (journal.number, journal.safe);
            match acknowledged {
                Some(acknowledged) => acknowledged.note(number, safe, 0)?,
                None => *acknowledged = Some(Acknowledged::begin(volume, number, safe)?),
            }
            // Only now that the journal before it takes no room any more.
            journal.reserve()
        })
    }

    fn wants_replacing(&self) -> bool {
        self.state().journal.as_ref().is_some_and(Journal::has_grown)
    }

    fn is_full(&self) -> bool {
        self.state().is_full
    }

    fn room(&self) -> Result<(), Error> {
        let full = |state: &State| state.journal.as_ref().is_some_and(|journal| journal.full);
        let mut state = self.state();
        state.is_full = false;
        if !full(&state) {
            return Ok(());
        }
        drop(state);
        self.attempt("take room for the journal", |state| {
            if let Some(journal) = &mut state.journal {
                journal.reserve()?;
            }
            if full(state) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }
}

impl State {
    /// Keeps records, and with `durable` everything that was promised.
    fn keep(&mut self, records: &[u8], durable: bool) -> io::Result<()> {
        if durable {
            self.bodies.keep_promises()?;
        }
        let journal = self.journal.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        if !records.is_empty() {
            journal.append(records)?;
        }
        if durable {
            journal.sync()?;
            self.bodies.remove_forgotten()?;
        }
        Ok(())
    }

    /// Notes that what is safe in the journal may be acknowledged.
    fn note_acknowledged(&mut self) -> io::Result<()> {
        match (&self.journal, &mut self.acknowledged) {
            (Some(journal), Some(acknowledged)) => {
                acknowledged.note(journal.number, journal.safe, journal.safe_appended)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
