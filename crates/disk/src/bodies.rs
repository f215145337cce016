//! The bytes of regular files, each in a host file of its own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::DataId;

use crate::host::{self, Call};

/// Host files that are kept open: far below the usual limit of 1024 for a process.
const OPEN_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct Bodies {
    folder: PathBuf,
    open: HashMap<DataId, Open>,
    /// The open ones, that which waits longest for being closed first.
    order: VecDeque<DataId>,
    /// Written and not made safe.
    unsafe_yet: HashSet<DataId>,
    /// Those of them that have to be safe at the end of this turn.
    promised: Vec<DataId>,
    /// True if the folder has names that are not safe.
    new_names: bool,
    forgotten: Vec<DataId>,
}

#[derive(Debug)]
struct Open {
    file: Arc<File>,
    used: bool,
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
    pub(crate) fn new(folder: &Path) -> Bodies {
        Bodies {
            folder: folder.to_owned(),
            open: HashMap::new(),
            order: VecDeque::new(),
            unsafe_yet: HashSet::new(),
            promised: Vec::new(),
            new_names: false,
            forgotten: Vec::new(),
        }
    }

    pub(crate) fn path(&self, data: DataId) -> PathBuf {
        self.folder.join(name(data))
    }

    /// The host file, if there is one.
    pub(crate) fn find(&mut self, data: DataId) -> io::Result<Option<Arc<File>>> {
        if let Some(open) = self.open.get_mut(&data) {
            open.used = true;
            return Ok(Some(Arc::clone(&open.file)));
        }
        match File::options().read(true).write(true).open(self.path(data)) {
            Ok(file) => Ok(Some(self.keep_open(data, file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The host file, made if there is none.
    fn make(&mut self, data: DataId) -> io::Result<Arc<File>> {
        if let Some(file) = self.find(data)? {
            return Ok(file);
        }
        let file = File::options().read(true).write(true).create_new(true).open(self.path(data))?;
        self.new_names = true;
        Ok(self.keep_open(data, file))
    }

    /// Keeps a file open; another is closed for it, one that was not used since its turn came
    /// last. What is not safe in that one stays so, and is synced through a new descriptor.
    fn keep_open(&mut self, data: DataId, file: File) -> Arc<File> {
        while self.open.len() >= OPEN_MAX {
            let Some(first) = self.order.pop_front() else { break };
            match self.open.get_mut(&first) {
                Some(open) if open.used => {
                    open.used = false;
                    self.order.push_back(first);
                }
                _ => {
                    self.open.remove(&first);
                }
            }
        }
        let file = Arc::new(file);
        self.open.insert(data, Open { file: Arc::clone(&file), used: false });
        self.order.push_back(data);
        file
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
        host::write(Call::Write, &file, offset, bytes)?;
        if promised {
            self.promised.push(data);
        }
        Ok(())
    }

    pub(crate) fn cut(&mut self, data: DataId, size: u64) -> io::Result<()> {
        self.find(data)?.map_or(Ok(()), |file| host::cut(&file, size))
    }

    pub(crate) fn commit(&mut self, data: DataId) -> io::Result<()> {
        if self.unsafe_yet.contains(&data)
            && let Some(file) = self.find(data)?
        {
            host::sync(Call::SyncData, &file)?;
            self.unsafe_yet.remove(&data);
        }
        Ok(())
    }

    pub(crate) fn forget(&mut self, data: DataId) {
        self.unsafe_yet.remove(&data);
        self.promised.retain(|promised| *promised != data);
        self.forgotten.push(data);
    }

    /// Makes safe what was promised; each file once.
    pub(crate) fn keep_promises(&mut self) -> io::Result<()> {
        for data in std::mem::take(&mut self.promised) {
            self.commit(data)?;
        }
        if self.new_names {
            File::open(&self.folder)?.sync_all()?;
            self.new_names = false;
        }
        Ok(())
    }

    /// Removes what was given up; the records that say so are safe.
    pub(crate) fn remove_forgotten(&mut self) -> io::Result<()> {
        for data in std::mem::take(&mut self.forgotten) {
            if self.open.remove(&data).is_some() {
                self.order.retain(|open| *open != data);
            }
            match std::fs::remove_file(self.path(data)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let folder = tempfile::tempdir().unwrap();
        let mut bodies = Bodies::new(folder.path());
        let data = |fileid| DataId { fileid, generation: 1 };
        for round in 0..2u8 {
            for fileid in 0..1000 {
                let bytes = [round, fileid as u8];
                bodies.write(data(fileid), 0, &bytes, true).unwrap();
                assert!(bodies.open.len() <= OPEN_MAX && bodies.order.len() <= OPEN_MAX);
            }
        }
        bodies.keep_promises().unwrap();
        assert!(bodies.unsafe_yet.is_empty());
        for fileid in 0..1000 {
            let file = bodies.find(data(fileid)).unwrap().unwrap();
            let mut bytes = [9; 4];
            host::read(&file, 0, &mut bytes).unwrap();
            assert_eq!(bytes, [1, fileid as u8, 0, 0]);
        }
    }
}
