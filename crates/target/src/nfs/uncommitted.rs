//! The log of writes that the server has accepted as UNSTABLE and not committed, per file and in
//! order. Its maximum memory is fixed and used on demand.

use workload::op::{Op, OpKind};

use super::calls::NONE;

#[derive(Clone, Copy, Debug)]
struct Entry {
    index: u64,
    offset_bytes: u64,
    /// Increases with each entry of the target.
    number: u64,
    size_bytes: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct FileLog {
    head: u32,
    tail: u32,
}

/// The logs of all files of a worker.
#[derive(Debug)]
pub(super) struct Uncommitted {
    entries: Vec<Entry>,
    max: usize,
    free: u32,
    used: usize,
    number: u64,
    files: Vec<FileLog>,
}

impl Uncommitted {
    pub(super) fn new(files: usize, max: usize) -> Uncommitted {
        Uncommitted {
            entries: Vec::with_capacity(max),
            max,
            free: NONE,
            used: 0,
            number: 0,
            files: vec![FileLog { head: NONE, tail: NONE }; files],
        }
    }

    /// Number of entries.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Maximum number of entries.
    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// The number of the last entry.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn is_empty(&self, file: u32) -> bool {
        self.files[file as usize].head == NONE
    }

    /// Appends a write; there must be room.
    pub(super) fn push(&mut self, op: &Op) {
        self.number += 1;
        let entry = Entry {
            index: op.index,
            offset_bytes: op.offset_bytes,
            number: self.number,
            size_bytes: op.size_bytes,
            next: NONE,
        };
        let position = match self.free {
            NONE => {
                debug_assert!(self.entries.len() < self.max, "there is room for an entry");
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
            position => {
                self.free = self.entries[position as usize].next;
                self.entries[position as usize] = entry;
                position
            }
        };
        self.used += 1;
        let log = &mut self.files[op.file as usize];
        match log.tail {
            NONE => log.head = position,
            tail => self.entries[tail as usize].next = position,
        }
        log.tail = position;
    }

    /// Removes the entries of `file` up to `number`.
    pub(super) fn committed(&mut self, file: u32, number: u64) {
        let log = &mut self.files[file as usize];
        while log.head != NONE {
            let entry = &mut self.entries[log.head as usize];
            if entry.number > number {
                return;
            }
            let position = std::mem::replace(&mut log.head, entry.next);
            entry.next = self.free;
            self.free = position;
            self.used -= 1;
        }
        log.tail = NONE;
    }

    /// The position of the first entry of `file`; the others follow by [`Uncommitted::after`].
    pub(super) fn first(&self, file: u32) -> u32 {
        self.files[file as usize].head
    }

    /// The entry after `position`.
    pub(super) fn after(&self, position: u32) -> u32 {
        self.entries[position as usize].next
    }

    /// The operation of an entry.
    pub(super) fn op(&self, file: u32, position: u32) -> Op {
        let Entry { index, offset_bytes, size_bytes, .. } = self.entries[position as usize];
        Op { index, offset_bytes, size_bytes, file, kind: OpKind::Write }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(index: u64, file: u32) -> Op {
        Op { index, offset_bytes: index * 10, size_bytes: 10, file, kind: OpKind::Write }
    }

    fn indices(log: &Uncommitted, file: u32) -> Vec<u64> {
        let mut found = Vec::new();
        let mut position = log.first(file);
        while position != NONE {
            found.push(log.op(file, position).index);
            position = log.after(position);
        }
        found
    }

    #[test]
    fn a_commit_removes_the_entries_logged_before_it_was_sent() {
        let mut log = Uncommitted::new(2, 4);
        log.push(&op(1, 0));
        log.push(&op(2, 1));
        let sent = log.number();
        log.push(&op(3, 0));
        log.committed(0, sent);
        assert_eq!((indices(&log, 0), indices(&log, 1)), (vec![3], vec![2]));
        log.push(&op(4, 0));
        log.push(&op(5, 0));
        assert_eq!((indices(&log, 0), log.used()), (vec![3, 4, 5], 4));
        log.committed(0, u64::MAX);
        assert!(log.is_empty(0));
        log.push(&op(6, 0));
        assert_eq!(indices(&log, 0), [6]);
    }
}
