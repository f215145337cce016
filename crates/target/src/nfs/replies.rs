//! The effect of a reply on its call, and of a call's end on its operation.

use nfs3::arguments::stable_how;
use nfs3::client::{Completion as Reply, Received, ReplyError};
use nfs3::procedure::NfsProcedure;
use nfs3::results::Res3;
use nfs3::types::{nfsstat3, writeverf3};
use workload::op::OpKind;

use super::calls::{Call, CallKind, NONE};
use super::core::{Core, EPROTO, Operation};
use super::error::{errno, refused_errno};
use super::fault::{self, ProtocolFault, Violation};
use super::flow::Flow;
use super::names::{NameCall, NameReply, NoReply, name_reply};
use super::session::JUKEBOX;
use crate::Completion;

/// The content of a reply.
enum Outcome {
    Failed(i32),
    Faulty(Violation),
    Jukebox,
    Read { bytes: u32, eof: bool },
    Written { bytes: u32, committed: stable_how, verifier: writeverf3 },
    Committed { verifier: writeverf3 },
    Named(NameReply),
}

impl Core {
    /// Processes the bytes received on a connection. Returns false if the stream is unusable and
    /// the connection must be closed.
    pub(super) fn received(&mut self, connection: usize, mut input: &[u8]) -> bool {
        self.flows[connection].heard_ns = self.now_ns;
        let counters = &mut self.counters[connection];
        self.flows[connection].count_time(self.now_ns, counters);
        loop {
            let Flow { client, call_of, is_sent, .. } = &mut self.flows[connection];
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
            let keep = self.settings.keep_read_data;
            let memory = match call.kind {
                CallKind::Read | CallKind::Name(NameCall::Read) if keep => {
                    let memory = self.buffers.slot(call.operation as usize);
                    Some(&mut memory[call.buffer_offset as usize..])
                }
                _ => None,
            };
            let outcome = match (call.kind, &self.names) {
                (CallKind::Name(name), Some(names)) => {
                    let text = names.link_text(call.operation);
                    let text = text.as_ref().map_or(&b""[..], |text| text.as_bytes());
                    let request = ((call.offset, call.count), names.stable(call.operation));
                    named(name_reply(&reply, name, request, text, memory))
                }
                _ => outcome(&reply, call, memory),
            };
            self.flows[connection].answered();
            self.apply_outcome(connection, index, outcome);
            // Also if the connection is abandoned below: otherwise the calls that wait for its slot
            // would never start.
            self.refill(connection);
            if !was_sent {
                // A reply to a call that was not sent completely: the server violates the protocol.
                return false;
            }
        }
    }

    /// Applies the outcome of a call.
    fn apply_outcome(&mut self, connection: usize, index: u32, outcome: Outcome) {
        let call = self.calls[index];
        match outcome {
            Outcome::Jukebox => {
                self.counters[connection].retries += 1;
                let call = &mut self.calls[index];
                let least = JUKEBOX.start().as_nanos() as u64;
                call.wait_ns = (call.wait_ns * 2).clamp(least, JUKEBOX.end().as_nanos() as u64);
                call.due_ns = self.now_ns + call.wait_ns;
                self.next_ns = self.next_ns.min(call.due_ns);
                self.jukebox.push(&mut self.calls, index);
            }
            Outcome::Failed(errno) => self.fail(index, errno),
            Outcome::Faulty(violation) => {
                let procedure = match call.kind {
                    CallKind::Read => NfsProcedure::READ,
                    CallKind::Write(_) => NfsProcedure::WRITE,
                    CallKind::Commit { .. } => NfsProcedure::COMMIT,
                    CallKind::Name(name) => name.procedure(),
                };
                let request = (call.offset, call.count);
                let fault = ProtocolFault::of_transfer(procedure, request, violation);
                self.faults.note(call.file, fault);
                self.fail(index, EPROTO);
            }
            Outcome::Read { bytes, eof } => {
                self.counters[connection].kinds[OpKind::Read as usize].bytes += u64::from(bytes);
                self.moved(index, bytes, eof);
            }
            Outcome::Written { bytes, committed, verifier } => {
                let counters = &mut self.counters[connection];
                counters.kinds[OpKind::Write as usize].bytes += u64::from(bytes);
                if call.operation >= self.settings.queue_depth {
                    counters.rewritten_bytes += u64::from(bytes);
                }
                let epoch = self.epoch_of(connection, verifier);
                if committed == stable_how::UNSTABLE {
                    let operation = &mut self.operations[call.operation as usize];
                    operation.epoch = operation.epoch.min(epoch);
                }
                self.moved(index, bytes, false);
            }
            Outcome::Committed { verifier } => self.committed(connection, index, verifier),
            Outcome::Named(reply) => {
                if let CallKind::Name(name) = call.kind {
                    let counters = &mut self.counters[connection];
                    counters.kinds[name.kind() as usize].bytes += u64::from(reply.bytes);
                }
                self.named(index, Ok(reply));
            }
        }
    }

