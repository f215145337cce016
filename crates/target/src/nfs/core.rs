//! What decides behind [`super::files::NfsFiles`], without sockets and clocks: which calls an
//! operation is made of, which connection carries them, what a reply means, what is done again.
//!
//! The owner says what time it is ([`Core::at`]), sends what [`Core::gather`] gives, feeds what
//! arrives to [`Core::received`], makes the connections that [`Core::advance`] asks for, and takes
//! the ends of operations from `done`.

use nfs3::arguments::stable_how;
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{Handle, writeverf3};
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;
use workload::op::{Op, OpKind};

use super::calls::{CallKind, Calls, List, NONE};
use super::dial::Caller;
use super::doubt::Doubt;
use super::fault::Faults;
use super::flow::Flow;
use super::uncommitted::Uncommitted;
use super::url::Policy;
use crate::Completion;

/// Linux's EIO: data that the server lost.
pub(super) const EIO: i32 = 5;
/// Linux's EPROTO: an answer that the protocol does not allow.
pub(super) const EPROTO: i32 = 71;
/// Operations that are written again at a time.
pub(super) const REWRITES: usize = 8;

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
    /// A read that has ended and is held back: it may have seen what stood there before the server
    /// had all data again.
    pub(super) is_answered: bool,
    /// A read that is to be made again when it ends, for the same reason.
    pub(super) again: bool,
    /// Where its first call was sent.
    pub(super) flow: u32,
    /// In the list of those that its file holds back.
    pub(super) next: u32,
}

impl Operation {
    /// One that has just begun.
    pub(super) const fn new(op: Op) -> Operation {
        Operation {
            op,
            calls_left: 0,
            bytes: 0,
            errno: 0,
            epoch: u32::MAX,
            is_answered: false,
            again: false,
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
    pub(super) connect_timeout_ns: u64,
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
    pub(super) waiting: List,
    /// Calls that were answered NFS3ERR_JUKEBOX.
    pub(super) jukebox: List,
    pub(super) turn: usize,
    /// Calls outstanding on all connections.
    pub(super) outstanding: usize,
    pub(super) now_ns: u64,
    /// When [`Core::advance`] has something to do, at the latest.
    pub(super) next_ns: u64,
    /// Where UNSTABLE data is: the present verifier, the one before, the number of the present.
    pub(super) verifiers: [Option<writeverf3>; 2],
    pub(super) epoch: u32,
    pub(super) recovering: Vec<u32>,
    pub(super) free_rewrites: Vec<u32>,
    /// The next file that a round of own COMMITs looks at; none is under way at the last.
    pub(super) sweep: u32,
    pub(super) sweep_outstanding: u32,
    pub(super) unstable_writes: usize,
    pub(super) doubt: Doubt,
    pub(super) faults: Faults,
    pub(super) done: Vec<Completion>,
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
        let nothing = Operation::new(op);
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
            outstanding: 0,
            now_ns: 0,
            verifiers: [None; 2],
            epoch: 0,
            sweep_outstanding: 0,
            unstable_writes: 0,
            doubt: Doubt::default(),
            faults: Faults::new(),
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
        self.operations[tag as usize] = Operation::new(*op);
        let is_held = match op.kind {
            OpKind::Read => self.is_doubtful(op.file),
            OpKind::Write | OpKind::Fsync => self.files[op.file as usize].is_recovering,
        };
        if is_held {
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
}

impl Setting {
    /// How often silent connections are looked for.
    pub(super) fn silence_check_ns(&self) -> u64 {
        (self.timeo_ns / 4).clamp(1_000_000, 500_000_000)
    }
}
