//! A run over time: the numbers of its intervals, neighbouring ones merged where a run is long.
//!
//! Merged, never picked: a point's percentile is that of all operations in its intervals, so
//! nothing that happened between two points is lost.

use metrics::histogram::Counts;
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use workload::op::OpKind;
use workload::plan::Run;

use crate::percentile::Percentile;

/// At most about this many points in a series (a phase more or less may add one).
pub const POINTS_MAX: usize = 1_000;
/// At least this many where there are so many intervals, however many series there are.
const POINTS_MIN: usize = 100;
/// All series of an experiment share this many points, so that what is made of them stays of a size
/// to be mailed.
const POINTS_TOTAL: usize = 40_000;

/// One stream of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The run, by its place in the plan.
    pub run_index: u32,
    /// The stream's name.
    pub stream: String,
    /// How many intervals one point stands for.
    pub intervals_per_point: u32,
    /// Its points, in order.
    pub points: Vec<SeriesPoint>,
}

/// Some neighbouring intervals of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    /// Their beginning, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// Their end.
    pub end_ns: u64,
    /// The phase they belong to.
    pub phase: PointPhase,
    /// Reads and writes completed per second.
    pub achieved_rate: f64,
    /// Bytes moved per second.
    pub throughput: f64,
    /// Mean response time of reads and writes, in nanoseconds; `None` where none completed.
    pub response_mean_ns: Option<f64>,
    /// 99th percentile of the same, in nanoseconds; `None` where too few samples lie above it.
    pub response_p99_ns: Option<u64>,
    /// Mean number of operations outstanding.
    pub outstanding_mean: f64,
    /// Mean number of operations due but not issued.
    pub backlog_mean: f64,
    /// Operations that failed.
    pub failed: u64,
    /// Processors used by the whole process.
    pub cpu_used: f64,
}

/// The phase an interval belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointPhase {
    /// Not part of the window.
    WarmUp,
    /// Part of the window.
    Measure,
    /// After the window.
    CoolDown,
}

impl PointPhase {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            PointPhase::WarmUp => "warm_up",
            PointPhase::Measure => "measure",
            PointPhase::CoolDown => "cool_down",
        }
    }
}

/// One series for each stream of each run. Intervals shorter than half the reporting period are
/// left out.
pub(crate) fn series(records: &[RunRecord]) -> Vec<Series> {
    let count: usize = records.iter().map(|record| record.run.streams.len()).sum();
    let points_max = (POINTS_TOTAL / count.max(1)).clamp(POINTS_MIN, POINTS_MAX);
    records.iter().flat_map(|record| of_run(record, points_max)).collect()
}

fn of_run(record: &RunRecord, points_max: usize) -> Vec<Series> {
    // Between the last issue and the last completion may lie microseconds: operations by that time
    // are a spike and no rate.
    let long_enough = |i: &&Interval| {
        u128::from(i.end_ns.saturating_sub(i.start_ns)) * 2
            >= u128::from(record.run.phases.interval_ns)
    };
    let intervals: Vec<&Interval> = record.intervals.iter().filter(long_enough).collect();
    let per_point = intervals.len().div_ceil(points_max).max(1);
    let window = record.run.phases.window();
    let groups: Vec<(PointPhase, &[&Interval])> = intervals
        .chunk_by(|a, b| phase_of(window, a) == phase_of(window, b))
        .flat_map(|same| {
            let phase = phase_of(window, same[0]);
            same.chunks(per_point).map(move |chunk| (phase, chunk))
        })
        .collect();
    let streams = record.run.streams.iter().enumerate();
    streams
        .map(|(index, stream)| Series {
            run_index: record.run.index,
            stream: stream.name.clone(),
            intervals_per_point: per_point as u32,
            points: groups.iter().map(|(phase, group)| point(*phase, group, index)).collect(),
        })
        .collect()
}

/// The point of each stream in one interval, in the order of the run's streams: what is shown while
/// a run goes on has the same definitions as what is reported afterwards.
pub fn points_of(run: &Run, interval: &Interval) -> Vec<SeriesPoint> {
    let phase = phase_of(run.phases.window(), interval);
    (0..run.streams.len()).map(|stream| point(phase, &[interval], stream)).collect()
}

fn phase_of((first, end): (u32, u32), interval: &Interval) -> PointPhase {
    match interval.index {
        index if index < first => PointPhase::WarmUp,
        index if index < end => PointPhase::Measure,
        _ => PointPhase::CoolDown,
    }
}

fn point(phase: PointPhase, group: &[&Interval], stream: usize) -> SeriesPoint {
    let length_ns: u64 = group.iter().map(|i| i.end_ns - i.start_ns).sum();
    let length_ns = length_ns.max(1) as f64;
    let seconds = length_ns / 1e9;
    let mut response = Counts::default();
    let (mut completed, mut bytes, mut failed) = (0, 0, 0);
    let (mut outstanding, mut backlog, mut cpu_ns) = (0, 0, 0);
    for interval in group {
        cpu_ns += interval.process_user_ns + interval.process_system_ns;
        let Some(stream) = interval.streams.get(stream) else { continue };
        for kind in [OpKind::Read, OpKind::Write] {
            let kind = &stream.kinds[kind as usize];
            completed += kind.completed;
            bytes += kind.bytes;
            response.merge(&kind.response);
        }
        failed += stream.failed();
        outstanding += stream.outstanding_time_ns;
        backlog += stream.backlog_time_ns;
    }
    SeriesPoint {
        start_ns: group[0].start_ns,
        end_ns: group[group.len() - 1].end_ns,
        phase,
        achieved_rate: completed as f64 / seconds,
        throughput: bytes as f64 / seconds,
        response_mean_ns: response.mean_ns(),
        response_p99_ns: Percentile::of(&response, 0.99).value_ns,
        outstanding_mean: outstanding as f64 / length_ns,
        backlog_mean: backlog as f64 / length_ns,
        failed,
        cpu_used: cpu_ns as f64 / length_ns,
    }
}
