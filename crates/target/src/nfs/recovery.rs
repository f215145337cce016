//! Recovery after a server restart, which the write verifier shows: uncommitted data is rewritten
//! from the operations that wrote it. Also recovery after a lost connection.
//!
//! The data of a file is rewritten in its original order (only ranges that do not overlap are
//! rewritten concurrently), and nothing else is written to the file meanwhile, so that the file
//! ends with the same content. No read completes meanwhile, see `restart_check.rs`.

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use rustix::io::Errno;
use workload::op::OpKind;

use super::calls::{CallKind, List, NONE};
use super::core::{Core, EIO, Operation, Settings, SocketAction};
use super::fault::{ProtocolFault, Violation};
use super::flow::Link;

impl Core {
    /// Defers an operation until its file has recovered.
    pub(super) fn defer(&mut self, tag: u32) {
        self.operations[tag as usize].next = NONE;
        let file = &mut self.files[self.operations[tag as usize].op.file as usize];
        match file.deferred {
            (NONE, _) => file.deferred = (tag, tag),
            (_, last) => {
                self.operations[last as usize].next = tag;
                file.deferred.1 = tag;
            }
        }
    }

    /// Starts to rewrite a file's uncommitted data.
    pub(super) fn recover(&mut self, index: u32) {
        let file = &mut self.files[index as usize];
        if !file.is_recovering {
            file.is_recovering = true;
            file.is_rewriting = false;
            self.recovering.push(index);
        }
        self.rewrite(index);
    }

    /// Continues to rewrite a file's data as far as possible.
    pub(super) fn rewrite(&mut self, index: u32) {
        let file = &mut self.files[index as usize];
        if !file.is_recovering || file.writes > 0 {
            return;
        }
        if !file.is_rewriting {
            file.is_rewriting = true;
            file.cursor = self.log.first(index);
            if self.settings.rewrite.is_none() && file.cursor != NONE {
                file.lost_errno = EIO;
                file.cursor = NONE;
                self.note_data_loss(index);
            }
        }
        while self.files[index as usize].cursor != NONE {
            let cursor = self.files[index as usize].cursor;
            let op = self.log.op(index, cursor);
            let depth = self.settings.queue_depth as usize;
            let overlaps = self.operations[depth..].iter().any(|other| {
                other.calls_left > 0
                    && other.op.file == op.file
                    && other.op.offset_bytes < op.offset_bytes + u64::from(op.size_bytes)
                    && op.offset_bytes < other.op.offset_bytes + u64::from(other.op.size_bytes)
            });
            if overlaps {
                return;
            }
            let Some(tag) = self.free_rewrites.pop() else { return };
            let rewrite = self.settings.rewrite.clone().expect("without it nothing is rewritten");
            rewrite(&op, &mut self.buffers.slot(tag as usize)[..op.size_bytes as usize]);
            self.operations[tag as usize] = Operation::new(op);
            let file = &mut self.files[index as usize];
            file.cursor = self.log.after(cursor);
            file.rewrites += 1;
            // FILE_SYNC, so that the rewrite need not be logged again.
            self.split(tag, CallKind::Write(stable_how::FILE_SYNC), self.settings.wsize_bytes);
        }
        if self.files[index as usize].rewrites == 0 {
            self.recovered(index);
        }
    }

    /// Records that data of a file is lost and cannot be rewritten.
    fn note_data_loss(&mut self, index: u32) {
        if let [Some(after), Some(before)] = self.verifiers {
            let violation = Violation::DataLost { before, after };
            let fault = ProtocolFault::of_transfer(NfsProcedure::COMMIT, (0, 0), violation);
            self.faults.note(index, fault);
        }
    }

    /// Ends a rewrite.
    pub(super) fn end_rewrite(&mut self, tag: u32) {
        let Operation { op, errno, .. } = self.operations[tag as usize];
        self.free_rewrites.push(tag);
        let file = &mut self.files[op.file as usize];
        file.rewrites -= 1;
        if errno != 0 {
            file.lost_errno = errno;
        }
        // Other files may have waited for the buffer that is now free.
        for position in (0..self.recovering.len()).rev() {
            if let Some(file) = self.recovering.get(position) {
                self.rewrite(*file);
            }
        }
    }

