//! One worker's client as its target: the NFS client without sockets, in virtual time.

use target::nfs::sans_io::SansIoClient;
use target::{Completion, Target, TargetError, Wait};
use workload::connection::ConnectionCounters;
use workload::op::{Op, OpKind};

/// A client and the completions for its worker.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) client: SansIoClient,
    /// The number of its first connection among those of the process.
    pub(crate) first_link: usize,
    pub(crate) done: Vec<Completion>,
    /// By tag: the outstanding operation.
    ops: Vec<Option<Op>>,
    /// Successful writes.
    pub(crate) written: Vec<Op>,
}

impl Station {
    pub(crate) fn new(client: SansIoClient, first_link: usize, queue_depth: u32) -> Station {
        let ops = vec![None; queue_depth as usize];
        Station { client, first_link, done: Vec::new(), ops, written: Vec::new() }
    }

    /// Whether operations have completed.
    pub(crate) fn has_done(&mut self) -> bool {
        self.client.take_done(&mut self.done);
        !self.done.is_empty()
    }
}

impl Target for Station {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.ops[tag as usize] = Some(*op);
        self.client.submit(tag, op);
        Ok(())
    }

    /// Does not wait: the event loop advances the time.
    fn reap(&mut self, _wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.client.take_done(&mut self.done);
        for Completion { tag, result } in &self.done {
            let op = self.ops[*tag as usize].take().expect("only outstanding operations complete");
            if op.kind == OpKind::Write && *result == op.size_bytes as i32 {
                self.written.push(op);
            }
        }
        done.append(&mut self.done);
        Ok(())
    }

    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        Some(self.client.buffer(tag))
    }

    fn connections(&mut self) -> &[ConnectionCounters] {
        self.client.connections()
    }
}
