//! The files of a stream on an export, through one worker's share of the connections.
//!
//! The loop around [`super::core::Core`]: all submitted calls of a connection are sent with one
//! system call, and all received bytes are taken with one. With one connection, waiting is the
//! receiving system call itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use nfs3::arguments::stable_how;
use nfs3::rpc::MAX_AUTH_BYTES;
use nfs3::types::{Handle, NFS3_FHSIZE};
use workload::connection::ConnectionCounters;
use workload::op::Op;
use workload::plan::WriteStability;

use super::calls::Calls;
use super::channel::{REPLY_HEAD_BYTES, first_generation};
use super::core::{Core, REWRITES, Rewrite, Settings};
use super::dial::Caller;
use super::fault::ProtocolFault;
use super::flow::Flow;
use super::names::{EXTRA_CALL_BYTES, Names};
use super::session::Mounted;
use super::sockets::Sockets;
use crate::names::content::WrongByte;
use crate::{Completion, Fault, Target, TargetError, Wait, slot_buffers};

/// Maximum number of uncommitted operations: 2 GiB of 8 KiB writes in 10 MiB of memory. At half of
/// it, the target sends COMMITs on its own.
pub const UNCOMMITTED_MAX: usize = 1 << 18;
/// Silence after which a server counts as unresponsive: half of the second within which an
/// interrupt must take effect.
const UNRESPONSIVE_NS: u64 = 500_000_000;
/// Calls in addition to those of operations: the target's own COMMITs.
const OWN_CALLS: usize = 16;
/// Size of a call without credential and handle, in bytes: record mark, RPC, the arguments of
/// WRITE.
const CALL_BYTES: usize = 80;

/// The files and connections of a worker.
#[derive(Clone)]
pub struct NfsAccess {
    /// The export.
    pub mounted: Arc<Mounted>,
    /// The numbers of this worker's connections among those of the process: connection *i* goes to
    /// server *i* modulo the number of servers.
    pub connections: std::ops::Range<u32>,
    /// The files, indexed by `Op::file`.
    pub files: Vec<Handle>,
    /// How durable a write is when it completes.
    pub stability: WriteStability,
    /// Largest transfer, in bytes.
    pub transfer_size_max_bytes: u64,
    /// Whether read data is stored in the slot's memory, to be verified.
    pub keep_read_data: bool,
    /// Generates the data of a write again; without it, data that a server loses fails the next
    /// fsync.
    pub rewrite: Option<Rewrite>,
    /// Maximum number of uncommitted operations: [`UNCOMMITTED_MAX`].
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
    /// Whether the core's time was set since the last reap.
    is_time_set: bool,
}

impl std::fmt::Debug for NfsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NfsFiles({} connections)", self.core.flows.len())
    }
}

impl NfsFiles {
    /// Opens the connections for `queue_depth` operations.
    ///
    /// # Errors
    /// A connection cannot be opened, or memory cannot be allocated.
    pub fn open(access: &NfsAccess, queue_depth: u32) -> Result<NfsFiles, TargetError> {
        NfsFiles::open_with(access, queue_depth, None)
    }

