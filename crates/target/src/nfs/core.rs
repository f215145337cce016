//! What decides behind [`super::files::NfsFiles`], without sockets and clocks: which calls an
//! operation is made of, which connection carries them, what a reply means, what is done again.
//!
//! The owner says what time it is ([`Core::at`]), sends what [`Core::gather`] gives, feeds what
//! arrives to [`Core::received`], makes the connections that [`Core::advance`] asks for, and takes
//! the ends of operations from `done`.

use nfs3::arguments::{COMMIT3args, stable_how};
use nfs3::client::{Completion as Reply, Received, ReplyError};
use nfs3::procedure::{NfsProcedure, Procedure};
use nfs3::request::{Arguments, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{Handle, nfsstat3, writeverf3};
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;
use workload::op::{Op, OpKind};

use super::calls::{Call, CallKind, Calls, List, NONE};
use super::dial::Caller;
use super::error::{errno, refused_errno};
use super::flow::{Flow, Link};
use super::session::JUKEBOX;
use super::uncommitted::Uncommitted;
use super::url::Policy;
use crate::Completion;

/// Linux's EIO: an answer that makes no sense.
pub(super) const EIO: i32 = 5;
/// Operations that are written again at a time.
pub(super) const REWRITES: usize = 8;
/// COMMITs of the target's own at a time.
const OWN_COMMITS: u32 = 4;

/// An operation, or a write that is done again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) op: Op,
    pub(super) calls_left: u32,
    pub(super) bytes: u32,
    /// The first failure.
    pub(super) errno: i32,
    /// The earliest epoch of its UNSTABLE writes; `u32::MAX` without any.
    pub(super) epoch: u32,
    /// Where its first call was sent.
    pub(super) flow: u32,
    /// In the list of those that its file holds back.
    pub(super) next: u32,
}

/// A file of the target.
#[derive(Debug)]
pub(super) struct File {
    pub(super) handle: Handle,
    read: ReadTemplate,
    write: WriteTemplate,
    /// Writes that were submitted and have not ended.
    pub(super) writes: u32,
    /// Its uncommitted data is being written again.
    pub(super) is_recovering: bool,
    /// The next entry to be written again, once `is_rewriting`.
    pub(super) cursor: u32,
    pub(super) is_rewriting: bool,
    pub(super) rewrites: u32,
    /// Operations held back until that is done: the first and the last.
    pub(super) held: (u32, u32),
    /// Data is lost, for this reason; the next fsync says so.
    pub(super) lost_errno: i32,
}

/// What the core is made with.
pub(super) struct Setting {
    pub(super) queue_depth: u32,
    pub(super) rsize_bytes: u32,
    pub(super) wsize_bytes: u32,
    pub(super) policy: Policy,
    pub(super) stability: stable_how,
    pub(super) keep_read_data: bool,
    pub(super) rewrite: Option<super::files::Rewrite>,
    pub(super) timeo_ns: u64,
    pub(super) caller: Caller,
}

/// What the owner of the sockets is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Make this connection.
    Connect(u32),
    /// Close it: it is silent, or takes too long to be made; then tell [`Core::lost`].
    Close(u32),
}

/// See the module.
pub(super) struct Core {
    pub(super) setting: Setting,
    pub(super) buffers: Buffers,
    pub(super) flows: Vec<Flow>,
    pub(super) counters: Vec<ConnectionCounters>,
    pub(super) calls: Calls,
    pub(super) operations: Vec<Operation>,
    pub(super) files: Vec<File>,
    pub(super) log: Uncommitted,
    /// Connections with something to send.
    pub(super) unsent: Vec<u32>,
    /// Calls that wait for a slot of any connection.
    waiting: List,
    /// Calls that were answered NFS3ERR_JUKEBOX.
    pub(super) jukebox: List,
    turn: usize,
    pub(super) now_ns: u64,
    /// When [`Core::advance`] has something to do, at the latest.
    pub(super) next_ns: u64,
    /// Where UNSTABLE data is: the present verifier, the one before, the number of the present.
    verifiers: [Option<writeverf3>; 2],
    pub(super) epoch: u32,
    pub(super) recovering: Vec<u32>,
    pub(super) free_rewrites: Vec<u32>,
    /// The next file that a round of own COMMITs looks at; none is under way at the last.
    sweep: u32,
    sweep_outstanding: u32,
    unstable_writes: usize,
    pub(super) done: Vec<Completion>,
}

