//! The counters of a running experiment, as sums over all its intervals, also those of warm-up and
//! cool-down.
//!
//! Their number is bounded by the streams of the plan: neither load points nor connections add any.

use metrics::histogram::{Counts, bucket_high_ns};
use metrics::interval::{Interval, KindInterval, StreamInterval, UsersInterval};
use runner::event::{Event, Phase};
use runner::lost_hosts::LostHosts;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{Plan, Run, TargetSpec};

/// Upper edges of the buckets of times, in nanoseconds: 10 µs to 10 s. One further bucket has no
/// upper edge. A time is counted by the upper edge of the recorder's bucket, which is at most 0.1 %
/// wide, so the share below an edge is never overstated.
pub(super) const EDGES_NS: [u64; 19] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// The phase of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExperimentPhase {
    /// A phase of the plan or of a run.
    Of(Phase),
    /// Nothing follows.
    Finished,
}

impl ExperimentPhase {
    pub(super) const ALL: [ExperimentPhase; 5] = [
        ExperimentPhase::Of(Phase::Prepare),
        ExperimentPhase::Of(Phase::WarmUp),
        ExperimentPhase::Of(Phase::Measure),
        ExperimentPhase::Of(Phase::CoolDown),
        ExperimentPhase::Finished,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            ExperimentPhase::Of(phase) => phase.name(),
            ExperimentPhase::Finished => "finished",
        }
    }
}

/// All counters.
#[derive(Clone, Debug)]
pub(super) struct RunTotals {
    /// The experiment's name.
    pub(super) experiment: String,
    /// The kind of target.
    pub(super) target_kind: &'static str,
    pub(super) phase: ExperimentPhase,
    pub(super) runs_started: u32,
    /// Planned runs; with a search the maximum.
    pub(super) runs_planned: u32,
    /// Load points whose first run was started, in this order.
    pub(super) load_points: Vec<String>,
    /// The number of the current load point, from 1; 0 before the first.
    pub(super) load_point: usize,
    /// Planned load points; with a search the maximum.
    pub(super) load_points_planned: usize,
    pub(super) streams: Vec<StreamTotals>,
    /// Hosts that the current run has lost.
    pub(super) lost_hosts: LostHosts,
    /// The entry in `streams` of each stream of the current run.
    current: Vec<usize>,
    /// The current run.
    run: Option<Box<Run>>,
}

/// The counters of all streams of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamTotals {
    pub(super) name: String,
    /// Operations that became due by the offered rate, with fractions; `None` for a closed loop.
    pub(super) offered: Option<f64>,
    pub(super) issued: u64,
    /// By `OpKind`.
    pub(super) kinds: [KindTotals; OpKind::COUNT],
    /// Failed operations by `ErrorKind`.
    pub(super) errors: [u64; ErrorKind::COUNT],
    /// At the end of the last interval; 0 between runs.
    pub(super) outstanding: u64,
    pub(super) outstanding_time_ns: u128,
    pub(super) backlog: u64,
    pub(super) backlog_time_ns: u128,
    /// The limit on outstanding operations of the current run, of all workers; 0 between runs.
    pub(super) queue_depth: u64,
    /// `None` if it never had users.
    pub(super) users: Option<UserTotals>,
}

/// The users of all streams of one name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserTotals {
    /// Users of the current run; 0 between runs.
    pub(super) count: u64,
    pub(super) started: u64,
    pub(super) completed: u64,
    pub(super) due: u64,
    pub(super) late: u64,
    pub(super) duration_ns: u128,
}

/// The counters of one kind of operation.
#[derive(Clone, Debug, Default)]
pub(super) struct KindTotals {
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) bytes: u64,
    pub(super) service: TimeBuckets,
    pub(super) response: TimeBuckets,
}

/// Times by bucket.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeBuckets {
    /// Not cumulative; times above the last edge are in `count` only.
    pub(super) buckets: [u64; EDGES_NS.len()],
    pub(super) sum_ns: u128,
    pub(super) count: u64,
}

impl RunTotals {
    /// Nothing is counted yet.
    pub(super) fn new(plan: &Plan) -> RunTotals {
        let mut load_points: Vec<String> = plan.known_runs().map(Run::load_point).collect();
        load_points.sort();
        load_points.dedup();
        let of_searches: u32 = plan.searches().map(|search| search.runs_max).sum();
        RunTotals {
            experiment: plan.name.clone(),
            target_kind: target_kind(plan.target()),
            phase: ExperimentPhase::Of(Phase::Prepare),
            runs_started: 0,
            runs_planned: plan.runs_max(),
            load_points: Vec::new(),
            load_point: 0,
            load_points_planned: load_points.len() + of_searches as usize,
            streams: Vec::new(),
            lost_hosts: LostHosts::default(),
            current: Vec::new(),
            run: None,
        }
    }

    /// Counts an event.
    pub(super) fn count(&mut self, event: &Event) {
        self.lost_hosts.take(event);
        match event {
            Event::PhaseStarted { phase, .. } => self.phase = ExperimentPhase::Of(*phase),
            Event::RunStarted { run, .. } => self.begin_run(run),
            Event::Interval { interval, .. } => self.add(interval),
            Event::RunFinished { .. } => self.end_run(),
            Event::Finished { .. } => self.phase = ExperimentPhase::Finished,
            Event::IoMethodChosen(_)
            | Event::PrepareProgress { .. }
            | Event::PrepareFinished(_)
            | Event::Warning { .. }
            | Event::FleetReady { .. }
            | Event::HostInterval { .. }
            | Event::HostEvent { .. }
            | Event::ServiceCounters { .. }
            | Event::TreesCompared { .. } => {}
        }
    }

