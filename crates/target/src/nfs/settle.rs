//! What a reply means for its call, and the end of a call for its operation.

use nfs3::arguments::stable_how;
use nfs3::client::{Completion as Reply, Received, ReplyError};
use nfs3::procedure::{NfsProcedure, Procedure};
use nfs3::request::{NfsResults, Results};
use nfs3::results::Res3;
use nfs3::types::{nfsstat3, writeverf3};
use workload::op::OpKind;

use super::calls::{Call, CallKind, NONE};
use super::core::{Core, EIO, Operation};
use super::error::{errno, refused_errno};
use super::flow::Flow;
use super::session::JUKEBOX;
use crate::Completion;

/// What a reply says of its call.
enum Outcome {
    Failed(i32),
    Jukebox,
    Read { bytes: u32, eof: bool },
    Written { bytes: u32, committed: stable_how, verifier: writeverf3 },
    Committed { verifier: writeverf3 },
}

impl Core {
    /// Takes what arrived on a connection. False: the stream is of no use, and the connection must
    /// be closed.
    pub(super) fn received(&mut self, place: usize, mut input: &[u8]) -> bool {
        self.flows[place].heard_ns = self.now_ns;
        let counters = &mut self.counters[place];
        self.flows[place].count_time(self.now_ns, counters);
        loop {
            let Flow { client, call_of, is_sent, .. } = &mut self.flows[place];
            let reply = match client.receive(&mut input) {
                Ok(Some(Received::Completed(reply))) => reply,
                Ok(Some(Received::Stale { .. })) => continue,
                Ok(None) => return true,
                Err(_) => return false,
            };
            self.outstanding -= 1;
            let slot = reply.slot;
            let (index, was_sent) = (call_of[slot as usize], is_sent[slot as usize]);
            let call = &self.calls[index];
            let keep = self.setting.keep_read_data;
            let memory = match call.kind {
                CallKind::Read if keep => {
                    let memory = self.buffers.slot(call.operation as usize);
                    Some(&mut memory[call.at as usize..])
                }
                _ => None,
            };
            let outcome = outcome(&reply, call.count, memory);
            self.flows[place].answered();
            self.settle(place, index, outcome);
            // Also where the connection is given up below: what waits for its slot would else wait
            // for ever.
            self.refill(place);
            if !was_sent {
                // An answer to a question that was not finished: the server is out of step.
                return false;
            }
        }
    }

    /// Does what a reply asks for.
    fn settle(&mut self, place: usize, index: u32, outcome: Outcome) {
        let call = self.calls[index];
        let is_less_safe =
            |committed| matches!(call.kind, CallKind::Write(asked) if committed < asked);
        match outcome {
            Outcome::Jukebox => {
                self.counters[place].retries += 1;
                let call = &mut self.calls[index];
                let least = JUKEBOX.start().as_nanos() as u64;
                call.wait_ns = (call.wait_ns * 2).clamp(least, JUKEBOX.end().as_nanos() as u64);
                call.due_ns = self.now_ns + call.wait_ns;
                self.next_ns = self.next_ns.min(call.due_ns);
                self.jukebox.push(&mut self.calls, index);
            }
            Outcome::Failed(errno) => self.fail(index, errno),
            Outcome::Read { bytes, eof } => {
                self.counters[place].kinds[OpKind::Read as usize].bytes += u64::from(bytes);
                self.moved(index, bytes, eof);
            }
            Outcome::Written { committed, .. } if is_less_safe(committed) => {
                // RFC 1813, section 3.3.7, forbids it; and there may be no memory left to remember
                // it in until a COMMIT.
                self.fail(index, EIO);
            }
            Outcome::Written { bytes, committed, verifier } => {
                self.counters[place].kinds[OpKind::Write as usize].bytes += u64::from(bytes);
                let epoch = self.epoch_of(verifier);
                if committed == stable_how::UNSTABLE {
                    let operation = &mut self.operations[call.operation as usize];
                    operation.epoch = operation.epoch.min(epoch);
                }
                self.moved(index, bytes, false);
            }
            Outcome::Committed { verifier } => self.committed(index, verifier),
        }
    }

