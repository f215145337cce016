//! One host's share of a run, as a simulated host executes it: the engine's part is an interval each period.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::anyhow;
use cluster::outbox::Outbox;
use engine::drive::Stop;
use engine::operations::LaneEnd;
use engine::run::RunEnd;
use metrics::interval::{Interval, KindInterval, StreamInterval};
use metrics::run_record::Outcome;
use sim::fleet::{Fault, Phase, Random};
use target::tree::LaneSteps;
use workload::plan::{Assignment, Run};

use super::disk::Disk;
use crate::fleet::reply;
use crate::fleet::request::{Ended, LaneDone, Report};
use crate::fleet::run_keeper::RunKeeper;
use crate::fleet::signals::{Signals, Start};
use crate::fleet::spool::Spool;
use crate::fleet::station::{STARTS_WITHIN, send_report};
use crate::outcome::Failure;

const MS_NS: u64 = 1_000_000;
/// The engine gives up operations that do not complete within this time.
const OPERATION_DEADLINE_NS: u64 = 60_000 * MS_NS;
/// An interval is complete this long after its edge.
const GATHERED_AFTER_NS: u64 = 5 * MS_NS;

enum Stage {
    /// It opens its files until this time.
    Opening(u64),
    Waiting,
    Running,
    /// It checks its files until this time.
    Checking(u64, RunEnd),
    /// The target does not respond; the engine gives up at this time.
    Stalled(u64),
}

/// A share that is executed.
pub(super) struct Share {
    sequence: u32,
    stop: Arc<Stop>,
    run: Run,
    /// Its lanes of operations on names, with their stream.
    lanes: Vec<(usize, u32)>,
    keeper: RunKeeper<Box<Spool>>,
    signals: Arc<Signals>,
    outbox: Outbox,
    disk: Disk,
    stage: Stage,
    start: Option<Start>,
    /// How long after the common start its first thread starts.
    late_ns: u64,
    /// Number of the next interval.
    next: u32,
    /// Operations that complete in each interval.
    pace: u64,
    /// The edge at which the user wants the run to end.
    ends_at_ns: Option<u64>,
    checks_ns: u64,
}

/// What a share needs.
pub(super) struct ShareContext<'a> {
    pub(super) spool: Box<Spool>,
    pub(super) signals: &'a Arc<Signals>,
    pub(super) outbox: &'a Outbox,
    pub(super) disk: &'a Disk,
    /// Time for the files to be opened.
    pub(super) opens_ns: u64,
}

impl Share {
    pub(super) fn begin(
        sequence: u32,
        assignment: Assignment,
        context: ShareContext<'_>,
        random: &mut Random,
        now_ns: u64,
    ) -> Share {
        let ShareContext { spool, signals, outbox, disk, opens_ns } = context;
        let Assignment { run, lanes } = assignment;
        let lanes = lanes.into_iter().enumerate();
        let on_names = lanes.filter(|(stream, _)| run.streams[*stream].names.is_some());
        let lanes = on_names.flat_map(|(stream, lanes)| lanes.map(move |lane| (stream, lane)));
        let lanes = lanes.collect();
        Share {
            sequence,
            stop: signals.stop(sequence),
            keeper: RunKeeper::new(spool, Arc::clone(signals), outbox.clone(), run.index),
            run,
            lanes,
            signals: Arc::clone(signals),
            outbox: outbox.clone(),
            disk: disk.clone(),
            stage: Stage::Opening(now_ns + opens_ns),
            start: None,
            late_ns: random.below(MS_NS / 10),
            next: 0,
            pace: 1 + random.below(1_000),
            ends_at_ns: None,
            checks_ns: random.below(500 * MS_NS),
        }
    }

    /// The spool, once the share has ended.
    pub(super) fn into_spool(self) -> Box<Spool> {
        self.keeper.into_spool()
    }

    pub(super) fn end_at(&mut self, end_ns: u64) {
        self.ends_at_ns.get_or_insert(end_ns);
    }

    /// When something happens by itself.
    pub(super) fn wakes_at_ns(&self) -> Option<u64> {
        match &self.stage {
            Stage::Opening(at_ns) | Stage::Checking(at_ns, _) | Stage::Stalled(at_ns) => {
                Some(*at_ns)
            }
            Stage::Waiting => None,
            Stage::Running => Some(self.edge_ns() + GATHERED_AFTER_NS),
        }
    }

    pub(super) fn storage_failed(&mut self, fault: Fault, now_ns: u64) {
        if fault == Fault::Stall {
            self.stage = match self.stage {
                // Without a deadline; the target responds again after the controller has given up.
                Stage::Checking(_, ref end) => {
                    Stage::Checking(now_ns + 2 * OPERATION_DEADLINE_NS, end.clone())
                }
                _ => Stage::Stalled(now_ns + OPERATION_DEADLINE_NS),
            };
        }
    }

    /// The end of the next interval, by the host's clock.
    fn edge_ns(&self) -> u64 {
        let start_ns = self.start.map_or(0, |start| start.at_ns);
        start_ns + u64::from(self.next + 1) * self.run.phases.interval_ns
    }