    /// Ends a file's recovery: its data has been rewritten.
    fn recovered(&mut self, index: u32) {
        self.recovering.retain(|other| *other != index);
        self.log.committed(index, u64::MAX);
        self.files[index as usize].is_recovering = false;
        self.repeat_reads(index);
        self.release_deferred(index);
    }

    /// Starts or completes a file's deferred operations.
    pub(super) fn release_deferred(&mut self, index: u32) {
        let file = &mut self.files[index as usize];
        let mut next = std::mem::replace(&mut file.deferred, (NONE, NONE)).0;
        while next != NONE {
            let tag = next;
            let Operation { op, is_answered, must_repeat, next: after, .. } =
                self.operations[tag as usize];
            next = after;
            match op.kind {
                OpKind::Fsync => {
                    // Its data was rewritten as FILE_SYNC, so no COMMIT is needed.
                    let lost = std::mem::take(&mut self.files[index as usize].lost_errno);
                    self.operations[tag as usize].errno = lost;
                    self.end_operation(tag);
                }
                OpKind::Read if must_repeat => self.defer_or_repeat_read(tag),
                OpKind::Read if is_answered => self.end_operation(tag),
                _ => self.begin(tag),
            }
        }
    }

    /// A connection was lost, or could not be opened, because of `errno`.
    pub(super) fn lost(&mut self, connection: usize, errno: Errno) {
        let flow = &mut self.flows[connection];
        let counters = &mut self.counters[connection];
        flow.count_time(self.now_ns, counters);
        counters.replays += flow.lost(self.now_ns, errno);
        if let Link::Down { until_ns } = flow.link {
            self.wake_at(until_ns);
        }
    }

    /// A connection was opened in place of a lost one: its outstanding calls are sent.
    pub(super) fn connected(&mut self, connection: usize) {
        self.counters[connection].reconnects += 1;
        let flow = &mut self.flows[connection];
        flow.connected(self.now_ns, &mut self.counters[connection]);
        if flow.has_unsent() && !flow.is_listed {
            flow.is_listed = true;
            self.unsent.push(connection as u32);
        }
        self.begin_restart_check();
    }

    /// Does what is due, and returns one action at a time for the owner of the sockets.
    pub(super) fn advance(&mut self) -> Option<SocketAction> {
        if self.now_ns < self.next_ns() {
            return None;
        }
        self.repeat_jukebox_calls();
        let action = self.next_socket_action();
        if action.is_none() {
            self.plan_next();
        }
        action
    }

    /// Repeats the calls whose wait after NFS3ERR_JUKEBOX is over.
    fn repeat_jukebox_calls(&mut self) {
        let mut kept = List::EMPTY;
        while let Some(call) = self.jukebox.pop(&self.calls) {
            if self.calls[call].due_ns <= self.now_ns {
                self.start(call);
            } else {
                kept.push(&mut self.calls, call);
            }
        }
        self.jukebox = kept;
    }

    fn next_socket_action(&mut self) -> Option<SocketAction> {
        let Settings { timeo_ns, connect_timeout_ns, .. } = self.settings;
        let now_ns = self.now_ns;
        for (connection, flow) in self.flows.iter_mut().enumerate() {
            match flow.link {
                Link::Down { until_ns } if until_ns <= now_ns => {
                    flow.link = Link::Connecting { since_ns: now_ns };
                    return Some(SocketAction::Connect(connection));
                }
                Link::Connecting { since_ns } if now_ns - since_ns >= connect_timeout_ns => {
                    return Some(SocketAction::Close(connection));
                }
                Link::Up
                    if flow.client.outstanding() > 0
                        && now_ns.saturating_sub(flow.heard_ns) >= timeo_ns =>
                {
                    return Some(SocketAction::Close(connection));
                }
                _ => {}
            }
        }
        None
    }

    /// Sets the time of the next necessary [`Core::advance`].
    fn plan_next(&mut self) {
        self.next_ns = self.now_ns + self.settings.silence_check_ns();
        for connection in 0..self.flows.len() {
            if let Link::Down { until_ns } = self.flows[connection].link {
                self.wake_at(until_ns);
            }
        }
        let mut next = self.jukebox.first();
        while let Some(call) = next {
            self.wake_at(self.calls[call].due_ns);
            next = self.calls.after(call);
        }
    }

    pub(super) fn wake_at(&mut self, at_ns: u64) {
        self.next_ns = self.next_ns.min(at_ns);
    }
}