    /// A call has moved bytes; where they are fewer than asked for, it goes on with the rest.
    fn moved(&mut self, index: u32, bytes: u32, eof: bool) {
        let call = &mut self.calls[index];
        self.operations[call.operation as usize].bytes += bytes;
        if bytes == call.count || eof {
            return self.end_call(index);
        }
        if bytes == 0 {
            // Neither bytes nor an end: it would be asked for ever.
            return self.fail(index, EIO);
        }
        call.at += bytes;
        call.offset += u64::from(bytes);
        call.count -= bytes;
        self.start(index);
    }

    pub(super) fn fail(&mut self, index: u32, errno: i32) {
        let Call { operation, file, kind, .. } = self.calls[index];
        if operation == NONE {
            // A COMMIT of the target's own: what it was for is not durable.
            // (One that asks in doubt may be for nothing of this file.)
            if !self.log.is_empty(file) {
                self.files[file as usize].lost_errno = errno;
            }
            if let CallKind::Commit { logged } = kind {
                self.log.committed(file, logged);
            }
            return self.end_own_commit(index);
        }
        let operation = &mut self.operations[operation as usize];
        if operation.errno == 0 {
            operation.errno = errno;
        }
        self.end_call(index);
    }

    pub(super) fn end_call(&mut self, index: u32) {
        let tag = self.calls[index].operation;
        self.calls.release(index);
        let operation = &mut self.operations[tag as usize];
        operation.calls_left -= 1;
        if operation.calls_left == 0 {
            if tag >= self.setting.queue_depth {
                self.end_rewrite(tag);
            } else if self.is_too_early(tag) {
                self.operations[tag as usize].is_answered = true;
                self.hold_or_redo(tag);
            } else {
                self.end_operation(tag);
            }
        }
    }

    /// Tells the end of an operation.
    pub(super) fn end_operation(&mut self, tag: u32) {
        let Operation { op, bytes, errno, epoch, flow, .. } = self.operations[tag as usize];
        if flow != NONE {
            self.counters[flow as usize].kinds[op.kind as usize].operations += 1;
        }
        let result = if errno == 0 { bytes as i32 } else { -errno };
        self.done.push(Completion { tag, result });
        if op.kind == OpKind::Write {
            self.end_write(&op, errno, epoch);
        }
    }
}

/// What a reply says; the data of a READ goes into `memory`, where some is given.
fn outcome(reply: &Reply<'_>, count: u32, memory: Option<&mut [u8]>) -> Outcome {
    let told = match reply.procedure {
        Procedure::Nfs(NfsProcedure::READ) => reply.read().map(|read| match read {
            Res3::Ok(ok) if ok.data.0.len() == ok.count as usize && ok.count <= count => {
                if let Some(memory) = memory {
                    memory[..ok.data.0.len()].copy_from_slice(ok.data.0);
                }
                Outcome::Read { bytes: ok.count, eof: ok.eof }
            }
            Res3::Ok(_) => Outcome::Failed(EIO),
            Res3::Fail(status, _) => failed(status),
        }),
        Procedure::Nfs(NfsProcedure::WRITE) => reply.write().map(|write| match write {
            Res3::Ok(ok) if ok.count <= count => {
                Outcome::Written { bytes: ok.count, committed: ok.committed, verifier: ok.verf }
            }
            Res3::Ok(_) => Outcome::Failed(EIO),
            Res3::Fail(status, _) => failed(status),
        }),
        _ => reply.results().map(|results| match results {
            Results::Nfs(NfsResults::COMMIT(Res3::Ok(ok))) => {
                Outcome::Committed { verifier: ok.verf }
            }
            Results::Nfs(NfsResults::COMMIT(Res3::Fail(status, _))) => failed(status),
            _ => Outcome::Failed(EIO),
        }),
    };
    told.unwrap_or_else(|error| match error {
        ReplyError::Refused(status) => Outcome::Failed(refused_errno(&status)),
        ReplyError::Malformed(_) | ReplyError::OtherProcedure(_) => Outcome::Failed(EIO),
    })
}

fn failed(status: nfsstat3) -> Outcome {
    match status {
        nfsstat3::NFS3ERR_JUKEBOX => Outcome::Jukebox,
        status => Outcome::Failed(errno(status)),
    }
}