    /// Does what is due; the reply once the share has ended.
    pub(super) fn step(&mut self, now_ns: u64, phases: &mut Vec<Phase>) -> Option<Vec<u8>> {
        loop {
            let is_due = self.wakes_at_ns().is_none_or(|at_ns| at_ns <= now_ns);
            match &mut self.stage {
                Stage::Opening(_) if self.stop.is_requested() => {
                    return Some(self.ended(RunEnd::of(Outcome::Interrupted)));
                }
                Stage::Opening(_) if is_due => {
                    send_report(&self.outbox, &Report::Ready { warnings: Vec::new() });
                    phases.push(Phase::Start);
                    self.stage = Stage::Waiting;
                }
                Stage::Waiting => {
                    match self.signals.poll_start(self.sequence, self.keeper.is_kept()) {
                        ControlFlow::Continue(()) => return None,
                        ControlFlow::Break(None) => {
                            return Some(self.ended(RunEnd::of(Outcome::Interrupted)));
                        }
                        ControlFlow::Break(Some(start)) => {
                            if let Some(end) = self.started(start, now_ns, phases) {
                                return Some(self.ended(end));
                            }
                        }
                    }
                }
                Stage::Running => self.measure(now_ns, is_due, phases)?,
                Stage::Checking(_, end) if is_due => {
                    let end = end.clone();
                    return Some(self.ended(end));
                }
                Stage::Stalled(_) if is_due => {
                    let reason = "no operation completed for 60 s".to_owned();
                    let end = RunEnd::of(Outcome::Failed { reason: reason.clone() });
                    self.keeper.finished(&end, Vec::new());
                    return Some(reply::failed(&Failure::target(anyhow!(reason))));
                }
                Stage::Opening(_) | Stage::Checking(..) | Stage::Stalled(_) => return None,
            }
        }
    }

    /// Takes the start; how the share ends if it came too late.
    fn started(&mut self, start: Start, now_ns: u64, phases: &mut Vec<Phase>) -> Option<RunEnd> {
        self.keeper.started(start, &self.run);
        self.start = Some(start);
        if now_ns.saturating_sub(start.at_ns) > STARTS_WITHIN.as_nanos() as u64 {
            let reason = "the start reached it more than 5 s late".to_owned();
            return Some(RunEnd::of(Outcome::Failed { reason }));
        }
        self.disk.started(self.run.index, start.at_ns.max(now_ns) + self.late_ns);
        self.late_ns += now_ns.saturating_sub(start.at_ns);
        phases.push(Phase::Measure);
        self.stage = Stage::Running;
        None
    }

    /// Measures until now; continues if something else is due now.
    fn measure(&mut self, now_ns: u64, is_due: bool, phases: &mut Vec<Phase>) -> Option<()> {
        let start_ns = self.start.map_or(0, |start| start.at_ns);
        let interval_ns = self.run.phases.interval_ns;
        let from_ns = u64::from(self.next) * interval_ns;
        if self.stop.is_now() {
            let end_ns = now_ns.saturating_sub(start_ns).min(from_ns + interval_ns);
            if end_ns > from_ns {
                let _stopped = self.interval(end_ns);
            }
            self.measured(Outcome::Interrupted, now_ns, phases);
            return Some(());
        }
        if !is_due {
            return None;
        }
        if let ControlFlow::Break(reason) = self.interval(from_ns + interval_ns) {
            self.measured(Outcome::Failed { reason }, now_ns, phases);
            return Some(());
        }
        let phases_ns = self.run.phases.warm_up_ns + self.run.phases.measure_ns;
        let measured_ns = u64::from(self.next) * interval_ns;
        if measured_ns >= phases_ns {
            self.measured(Outcome::Done, now_ns, phases);
        } else if self.ends_at_ns.is_some_and(|end_ns| measured_ns >= end_ns) {
            self.measured(Outcome::Interrupted, now_ns, phases);
        }
        Some(())
    }

    fn interval(&mut self, end_ns: u64) -> ControlFlow<String> {
        let mut stream = StreamInterval { issued: self.pace, ..StreamInterval::default() };
        stream.kinds[0] = KindInterval { completed: self.pace, ..KindInterval::default() };
        let interval = Interval {
            index: self.next,
            start_ns: u64::from(self.next) * self.run.phases.interval_ns,
            end_ns,
            streams: vec![stream],
            ..Interval::default()
        };
        self.next += 1;
        self.disk.measured(self.run.index, &interval);
        self.keeper.interval(&interval)
    }

    fn measured(&mut self, outcome: Outcome, now_ns: u64, phases: &mut Vec<Phase>) {
        send_report(&self.outbox, &Report::Measured);
        phases.push(Phase::Check);
        let started_late_ns = Some(self.late_ns);
        let end = RunEnd { started_late_ns, ..RunEnd::of(outcome) };
        let checks_ns = if end.outcome == Outcome::Done { self.checks_ns } else { 0 };
        self.stage = Stage::Checking(now_ns + checks_ns, end);
    }

    /// One step for each interval.
    fn lane_done(&self, (stream, lane): (usize, u32)) -> LaneDone {
        let steps = u64::from(self.next);
        let steps = LaneSteps { prefix: steps, end: steps, failed: Vec::new() };
        LaneDone::from(LaneEnd { stream, target: 0, lane, steps: Some(steps) })
    }

    fn ended(&mut self, end: RunEnd) -> Vec<u8> {
        let warnings = self.keeper.finished(&end, Vec::new());
        reply::done(&Ended {
            outcome: end.outcome,
            details: end.details,
            mismatches: end.mismatches,
            started_late_ns: end.started_late_ns,
            intervals: self.keeper.intervals(),
            warnings,
            lanes: self.lanes.iter().map(|lane| self.lane_done(*lane)).collect(),
        })
    }
}
