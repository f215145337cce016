//! Positions and flags of open descriptors.
//!
//! Threads share descriptors and processes do not; a child is a thread if its clone has CLONE_FILES.

use std::collections::BTreeMap;

/// Descriptors that are kept; programs close theirs.
const DESCRIPTORS_MAX: usize = 1 << 20;

/// One open descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Where the next read or write without an offset begins.
    pub(super) position: u64,
    /// Writes go to the end of the file.
    pub(super) appends: bool,
    /// Opened with O_DIRECT; `None` if it was opened before the trace.
    pub(super) is_direct: Option<bool>,
    /// Opened with O_DSYNC or O_SYNC.
    pub(super) is_durable: Option<bool>,
}

/// The descriptors of all processes.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    open: BTreeMap<(u64, i64), Descriptor>,
    /// The process whose descriptors a thread shares.
    process_of: BTreeMap<u64, u64>,
    /// The working directory of each process, as far as known.
    directories: BTreeMap<u64, String>,
    /// Descriptors whose first position was not known.
    pub(super) assumed: u64,
}

impl Descriptors {
    fn key(&self, thread: u64, number: i64) -> (u64, i64) {
        (self.process_of.get(&thread).copied().unwrap_or(thread), number)
    }

    pub(super) fn open(&mut self, thread: u64, number: i64, descriptor: Descriptor) {
        if self.open.len() < DESCRIPTORS_MAX {
            self.open.insert(self.key(thread, number), descriptor);
        }
    }

    pub(super) fn close(&mut self, thread: u64, number: i64) {
        self.open.remove(&self.key(thread, number));
    }

    /// What is known of a descriptor, if anything.
    pub(super) fn get(&self, thread: u64, number: i64) -> Option<Descriptor> {
        self.open.get(&self.key(thread, number)).copied()
    }

    /// Changes the position; a descriptor from before the trace begins at 0.
    pub(super) fn set_position(&mut self, thread: u64, number: i64, position: u64) {
        let key = self.key(thread, number);
        match self.open.get_mut(&key) {
            Some(descriptor) => descriptor.position = position,
            None => self.open(thread, number, Descriptor { position, ..Descriptor::default() }),
        }
    }

    /// The working directory of a thread's process.
    pub(super) fn directory(&self, thread: u64) -> Option<&str> {
        self.directories.get(&self.key(thread, 0).0).map(String::as_str)
    }

    pub(super) fn set_directory(&mut self, thread: u64, path: &str) {
        let (process, _) = self.key(thread, 0);
        let has_room = self.directories.len() < DESCRIPTORS_MAX;
        match self.directories.get_mut(&process) {
            Some(known) if known == path => {}
            Some(known) => path.clone_into(known),
            None if has_room => drop(self.directories.insert(process, path.to_owned())),
            None => {}
        }
    }

    /// `new` refers to what `old` refers to.
    pub(super) fn duplicate(&mut self, thread: u64, old: i64, new: i64) {
        match self.get(thread, old) {
            Some(descriptor) => self.open(thread, new, descriptor),
            None => self.close(thread, new),
        }
    }

    /// A new thread or process; a process begins with copies.
    pub(super) fn clone_to(&mut self, parent: u64, child: u64, shares: bool) {
        let (process, _) = self.key(parent, 0);
        if shares {
            self.process_of.insert(child, process);
            return;
        }
        // What the child used before the parent's line is newer.
        if !self.directories.contains_key(&child)
            && let Some(directory) = self.directories.get(&process).cloned()
        {
            self.set_directory(child, &directory);
        }
        let of_parent = self.open.range((process, i64::MIN)..=(process, i64::MAX));
        let copies: Vec<(i64, Descriptor)> =
            of_parent.map(|((_, number), descriptor)| (*number, *descriptor)).collect();
        for (number, descriptor) in copies {
            // What the child opened before the parent's line is newer.
            if self.get(child, number).is_none() {
                self.open(child, number, descriptor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_positions_and_processes_copy_them() {
        let mut all = Descriptors::default();
        all.open(1, 3, Descriptor { position: 100, ..Descriptor::default() });
        all.clone_to(1, 2, true);
        all.clone_to(2, 9, false);
        all.set_position(2, 3, 200);
        let position = |thread| all.get(thread, 3).unwrap().position;
        assert_eq!((position(1), position(2), position(9)), (200, 200, 100));
    }
}
