//! Host files that are kept open, those of all volumes of a service together.
//!
//! For: never taking more descriptors than the service gave its volumes, whatever number of files
//! is used. Not for: what is in the files.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::DataId;

use crate::checked::CheckedFile;

/// Descriptors of one file: its data and its checksums.
const DESCRIPTORS_EACH: usize = 2;

/// Where nothing was said of descriptors: half of the usual limit of 1024 for a process.
const DEFAULT_DESCRIPTORS: usize = 512;

/// A volume's number, and a file in it.
type Key = (u64, DataId);

/// The open files, shared by all volumes.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    /// Files that are kept open here.
    most: usize,
    /// Files that all volumes together may hold open until their promised data is safe, although
    /// they are closed here.
    promised_most: usize,
    volumes: u64,
    files: HashMap<Key, (Arc<CheckedFile>, bool)>,
    /// The same, that which waits longest for being closed first.
    order: VecDeque<Key>,
}

impl Pool {
    pub(crate) fn new() -> Pool {
        let pool = Pool(Arc::new(Mutex::new(Open {
            most: 0,
            promised_most: 0,
            volumes: 0,
            files: HashMap::new(),
            order: VecDeque::new(),
        })));
        pool.set_descriptors(DEFAULT_DESCRIPTORS);
        pool
    }

    /// No step below leaves a table that is wrong.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes at most so many descriptors from now on.
    pub(crate) fn set_descriptors(&self, descriptors: usize) {
        let files = descriptors / DESCRIPTORS_EACH;
        let mut open = self.open();
        open.promised_most = files / 4;
        open.most = (files - open.promised_most).max(1);
        let most = open.most;
        open.close_down_to(most);
    }

    /// Files with promised data that one volume may hold open until it is safe.
    pub(crate) fn promised_max(&self) -> usize {
        let open = self.open();
        (open.promised_most / open.volumes.max(1) as usize).max(1)
    }

    /// A number for one more volume.
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

    /// Keeps a file open; another is closed for it, one that was not used since its turn came
    /// last. What is not safe in that one stays so, and is synced through a new descriptor.
    pub(crate) fn keep(&self, key: Key, file: CheckedFile) -> Arc<CheckedFile> {
        let mut open = self.open();
        let file = Arc::new(file);
        if let Some((kept, _)) = open.files.get_mut(&key) {
            *kept = Arc::clone(&file);
            return file;
        }
        let most = open.most;
        open.close_down_to(most - 1);
        open.files.insert(key, (Arc::clone(&file), false));
        open.order.push_back(key);
        file
    }

    pub(crate) fn close(&self, key: Key) {
        let mut open = self.open();
        if open.files.remove(&key).is_some() {
            open.order.retain(|kept| *kept != key);
        }
    }

    /// Closes all files of a volume.
    pub(crate) fn close_volume(&self, volume: u64) {
        let mut open = self.open();
        open.files.retain(|key, _| key.0 != volume);
        open.order.retain(|key| key.0 != volume);
    }

    /// Closes the half that was used least recently, where the system has no descriptor left. True
    /// if there was any to close.
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
