//! When a server has restarted, or says so by another verifier: what it had not committed is
//! written again, from the operations that made it; and the same after a connection is lost.
//!
//! The data of a file goes again in the order in which it went first, only places apart from each
//! other at the same time, and nothing else is written to the file meanwhile: so that what stands
//! there in the end is what stood there last. Nor does a read end meanwhile, see `doubt.rs`.

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use rustix::io::Errno;
use workload::op::OpKind;

use super::calls::{CallKind, List, NONE};
use super::core::{Core, EIO, Operation, Setting, Wanted};
use super::fault::{FaultyAnswer, ProtocolFault};
use super::flow::Link;

impl Core {
    /// Holds an operation back until its file's data has been written again.
    pub(super) fn hold(&mut self, tag: u32) {
        self.operations[tag as usize].next = NONE;
        let file = &mut self.files[self.operations[tag as usize].op.file as usize];
        match file.held {
            (NONE, _) => file.held = (tag, tag),
            (_, last) => {
                self.operations[last as usize].next = tag;
                file.held.1 = tag;
            }
        }
    }

    /// Begins to write a file's uncommitted data again.
    pub(super) fn recover(&mut self, place: u32) {
        let file = &mut self.files[place as usize];
        if !file.is_recovering {
            file.is_recovering = true;
            file.is_rewriting = false;
            self.recovering.push(place);
        }
        self.rewrite(place);
    }

    /// Goes on with it as far as possible.
    pub(super) fn rewrite(&mut self, place: u32) {
        let file = &mut self.files[place as usize];
        if !file.is_recovering || file.writes > 0 {
            return;
        }
        if !file.is_rewriting {
            file.is_rewriting = true;
            file.cursor = self.log.first(place);
            if self.setting.rewrite.is_none() && file.cursor != NONE {
                file.lost_errno = EIO;
                file.cursor = NONE;
                self.data_lost(place);
            }
        }
        while self.files[place as usize].cursor != NONE {
            let cursor = self.files[place as usize].cursor;
            let op = self.log.op(place, cursor);
            let depth = self.setting.queue_depth as usize;
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
            let rewrite = self.setting.rewrite.clone().expect("without it nothing comes here");
            rewrite(&op, &mut self.buffers.slot(tag as usize)[..op.size_bytes as usize]);
            self.operations[tag as usize] = Operation::new(op);
            let file = &mut self.files[place as usize];
            file.cursor = self.log.after(cursor);
            file.rewrites += 1;
            // It need not be remembered a second time.
            self.split(tag, CallKind::Write(stable_how::FILE_SYNC), self.setting.wsize_bytes);
        }
        if self.files[place as usize].rewrites == 0 {
            self.recovered(place);
        }
    }

    /// Notes that data of a file is lost and cannot be made again.
    fn data_lost(&mut self, place: u32) {
        if let [Some(after), Some(before)] = self.verifiers {
            let answer = FaultyAnswer::DataLost { before, after };
            self.faults
                .note(place, ProtocolFault::of_transfer(NfsProcedure::COMMIT, (0, 0), answer));
        }
    }

    /// A write that was done again has ended.
    pub(super) fn end_rewrite(&mut self, tag: u32) {
        let Operation { op, errno, .. } = self.operations[tag as usize];
        self.free_rewrites.push(tag);
        let file = &mut self.files[op.file as usize];
        file.rewrites -= 1;
        if errno != 0 {
            file.lost_errno = errno;
        }
        // Any file may have waited for the memory that is free now.
        for place in (0..self.recovering.len()).rev() {
            if let Some(file) = self.recovering.get(place) {
                self.rewrite(*file);
            }
        }
    }

    /// Everything is written again: lets go what was held back.
    fn recovered(&mut self, place: u32) {
        self.recovering.retain(|other| *other != place);
        self.log.committed(place, u64::MAX);
        self.files[place as usize].is_recovering = false;
        self.redo_reads(place);
        self.let_go(place);
    }

    /// Lets go what a file held back.
    pub(super) fn let_go(&mut self, place: u32) {
        let file = &mut self.files[place as usize];
        let mut next = std::mem::replace(&mut file.held, (NONE, NONE)).0;
        while next != NONE {
            let tag = next;
            let Operation { op, is_answered, again, next: after, .. } =
                self.operations[tag as usize];
            next = after;
            match op.kind {
                OpKind::Fsync => {
                    // What it was for was written again as FILE_SYNC: nothing is left to commit.
                    let lost = std::mem::take(&mut self.files[place as usize].lost_errno);
                    self.operations[tag as usize].errno = lost;
                    self.end_operation(tag);
                }
                OpKind::Read if again => self.hold_or_redo(tag),
                OpKind::Read if is_answered => self.end_operation(tag),
                OpKind::Read | OpKind::Write => self.begin(tag),
            }
        }
    }

    /// A connection is gone, or was not made, for the reason `errno`.
    pub(super) fn lost(&mut self, place: usize, errno: Errno) {
        let flow = &mut self.flows[place];
        let counters = &mut self.counters[place];
        flow.count_time(self.now_ns, counters);
        counters.replays += flow.lost(self.now_ns, errno);
        if let Link::Down { until_ns } = flow.link {
            self.wake_at(until_ns);
        }
    }

    /// A connection was made in place of a lost one: everything outstanding on it is sent.
    pub(super) fn connected(&mut self, place: usize) {
        self.counters[place].reconnects += 1;
        let flow = &mut self.flows[place];
        flow.connected(self.now_ns, &mut self.counters[place]);
        if flow.has_unsent() && !flow.is_listed {
            flow.is_listed = true;
            self.unsent.push(place as u32);
        }
        self.begin_doubt();
    }

    /// Does what is due, and gives one thing at a time that the owner of the sockets is to do.
    pub(super) fn advance(&mut self) -> Option<Wanted> {
        if self.now_ns < self.next_ns() {
            return None;
        }
        self.retry_jukebox();
        let wanted = self.look_at_links();
        if wanted.is_none() {
            self.plan_next();
        }
        wanted
    }

    /// Makes calls again that the server was too busy for.
    fn retry_jukebox(&mut self) {
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

    fn look_at_links(&mut self) -> Option<Wanted> {
        let Setting { timeo_ns, connect_timeout_ns, .. } = self.setting;
        let now_ns = self.now_ns;
        for (place, flow) in self.flows.iter_mut().enumerate() {
            let place = place as u32;
            match flow.link {
                Link::Down { until_ns } if until_ns <= now_ns => {
                    flow.link = Link::Connecting { since_ns: now_ns };
                    return Some(Wanted::Connect(place));
                }
                Link::Connecting { since_ns } if now_ns - since_ns >= connect_timeout_ns => {
                    return Some(Wanted::Close(place));
                }
                Link::Up
                    if flow.client.outstanding() > 0
                        && now_ns.saturating_sub(flow.heard_ns) >= timeo_ns =>
                {
                    return Some(Wanted::Close(place));
                }
                _ => {}
            }
        }
        None
    }

    /// Finds out when there is something to do next.
    fn plan_next(&mut self) {
        self.next_ns = self.now_ns + self.setting.silence_check_ns();
        for place in 0..self.flows.len() {
            if let Link::Down { until_ns } = self.flows[place].link {
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
