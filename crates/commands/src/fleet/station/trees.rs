//! The trees of operations on names, on the host that makes and compares them for all hosts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::drive::Stop;
use engine::operations::LaneEnd;
use engine::run::RunEnd;
use metrics::run_record::{Outcome, Prepared};
use runner::prepare::{PrepareError, make_tree_with};
use target::fill::FillError;
use workload::plan::Run;

use super::fill::directory_of;
use super::{Station, StationContext, send_report};
use crate::fleet::request::{LaneDone, Report, TreesCompared};
use crate::measure::verdict;
use crate::outcome::Failure;

impl Station {
    /// Makes the trees of a target what the first runs that use them need.
    pub(in crate::fleet) fn make_trees(
        &mut self,
        sequence: u32,
        target: usize,
        context: &StationContext<'_>,
    ) -> Result<Vec<Prepared>, Failure> {
        let stop = context.signals.stop(sequence);
        let walk = Walk::new(&stop, context);
        let directory = directory_of(&mut self.directories, target)?;
        let mut prepared = Vec::new();
        for tree in directory.trees().to_vec() {
            let stream = &tree.stream;
            let mut report = |done, total| {
                let report = Report::MakingTree { stream: stream.clone(), done, total };
                send_report(context.outbox, &report);
            };
            let stopped = || walk.is_stopped();
            let made = make_tree_with(directory, &tree, &stopped, &mut report);
            prepared.push(made.map_err(|error| {
                verdict::of_error(PrepareError::from(error).into(), self.plan.target())
            })?);
            self.trees.made(directory, tree, target);
        }
        Ok(prepared)
    }

    /// Makes the trees of a run what they are at its start.
    pub(in crate::fleet) fn restore_trees(
        &mut self,
        sequence: u32,
        run: &Run,
        context: &StationContext<'_>,
    ) -> Result<(), Failure> {
        let stop = context.signals.stop(sequence);
        let walk = Walk::new(&stop, context);
        let made = self.trees.make(&self.directories, run, &|| walk.is_stopped());
        made.map_err(|error: FillError| {
            verdict::of_error(PrepareError::from(error).into(), self.plan.target())
        })
    }

    /// Compares the trees of a run that completed.
    ///
    /// * `lanes` - what is done of those of all hosts
    pub(in crate::fleet) fn compare_trees(
        &mut self,
        sequence: u32,
        run: &Run,
        lanes: Vec<LaneDone>,
        context: &StationContext<'_>,
    ) -> TreesCompared {
        let stop = context.signals.stop(sequence);
        let lanes = lanes.into_iter().map(LaneEnd::from).collect();
        let end = RunEnd { lanes, ..RunEnd::of(Outcome::Done) };
        let walk = Walk::new(&stop, context);
        let stopped = || walk.is_stopped();
        let (end, trees) = self.trees.compare(&self.directories, run, &stopped, end);
        TreesCompared { outcome: end.outcome, mismatches: end.mismatches, trees }
    }
}

/// Shortest time between two reports that a walk makes progress.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// A walk of a tree that reports progress: a host without any for long is named.
struct Walk<'a> {
    stop: &'a Stop,
    context: &'a StationContext<'a>,
    began: Instant,
    /// When the next report is due, in nanoseconds since it began.
    due_ns: AtomicU64,
}

impl Walk<'_> {
    fn new<'a>(stop: &'a Stop, context: &'a StationContext<'a>) -> Walk<'a> {
        let due_ns = AtomicU64::new(REPORT_EVERY.as_nanos() as u64);
        Walk { stop, context, began: Instant::now(), due_ns }
    }

    /// Whether it is stopped. Every thread asks after each part of the tree.
    fn is_stopped(&self) -> bool {
        let now_ns = self.began.elapsed().as_nanos() as u64;
        let due_ns = self.due_ns.load(Ordering::Relaxed);
        let next_ns = now_ns + REPORT_EVERY.as_nanos() as u64;
        let exchange = |due_ns| {
            self.due_ns.compare_exchange(due_ns, next_ns, Ordering::Relaxed, Ordering::Relaxed)
        };
        // One of the threads reports.
        if now_ns >= due_ns && exchange(due_ns).is_ok() {
            send_report(self.context.outbox, &Report::TreeWalked);
        }
        self.stop.is_requested()
    }
}