    fn begin_run(&mut self, run: &Run) {
        self.runs_started += 1;
        let name = run.load_point();
        let known = self.load_points.iter().position(|one| *one == name);
        self.load_point = 1 + known.unwrap_or_else(|| {
            self.load_points.push(name);
            self.load_points.len() - 1
        });
        self.current.clear();
        self.run = Some(Box::new(run.clone()));
        for stream in &run.streams {
            let known = self.streams.iter().position(|one| one.name == stream.name);
            let index = known.unwrap_or_else(|| {
                let name = stream.name.clone();
                self.streams.push(StreamTotals { name, ..StreamTotals::default() });
                self.streams.len() - 1
            });
            let queue_depth = u64::from(stream.queue_depth) * u64::from(stream.workers);
            self.streams[index].queue_depth = queue_depth;
            if let Some(users) = stream.arrival.users() {
                let totals = self.streams[index].users.get_or_insert_default();
                totals.count = u64::from(users.count);
            }
            self.current.push(index);
        }
    }

    fn add(&mut self, interval: &Interval) {
        for (index, stream) in self.current.iter().zip(&interval.streams) {
            self.streams[*index].add(stream);
        }
        let Some(run) = &self.run else { return };
        let (from_ns, to_ns) = (interval.start_ns, interval.end_ns);
        for (index, stream) in self.current.iter().zip(&run.streams) {
            let rate = stream.offered_between(from_ns, to_ns, &run.phases);
            let Some(rate) = rate.filter(|_| to_ns > from_ns) else { continue };
            let offered = rate.get() * (to_ns - from_ns) as f64 / 1e9;
            *self.streams[*index].offered.get_or_insert(0.0) += offered;
        }
    }

    fn end_run(&mut self) {
        for stream in &mut self.streams {
            (stream.outstanding, stream.backlog, stream.queue_depth) = (0, 0, 0);
            if let Some(users) = &mut stream.users {
                users.count = 0;
            }
        }
        self.run = None;
    }
}

const fn target_kind(target: &TargetSpec) -> &'static str {
    match target {
        TargetSpec::Directory { .. } => "directory",
        TargetSpec::Nfs { .. } => "nfs",
        TargetSpec::Emulated { .. } => "emulated",
        TargetSpec::Null => "null",
    }
}

impl StreamTotals {
    /// Bytes moved by the kinds that `moves`.
    pub(super) fn bytes(&self, moves: fn(OpKind) -> bool) -> u64 {
        let kinds = OpKind::ALL.into_iter().zip(&self.kinds).filter(|(kind, _)| moves(*kind));
        kinds.map(|(_, totals)| totals.bytes).sum()
    }

    fn add(&mut self, interval: &StreamInterval) {
        self.issued += interval.issued;
        self.outstanding = interval.outstanding_end;
        self.outstanding_time_ns += interval.outstanding_time_ns;
        self.backlog = interval.backlog_end;
        self.backlog_time_ns += interval.backlog_time_ns;
        if let Some(users) = &interval.users {
            self.users.get_or_insert_default().add(users);
        }
        for (of, kind) in interval.kinds.entries() {
            self.kinds[of as usize].add(kind);
            for (total, count) in self.errors.iter_mut().zip(&kind.failed) {
                *total += count;
            }
        }
    }
}

impl UserTotals {
    fn add(&mut self, interval: &UsersInterval) {
        self.started += interval.started;
        self.completed += interval.completed;
        self.due += interval.due;
        self.late += interval.late;
        self.duration_ns += interval.duration_us.sum_ns * 1000;
    }
}

impl KindTotals {
    fn add(&mut self, kind: &KindInterval) {
        self.completed += kind.completed;
        self.failed += kind.failed_total();
        self.bytes += kind.bytes;
        self.service.add(&kind.service);
        self.response.add(&kind.response);
    }

    /// Completed and failed operations.
    pub(super) const fn ended(&self) -> u64 {
        self.completed + self.failed
    }
}

impl TimeBuckets {
    fn add(&mut self, times: &Counts) {
        for (bucket, count) in &times.buckets {
            let high_ns = bucket_high_ns(*bucket);
            let index = EDGES_NS.partition_point(|edge_ns| *edge_ns < high_ns);
            if let Some(total) = self.buckets.get_mut(index) {
                *total += count;
            }
        }
        self.sum_ns += times.sum_ns;
        self.count += times.total();
    }
}

#[cfg(test)]
mod tests {
    use metrics::histogram::Histogram;

    use super::*;

    #[test]
    fn times_are_counted_below_the_next_edge_and_summed_exactly() {
        let mut times = Histogram::default();
        for time_ns in [9_000, 10_500, 19_000, 700_000_000, 11_000_000_000, 70_000_000_000] {
            times.record(time_ns);
        }
        let mut counts = Counts::default();
        times.drain_into(&mut counts);
        let mut buckets = TimeBuckets::default();
        buckets.add(&counts);
        buckets.add(&counts);
        let of = |edge_ns: u64| {
            buckets.buckets[EDGES_NS.iter().position(|one| *one == edge_ns).expect("an edge")]
        };
        assert_eq!((of(10_000), of(20_000), of(1_000_000_000)), (2, 4, 2));
        assert_eq!(buckets.buckets.iter().sum::<u64>(), 8, "two are above the last edge");
        assert_eq!(buckets.count, 12);
        assert_eq!(buckets.sum_ns, 2 * 81_700_038_500);
    }
}
