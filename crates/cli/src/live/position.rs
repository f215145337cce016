//! The position in a plan: finished runs, and the time that is left.

use std::time::Duration;

use units::print_whole_seconds;
use workload::plan::{Plan, Run, Step};

/// The position in a plan. With searches, runs and time are upper bounds.
#[derive(Clone, Debug)]
pub(super) struct Position {
    plan: Plan,
    /// Duration of the plan's runs, without the fill.
    plan_ns: u64,
    /// The part of it that is finished.
    finished_ns: u64,
    pub(super) runs_total: u32,
    pub(super) runs_started: u32,
    /// `at most ` if searches make the number of runs an upper bound.
    pub(super) at_most: &'static str,
}

impl Position {
    pub(super) fn new(plan: &Plan) -> Position {
        Position {
            plan_ns: u64::try_from(plan.time_max().as_nanos()).unwrap_or(u64::MAX),
            finished_ns: 0,
            runs_total: plan.runs_max(),
            runs_started: 0,
            at_most: if plan.searches().next().is_some() { "at most " } else { "" },
            plan: plan.clone(),
        }
    }

    /// A run starts: runs that a search did not need are skipped.
    pub(super) fn run_started(&mut self, run: &Run) {
        let has_started = |step: &&Step| match step {
            Step::Fixed(fixed) => fixed.index < run.index,
            Step::Search(search) => search.template.index + search.runs_max <= run.index,
        };
        self.finished_ns =
            self.plan.steps.iter().take_while(has_started).map(Step::time_max_ns).sum();
        if let Some(Step::Search(search)) = self.plan.step_of(run.index) {
            let before = u64::from(run.index - search.template.index);
            self.finished_ns += before * run.phases.total_ns();
        }
        let skipped = run.index.saturating_sub(self.runs_started);
        self.runs_total = self.plan.runs_max().saturating_sub(skipped);
        self.runs_started += 1;
    }

    pub(super) fn run_finished(&mut self, run: &Run) {
        self.finished_ns += run.phases.total_ns();
    }

    /// The finished share of the plan, 0 to 1, `in_run_ns` after the start of `run`.
    pub(super) fn share(&self, run: Option<&Run>, in_run_ns: u64) -> f64 {
        match self.plan_ns {
            0 => 0.0,
            plan_ns => (self.done_ns(run, in_run_ns) as f64 / plan_ns as f64).min(1.0),
        }
    }

    /// The time that the rest of the plan takes.
    pub(super) fn left(&self, run: Option<&Run>, in_run_ns: u64) -> Duration {
        Duration::from_nanos(self.plan_ns.saturating_sub(self.done_ns(run, in_run_ns)))
    }

    /// `at most 1m6s left`
    pub(super) fn left_words(&self, run: Option<&Run>, in_run_ns: u64) -> String {
        format!("{}{} left", self.at_most, print_whole_seconds(self.left(run, in_run_ns)))
    }

    fn done_ns(&self, run: Option<&Run>, in_run_ns: u64) -> u64 {
        let in_run_ns = run.map_or(0, |run| in_run_ns.min(run.phases.total_ns()));
        self.finished_ns + in_run_ns
    }
}