    /// Notes that a call has moved bytes. If they are fewer than requested, it continues.
    fn moved(&mut self, index: u32, bytes: u32, eof: bool) {
        let call = &mut self.calls[index];
        self.operations[call.operation as usize].bytes += bytes;
        if bytes == call.count || eof {
            return self.end_call(index);
        }
        call.buffer_offset += bytes;
        call.offset += u64::from(bytes);
        call.count -= bytes;
        self.start(index);
    }

    pub(super) fn fail(&mut self, index: u32, errno: i32) {
        if let CallKind::Name(_) = self.calls[index].kind {
            return self.named(index, Err(errno));
        }
        let Call { operation, file, kind, .. } = self.calls[index];
        if operation == NONE {
            // A COMMIT of the target's own: the data it was for is not durable. The COMMIT of a
            // restart check may cover no data of this file.
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
            if tag >= self.settings.queue_depth {
                self.end_rewrite(tag);
            } else if self.must_defer_completion(tag) {
                self.operations[tag as usize].is_answered = true;
                self.defer_or_repeat_read(tag);
            } else {
                self.end_operation(tag);
            }
        }
    }

    /// Completes an operation.
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

/// Decodes a reply; the data of a READ goes into `memory`, if given.
fn outcome(reply: &Reply<'_>, call: &Call, memory: Option<&mut [u8]>) -> Outcome {
    let request = (call.offset, call.count);
    let outcome = match call.kind {
        CallKind::Read => reply.read().map(|read| match read {
            Res3::Ok(ok) => {
                let data = ok.data.0;
                if let Some(fault) = fault::of_read(request, ok.count, data.len(), ok.eof) {
                    return Outcome::Faulty(fault.violation);
                }
                if let Some(memory) = memory {
                    memory[..data.len()].copy_from_slice(data);
                }
                Outcome::Read { bytes: ok.count, eof: ok.eof }
            }
            Res3::Fail(status, _) => failed(status),
        }),
        CallKind::Write(requested) => reply.write().map(|write| match write {
            Res3::Ok(ok) => match fault::of_write(request, requested, ok.count, ok.committed) {
                Some(fault) => Outcome::Faulty(fault.violation),
                None => {
                    Outcome::Written { bytes: ok.count, committed: ok.committed, verifier: ok.verf }
                }
            },
            Res3::Fail(status, _) => failed(status),
        }),
        CallKind::Commit { .. } => reply.commit().map(|commit| match commit {
            Res3::Ok(ok) => Outcome::Committed { verifier: ok.verf },
            Res3::Fail(status, _) => failed(status),
        }),
        CallKind::Name(_) => unreachable!("they are decoded as operations on names"),
    };
    outcome.unwrap_or_else(|error| match error {
        ReplyError::Refused(status) => Outcome::Failed(refused_errno(&status)),
        ReplyError::Malformed(error) => Outcome::Faulty(Violation::Unreadable(error)),
        ReplyError::OtherProcedure(_) => unreachable!("each reply is decoded as its call's"),
    })
}

fn named(reply: Result<NameReply, NoReply>) -> Outcome {
    match reply {
        Ok(reply) => Outcome::Named(reply),
        Err(NoReply::Jukebox) => Outcome::Jukebox,
        Err(NoReply::Failed(errno)) => Outcome::Failed(errno),
        Err(NoReply::Faulty(violation)) => Outcome::Faulty(violation),
    }
}

fn failed(status: nfsstat3) -> Outcome {
    match status {
        nfsstat3::NFS3ERR_JUKEBOX => Outcome::Jukebox,
        status => Outcome::Failed(errno(status)),
    }
}
