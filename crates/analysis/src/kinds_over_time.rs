//! Operations on names over time by kind: a slow directory listing or a stalled create is hidden among
//! the many times of a mix.

use metrics::histogram::Counts;
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use units::OpsPerSec;
use workload::op::OpKind;

use crate::curve::Curve;
use crate::heat::{self, Heat};
use crate::percentile::Percentile;
use crate::series::{PointPhase, long_enough, phase_of};

/// Most runs of an experiment.
pub const RUNS_MAX: usize = 6;
/// Most kinds of a run, by their completed operations.
pub const KINDS_MAX: usize = 8;
/// Most points of a kind, approximately; phases may add some.
const POINTS_MAX: usize = 300;

/// The most frequent kinds of operations of one run, of all streams together.
#[derive(Clone, Debug, PartialEq)]
pub struct KindsOverTime {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// The kinds, the most frequent first.
    pub kinds: Vec<KindOverTime>,
    /// Kinds that occurred and are not in `kinds`.
    pub left_out: usize,
}

/// One kind of operation over time.
#[derive(Clone, Debug, PartialEq)]
pub struct KindOverTime {
    /// The kind.
    pub kind: OpKind,
    /// Its response times as a heat map.
    pub heat: Heat,
    /// Its values in neighbouring intervals, in order.
    pub points: Vec<KindPoint>,
}

/// Neighbouring intervals of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindPoint {
    /// Start, in nanoseconds from the start of the run.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Their phase.
    pub phase: PointPhase,
    /// Operations of the kind that completed.
    pub achieved_rate: OpsPerSec,
    /// Median of the response time, in nanoseconds; `None` with too few samples above it.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile of the response time, in nanoseconds; `None` with too few samples above it.
    pub response_p99_ns: Option<u64>,
}

/// The first repeat of the load point with the highest rate of each curve, of those with operations
/// on names.
pub(crate) fn kinds_over_time(curves: &[Curve], groups: &[Vec<&RunRecord>]) -> Vec<KindsOverTime> {
    let most = curves.iter().filter_map(|curve| Some(curve.points.get(curve.most?)?.load_point));
    let found = most.filter_map(|index| of_run(index, groups.get(index)?.first()?));
    found.take(RUNS_MAX).collect()
}

fn of_run(load_point: usize, record: &RunRecord) -> Option<KindsOverTime> {
    let mut kinds: Vec<(OpKind, u64)> = OpKind::ALL
        .into_iter()
        .map(|kind| (kind, record.intervals.iter().map(|one| completed(one, kind)).sum()))
        .filter(|(_, completed)| *completed > 0)
        .collect();
    if !kinds.iter().any(|(kind, _)| kind.is_on_names()) {
        return None;
    }
    kinds.sort_by_key(|(_, completed)| std::cmp::Reverse(*completed));
    let shown = kinds.iter().take(KINDS_MAX).filter_map(|(kind, _)| {
        let heat = heat::heat(load_point, record, &|of| of == *kind)?;
        Some(KindOverTime { kind: *kind, heat, points: points(record, *kind) })
    });
    Some(KindsOverTime {
        load_point,
        kinds: shown.collect(),
        left_out: kinds.len().saturating_sub(KINDS_MAX),
    })
}

fn completed(interval: &Interval, kind: OpKind) -> u64 {
    interval.streams.iter().map(|stream| stream.kinds[kind].completed).sum()
}

fn points(record: &RunRecord, kind: OpKind) -> Vec<KindPoint> {
    let phases = &record.run.phases;
    let intervals: Vec<&Interval> =
        record.intervals.iter().filter(|one| long_enough(one, phases)).collect();
    let per_point = intervals.len().div_ceil(POINTS_MAX).max(1);
    let window = phases.window();
    let same_phase = intervals.chunk_by(|a, b| phase_of(window, a) == phase_of(window, b));
    let groups = same_phase.flat_map(|same| same.chunks(per_point));
    let point = |group: &[&Interval]| {
        let mut response = Counts::default();
        for stream in group.iter().flat_map(|interval| &interval.streams) {
            response.merge(&stream.kinds[kind].response);
        }
        let completed: u64 = group.iter().map(|interval| completed(interval, kind)).sum();
        let length_ns: u64 = group.iter().map(|i| i.end_ns - i.start_ns).sum();
        KindPoint {
            start_ns: group[0].start_ns,
            end_ns: group[group.len() - 1].end_ns,
            phase: phase_of(window, group[0]),
            achieved_rate: OpsPerSec::new(completed as f64 / (length_ns.max(1) as f64 / 1e9)),
            response_p50_ns: Percentile::of(&response, 0.5).value_ns,
            response_p99_ns: Percentile::of(&response, 0.99).value_ns,
        }
    };
    groups.map(point).collect()
}
