//! The files of a trace.

use std::collections::BTreeMap;

use crate::runs::OpenRuns;

/// Files that are kept apart.
pub(crate) const FILES_MAX: usize = 1 << 20;

/// The number of a file.
pub(crate) type FileId = u32;

/// One file while the trace is read.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) name: String,
    /// The larger of the reported size and the end of the last access.
    pub(crate) size_bytes: u64,
    pub(crate) sequential: u64,
    pub(crate) random: u64,
    pub(crate) runs: OpenRuns,
}

/// Every file, by its path or handle.
#[derive(Debug, Default)]
pub(crate) struct Files {
    ids: BTreeMap<Vec<u8>, FileId>,
    pub(crate) all: Vec<File>,
}

impl Files {
    /// The file with this key, which gets `name` when it is new; `None` if there are too many.
    pub(crate) fn id(&mut self, key: &[u8], name: impl FnOnce() -> String) -> Option<FileId> {
        if let Some(id) = self.ids.get(key) {
            return Some(*id);
        }
        if self.all.len() == FILES_MAX {
            return None;
        }
        let id = self.all.len() as FileId;
        self.ids.insert(key.to_vec(), id);
        self.all.push(File { name: name(), ..File::default() });
        Some(id)
    }

    /// The file with this number.
    pub(crate) fn get(&mut self, id: FileId) -> Option<&mut File> {
        self.all.get_mut(id as usize)
    }
}
