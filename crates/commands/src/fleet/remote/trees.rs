//! The trees of operations on names on several hosts.
//!
//! The lanes own ranges of names, so hosts use one tree without agreement during a run. Before a run one
//! host makes the tree, because several would create the same directories; after it the steps of all
//! lanes are compared with one walk by that host. It is the first that is not lost.

use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::run_record::{Outcome, Prepared};
use metrics::tree_comparison::{NotCompared, TreeComparison};
use runner::announce::Announcer;
use runner::event::Event as PlanEvent;
use runner::fleet_run::OnLost;
use runner::run_trees::not_compared;
use serde::de::DeserializeOwned;
use workload::plan::Run;

use super::{NotDone, RemoteFleet};
use crate::fleet::request::{LaneDone, Report, Request, TreesCompared};

impl RemoteFleet {
    /// Makes the trees of all targets what the first runs need.
    pub(super) fn prepare_trees(
        &mut self,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<(), NotDone> {
        if !self.has_trees {
            return Ok(());
        }
        for target in 0..self.paths.len() {
            self.sequence += 1;
            let request = Request::MakeTrees { sequence: self.sequence, target };
            let is_stopped = || stop.is_requested();
            let mut take = |_: usize, report| {
                if let Report::MakingTree { stream, done, total } = report {
                    announcer.send(&PlanEvent::PrepareProgress { stream, done, total });
                }
            };
            let made: Vec<Prepared> = self.ask_one(0, request, &is_stopped, &mut take)?;
            for prepared in made {
                announcer.send(&PlanEvent::PrepareFinished(prepared));
            }
        }
        Ok(())
    }

    /// Makes the trees of a run what they are at its start.
    pub(super) fn restore_trees(&mut self, run: &Run, stop: &Stop) -> Result<(), NotDone> {
        if !self.has_trees_in(run) {
            return Ok(());
        }
        self.sequence += 1;
        let request = Request::RestoreTrees { sequence: self.sequence, run: Box::new(run.clone()) };
        self.ask_walker(&request, stop).1
    }

    /// Compares the trees of a run that has ended with the steps that are done on all hosts.
    pub(super) fn compare_trees(
        &mut self,
        run: &Run,
        stop: &Stop,
        mut end: RunEnd,
    ) -> (RunEnd, Vec<TreeComparison>) {
        if !self.has_trees_in(run) {
            return (end, Vec::new());
        }
        if end.outcome != Outcome::Done {
            return (end, not_compared(run, NotCompared::RunEndedEarly));
        }
        self.sequence += 1;
        let request = Request::CompareTrees {
            sequence: self.sequence,
            run: Box::new(run.clone()),
            lanes: end.lanes.iter().cloned().map(LaneDone::from).collect(),
        };
        let (walker, answer) = self.ask_walker(&request, stop);
        match answer {
            Ok(TreesCompared { outcome, mismatches, trees }) => {
                end.mismatches.extend(mismatches);
                end.outcome = match outcome {
                    Outcome::Failed { reason } => {
                        let reason = format!("{}: {reason}", self.hosts[walker].name);
                        Outcome::Failed { reason }
                    }
                    outcome => outcome,
                };
                (end, trees)
            }
            Err(why) => {
                end.outcome = match why {
                    NotDone::Stopped => Outcome::Interrupted,
                    why => Outcome::Failed { reason: self.error(why).to_string() },
                };
                (end, not_compared(run, NotCompared::Incomplete))
            }
        }
    }

    fn has_trees_in(&self, run: &Run) -> bool {
        !self.paths.is_empty() && run.streams.iter().any(|stream| stream.names.is_some())
    }

    /// Asks the host that makes and compares trees, the first that is not lost; which it was. If it is lost
    /// and the others continue, the next one does it.
    fn ask_walker<A: DeserializeOwned>(
        &mut self,
        request: &Request,
        stop: &Stop,
    ) -> (usize, Result<A, NotDone>) {
        loop {
            let walker = self.lost.iter().position(Option::is_none).unwrap_or(0);
            let is_stopped = || stop.is_requested();
            let answer = self.ask_one(walker, request.clone(), &is_stopped, &mut |_, _| ());
            let can_continue =
                self.on_lost == OnLost::Continue && self.lost.iter().any(Option::is_none);
            match answer {
                Err(NotDone::Lost(host, _)) if host == walker && can_continue => {}
                answer => return (walker, answer),
            }
        }
    }
}
