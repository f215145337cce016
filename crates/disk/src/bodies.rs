//! The bytes of a volume's regular files, each in a host file of its own, with its checksums.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use files::DataId;

use crate::checked::{CheckedFile, State, Sums};
use crate::directory::Folders;
use crate::host::{self, Call};
use crate::pool::Pool;

/// Up to so many files are synced one by one when a volume is closed. More are synced by one call
/// for their whole file system, which also waits for what others wrote to it.
const SYNC_EACH_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct Bodies {
    folders: Arc<Folders>,
    pool: Pool,
    /// This volume's number in the pool.
    volume: u64,
    /// Written and not made safe.
    unsafe_yet: HashSet<DataId>,
    /// Those of them that have to be safe at the end of this turn. They stay open until then, so
    /// that the turn's sync never has to open a file, which could fail. Where there are too many
    /// ([`Pool::promised_max`]), the first is made safe early.
    promised: Vec<(DataId, Arc<CheckedFile>)>,
    /// Whose header says that the file is being written.
    being_written: HashSet<DataId>,
    /// Data could not be made safe that was promised in this turn.
    has_broken_promise: bool,
    /// True if the folder has names that are not safe.
    new_names: bool,
    forgotten: Vec<DataId>,
    /// Checksums of one write, kept for their memory.
    entries: Vec<u8>,
}

/// The name of a host file.
pub(crate) fn name(data: DataId) -> String {
    format!("{:016x}-{:08x}", data.fileid, data.generation)
}

/// What a host file's name means; `None` if it is not one of ours.
pub(crate) fn meaning(text: &str) -> Option<DataId> {
    let (fileid, generation) = text.split_once('-')?;
    let data = DataId {
        fileid: u64::from_str_radix(fileid, 16).ok()?,
        generation: u32::from_str_radix(generation, 16).ok()?,
    };
    (name(data) == text).then_some(data)
}