/// What a reply says of its call.
enum Outcome {
    Failed(i32),
    Jukebox,
    Read { bytes: u32, eof: bool },
    Written { bytes: u32, committed: stable_how, verifier: writeverf3 },
    Committed { verifier: writeverf3 },
}

impl Core {
    pub(super) fn new(
        setting: Setting,
        files: &[Handle],
        flows: Vec<Flow>,
        calls: Calls,
        buffers: Buffers,
        uncommitted_max: usize,
    ) -> Core {
        let depth = setting.queue_depth as usize;
        let op = Op { index: 0, offset_bytes: 0, size_bytes: 0, file: 0, kind: OpKind::Read };
        let nothing = Operation {
            op,
            calls_left: 0,
            bytes: 0,
            errno: 0,
            epoch: u32::MAX,
            flow: 0,
            next: NONE,
        };
        let credential = setting.caller.credential();
        let file = |handle: &Handle| File {
            handle: *handle,
            read: ReadTemplate::new(&credential, handle.fh()),
            write: WriteTemplate::new(&credential, handle.fh()),
            writes: 0,
            is_recovering: false,
            cursor: NONE,
            is_rewriting: false,
            rewrites: 0,
            held: (NONE, NONE),
            lost_errno: 0,
        };
        let files: Vec<File> = files.iter().map(file).collect();
        Core {
            counters: vec![ConnectionCounters::default(); flows.len()],
            unsent: Vec::with_capacity(flows.len()),
            operations: vec![nothing; depth + REWRITES],
            log: Uncommitted::new(files.len(), uncommitted_max),
            recovering: Vec::with_capacity(files.len()),
            sweep: files.len() as u32,
            free_rewrites: (depth as u32..(depth + REWRITES) as u32).collect(),
            done: Vec::with_capacity(depth),
            next_ns: setting.silence_check_ns(),
            setting,
            buffers,
            flows,
            calls,
            files,
            waiting: List::EMPTY,
            jukebox: List::EMPTY,
            turn: 0,
            now_ns: 0,
            verifiers: [None; 2],
            epoch: 0,
            sweep_outstanding: 0,
            unstable_writes: 0,
        }
    }

