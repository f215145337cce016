//! The data of a volume's regular files, each in a separate host file with checksums.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use files::DataId;

use crate::checked::{CheckedFile, State, Sums};
use crate::folder::Folders;
use crate::host::{self, Call};
use crate::pool::Pool;

/// When a volume is closed, up to this many files are synced one by one. More are synced by one
/// call for the whole file system, which also waits for writes of other programs.
const SYNC_EACH_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct DataFiles {
    folders: Arc<Folders>,
    pool: Pool,
    /// This volume's number in the pool.
    volume: u64,
    /// Files with data that is not durable.
    unsynced: HashSet<DataId>,
    /// Files with stable writes in this turn. They stay open until its sync, so that the sync does
    /// not have to open files, which could fail. If there are too many
    /// ([`Pool::stable_files_max`]), the first is synced early.
    stable_writes: Vec<(DataId, Arc<CheckedFile>)>,
    /// Files whose checksums are marked dirty.
    dirty: HashSet<DataId>,
    /// A stable write of this turn could not be made durable.
    has_lost_stable_write: bool,
    /// New host files whose names are not durable exist.
    has_unsynced_names: bool,
    removed: Vec<DataId>,
    /// Buffer for the checksums of a write, reused to avoid allocation.
    entries: Vec<u8>,
}

/// The name of a host file.
pub(crate) fn file_name(data: DataId) -> String {
    format!("{:016x}-{:08x}", data.fileid, data.generation)
}

/// The data whose host file has this name; `None` for other names.
pub(crate) fn parse_file_name(text: &str) -> Option<DataId> {
    let (fileid, generation) = text.split_once('-')?;
    let data = DataId {
        fileid: u64::from_str_radix(fileid, 16).ok()?,
        generation: u32::from_str_radix(generation, 16).ok()?,
    };
    (file_name(data) == text).then_some(data)
}

