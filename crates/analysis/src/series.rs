//! A run over time: the values of its intervals, merged in long runs.
//!
//! Merging keeps all operations: a point's percentile covers all operations in its intervals.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use metrics::histogram::Counts;
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use units::{BytesPerSec, Nanos, OpsPerSec};
use workload::op::OpKind;
use workload::plan::{Phases, Run, Stream};

use crate::fleet::MissingHosts;
use crate::percentile::Percentile;

/// Most points of a series, approximately; phases may add some.
pub const POINTS_MAX: usize = 1_000;
/// Fewest points, if there are as many intervals.
const POINTS_MIN: usize = 100;
/// Points of all series of an experiment together, so that reports stay small enough to mail.
const POINTS_TOTAL: usize = 40_000;

/// One stream of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The run, by its index in the plan.
    pub run_index: u32,
    /// The stream's name.
    pub stream: String,
    /// Intervals per point.
    pub intervals_per_point: u32,
    /// Hosts that the run lost, which are missing from the points since.
    pub missing_hosts: Option<MissingHosts>,
    /// Its points, in order.
    pub points: Vec<SeriesPoint>,
}

/// Neighbouring intervals of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    /// Start, in nanoseconds from the start of the run.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Their phase.
    pub phase: PointPhase,
    /// Completed reads and writes.
    pub achieved_rate: OpsPerSec,
    /// Mean offered rate, fsyncs included; `None` if a stream is a closed loop.
    pub offered_rate: Option<OpsPerSec>,
    /// Bytes moved.
    pub throughput: BytesPerSec,
    /// Mean response time of reads and writes; `None` if none completed.
    pub response_mean: Option<Nanos>,
    /// 99th percentile of the response time, in nanoseconds; `None` with too few samples above it.
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

/// The phase of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointPhase {
    /// Before the window.
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

/// One series per stream and run, without intervals shorter than half the reporting period.
pub(crate) fn series(records: &[RunRecord]) -> Vec<Series> {
    let count: usize = records.iter().map(|record| record.run.streams.len()).sum();
    let points_max = (POINTS_TOTAL / count.max(1)).clamp(POINTS_MIN, POINTS_MAX);
    records.iter().flat_map(|record| of_run(record, points_max)).collect()
}

/// Whether an interval has at least half the reporting period. The last one may be microseconds long,
/// which would give a spike instead of a rate.
pub(crate) fn long_enough(interval: &Interval, phases: &Phases) -> bool {
    let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
    u128::from(length_ns) * 2 >= u128::from(phases.interval_ns)
}

fn of_run(record: &RunRecord, points_max: usize) -> Vec<Series> {
    let phases = &record.run.phases;
    let intervals: Vec<&Interval> =
        record.intervals.iter().filter(|interval| long_enough(interval, phases)).collect();
    let per_point = intervals.len().div_ceil(points_max).max(1);
    let run = &record.run;
    let points = |index: usize, stream: &Stream| -> Vec<SeriesPoint> {
        let window = stream.active.window(&run.phases);
        let phases = intervals.chunk_by(|a, b| phase_of(window, a) == phase_of(window, b));
        let groups = phases.flat_map(|same| same.chunks(per_point));
        groups
            .map(|group| point(phase_of(window, group[0]), run, group, index..index + 1))
            .collect()
    };
    let streams = run.streams.iter().enumerate();
    streams
        .map(|(index, stream)| Series {
            run_index: run.index,
            stream: stream.name.clone(),
            intervals_per_point: per_point as u32,
            missing_hosts: MissingHosts::of(&record.hosts),
            points: points(index, stream),
        })
        .collect()
}

/// The point of each stream in one interval, in the order of the streams. The live view and the
/// report use the same definitions.
pub fn points_of(run: &Run, interval: &Interval) -> Vec<SeriesPoint> {
    let of = |(index, stream): (usize, &Stream)| {
        let phase = phase_of(stream.active.window(&run.phases), interval);
        point(phase, run, &[interval], index..index + 1)
    };
    run.streams.iter().enumerate().map(of).collect()
}

/// The point of all streams of one interval together.
pub fn total_of(run: &Run, interval: &Interval) -> SeriesPoint {
    let phase = phase_of(run.phases.window(), interval);
    point(phase, run, &[interval], 0..run.streams.len())
}

/// The window of a run as far as it was measured, for a display that does not keep every interval.
#[derive(Clone, Debug, Default)]
pub struct WindowSoFar {
    /// The sum of the intervals of each window: streams can have their own, and totals one more.
    sums: BTreeMap<(u32, u32), Interval>,
}

impl WindowSoFar {
    /// Adds an interval to the windows that it belongs to.
    pub fn add(&mut self, run: &Run, interval: &Interval) {
        let mut windows: Vec<(u32, u32)> =
            run.streams.iter().map(|stream| stream.active.window(&run.phases)).collect();
        windows.push(run.common_window());
        windows.sort_unstable();
        windows.dedup();
        windows.retain(|window| phase_of(*window, interval) == PointPhase::Measure);
        for window in windows {
            match self.sums.entry(window) {
                Entry::Vacant(entry) => {
                    entry.insert(interval.clone());
                }
                Entry::Occupied(entry) => add(entry.into_mut(), interval),
            }
        }
    }

