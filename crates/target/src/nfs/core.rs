//! The decisions behind [`super::files::NfsFiles`], without sockets and clocks: which calls an
//! operation consists of, which connection carries them, what a reply means, what is repeated.
//!
//! The owner sets the time ([`Core::set_time`]), sends what [`Core::gather`] returns, passes
//! received bytes to [`Core::received`], performs the actions of [`Core::advance`], and takes
//! completed operations from `done`.

use std::sync::Arc;

use nfs3::arguments::stable_how;
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{Handle, writeverf3};
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;
use workload::op::{Op, OpKind};

use super::calls::{CallKind, Calls, List, NONE};
use super::dial::Caller;
use super::fault::Faults;
use super::flow::Flow;
use super::names::Names;
use super::restart_check::RestartCheck;
use super::uncommitted::Uncommitted;
use super::url::Policy;
use crate::Completion;

/// Data of an operation that a server lost before it was committed: the function fills the buffer
/// with what the operation wrote.
pub type Rewrite = Arc<dyn Fn(&Op, &mut [u8]) + Send + Sync>;

/// Linux's EIO: data that the server lost.
pub(super) const EIO: i32 = 5;
/// Linux's EPROTO: a reply that the protocol does not allow.
pub(super) const EPROTO: i32 = 71;
/// How many operations are rewritten concurrently.
pub(super) const REWRITES: usize = 8;

/// An operation, or the rewrite of a lost one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) op: Op,
    pub(super) calls_left: u32,
    pub(super) bytes: u32,
    /// The first failure.
    pub(super) errno: i32,
    /// The earliest epoch of its UNSTABLE writes; `u32::MAX` without any.
    pub(super) epoch: u32,
    /// A completed read that is deferred: it may have returned data from before a restart.
    pub(super) is_answered: bool,
    /// A read that must be repeated when it ends, for the same reason.
    pub(super) must_repeat: bool,
    /// The connection of its first call.
    pub(super) flow: u32,
    /// The next of the operations that its file defers.
    pub(super) next: u32,
}

impl Operation {
    /// An operation without any calls yet.
    pub(super) const fn new(op: Op) -> Operation {
        Operation {
            op,
            calls_left: 0,
            bytes: 0,
            errno: 0,
            epoch: u32::MAX,
            is_answered: false,
            must_repeat: false,
            flow: NONE,
            next: NONE,
        }
    }
}

/// A file of the target.
#[derive(Debug)]
pub(super) struct File {
    pub(super) handle: Handle,
    pub(super) read: ReadTemplate,
    pub(super) write: WriteTemplate,
    /// Writes that were submitted and have not ended.
    pub(super) writes: u32,
    /// The server lost uncommitted data of the file, and it is being rewritten.
    pub(super) is_recovering: bool,
    /// The next log entry to rewrite, if `is_rewriting`.
    pub(super) cursor: u32,
    pub(super) is_rewriting: bool,
    /// Outstanding rewrites.
    pub(super) rewrites: u32,
    /// Operations deferred until the file has recovered: the first and the last.
    pub(super) deferred: (u32, u32),
    /// Why data is lost, as an error number; the next fsync fails with it.
    pub(super) lost_errno: i32,
}

/// The configuration of the core.
pub(super) struct Settings {
    pub(super) queue_depth: u32,
    pub(super) rsize_bytes: u32,
    pub(super) wsize_bytes: u32,
    pub(super) policy: Policy,
    pub(super) stability: stable_how,
    pub(super) keep_read_data: bool,
    pub(super) rewrite: Option<Rewrite>,
    pub(super) timeo_ns: u64,
    pub(super) connect_timeout_ns: u64,
    pub(super) caller: Caller,
}

/// An action for the owner of the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketAction {
    /// Connect this connection; then report that it is connected, or lost if that fails.
    Connect(usize),
    /// Close this connection, which is silent or takes too long to connect; then report it as lost.
    Close(usize),
}

/// The state behind [`super::files::NfsFiles`]; see the module.
pub(super) struct Core {
    pub(super) settings: Settings,
    pub(super) buffers: Buffers,
    pub(super) flows: Vec<Flow>,
    pub(super) counters: Vec<ConnectionCounters>,
    pub(super) calls: Calls,
    pub(super) operations: Vec<Operation>,
    pub(super) files: Vec<File>,
    pub(super) log: Uncommitted,
    /// Of a worker with operations on names, which has no files.
    pub(super) names: Option<Names>,
    /// Connections with something to send.
    pub(super) unsent: Vec<u32>,
    /// Calls that wait for a free slot on any connection.
    pub(super) waiting: List,
    /// Calls to repeat after NFS3ERR_JUKEBOX.
    pub(super) jukebox: List,
    /// The connection whose turn it is.
    pub(super) turn: usize,
    /// Calls outstanding on all connections.
    pub(super) outstanding: usize,
    pub(super) now_ns: u64,
    /// When [`Core::advance`] must be called, at the latest.
    pub(super) next_ns: u64,
    /// The server's current write verifier and the one before; `epoch` numbers the current one.
    pub(super) verifiers: [Option<writeverf3>; 2],
    pub(super) epoch: u32,
    pub(super) recovering: Vec<u32>,
    pub(super) free_rewrites: Vec<u32>,
    /// The next file of a round of the target's own COMMITs; past the last file between rounds.
    pub(super) sweep: u32,
    pub(super) sweep_outstanding: u32,
    pub(super) unstable_writes: usize,
    pub(super) restart_check: RestartCheck,
    pub(super) faults: Faults,
    pub(super) done: Vec<Completion>,
}

