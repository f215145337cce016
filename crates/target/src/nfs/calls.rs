//! Calls in preallocated memory, and intrusive lists of them.

use nfs3::arguments::stable_how;

use super::names::NameCall;

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// What a call does, with the parameters that a retry needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Read,
    Write(stable_how),
    /// Of the whole file. If it succeeds, log entries up to this number are durable.
    Commit {
        logged: u64,
    },
    /// Of an operation on names, which has at most one outstanding.
    Name(NameCall),
}

impl CallKind {
    /// Whether the operation's data follows the call.
    #[inline]
    pub(super) const fn carries_data(self) -> bool {
        matches!(self, CallKind::Write(_) | CallKind::Name(NameCall::Write))
    }
}

/// One call, from its operation's submission to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) kind: CallKind,
    /// The operation it belongs to; [`NONE`] for a COMMIT that the target sends on its own.
    pub(super) operation: u32,
    pub(super) file: u32,
    /// Where its data begins in the operation's buffer.
    pub(super) buffer_offset: u32,
    /// Where its data begins in the file.
    pub(super) offset: u64,
    /// Bytes still to be moved.
    pub(super) count: u32,
    /// When to repeat it after NFS3ERR_JUKEBOX.
    pub(super) due_ns: u64,
    /// How long that wait is; it grows with each repetition.
    pub(super) wait_ns: u64,
    /// The next call in the same list.
    next: u32,
}

/// All calls of a target.
#[derive(Debug)]
pub(super) struct Calls {
    table: Vec<Call>,
    free: Vec<u32>,
}

impl Calls {
    /// Allocates `max` calls.
    pub(super) fn new(max: usize) -> Calls {
        let unused = Call {
            kind: CallKind::Read,
            operation: NONE,
            file: 0,
            buffer_offset: 0,
            offset: 0,
            count: 0,
            due_ns: 0,
            wait_ns: 0,
            next: NONE,
        };
        Calls { table: vec![unused; max], free: (0..max as u32).rev().collect() }
    }

    pub(super) fn take(
        &mut self,
        kind: CallKind,
        operation: u32,
        file: u32,
        (buffer_offset, offset, count): (u32, u64, u32),
    ) -> u32 {
        let index = self.free.pop().expect("there is a call for every part of every operation");
        let (due_ns, wait_ns, next) = (0, 0, NONE);
        self.table[index as usize] =
            Call { kind, operation, file, buffer_offset, offset, count, due_ns, wait_ns, next };
        index
    }

    /// The call after `index` in the same list.
    pub(super) fn after(&self, index: u32) -> Option<u32> {
        let next = self.table[index as usize].next;
        (next != NONE).then_some(next)
    }

    pub(super) fn release(&mut self, index: u32) {
        self.free.push(index);
    }
}

impl std::ops::Index<u32> for Calls {
    type Output = Call;

    #[inline]
    fn index(&self, index: u32) -> &Call {
        &self.table[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Calls {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Call {
        &mut self.table[index as usize]
    }
}

/// A queue of calls. A call is in at most one.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(super) const EMPTY: List = List { head: NONE, tail: NONE };

    pub(super) fn push(&mut self, calls: &mut Calls, index: u32) {
        calls[index].next = NONE;
        match self.tail {
            NONE => self.head = index,
            tail => calls[tail].next = index,
        }
        self.tail = index;
    }

    pub(super) fn first(self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    pub(super) fn pop(&mut self, calls: &Calls) -> Option<u32> {
        let index = self.first()?;
        self.head = calls[index].next;
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_first_in_first_out() {
        let mut calls = Calls::new(3);
        let all = [0, 1, 2].map(|operation| calls.take(CallKind::Read, operation, 0, (0, 0, 0)));
        let mut list = List::EMPTY;
        for index in all {
            list.push(&mut calls, index);
        }
        let out: Vec<u32> = std::iter::from_fn(|| list.pop(&calls)).collect();
        assert_eq!(out, all);
        assert_eq!(list.first(), None);
        list.push(&mut calls, all[1]);
        assert_eq!(list.pop(&calls), Some(all[1]));
    }
}
