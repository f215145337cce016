//! The files of a stream on an export, over this worker's share of the connections.
//!
//! The loop around [`super::core::Core`]: what is submitted goes out in one system call for each
//! connection, and what has arrived is taken in one. With one connection there is nothing to choose
//! from, so a wait is the receiving call itself.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use nfs3::arguments::stable_how;
use nfs3::rpc::MAX_AUTH_BYTES;
use nfs3::types::{Handle, NFS3_FHSIZE};
use workload::connection::{ConnectionCounters, TcpState};
use workload::op::{Op, OpKind};
use workload::plan::WriteStability;

use super::calls::Calls;
use super::channel::{REPLY_HEAD_BYTES, first_generation};
use super::core::{Core, REWRITES, Setting};
use super::fault::ProtocolFault;
use super::flow::Flow;
use super::session::Mounted;
use super::sockets::Sockets;
use crate::{Completion, Fault, Target, TargetError, Wait, posix};

/// Makes the data of an operation again, which a server has lost before it was committed: what
/// should now stand in its place.
pub type Rewrite = Arc<dyn Fn(&Op, &mut [u8]) + Send + Sync>;

/// Operations that are remembered until they are committed: 2 GiB of 8 KiB writes in 10 MiB. Half
/// of it taken, the target commits by itself.
pub const UNCOMMITTED_MAX: usize = 1 << 18;
/// Silence after which a server does not count as one that answers: half of the second within which
/// an interrupt has to take effect.
const UNRESPONSIVE_NS: u64 = 500_000_000;
/// Calls beside those of operations: COMMITs of the target's own.
const OWN_CALLS: usize = 16;
/// The head of a call without its credential and handle: record mark, RPC, the arguments of WRITE.
const CALL_BYTES: usize = 80;

/// The files that a worker works on, and over which connections.
#[derive(Clone)]
pub struct NfsAccess {
    /// The export.
    pub mounted: Arc<Mounted>,
    /// The numbers of this worker's connections among those of the process: connection *i* goes to
    /// server *i* modulo their number.
    pub connections: std::ops::Range<u32>,
    /// The files, in the order of `Op::file`.
    pub files: Vec<Handle>,
    /// How safe the data of a write is before the write has ended.
    pub stability: WriteStability,
    /// Largest transfer, in bytes.
    pub transfer_size_max_bytes: u64,
    /// Whether what is read is kept in the slot's memory, to be verified.
    pub keep_read_data: bool,
    /// Makes the data of a write again; without it data that a server loses is an error of the
    /// next fsync.
    pub rewrite: Option<Rewrite>,
    /// Operations that are remembered until they are committed, [`UNCOMMITTED_MAX`].
    pub uncommitted_max: usize,
}

impl std::fmt::Debug for NfsAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NfsAccess")
            .field("url", &self.mounted.url.to_string())
            .field("connections", &self.connections)
            .field("files", &self.files.len())
            .field("stability", &self.stability)
            .field("keep_read_data", &self.keep_read_data)
            .finish_non_exhaustive()
    }
}

/// The files of a stream on an export.
pub struct NfsFiles {
    core: Core,
    sockets: Sockets,
    start: Instant,
    /// Operations that were submitted and have not been reaped.
    outstanding: usize,
    /// The core's time was set since the last reap.
    is_time_set: bool,
}

impl std::fmt::Debug for NfsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NfsFiles({} connections)", self.core.flows.len())
    }
}