impl Bodies {
    /// * `being_written` — files whose header says so already
    pub(crate) fn new(folders: Arc<Folders>, pool: Pool, being_written: HashSet<DataId>) -> Bodies {
        let volume = pool.volume();
        Bodies {
            folders,
            pool,
            volume,
            unsafe_yet: HashSet::new(),
            promised: Vec::new(),
            being_written,
            has_broken_promise: false,
            new_names: false,
            forgotten: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// The host file, if there is one.
    pub(crate) fn find(&self, data: DataId) -> io::Result<Option<Arc<CheckedFile>>> {
        if let Some(file) = self.pool.find((self.volume, data)) {
            return Ok(Some(file));
        }
        let name = name(data);
        let open = || {
            let file = self.folders.data.file(&name)?;
            let sums = Sums::open(&self.folders.sums, &name, data)?;
            Ok(CheckedFile::new(file, sums.map(|(sums, _)| sums)))
        };
        match self.with_descriptors(open) {
            Ok(file) => Ok(Some(self.pool.keep((self.volume, data), file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens something, if need be with descriptors of files that are kept open.
    fn with_descriptors<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match host::open(&open) {
            Err(error) if host::lacks_descriptors(&error) && self.pool.close_half() => {
                host::open(&open)
            }
            other => other,
        }
    }

    /// The host file, made if there is none, with checksums and a header that says that it is being
    /// written.
    fn make(&mut self, data: DataId) -> io::Result<Arc<CheckedFile>> {
        let key = (self.volume, data);
        let file = match self.find(data)? {
            Some(file) if file.sums().is_some() => file,
            found => {
                let bytes = match found {
                    Some(file) => self.with_descriptors(|| file.data())?,
                    None => {
                        let made = || self.folders.data.create(&name(data));
                        let made = self.with_descriptors(made)?;
                        self.new_names = true;
                        made
                    }
                };
                let sums = self.make_sums(data)?;
                self.pool.keep(key, CheckedFile::new(bytes, Some(sums)))
            }
        };
        if let Some(sums) = file.sums()
            && !self.being_written.contains(&data)
        {
            let is_lost = sums.is_lost();
            sums.set_state(data, State { is_being_written: true, is_lost })?;
            sums.sync()?;
            self.being_written.insert(data);
        }
        Ok(file)
    }

    /// Checksums for a file that is open without any. Those that are there already know what it
    /// should have; new ones say that it is being written.
    fn make_sums(&mut self, data: DataId) -> io::Result<Sums> {
        let (folder, name) = (&self.folders.sums, name(data));
        if let Some((sums, _)) = self.with_descriptors(|| Sums::open(folder, &name, data))? {
            return Ok(sums);
        }
        let sums = self.with_descriptors(|| Sums::make(folder, &name, data))?;
        self.being_written.insert(data);
        Ok(sums)
    }

    pub(crate) fn write(
        &mut self,
        data: DataId,
        offset: u64,
        bytes: &[u8],
        promised: bool,
    ) -> io::Result<()> {
        let file = self.make(data)?;
        self.unsafe_yet.insert(data);
        file.write(offset, bytes, &mut self.entries)?;
        if promised && !self.promised.iter().any(|(other, _)| *other == data) {
            if self.promised.len() >= self.pool.promised_max() {
                let (first, file) = self.promised.swap_remove(0);
                let safe = self.make_safe(first, &file);
                self.has_broken_promise |= safe.is_err();
                safe?;
            }
            self.promised.push((data, file));
        }
        Ok(())
    }

    /// Opens a file that is to be changed next, if there is one.
    pub(crate) fn open(&mut self, data: DataId) -> io::Result<Option<Arc<CheckedFile>>> {
        match self.find(data)? {
            Some(_) => self.make(data).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn cut(&mut self, data: DataId, size: u64) -> io::Result<()> {
        self.open(data)?.map_or(Ok(()), |file| file.cut(data, size))
    }

    pub(crate) fn commit(&mut self, data: DataId) -> io::Result<()> {
        if self.unsafe_yet.contains(&data)
            && let Some(file) = self.find(data)?
        {
            self.make_safe(data, &file)?;
        }
        Ok(())
    }

    fn make_safe(&mut self, data: DataId, file: &CheckedFile) -> io::Result<()> {
        if self.unsafe_yet.contains(&data) {
            file.sync()?;
            self.unsafe_yet.remove(&data);
        }
        Ok(())
    }

    pub(crate) fn forget(&mut self, data: DataId) {
        self.unsafe_yet.remove(&data);
        self.promised.retain(|(promised, _)| *promised != data);
        self.forgotten.push(data);
    }

    /// Makes safe what was promised; each file once.
    pub(crate) fn keep_promises(&mut self) -> io::Result<()> {
        if self.has_broken_promise {
            return Err(io::Error::other("data that was promised could not be made safe"));
        }
        for (data, file) in std::mem::take(&mut self.promised) {
            self.make_safe(data, &file)?;
        }
        if self.new_names {
            self.folders.data.sync()?;
            self.new_names = false;
        }
        Ok(())
    }

    /// Removes what was given up; the records that say so are safe.
    pub(crate) fn remove_forgotten(&mut self) -> io::Result<()> {
        for data in std::mem::take(&mut self.forgotten) {
            self.pool.close((self.volume, data));
            self.being_written.remove(&data);
            self.folders.data.remove(&name(data))?;
            self.folders.sums.remove(&name(data))?;
        }
        Ok(())
    }

    /// Closes the volume: makes everything safe and says of each file that it is not being written
    /// any more, so that its checksums hold after a loss of power too.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        let each = self.being_written.len() <= SYNC_EACH_MAX;
        if !each {
            self.folders.volume.sync_file_system()?;
        }
        for data in std::mem::take(&mut self.being_written) {
            let name = name(data);
            let Some((sums, state)) = Sums::open(&self.folders.sums, &name, data)? else {
                continue;
            };
            if each {
                host::sync(Call::SyncData, &self.folders.data.file(&name)?)?;
                sums.sync()?;
            }
            sums.set_state(data, State { is_being_written: false, ..state })?;
        }
        Ok(())
    }

    /// Closes its files.
    pub(crate) fn close(&self) {
        self.pool.close_volume(self.volume);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    const OPEN_MAX: usize = 20;

    #[test]
    fn names_of_host_files_are_read_back_and_others_are_not_taken_for_them() {
        let data = DataId { fileid: 0xabc, generation: 7 };
        assert_eq!(meaning(&name(data)), Some(data));
        for other in ["", "journal", "abc-7", "0000000000000ABC-00000007", "x-y", "-"] {
            assert_eq!(meaning(other), None, "{other}");
        }
    }

    #[test]
    fn many_more_files_than_may_be_open_are_written_and_read() {
        let place = tempfile::tempdir().unwrap();
        let pool = Pool::new();
        pool.set_descriptors(2 * OPEN_MAX);
        let all = Folder::open_or_make(place.path()).unwrap();
        let folders = Arc::new(Folders::open_in(&all, "v").unwrap());
        let mut bodies = Bodies::new(folders, pool.clone(), HashSet::new());
        let data = |fileid| DataId { fileid, generation: 1 };
        for round in 0..2u8 {
            for fileid in 0..200 {
                let bytes = [round, fileid as u8];
                bodies.write(data(fileid), 0, &bytes, true).unwrap();
                assert!(pool.count() + bodies.promised.len() <= OPEN_MAX);
            }
        }
        bodies.keep_promises().unwrap();
        assert!(bodies.unsafe_yet.is_empty());
        for fileid in 0..200 {
            let file = bodies.find(data(fileid)).unwrap().unwrap();
            let mut bytes = [9; 4];
            file.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, [1, fileid as u8, 0, 0]);
        }
    }
}