impl Core {
    pub(super) fn new(
        settings: Settings,
        files: &[Handle],
        flows: Vec<Flow>,
        calls: Calls,
        buffers: Buffers,
        uncommitted_max: usize,
        names: Option<Names>,
    ) -> Core {
        let depth = settings.queue_depth as usize;
        let op = Op { index: 0, offset_bytes: 0, size_bytes: 0, file: 0, kind: OpKind::Read };
        let unused = Operation::new(op);
        let credential = settings.caller.credential();
        let file = |handle: &Handle| File {
            handle: *handle,
            read: ReadTemplate::new(&credential, handle.fh()),
            write: WriteTemplate::new(&credential, handle.fh()),
            writes: 0,
            is_recovering: false,
            cursor: NONE,
            is_rewriting: false,
            rewrites: 0,
            deferred: (NONE, NONE),
            lost_errno: 0,
        };
        let files: Vec<File> = files.iter().map(file).collect();
        Core {
            counters: vec![ConnectionCounters::default(); flows.len()],
            unsent: Vec::with_capacity(flows.len()),
            operations: vec![unused; depth + REWRITES],
            log: Uncommitted::new(files.len(), uncommitted_max),
            names,
            recovering: Vec::with_capacity(files.len()),
            sweep: files.len() as u32,
            free_rewrites: (depth as u32..(depth + REWRITES) as u32).collect(),
            done: Vec::with_capacity(depth),
            next_ns: settings.silence_check_ns(),
            settings,
            buffers,
            flows,
            calls,
            files,
            waiting: List::EMPTY,
            jukebox: List::EMPTY,
            turn: 0,
            outstanding: 0,
            now_ns: 0,
            verifiers: [None; 2],
            epoch: 0,
            sweep_outstanding: 0,
            unstable_writes: 0,
            restart_check: RestartCheck::default(),
            faults: Faults::new(),
        }
    }

    /// Sets the current time.
    #[inline]
    pub(super) fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// When [`Core::advance`] must be called, at the latest.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Accepts an operation.
    #[inline]
    pub(super) fn submit(&mut self, tag: u32, op: &Op) {
        if op.kind.is_on_names() {
            return self.begin_name(tag, op);
        }
        self.operations[tag as usize] = Operation::new(*op);
        let must_wait = match op.kind {
            OpKind::Read => self.may_be_stale(op.file),
            _ => self.files[op.file as usize].is_recovering,
        };
        if must_wait {
            self.defer(tag);
        } else {
            self.begin(tag);
        }
    }

    /// Starts the calls of an operation.
    pub(super) fn begin(&mut self, tag: u32) {
        let op = self.operations[tag as usize].op;
        let (kind, max) = match op.kind {
            OpKind::Read => (CallKind::Read, self.settings.rsize_bytes),
            OpKind::Fsync => (CallKind::Commit { logged: self.log.number() }, u32::MAX),
            _ => {
                self.files[op.file as usize].writes += 1;
                (CallKind::Write(self.stability()), self.settings.wsize_bytes)
            }
        };
        self.split(tag, kind, max);
    }

    /// Starts the calls of an operation, of at most `max` bytes each.
    pub(super) fn split(&mut self, tag: u32, kind: CallKind, max: u32) {
        let op = self.operations[tag as usize].op;
        self.operations[tag as usize].calls_left = op.size_bytes.div_ceil(max).max(1);
        let mut done = 0;
        loop {
            let count = (op.size_bytes - done).min(max);
            let range = (done, op.offset_bytes + u64::from(done), count);
            let call = self.calls.take(kind, tag, op.file, range);
            self.start(call);
            done += count;
            if done >= op.size_bytes {
                return;
            }
        }
    }

    /// Updates the counters of all connections to `now_ns`.
    pub(super) fn update_counters(&mut self, now_ns: u64) {
        for (flow, counters) in self.flows.iter_mut().zip(&mut self.counters) {
            flow.update_counters(now_ns, counters);
        }
    }
}

impl Settings {
    /// How often connections are checked for silence.
    pub(super) fn silence_check_ns(&self) -> u64 {
        (self.timeo_ns / 4).clamp(1_000_000, 500_000_000)
    }
}
