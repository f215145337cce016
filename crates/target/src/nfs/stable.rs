//! Durability of writes: UNSTABLE writes are logged until a COMMIT of the same server instance,
//! which the write verifier identifies. The log's memory is limited.

use nfs3::arguments::stable_how;
use nfs3::types::writeverf3;
use workload::op::Op;

use super::calls::{Call, CallKind, NONE};
use super::core::Core;

/// Maximum of the target's own outstanding COMMITs.
const OWN_COMMITS: u32 = 4;

impl Core {
    /// The stability of the next write: as configured, or DATA_SYNC if the log has no room.
    pub(super) fn stability(&mut self) -> stable_how {
        if self.settings.stability != stable_how::UNSTABLE {
            return self.settings.stability;
        }
        self.unstable_writes += 1;
        if self.log.used() + self.unstable_writes > self.log.max() {
            return stable_how::DATA_SYNC;
        }
        stable_how::UNSTABLE
    }

    pub(super) fn end_write(&mut self, op: &Op, errno: i32, epoch: u32) {
        if self.settings.stability == stable_how::UNSTABLE {
            self.unstable_writes -= 1;
        }
        let file = &mut self.files[op.file as usize];
        file.writes -= 1;
        let is_recovering = file.is_recovering;
        if errno == 0 && epoch != u32::MAX {
            self.log.push(op);
            if epoch < self.epoch {
                self.recover(op.file);
            } else if self.log.used() > self.log.max() / 2 {
                self.sweep();
            }
        }
        if is_recovering {
            self.rewrite(op.file);
        }
    }

    /// The number of the server instance that has this verifier. A new verifier starts a new epoch:
    /// data that the previous instance had not committed may be lost.
    pub(super) fn epoch_of(&mut self, connection: usize, verifier: writeverf3) -> u32 {
        if self.verifiers[0] == Some(verifier) {
            return self.epoch;
        }
        if self.verifiers[1] == Some(verifier) {
            // A reply that was sent before the restart and is processed after it.
            return self.epoch - 1;
        }
        if self.verifiers[0].is_some() {
            self.epoch += 1;
            self.counters[connection].verifier_changes += 1;
        }
        self.verifiers = [Some(verifier), self.verifiers[0]];
        for file in 0..self.files.len() as u32 {
            if !self.log.is_empty(file) && self.epoch > 0 {
                self.recover(file);
            }
        }
        self.epoch
    }

    pub(super) fn committed(&mut self, connection: usize, index: u32, verifier: writeverf3) {
        let Call { operation: tag, file, kind, .. } = self.calls[index];
        self.epoch_of(connection, verifier);
        let CallKind::Commit { logged } = kind else { unreachable!("only a COMMIT commits") };
        // If a log entry is from an earlier epoch, its file is recovering already.
        let is_lost = self.files[file as usize].is_recovering;
        if !is_lost {
            self.log.committed(file, logged);
        }
        if tag == NONE {
            return self.end_own_commit(index);
        }
        if is_lost {
            // It ends when the file has recovered.
            self.calls.release(index);
            return self.defer(tag);
        }
        let lost = std::mem::take(&mut self.files[file as usize].lost_errno);
        self.operations[tag as usize].errno = lost;
        self.end_call(index);
    }

    /// Sends COMMITs for one file after another, to keep the log within its memory.
    pub(super) fn sweep(&mut self) {
        let files = self.files.len() as u32;
        if self.sweep == files && self.sweep_outstanding == 0 {
            self.sweep = 0;
        }
        while self.sweep < files && self.sweep_outstanding < OWN_COMMITS {
            let file = self.sweep;
            self.sweep += 1;
            if self.log.is_empty(file) || self.files[file as usize].is_recovering {
                continue;
            }
            self.sweep_outstanding += 1;
            let kind = CallKind::Commit { logged: self.log.number() };
            let call = self.calls.take(kind, NONE, file, (0, 0, 0));
            self.start(call);
        }
    }

    pub(super) fn end_own_commit(&mut self, index: u32) {
        let check_number = self.calls[index].offset;
        self.calls.release(index);
        if check_number != 0 {
            return self.end_restart_check(check_number);
        }
        self.sweep_outstanding -= 1;
        if self.sweep < self.files.len() as u32 {
            self.sweep();
        }
    }
}