impl DataFiles {
    /// * `dirty` — files whose checksums are already marked dirty
    pub(crate) fn new(folders: Arc<Folders>, pool: Pool, dirty: HashSet<DataId>) -> DataFiles {
        let volume = pool.volume();
        DataFiles {
            folders,
            pool,
            volume,
            unsynced: HashSet::new(),
            stable_writes: Vec::new(),
            dirty,
            has_lost_stable_write: false,
            has_unsynced_names: false,
            removed: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// The host file, if it exists.
    pub(crate) fn find(&self, data: DataId) -> io::Result<Option<Arc<CheckedFile>>> {
        if let Some(file) = self.pool.find((self.volume, data)) {
            return Ok(Some(file));
        }
        let name = file_name(data);
        let open = || {
            let file = self.folders.data.file(&name)?;
            let sums = Sums::open(&self.folders.sums, &name, data)?;
            Ok(CheckedFile::new(file, sums.map(|(sums, _)| sums)))
        };
        match self.with_descriptors(open) {
            Ok(file) => Ok(Some(self.pool.insert((self.volume, data), file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file; if no descriptor is left, closes files in the pool and retries.
    fn with_descriptors<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match host::open(&open) {
            Err(error) if host::lacks_descriptors(&error) && self.pool.close_half() => {
                host::open(&open)
            }
            other => other,
        }
    }

    /// The host file with checksums that are marked dirty; created if it does not exist.
    fn open_or_create(&mut self, data: DataId) -> io::Result<Arc<CheckedFile>> {
        let key = (self.volume, data);
        let file = match self.find(data)? {
            Some(file) if file.sums().is_some() => file,
            found => {
                let bytes = match found {
                    Some(file) => self.with_descriptors(|| file.data())?,
                    None => {
                        let create = || self.folders.data.create(&file_name(data));
                        let created = self.with_descriptors(create)?;
                        self.has_unsynced_names = true;
                        created
                    }
                };
                let sums = self.open_or_create_sums(data)?;
                self.pool.insert(key, CheckedFile::new(bytes, Some(sums)))
            }
        };
        if let Some(sums) = file.sums()
            && !self.dirty.contains(&data)
        {
            let is_lost = sums.is_lost();
            sums.set_state(data, State { is_dirty: true, is_lost })?;
            sums.sync()?;
            self.dirty.insert(data);
        }
        Ok(file)
    }

    /// The checksums of a file that was opened without them: existing ones, or new ones that are
    /// marked dirty.
    fn open_or_create_sums(&mut self, data: DataId) -> io::Result<Sums> {
        let (folder, name) = (&self.folders.sums, file_name(data));
        if let Some((sums, _)) = self.with_descriptors(|| Sums::open(folder, &name, data))? {
            return Ok(sums);
        }
        let sums = self.with_descriptors(|| Sums::create(folder, &name, data))?;
        self.dirty.insert(data);
        Ok(sums)
    }

    pub(crate) fn write(
        &mut self,
        data: DataId,
        offset: u64,
        bytes: &[u8],
        stable: bool,
    ) -> io::Result<()> {
        let file = self.open_or_create(data)?;
        self.unsynced.insert(data);
        file.write(offset, bytes, &mut self.entries)?;
        if stable && !self.stable_writes.iter().any(|(other, _)| *other == data) {
            if self.stable_writes.len() >= self.pool.stable_files_max() {
                let (first, file) = self.stable_writes.swap_remove(0);
                let synced = self.sync_file(first, &file);
                self.has_lost_stable_write |= synced.is_err();
                synced?;
            }
            self.stable_writes.push((data, file));
        }
        Ok(())
    }

    /// Opens an existing file for a change.
    pub(crate) fn open(&mut self, data: DataId) -> io::Result<Option<Arc<CheckedFile>>> {
        match self.find(data)? {
            Some(_) => self.open_or_create(data).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn truncate(&mut self, data: DataId, size: u64) -> io::Result<()> {
        self.open(data)?.map_or(Ok(()), |file| file.truncate(data, size))
    }

    pub(crate) fn commit(&mut self, data: DataId) -> io::Result<()> {
        if self.unsynced.contains(&data)
            && let Some(file) = self.find(data)?
        {
            self.sync_file(data, &file)?;
        }
        Ok(())
    }

    fn sync_file(&mut self, data: DataId, file: &CheckedFile) -> io::Result<()> {
        if self.unsynced.contains(&data) {
            file.sync()?;
            self.unsynced.remove(&data);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, data: DataId) {
        self.unsynced.remove(&data);
        self.stable_writes.retain(|(other, _)| *other != data);
        self.removed.push(data);
    }

    /// Makes the stable writes of this turn durable, with one sync per file.
    pub(crate) fn sync_stable_writes(&mut self) -> io::Result<()> {
        if self.has_lost_stable_write {
            return Err(io::Error::other("a stable write could not be made durable"));
        }
        for (data, file) in std::mem::take(&mut self.stable_writes) {
            self.sync_file(data, &file)?;
        }
        if self.has_unsynced_names {
            self.folders.data.sync()?;
            self.has_unsynced_names = false;
        }
        Ok(())
    }

    /// Deletes removed files. The records of their removal are durable.
    pub(crate) fn delete_removed(&mut self) -> io::Result<()> {
        for data in std::mem::take(&mut self.removed) {
            self.pool.close((self.volume, data));
            self.dirty.remove(&data);
            self.folders.data.remove(&file_name(data))?;
            self.folders.sums.remove(&file_name(data))?;
        }
        Ok(())
    }

    /// Makes all data durable and clears the dirty marks, so that checksums are valid even after a
    /// loss of power.
    pub(crate) fn sync_all(&mut self) -> io::Result<()> {
        let each = self.dirty.len() <= SYNC_EACH_MAX;
        if !each {
            self.folders.volume.sync_file_system()?;
        }
        for data in std::mem::take(&mut self.dirty) {
            let name = file_name(data);
            let Some((sums, state)) = Sums::open(&self.folders.sums, &name, data)? else {
                continue;
            };
            if each {
                host::sync(Call::SyncData, &self.folders.data.file(&name)?)?;
                sums.sync()?;
            }
            sums.set_state(data, State { is_dirty: false, ..state })?;
        }
        Ok(())
    }

    /// Closes all files of the volume.
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
    fn names_of_host_files_are_parsed_and_others_are_rejected() {
        let data = DataId { fileid: 0xabc, generation: 7 };
        assert_eq!(parse_file_name(&file_name(data)), Some(data));
        for other in ["", "journal", "abc-7", "0000000000000ABC-00000007", "x-y", "-"] {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
    }

    #[test]
    fn many_more_files_than_the_limit_are_written_and_read() {
        let directory = tempfile::tempdir().unwrap();
        let pool = Pool::new();
        pool.set_descriptors(2 * OPEN_MAX);
        let all = Folder::open_or_create(directory.path()).unwrap();
        let folders = Arc::new(Folders::open_in(&all, "v").unwrap());
        let mut data_files = DataFiles::new(folders, pool.clone(), HashSet::new());
        let data = |fileid| DataId { fileid, generation: 1 };
        for round in 0..2u8 {
            for fileid in 0..200 {
                let bytes = [round, fileid as u8];
                data_files.write(data(fileid), 0, &bytes, true).unwrap();
                assert!(pool.count() + data_files.stable_writes.len() <= OPEN_MAX);
            }
        }
        data_files.sync_stable_writes().unwrap();
        assert!(data_files.unsynced.is_empty());
        for fileid in 0..200 {
            let file = data_files.find(data(fileid)).unwrap().unwrap();
            let mut bytes = [9; 4];
            file.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, [1, fileid as u8, 0, 0]);
        }
    }
}
