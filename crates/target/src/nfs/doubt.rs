//! Reads that may see what a server has lost. After a restart and until everything is written
//! again, a file holds what it held before writes that had ended: no read may end with that.
//!
//! A restart loses every connection, so one that is made anew is where doubt begins: whoever
//! answers over it may be another instance. A COMMIT of the target's own, sent after that, asks
//! which: with the verifier of before nothing is lost, with another the files are written again.
//! Until the answer, and then until the file is whole, what is read of a file with uncommitted data
//! is held back; where something was lost it is read again.

use workload::op::OpKind;

use super::calls::{CallKind, NONE};
use super::core::{Core, Operation};

/// Whether the server may have restarted since it was last heard of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// Nobody knows yet.
    is_open: bool,
    /// A COMMIT that asks is under way.
    is_asking: bool,
    /// How often doubt has arisen: only a COMMIT that was sent after the last time answers it.
    number: u64,
}

impl Core {
    /// A connection was made anew.
    pub(super) fn begin_doubt(&mut self) {
        if self.log.used() == 0 && self.unstable_writes == 0 {
            // Nothing that could be lost.
            return;
        }
        self.doubt.is_open = true;
        self.doubt.number += 1;
        if !self.doubt.is_asking {
            self.ask();
        }
    }

    /// Sends a COMMIT, of a file that needs one if there is any.
    fn ask(&mut self) {
        self.doubt.is_asking = true;
        let files = 0..self.files.len() as u32;
        let file = files.into_iter().find(|file| !self.log.is_empty(*file)).unwrap_or(0);
        let kind = CallKind::Commit { logged: self.log.number() };
        let call = self.calls.take(kind, NONE, file, (0, self.doubt.number, 0));
        self.start(call);
    }

    /// The COMMIT has come back that asked when doubt had arisen `asked` times. What was lost, if
    /// anything, is being written again already.
    pub(super) fn end_doubt(&mut self, asked: u64) {
        self.doubt.is_asking = false;
        if asked != self.doubt.number {
            return self.ask();
        }
        self.doubt.is_open = false;
        for file in 0..self.files.len() as u32 {
            if !self.files[file as usize].is_recovering {
                self.let_go(file);
            }
        }
    }

    /// Whether what a file holds now may not be what was written to it last.
    #[inline]
    pub(super) fn is_doubtful(&self, file: u32) -> bool {
        self.files[file as usize].is_recovering || self.doubt.is_open && !self.log.is_empty(file)
    }

    /// Whether an operation, whose last reply has come, may not end yet.
    #[inline]
    pub(super) fn is_too_early(&self, tag: u32) -> bool {
        let Operation { op, errno, again, .. } = self.operations[tag as usize];
        op.kind == OpKind::Read && errno == 0 && (again || self.is_doubtful(op.file))
    }

    /// A file has been written again: what was read of it before, or is just being read, must be
    /// read again.
    pub(super) fn redo_reads(&mut self, file: u32) {
        for operation in &mut self.operations[..self.setting.queue_depth as usize] {
            let is_begun = operation.calls_left > 0 || operation.is_answered;
            if operation.op.kind == OpKind::Read && operation.op.file == file && is_begun {
                operation.again = true;
            }
        }
    }

    /// Holds a read back that has been answered, or makes it again if it must be and can be.
    pub(super) fn hold_or_redo(&mut self, tag: u32) {
        let Operation { op, again, flow, .. } = self.operations[tag as usize];
        if self.is_doubtful(op.file) || !again {
            return self.hold(tag);
        }
        if flow != NONE {
            // The service sees it twice.
            self.counters[flow as usize].replays += 1;
        }
        let operation = &mut self.operations[tag as usize];
        (operation.bytes, operation.is_answered, operation.again) = (0, false, false);
        self.begin(tag);
    }
}
