//! Which connection carries a call: the policies, and what waits for a slot.

use nfs3::arguments::COMMIT3args;
use nfs3::request::{Arguments, NfsArguments};
use workload::op::OpKind;

use super::calls::{CallKind, NONE};
use super::core::Core;
use super::flow::{Flow, Link};
use super::url::Policy;

impl Core {
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

    /// The next connection in turn; one that has more calls outstanding than the mean is passed
    /// over, as nconnect of the Linux client does (net/sunrpc/xprtmultipath.c). It keeps its turn
    /// for as long as it has less than the mean: what is issued after a batch of replies goes out
    /// together, over the connection that has just become free.
    pub(super) fn next_in_turn(&mut self) -> Option<usize> {
        let all = self.flows.len();
        let mut least = None;
        for step in 0..all {
            let place = (self.turn + step) % all;
            let flow = &self.flows[place];
            if flow.client.room() == 0 {
                continue;
            }
            let own = flow.client.outstanding();
            if flow.link == Link::Up && own * all <= self.outstanding {
                let stays = (own + 1) * all <= self.outstanding + 1;
                self.turn = if stays { place } else { (place + 1) % all };
                return Some(place);
            }
            let rank = (flow.link != Link::Up, own);
            if least.is_none_or(|(least, _)| rank < least) {
                least = Some((rank, place));
            }
        }
        let (_, place) = least?;
        self.turn = (place + 1) % all;
        Some(place)
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

    /// Makes a call on a connection with room.
    pub(super) fn issue(&mut self, place: usize, index: u32) {
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
        self.outstanding += 1;
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

    /// Gives calls that wait to a connection that has room again.
    #[inline]
    pub(super) fn refill(&mut self, place: usize) {
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
}
