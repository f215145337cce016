//! The replies of the server: sent immediately, or deferred by limits and delays and sent when due.

use super::Server;
use super::connection::Connection;
use crate::counters::Procedure;
use crate::ids::{ConnectionId, RequestId};
use crate::notice::NoticeKind;
use crate::procedures::{Performed, Shortage};
use crate::reply::Reply;
use crate::service::{Arrival, DueRequest};

/// A deferred reply, and what is counted when it is sent.
#[derive(Debug, Default)]
pub(super) struct DeferredReply {
    pub(super) reply: Reply,
    /// Its index in the connection's list.
    position: usize,
    bytes: u64,
    failed: bool,
}

/// State of the deferred replies of all connections.
#[derive(Debug, Default)]
pub(super) struct Deferral {
    /// Deferred replies of open connections.
    pub(super) count: usize,
    /// See [`Server::reserve_deferred`].
    pub(super) reserve: usize,
    /// When the replies that the last [`Server::advance`] released were due.
    pub(super) released_ns: Vec<u64>,
    due: Vec<DueRequest>,
    /// The reply being prefetched, and its next part.
    prefetching: Option<(RequestId, usize)>,
}

impl Server {
    /// Allocates memory for `count` deferred replies, some 400 bytes each, if limits or delays can
    /// defer any. More replies allocate as they arrive: each new page may cost a virtual machine
    /// 100 us, during which no reply is sent.
    pub fn reserve_deferred(&mut self, count: usize) {
        self.deferral.reserve = count;
        self.service.reserve_deferred(count);
    }

    /// Replies deferred by limits or delays, of open connections.
    pub const fn deferred(&self) -> usize {
        self.deferral.count
    }

    /// Frees the memory of a past peak of deferred replies once no connection is open.
    pub(super) fn shrink_deferred(&mut self) {
        if self.connections.len() == 0 {
            self.service.shrink_deferred(self.deferral.reserve);
        }
    }

    /// Whether the last [`Server::advance`] released deferred replies.
    pub const fn has_released(&self) -> bool {
        !self.deferral.released_ns.is_empty()
    }

    /// Counts how late the replies were sent that the last [`Server::advance`] released.
    pub fn released_were_sent(&mut self, now_ns: u64) {
        for due_ns in self.deferral.released_ns.drain(..) {
            self.service.sent(now_ns, due_ns);
        }
    }

    /// Reads a part of a reply that is sent later, and returns whether there was one. This brings its
    /// memory into the cache (125 us for some pages of a virtual machine) before the reply is due.
    pub fn prefetch(&mut self) -> bool {
        let first = |(request, _)| (request, 0);
        let next = self.deferral.prefetching.or_else(|| self.service.next_deferred().map(first));
        let Some((request, part)) = next else { return false };
        let deferred = self.service.reply(request);
        let has_more = deferred.is_some_and(|deferred| deferred.reply.prefetch(part));
        self.deferral.prefetching = has_more.then_some((request, part + 1));
        true
    }

    /// Sends the reply in `self.reply`, or defers it.
    pub(super) fn send_or_defer(&mut self, now_ns: u64, id: ConnectionId, performed: &Performed) {
        let connection = self.connections.get_mut(id).expect("its request was just performed");
        if let Some(Shortage::Memory) = performed.shortage {
            let memory = self.options.memory;
            self.notices.log_limited(now_ns, NoticeKind::OutOfMemory, || {
                format!(
                    "answered NFS3ERR_NOSPC to {}: the volumes use all of their {memory} of memory; \
                     remove files, or start with a larger --memory",
                    connection.remote
                )
            });
        }
        let volume = performed.volume.and_then(|volume| *self.volumes.get(volume.get())?);
        let (Some(volume), Some(procedure)) = (volume, nfs_procedure(performed)) else {
            self.service.without_volume(id);
            return connection.send(&mut self.reply);
        };
        self.is_dirty = true;
        let Performed { bytes, failed, .. } = *performed;
        match self.service.arrive(now_ns, id, volume, procedure, bytes, 0) {
            Ok(Arrival::Due(due)) => {
                connection.send(&mut self.reply);
                self.service.answered(&due, bytes, failed);
            }
            Ok(Arrival::Deferred(request)) => {
                let deferred = self.service.reply_mut(request).expect("it was just deferred");
                std::mem::swap(&mut deferred.reply, &mut self.reply);
                (deferred.bytes, deferred.failed) = (bytes, failed);
                deferred.position = connection.deferred.len();
                connection.deferred_own_bytes += deferred.reply.own_bytes();
                connection.deferred.push(request);
                self.deferral.count += 1;
            }
            // Unreachable, because exports and limits have the same volumes at the same endpoints.
            // The client is answered all the same.
            Err(_) => connection.send(&mut self.reply),
        }
    }

    /// Sends deferred replies due by `now_ns`.
    pub(super) fn release_due_replies(&mut self, now_ns: u64) {
        self.deferral.released_ns.clear();
        if self.service.next_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            let mut all = std::mem::take(&mut self.deferral.due);
            self.service.advance(now_ns, &mut all);
            for due in all.drain(..) {
                self.send_deferred(&due);
            }
            self.deferral.due = all;
            self.shrink_deferred();
        }
    }

    fn send_deferred(&mut self, due: &DueRequest) {
        let request = due.request.expect("advance returns deferred requests");
        let connection = self.connections.get_mut(due.connection);
        let connection = connection.expect("advance returns requests of open connections");
        let deferred = self.service.reply_mut(request).expect("its reply was deferred");
        let DeferredReply { ref mut reply, position, bytes, failed } = *deferred;
        connection.deferred.swap_remove(position);
        connection.deferred_own_bytes -= reply.own_bytes();
        connection.send(reply);
        reply.recycle();
        if let Some(moved) = connection.deferred.get(position) {
            let moved = self.service.reply_mut(*moved).expect("the list has deferred replies");
            moved.position = position;
        }
        self.deferral.count -= 1;
        self.deferral.released_ns.push(due.due_ns);
        self.service.answered(due, bytes, failed);
        self.mark_ready(due.connection);
    }

    /// Drops the deferred replies of a connection that closed.
    pub(super) fn drop_deferred(&mut self, closed: &Connection) {
        self.deferral.count -= closed.deferred.len();
        for request in &closed.deferred {
            if let Some(deferred) = self.service.reply_mut(*request) {
                deferred.reply.recycle();
            }
        }
    }
}

/// The procedure as counters name it; `None` for MOUNT and the portmapper.
fn nfs_procedure(performed: &Performed) -> Option<Procedure> {
    match performed.procedure {
        nfs3::procedure::Procedure::Nfs(procedure) => Procedure::from_number(procedure as u32),
        _ => None,
    }
}