    /// The time in which all streams are active, of all of them together; `None` if nothing was measured
    /// then.
    pub fn total(&self, run: &Run) -> Option<SeriesPoint> {
        let sum = self.sums.get(&run.common_window())?;
        Some(point(PointPhase::Measure, run, &[sum], 0..run.streams.len()))
    }

    /// The window of each stream with its position, in the order of the streams, of those that were
    /// measured.
    pub fn points(&self, run: &Run) -> Vec<(usize, SeriesPoint)> {
        let streams = run.streams.iter().enumerate().filter_map(|(index, stream)| {
            let sum = self.sums.get(&stream.active.window(&run.phases))?;
            Some((index, point(PointPhase::Measure, run, &[sum], index..index + 1)))
        });
        streams.collect()
    }
}

/// Adds the next interval to a sum.
fn add(sum: &mut Interval, interval: &Interval) {
    sum.end_ns = interval.end_ns;
    sum.process_user_ns += interval.process_user_ns;
    sum.process_system_ns += interval.process_system_ns;
    for (stream, next) in sum.streams.iter_mut().zip(&interval.streams) {
        stream.merge(next);
    }
}

pub(crate) fn phase_of((first, end): (u32, u32), interval: &Interval) -> PointPhase {
    match interval.index {
        index if index < first => PointPhase::WarmUp,
        index if index < end => PointPhase::Measure,
        _ => PointPhase::CoolDown,
    }
}

/// The point of `streams` together, by their positions in the run.
fn point(phase: PointPhase, run: &Run, group: &[&Interval], streams: Range<usize>) -> SeriesPoint {
    let (start_ns, end_ns) = (group[0].start_ns, group[group.len() - 1].end_ns);
    let planned = run.streams.get(streams.clone()).unwrap_or_default();
    let offered = planned
        .iter()
        .map(|stream| stream.offered_between(start_ns, end_ns, &run.phases).map(OpsPerSec::get));
    let offered_rate = offered.sum::<Option<f64>>().map(OpsPerSec::new);
    let length_ns: u64 = group.iter().map(|i| i.end_ns - i.start_ns).sum();
    let length_ns = length_ns.max(1) as f64;
    let seconds = length_ns / 1e9;
    let mut response = Counts::default();
    let (mut completed, mut bytes, mut failed) = (0, 0, 0);
    let (mut outstanding, mut backlog, mut cpu_ns) = (0, 0, 0);
    for interval in group {
        cpu_ns += interval.process_user_ns + interval.process_system_ns;
        for stream in interval.streams.get(streams.clone()).unwrap_or_default() {
            for (_, kind) in stream.kinds.entries().filter(|(kind, _)| *kind != OpKind::Fsync) {
                completed += kind.completed;
                bytes += kind.bytes;
                response.merge(&kind.response);
            }
            failed += stream.failed();
            outstanding += stream.outstanding_time_ns;
            backlog += stream.backlog_time_ns;
        }
    }
    SeriesPoint {
        start_ns,
        end_ns,
        phase,
        offered_rate,
        achieved_rate: OpsPerSec::new(completed as f64 / seconds),
        throughput: BytesPerSec::new(bytes as f64 / seconds),
        response_mean: response.mean_ns().map(Nanos),
        response_p99_ns: Percentile::of(&response, 0.99).value_ns,
        outstanding_mean: outstanding as f64 / length_ns,
        backlog_mean: backlog as f64 / length_ns,
        failed,
        cpu_used: cpu_ns as f64 / length_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_begins_with_its_first_interval_and_ends_before_its_end() {
        let phase = |index| phase_of((3, 6), &Interval { index, ..Interval::default() });
        use PointPhase::{CoolDown, Measure, WarmUp};
        assert_eq!([2, 3, 5, 6].map(phase), [WarmUp, Measure, Measure, CoolDown]);
        let names = [WarmUp, Measure, CoolDown].map(PointPhase::name);
        assert_eq!(names, ["warm_up", "measure", "cool_down"]);
    }

    #[test]
    fn a_point_divides_by_the_length_of_its_intervals() {
        let interval = |index, start_ns, end_ns| Interval {
            index,
            start_ns,
            end_ns,
            process_user_ns: 300_000_000,
            process_system_ns: 200_000_000,
            ..Interval::default()
        };
        let (first, second) =
            (interval(0, 0, 1_000_000_000), interval(1, 1_000_000_000, 2_000_000_000));
        let phases =
            Phases { warm_up_ns: 0, measure_ns: 2_000_000_000, interval_ns: 1_000_000_000 };
        let run = Run {
            index: 0,
            variant: String::new(),
            parameters: Vec::new(),
            repeat: 0,
            seed: 1,
            hosts: 1,
            connections: None,
            streams: Vec::new(),
            phases,
            tolerated_errors: 0,
            operation_deadline_ns: 1_000_000_000,
        };
        let point = point(PointPhase::Measure, &run, &[&first, &second], 0..0);
        assert_eq!((point.start_ns, point.end_ns, point.cpu_used), (0, 2_000_000_000, 0.5));
        assert_eq!((point.achieved_rate.get(), point.response_mean), (0.0, None));
    }
}
