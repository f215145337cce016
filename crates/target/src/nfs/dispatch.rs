//! Assigns calls to connections according to the policy; calls wait if no connection has a free
//! slot.

use nfs3::arguments::COMMIT3args;
use nfs3::request::{Arguments, NfsArguments};
use workload::op::OpKind;

use super::calls::{CallKind, NONE};
use super::core::Core;
use super::flow::{Flow, Link};
use super::url::Policy;

impl Core {
    /// Starts a call on a connection, or queues it until one has a free slot.
    pub(super) fn start(&mut self, call: u32) {
        let connection = match self.settings.policy {
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
        match connection {
            Some(flow) => self.issue(flow, call),
            None => self.waiting.push(&mut self.calls, call),
        }
    }

    /// The next connection in turn. One with more outstanding calls than the mean is skipped, as
    /// nconnect of the Linux client does (net/sunrpc/xprtmultipath.c). A connection keeps its turn
    /// while it has fewer than the mean, so that calls issued after a batch of replies are sent
    /// together over the connection that has just become free.
    pub(super) fn next_in_turn(&mut self) -> Option<usize> {
        let all = self.flows.len();
        let mut least = None;
        for step in 0..all {
            let connection = (self.turn + step) % all;
            let flow = &self.flows[connection];
            if flow.client.room() == 0 {
                continue;
            }
            let own = flow.client.outstanding();
            if flow.link == Link::Up && own * all <= self.outstanding {
                let stays = (own + 1) * all <= self.outstanding + 1;
                self.turn = if stays { connection } else { (connection + 1) % all };
                return Some(connection);
            }
            let rank = (flow.link != Link::Up, own);
            if least.is_none_or(|(least, _)| rank < least) {
                least = Some((rank, connection));
            }
        }
        let (_, connection) = least?;
        self.turn = (connection + 1) % all;
        Some(connection)
    }

    pub(super) fn least_outstanding(&mut self) -> Option<usize> {
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

    /// Issues a call on a connection with a free slot.
    pub(super) fn issue(&mut self, connection: usize, index: u32) {
        let call = &self.calls[index];
        let flow = &mut self.flows[connection];
        let counters = &mut self.counters[connection];
        flow.count_time(self.now_ns, counters);
        let file = || &self.files[call.file as usize];
        let (slot, kind) = match call.kind {
            CallKind::Read => {
                (flow.client.read(&file().read, call.offset, call.count), OpKind::Read)
            }
            CallKind::Write(stable) => {
                (flow.client.write(&file().write, call.offset, call.count, stable), OpKind::Write)
            }
            CallKind::Commit { .. } => {
                let args = COMMIT3args { file: file().handle.fh(), offset: 0, count: 0 };
                let arguments = Arguments::Nfs(NfsArguments::COMMIT(args));
                (flow.client.call(&self.settings.caller.credential(), &arguments), OpKind::Fsync)
            }
            CallKind::Name(name) => {
                let names = self.names.as_mut().expect("such calls are of operations on names");
                let credential = self.settings.caller.credential();
                (names.encode(&mut flow.client, &credential, call), name.kind())
            }
        };
        flow.begin(slot.expect("the connection has a free slot"), index);
        counters.kinds[kind as usize].calls += 1;
        self.outstanding += 1;
        if !flow.is_listed {
            flow.is_listed = true;
            self.unsent.push(connection as u32);
        }
        if call.operation != NONE {
            let operation = &mut self.operations[call.operation as usize];
            if operation.flow == NONE {
                operation.flow = connection as u32;
            }
        }
    }

    /// Issues waiting calls on a connection that has free slots again.
    #[inline]
    pub(super) fn refill(&mut self, connection: usize) {
        while self.flows[connection].client.room() > 0 {
            let mut list = self.flows[connection].waiting;
            if let Some(call) = list.pop(&self.calls) {
                self.flows[connection].waiting = list;
                self.issue(connection, call);
            } else if let Some(call) = self.waiting.pop(&self.calls) {
                self.issue(connection, call);
            } else {
                return;
            }
        }
    }
}