    /// The same for operations on names.
    pub(super) fn open_with(
        access: &NfsAccess,
        queue_depth: u32,
        names: Option<Names>,
    ) -> Result<NfsFiles, TargetError> {
        let mounted = &access.mounted;
        let sockets = Sockets::open(&servers(access), &mounted.url)?;
        let mut core = core(access, queue_depth, first_generation, names)?;
        for (connection, counters) in core.counters.iter_mut().enumerate() {
            sockets.set_endpoints(connection, counters);
        }
        Ok(NfsFiles { core, sockets, start: Instant::now(), outstanding: 0, is_time_set: false })
    }

    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// The server of each of a worker's connections.
fn servers(access: &NfsAccess) -> Vec<SocketAddr> {
    let servers = &access.mounted.servers;
    access.connections.clone().map(|number| servers[number as usize % servers.len()]).collect()
}

/// Size of the largest call of `caller` without the data of a WRITE, in bytes.
fn call_bytes(caller: &Caller) -> usize {
    CALL_BYTES + MAX_AUTH_BYTES.min(caller.bytes()) + NFS3_FHSIZE
}

/// The core for a worker's files and connections.
pub(super) fn core(
    access: &NfsAccess,
    queue_depth: u32,
    mut first_generation: impl FnMut() -> u32,
    names: Option<Names>,
) -> Result<Core, TargetError> {
    let mounted = &access.mounted;
    let limit = |size: u32| size.min(access.transfer_size_max_bytes.max(1) as u32);
    let (rsize, wsize) = (limit(mounted.rsize_bytes), limit(mounted.wsize_bytes));
    let calls_per_op = access.transfer_size_max_bytes.div_ceil(u64::from(rsize.min(wsize)));
    let operations = queue_depth as usize + REWRITES;
    let calls = operations * calls_per_op.max(1) as usize + OWN_CALLS;
    let slots = (mounted.url.slots as usize).min(calls) as u32;
    let reply_bytes = rsize as usize + REPLY_HEAD_BYTES;
    let settings = Settings {
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
    let extra_bytes = if names.is_some() { EXTRA_CALL_BYTES } else { 0 };
    let message_bytes = call_bytes(&mounted.caller) + extra_bytes;
    let flow = |_| Flow::new(slots, reply_bytes, message_bytes, first_generation());
    Ok(Core::new(
        settings,
        &access.files,
        access.connections.clone().map(flow).collect(),
        Calls::new(calls),
        slot_buffers(operations, access.transfer_size_max_bytes)?,
        access.uncommitted_max.max(1),
        names.map(|names| names.with_replies_of(rsize)),
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
        // The core's time is that of the last reap. Data may have been generated since, even for an
        // operation that is sent with this one, so that this time must not be counted as outstanding.
        if !self.is_time_set {
            self.core.set_time(self.now_ns());
            self.is_time_set = true;
        }
        self.outstanding += 1;
        self.core.submit(tag, op);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.sockets.send(&mut self.core);
        let wait = if self.core.done.is_empty() { wait } else { Wait::Poll };
        let start = self.start;
        let clock = move || start.elapsed().as_nanos() as u64;
        self.sockets.receive(&mut self.core, wait, &clock)?;
        while let Some(action) = self.core.advance() {
            self.sockets.perform(&mut self.core, action);
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

    fn wrong_byte(&mut self, tag: u32) -> Option<WrongByte> {
        self.core.wrong_byte(tag)
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
        self.core.set_time(now_ns);
        self.core.update_counters(now_ns);
        for (connection, counters) in self.core.counters.iter_mut().enumerate() {
            counters.tcp = self.sockets.tcp(connection).or(counters.tcp);
        }
        &self.core.counters
    }
}

#[cfg(test)]
mod tests {
    use nfs3::arguments::stable_how;
    use nfs3::client::{Client, ClientOptions};
    use nfs3::template::WriteTemplate;

    use super::*;

    /// Otherwise a call would allocate while it is measured.
    #[test]
    fn memory_for_calls_has_room_for_the_largest_handle_and_name() {
        for name in ["", "a", &"host".repeat(60)] {
            let caller = Caller::named(name, 0, 0);
            let handle = Handle::new(&[1; NFS3_FHSIZE]).expect("the largest handle");
            let template = WriteTemplate::new(&caller.credential(), handle.fh());
            let options = ClientOptions { slots: 1, max_reply_bytes: 1, first_generation: 0 };
            let mut client = Client::new(options);
            let slot = client.write(&template, 0, 0, stable_how::FILE_SYNC).expect("a free slot");
            let used = client.message(slot).len();
            let room = call_bytes(&caller);
            assert!((used..used + 32).contains(&room), "{used} bytes, room for {room}");
        }
    }
}
