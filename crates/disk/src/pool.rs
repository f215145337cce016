//! The open data files of all volumes of a service.
//!
//! For: limiting file descriptors to what the service assigned to its volumes. Not for: the content
//! of files.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::DataId;

use crate::checked::CheckedFile;

/// Descriptors of a file: for its data and for its checksums.
const DESCRIPTORS_EACH: usize = 2;

/// Default limit: half of the usual limit of 1,024 per process.
const DEFAULT_DESCRIPTORS: usize = 512;

/// A volume's number, and a file in it.
type Key = (u64, DataId);

/// The open files, shared by all volumes.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    /// Maximum number of open files in the pool.
    files_max: usize,
    /// Maximum number of files with stable writes that all volumes together hold open until the
    /// writes are durable, in addition to the pool.
    stable_max_total: usize,
    volumes: u64,
    files: HashMap<Key, (Arc<CheckedFile>, bool)>,
    /// The order in which files are considered for closing (second chance).
    order: VecDeque<Key>,
}

impl Pool {
    pub(crate) fn new() -> Pool {
        let pool = Pool(Arc::new(Mutex::new(Open {
            files_max: 0,
            stable_max_total: 0,
            volumes: 0,
            files: HashMap::new(),
            order: VecDeque::new(),
        })));
        pool.set_descriptors(DEFAULT_DESCRIPTORS);
        pool
    }

    /// A panic cannot leave the tables inconsistent.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the maximum number of descriptors.
    pub(crate) fn set_descriptors(&self, descriptors: usize) {
        let files = descriptors / DESCRIPTORS_EACH;
        let mut open = self.open();
        open.stable_max_total = files / 4;
        open.files_max = (files - open.stable_max_total).max(1);
        let files_max = open.files_max;
        open.close_down_to(files_max);
    }

    /// Maximum number of files with stable writes that one volume holds open.
    pub(crate) fn stable_files_max(&self) -> usize {
        let open = self.open();
        (open.stable_max_total / open.volumes.max(1) as usize).max(1)
    }

    /// A number for a new volume.
    pub(crate) fn volume(&self) -> u64 {
        let mut open = self.open();
        open.volumes += 1;
        open.volumes
    }

    pub(crate) fn find(&self, key: Key) -> Option<Arc<CheckedFile>> {
        let mut open = self.open();
        let (file, used) = open.files.get_mut(&key)?;
        *used = true;
        Some(Arc::clone(file))
    }

    /// Adds an open file. If the pool is full, closes a file that was not used recently; data of it
    /// that is not yet durable is synced later through a new descriptor.
    pub(crate) fn insert(&self, key: Key, file: CheckedFile) -> Arc<CheckedFile> {
        let mut open = self.open();
        let file = Arc::new(file);
        if let Some((existing, _)) = open.files.get_mut(&key) {
            *existing = Arc::clone(&file);
            return file;
        }
        let others_max = open.files_max - 1;
        open.close_down_to(others_max);
        open.files.insert(key, (Arc::clone(&file), false));
        open.order.push_back(key);
        file
    }

    pub(crate) fn close(&self, key: Key) {
        let mut open = self.open();
        if open.files.remove(&key).is_some() {
            open.order.retain(|other| *other != key);
        }
    }

    /// Closes all files of a volume.
    pub(crate) fn close_volume(&self, volume: u64) {
        let mut open = self.open();
        open.files.retain(|key, _| key.0 != volume);
        open.order.retain(|key| key.0 != volume);
    }

    /// Closes half of the files, preferring those not used recently, because the system has no
    /// descriptor left. Returns false if there was none to close.
    pub(crate) fn close_half(&self) -> bool {
        let mut open = self.open();
        let count = open.files.len();
        open.close_down_to(count / 2);
        count > 0
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        let open = self.open();
        assert_eq!(open.files.len(), open.order.len());
        open.files.len()
    }
}

impl Open {
    fn close_down_to(&mut self, count: usize) {
        while self.files.len() > count {
            let Some(first) = self.order.pop_front() else { return };
            match self.files.get_mut(&first) {
                Some((_, used)) if *used => {
                    *used = false;
                    self.order.push_back(first);
                }
                _ => drop(self.files.remove(&first)),
            }
        }
    }
}
