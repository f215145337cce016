//! Prevents reads from returning data that a server restart has reverted: after a restart, a file
//! has older content until its lost writes are repeated.
//!
//! A restart breaks every connection, so each reconnection starts a check: the target sends a
//! COMMIT. If the write verifier is unchanged, nothing was lost; otherwise the files are rewritten.
//! Reads of a file with uncommitted data are deferred until the reply, and then until the file has
//! recovered; reads that may have returned reverted data are repeated.

use workload::op::OpKind;

use super::calls::{CallKind, NONE};
use super::core::{Core, Operation};

/// Whether the server may have restarted since its last reply.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RestartCheck {
    /// A check is in progress.
    is_open: bool,
    /// Its COMMIT is outstanding.
    is_commit_outstanding: bool,
    /// Number of the latest check. Only a COMMIT sent after the check began decides it.
    number: u64,
}

impl Core {
    /// Starts a check after a reconnection.
    pub(super) fn begin_restart_check(&mut self) {
        if self.log.used() == 0 && self.unstable_writes == 0 {
            // There is nothing to lose.
            return;
        }
        self.restart_check.is_open = true;
        self.restart_check.number += 1;
        if !self.restart_check.is_commit_outstanding {
            self.send_check_commit();
        }
    }

    /// Sends a COMMIT, for a file with uncommitted data if there is one.
    fn send_check_commit(&mut self) {
        self.restart_check.is_commit_outstanding = true;
        let files = 0..self.files.len() as u32;
        let file = files.into_iter().find(|file| !self.log.is_empty(*file)).unwrap_or(0);
        let kind = CallKind::Commit { logged: self.log.number() };
        let call = self.calls.take(kind, NONE, file, (0, self.restart_check.number, 0));
        self.start(call);
    }

    /// Handles the reply to the COMMIT of check `number`. If the verifier changed, recovery has
    /// begun already.
    pub(super) fn end_restart_check(&mut self, number: u64) {
        self.restart_check.is_commit_outstanding = false;
        if number != self.restart_check.number {
            return self.send_check_commit();
        }
        self.restart_check.is_open = false;
        for file in 0..self.files.len() as u32 {
            if !self.files[file as usize].is_recovering {
                self.release_deferred(file);
            }
        }
    }

    /// Whether a file may have older content than was last written to it.
    #[inline]
    pub(super) fn may_be_stale(&self, file: u32) -> bool {
        self.files[file as usize].is_recovering
            || self.restart_check.is_open && !self.log.is_empty(file)
    }

    /// Whether an operation with all replies must not complete yet.
    #[inline]
    pub(super) fn must_defer_completion(&self, tag: u32) -> bool {
        let Operation { op, errno, must_repeat, .. } = self.operations[tag as usize];
        op.kind == OpKind::Read && errno == 0 && (must_repeat || self.may_be_stale(op.file))
    }

    /// A file has recovered: reads of it that have begun must be repeated.
    pub(super) fn repeat_reads(&mut self, file: u32) {
        for operation in &mut self.operations[..self.settings.queue_depth as usize] {
            let is_begun = operation.calls_left > 0 || operation.is_answered;
            if operation.op.kind == OpKind::Read && operation.op.file == file && is_begun {
                operation.must_repeat = true;
            }
        }
    }

    /// Repeats an answered read if that is necessary and possible; otherwise defers it.
    pub(super) fn defer_or_repeat_read(&mut self, tag: u32) {
        let Operation { op, must_repeat, flow, .. } = self.operations[tag as usize];
        if self.may_be_stale(op.file) || !must_repeat {
            return self.defer(tag);
        }
        if flow != NONE {
            // The service counts the read twice.
            self.counters[flow as usize].replays += 1;
        }
        let operation = &mut self.operations[tag as usize];
        (operation.bytes, operation.is_answered, operation.must_repeat) = (0, false, false);
        self.begin(tag);
    }
}
