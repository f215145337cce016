//! Where a worker's operations come from: a stream of reads and writes, or of operations on names.

use std::sync::Arc;
use std::time::Duration;

use target::tree::LaneSteps;
use workload::names::NameStream;
use workload::op::{Op, OpKind, OpStream};

use crate::lane_window::LaneWindow;

/// Failed operations on names that a worker keeps by their steps.
const FAILED_MAX: usize = 1024;

/// The operations of a worker.
pub trait Operations {
    /// The operations, prepared for worker `lane`.
    #[must_use]
    fn prepared_for(self, lane: u32) -> Self;

    /// The operation of step `step` (from 0) of worker `lane` (from 0).
    fn op(&self, lane: u32, step: u64) -> Op;

    /// Whether everything that `step` may depend on is done.
    #[inline]
    fn may_issue(&self, _step: u64) -> bool {
        true
    }

    /// Waits until `step` may be issued or `time` is over; it may also return early. Only for a worker
    /// without outstanding operations, whose lane has other workers.
    fn wait_until_may_issue(&self, _step: u64, _time: Duration) {}
    /// The number in the stream of step `step` of `lane`.
    fn index_of(&self, lane: u32, step: u64) -> u64 {
        self.op(lane, step).index
    }

    /// Notes that an operation has ended.
    #[inline]
    fn ended(&mut self, _op: &Op, _has_failed: bool) {}
}

impl Operations for OpStream {
    #[inline]
    fn prepared_for(self, lane: u32) -> OpStream {
        OpStream::prepared_for(self, lane)
    }

    #[inline(always)]
    fn op(&self, lane: u32, step: u64) -> Op {
        OpStream::op(self, lane, step)
    }
}

/// Operations on names. A step is issued when all steps are done that it may depend on.
#[derive(Debug)]
pub struct NameOperations {
    stream: Arc<NameStream>,
    window: Arc<LaneWindow>,
    failed: Vec<u64>,
    are_all_failed_kept: bool,
}

impl NameOperations {
    /// The operations of a lane, whose workers share `window`.
    pub fn new(stream: Arc<NameStream>, window: Arc<LaneWindow>) -> NameOperations {
        let failed = Vec::with_capacity(FAILED_MAX);
        NameOperations { stream, window, failed, are_all_failed_kept: true }
    }

    /// The steps that failed; `None` if there were too many to keep.
    pub fn into_failed(self) -> Option<Vec<u64>> {
        self.are_all_failed_kept.then_some(self.failed)
    }
}

impl Operations for NameOperations {
    fn prepared_for(self, _lane: u32) -> NameOperations {
        self
    }

    #[inline]
    fn op(&self, lane: u32, step: u64) -> Op {
        self.stream.op(lane, step).op()
    }

    #[inline]
    fn may_issue(&self, step: u64) -> bool {
        self.window.allows(step)
    }

    fn wait_until_may_issue(&self, step: u64, time: Duration) {
        self.window.wait(step, time);
    }

    fn ended(&mut self, op: &Op, has_failed: bool) {
        let step = op.index / self.stream.lanes();
        self.window.complete(step);
        if has_failed && changes_names(op.kind) {
            if self.failed.len() < FAILED_MAX {
                self.failed.push(step);
            } else {
                self.are_all_failed_kept = false;
            }
        }
    }
}

/// Operations on names of users, each with at most one in flight, so that none waits for another.
#[derive(Debug)]
pub struct UserOperations {
    stream: Arc<NameStream>,
    /// The user and the step of failed operations.
    failed: Vec<(u32, u64)>,
    are_all_failed_kept: bool,
}

impl UserOperations {
    /// The operations of users.
    pub fn new(stream: Arc<NameStream>) -> UserOperations {
        let failed = Vec::with_capacity(FAILED_MAX);
        UserOperations { stream, failed, are_all_failed_kept: true }
    }

    /// The users and steps that failed; `None` if there were too many to keep.
    pub fn into_failed(self) -> Option<Vec<(u32, u64)>> {
        self.are_all_failed_kept.then_some(self.failed)
    }
}

impl Operations for UserOperations {
    fn prepared_for(self, _lane: u32) -> UserOperations {
        self
    }

    #[inline]
    fn op(&self, lane: u32, step: u64) -> Op {
        self.stream.op(lane, step).op()
    }

    fn index_of(&self, lane: u32, step: u64) -> u64 {
        step * self.stream.lanes() + u64::from(lane)
    }

    fn ended(&mut self, op: &Op, has_failed: bool) {
        if !has_failed || !changes_names(op.kind) {
            return;
        }
        if self.failed.len() < FAILED_MAX {
            let lanes = self.stream.lanes();
            self.failed.push(((op.index % lanes) as u32, op.index / lanes));
        } else {
            self.are_all_failed_kept = false;
        }
    }
}

/// Whether operations of this kind change names or the content of files.
pub(crate) const fn changes_names(kind: OpKind) -> bool {
    use OpKind::{Append, Copy, Create, Link, Mkdir, Rename, Rmdir, Symlink, Truncate, Unlink};
    matches!(
        kind,
        Append
            | Copy
            | Create
            | Link
            | Mkdir
            | Rename
            | Rmdir
            | Symlink
            | Truncate
            | Unlink
            | OpKind::WriteFile
    )
}

/// The steps of a lane of operations on names at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneEnd {
    /// The stream's position in the run.
    pub stream: usize,
    /// The target's position in the plan.
    pub target: u32,
    /// The lane on the target.
    pub lane: u32,
    /// What is done; `None` if more operations failed than are kept.
    pub steps: Option<LaneSteps>,
}

impl LaneWindow {
    /// The steps that are done at the end of a run.
    pub(crate) fn steps(&self, failed: Vec<u64>) -> LaneSteps {
        let prefix = self.prefix();
        let end = self.beyond().last().map_or(prefix, |step| step + 1);
        LaneSteps { prefix, end, failed }
    }
}