    /// Says what time it is.
    #[inline]
    pub(super) fn at(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// When [`Core::advance`] has something to do, at the latest.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes an operation.
    #[inline]
    pub(super) fn submit(&mut self, tag: u32, op: &Op) {
        let operation = &mut self.operations[tag as usize];
        *operation = Operation {
            op: *op,
            calls_left: 0,
            bytes: 0,
            errno: 0,
            epoch: u32::MAX,
            flow: NONE,
            next: NONE,
        };
        if op.kind != OpKind::Read && self.files[op.file as usize].is_recovering {
            self.hold(tag);
        } else {
            self.begin(tag);
        }
    }

    /// Makes the calls of an operation.
    pub(super) fn begin(&mut self, tag: u32) {
        let op = self.operations[tag as usize].op;
        let (kind, most) = match op.kind {
            OpKind::Read => (CallKind::Read, self.setting.rsize_bytes),
            OpKind::Fsync => (CallKind::Commit { logged: self.log.number() }, u32::MAX),
            OpKind::Write => {
                self.files[op.file as usize].writes += 1;
                (CallKind::Write(self.stability()), self.setting.wsize_bytes)
            }
        };
        self.split(tag, kind, most);
    }

    /// How safe the next write is to be: safer than asked for where there is no memory to
    /// remember that it is not.
    fn stability(&mut self) -> stable_how {
        if self.setting.stability != stable_how::UNSTABLE {
            return self.setting.stability;
        }
        self.unstable_writes += 1;
        if self.log.used() + self.unstable_writes > self.log.most() {
            return stable_how::DATA_SYNC;
        }
        stable_how::UNSTABLE
    }

    /// Makes the calls of an operation, of at most `most` bytes each.
    pub(super) fn split(&mut self, tag: u32, kind: CallKind, most: u32) {
        let op = self.operations[tag as usize].op;
        self.operations[tag as usize].calls_left = op.size_bytes.div_ceil(most).max(1);
        let mut at = 0;
        loop {
            let count = (op.size_bytes - at).min(most);
            let place = (at, op.offset_bytes + u64::from(at), count);
            let call = self.calls.take(kind, tag, op.file, place);
            self.start(call);
            at += count;
            if at >= op.size_bytes {
                return;
            }
        }
    }

    /// Gives a call to a connection, or lets it wait for one.
    pub(super) fn start(&mut self, call: u32) {
        let place = match self.setting.policy {
            _ if self.flows.len() == 1 => Some(0).filter(|_| self.flows[0].client.room() > 0),
            Policy::PerFile => {
                let flow = self.calls[call].file as usize % self.flows.len();
                if self.flows[flow].client.room() == 0 {
                    self.flows[flow].waiting.push(&mut self.calls, call);
                    return;
                }
                Some(flow)
            }
            Policy::RoundRobin => self.next_in_turn(),
            Policy::LeastOutstanding => self.least_outstanding(),
        };
        match place {
            Some(flow) => self.issue(flow, call),
            None => self.waiting.push(&mut self.calls, call),
        }
    }

    /// The next connection that is up and has room; one that is down where none is up.
    fn next_in_turn(&mut self) -> Option<usize> {
        let all = self.flows.len();
        let mut down = None;
        for step in 0..all {
            let flow = (self.turn + step) % all;
            if self.flows[flow].client.room() == 0 {
                continue;
            }
            if self.flows[flow].link == Link::Up {
                self.turn = (flow + 1) % all;
                return Some(flow);
            }
            down = down.or(Some(flow));
        }
        self.turn = down.map_or(self.turn, |flow| (flow + 1) % all);
        down
    }

    fn least_outstanding(&mut self) -> Option<usize> {
        let all = self.flows.len();
        let mut least = None;
        for step in 0..all {
            let flow = (self.turn + step) % all;
            let Flow { client, link, .. } = &self.flows[flow];
            let rank = (*link != Link::Up, client.outstanding());
            if client.room() > 0 && least.is_none_or(|(least, _)| rank < least) {
                least = Some((rank, flow));
                if rank == (false, 0) {
                    break;
                }
            }
        }
        let (_, flow) = least?;
        self.turn = (flow + 1) % all;
        Some(flow)
    }

    /// Makes a call on a connection with room.
    fn issue(&mut self, place: usize, index: u32) {
        let call = &self.calls[index];
        let flow = &mut self.flows[place];
        let counters = &mut self.counters[place];
        flow.count_time(self.now_ns, counters);
        let file = &self.files[call.file as usize];
        let (slot, kind) = match call.kind {
            CallKind::Read => (flow.client.read(&file.read, call.offset, call.count), OpKind::Read),
            CallKind::Write(stable) => {
                (flow.client.write(&file.write, call.offset, call.count, stable), OpKind::Write)
            }
            CallKind::Commit { .. } => {
                let args = COMMIT3args { file: file.handle.fh(), offset: 0, count: 0 };
                let arguments = Arguments::Nfs(NfsArguments::COMMIT(args));
                (flow.client.call(&self.setting.caller.credential(), &arguments), OpKind::Fsync)
            }
        };
        flow.begin(slot.expect("the connection has room"), index);
        counters.kinds[kind as usize].calls += 1;
        if !flow.is_listed {
            flow.is_listed = true;
            self.unsent.push(place as u32);
        }
        if call.operation != NONE {
            let operation = &mut self.operations[call.operation as usize];
            if operation.flow == NONE {
                operation.flow = place as u32;
            }
        }
    }

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
            if !was_sent {
                // An answer to a question that was not finished: the server is out of step.
                return false;
            }
            self.refill(place);
        }
    }

    /// Gives calls that wait to a connection that has room again.
    #[inline]
    fn refill(&mut self, place: usize) {
        while self.flows[place].client.room() > 0 {
            let mut list = self.flows[place].waiting;
            if let Some(call) = list.pop(&self.calls) {
                self.flows[place].waiting = list;
                self.issue(place, call);
            } else if let Some(call) = self.waiting.pop(&self.calls) {
                self.issue(place, call);
            } else {
                return;
            }
        }
    }

    /// Does what a reply asks for.
    fn settle(&mut self, place: usize, index: u32, outcome: Outcome) {
        let call = self.calls[index];
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

    fn fail(&mut self, index: u32, errno: i32) {
        let Call { operation, file, kind, .. } = self.calls[index];
        if operation == NONE {
            // A COMMIT of the target's own: what it was for is not durable.
            self.files[file as usize].lost_errno = errno;
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

    fn end_call(&mut self, index: u32) {
        let tag = self.calls[index].operation;
        self.calls.release(index);
        let operation = &mut self.operations[tag as usize];
        operation.calls_left -= 1;
        if operation.calls_left == 0 {
            if tag < self.setting.queue_depth {
                self.end_operation(tag);
            } else {
                self.end_rewrite(tag);
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

    fn end_write(&mut self, op: &Op, errno: i32, epoch: u32) {
        if self.setting.stability == stable_how::UNSTABLE {
            self.unstable_writes -= 1;
        }
        let file = &mut self.files[op.file as usize];
        file.writes -= 1;
        let is_recovering = file.is_recovering;
        if errno == 0 && epoch != u32::MAX {
            self.log.push(op, epoch);
            if epoch < self.epoch {
                self.recover(op.file);
            } else if self.log.used() > self.log.most() / 2 {
                self.sweep();
            }
        }
        if is_recovering {
            self.rewrite(op.file);
        }
    }

    /// The number of the server's instance that a verifier stands for. A verifier that was not seen
    /// before begins a new one: what the one before had not committed may be lost.
    fn epoch_of(&mut self, verifier: writeverf3) -> u32 {
        if self.verifiers[0] == Some(verifier) {
            return self.epoch;
        }
        if self.verifiers[1] == Some(verifier) {
            // From a reply that was sent before the restart and is looked at after it.
            return self.epoch - 1;
        }
        if self.verifiers[0].is_some() {
            self.epoch += 1;
        }
        self.verifiers = [Some(verifier), self.verifiers[0]];
        for file in 0..self.files.len() as u32 {
            if !self.log.is_empty(file) && self.epoch > 0 {
                self.recover(file);
            }
        }
        self.epoch
    }

    fn committed(&mut self, index: u32, verifier: writeverf3) {
        let Call { operation: tag, file, kind, .. } = self.calls[index];
        let epoch = self.epoch_of(verifier);
        let CallKind::Commit { logged } = kind else { unreachable!("only a COMMIT commits") };
        let is_lost = epoch < self.epoch
            || self.files[file as usize].is_recovering
            || self.log.is_lost(file, self.epoch);
        if !is_lost {
            self.log.committed(file, logged);
        }
        if tag == NONE {
            if is_lost {
                self.recover(file);
            }
            return self.end_own_commit(index);
        }
        if is_lost {
            // It ends when the file's data has been written again.
            self.calls.release(index);
            self.hold(tag);
            return self.recover(file);
        }
        let lost = std::mem::take(&mut self.files[file as usize].lost_errno);
        self.operations[tag as usize].errno = lost;
        self.end_call(index);
    }

    /// Commits file after file, so that what is uncommitted stays within its memory.
    fn sweep(&mut self) {
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

    fn end_own_commit(&mut self, index: u32) {
        self.calls.release(index);
        self.sweep_outstanding -= 1;
        if self.sweep < self.files.len() as u32 {
            self.sweep();
        }
    }
}

impl Setting {
    /// How often silent connections are looked for.
    pub(super) fn silence_check_ns(&self) -> u64 {
        (self.timeo_ns / 4).clamp(1_000_000, 500_000_000)
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