impl NfsFiles {
    /// Makes the connections, for `queue_depth` operations.
    ///
    /// # Errors
    /// A connection cannot be made, or there is no memory.
    pub fn open(access: &NfsAccess, queue_depth: u32) -> Result<NfsFiles, TargetError> {
        let mounted = &access.mounted;
        let sockets = Sockets::open(&servers(access), &mounted.url)?;
        let mut core = core(access, queue_depth, first_generation)?;
        for (place, counters) in core.counters.iter_mut().enumerate() {
            sockets.name_ends(place, counters);
        }
        Ok(NfsFiles { core, sockets, start: Instant::now(), outstanding: 0, is_time_set: false })
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// Where the connections of a worker go to, in the order of their places.
fn servers(access: &NfsAccess) -> Vec<SocketAddr> {
    let servers = &access.mounted.servers;
    access.connections.clone().map(|number| servers[number as usize % servers.len()]).collect()
}

/// The core for what a worker opens.
pub(super) fn core(
    access: &NfsAccess,
    queue_depth: u32,
    mut first_generation: impl FnMut() -> u32,
) -> Result<Core, TargetError> {
    let mounted = &access.mounted;
    let most = |limit: u32| limit.min(access.transfer_size_max_bytes.max(1) as u32);
    let (rsize, wsize) = (most(mounted.rsize_bytes), most(mounted.wsize_bytes));
    let calls_per_op = access.transfer_size_max_bytes.div_ceil(u64::from(rsize.min(wsize)));
    let slots_of_memory = queue_depth as usize + REWRITES;
    let calls = slots_of_memory * calls_per_op.max(1) as usize + OWN_CALLS;
    let slots = (mounted.url.slots as usize).min(calls) as u32;
    let reply_bytes = rsize as usize + REPLY_HEAD_BYTES;
    let call_bytes = CALL_BYTES + MAX_AUTH_BYTES.min(mounted.caller.bytes()) + NFS3_FHSIZE;
    let setting = Setting {
        queue_depth,
        rsize_bytes: rsize,
        wsize_bytes: wsize,
        policy: mounted.url.policy,
        stability: stability(access.stability),
        keep_read_data: access.keep_read_data,
        rewrite: access.rewrite.clone(),
        timeo_ns: mounted.url.timeo.as_nanos() as u64,
        connect_timeout_ns: mounted.url.connect_timeout.as_nanos() as u64,
        caller: mounted.caller.clone(),
    };
    let flow = |_| Flow::new(slots, reply_bytes, call_bytes, first_generation());
    Ok(Core::new(
        setting,
        &access.files,
        access.connections.clone().map(flow).collect(),
        Calls::new(calls),
        posix::buffers(slots_of_memory, access.transfer_size_max_bytes)?,
        access.uncommitted_max.max(1),
    ))
}

fn stability(stability: WriteStability) -> stable_how {
    match stability {
        WriteStability::Unstable => stable_how::UNSTABLE,
        WriteStability::DataSync => stable_how::DATA_SYNC,
        WriteStability::FileSync => stable_how::FILE_SYNC,
    }
}

impl Target for NfsFiles {
    #[inline]
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        // The core's time is that of the last reap. Where nothing was outstanding, or data has been
        // made or checked since, calls would seem to be outstanding for all that time.
        let after_data = op.kind == OpKind::Write || self.core.setting.keep_read_data;
        if !self.is_time_set && (after_data || self.outstanding == 0) {
            self.core.at(self.now_ns());
            self.is_time_set = true;
        }
        self.outstanding += 1;
        self.core.submit(tag, op);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.sockets.send(&mut self.core);
        let wait = if self.core.done.is_empty() { wait } else { Wait::Look };
        let start = self.start;
        let clock = move || start.elapsed().as_nanos() as u64;
        self.sockets.receive(&mut self.core, wait, &clock)?;
        while let Some(wanted) = self.core.advance() {
            self.sockets.provide(&mut self.core, wanted);
        }
        self.outstanding -= self.core.done.len();
        done.append(&mut self.core.done);
        self.is_time_set = false;
        Ok(())
    }

    #[inline]
    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        Some(self.core.buffers.slot(tag as usize))
    }

    fn faults(&self) -> Vec<Fault> {
        let fault = |(file, fault): &(u32, ProtocolFault)| Fault {
            file: *file,
            description: format!("{}: {fault}", fault.procedure.name()),
        };
        self.core.faults.iter().map(fault).collect()
    }

    fn is_unresponsive(&self) -> bool {
        let now_ns = self.now_ns();
        let mut flows = self.core.flows.iter().filter(|flow| flow.client.outstanding() > 0);
        self.outstanding > 0 && flows.all(|flow| flow.is_silent(now_ns, UNRESPONSIVE_NS))
    }

    fn connections(&mut self) -> &[ConnectionCounters] {
        let now_ns = self.now_ns();
        self.core.at(now_ns);
        self.core.bring_counters_to(now_ns);
        for (place, counters) in self.core.counters.iter_mut().enumerate() {
            counters.tcp = self.sockets.tcp(place).or(counters.tcp);
        }
        &self.core.counters
    }
}

/// What is left of a socket that is closed, for the counters.
pub(super) fn tcp_state(socket: &OwnedFd, retransmits_before: u64) -> Option<TcpState> {
    // Nothing can be said of a socket that the kernel will not speak of.
    let info = uring::socket::tcp_info(socket).ok()?;
    Some(TcpState {
        rtt_ns: u64::from(info.rtt_us) * 1000,
        rtt_deviation_ns: u64::from(info.rtt_deviation_us) * 1000,
        retransmits: retransmits_before + u64::from(info.retransmits),
    })
}
