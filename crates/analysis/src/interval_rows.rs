//! The stored intervals of a record as rows: one for each interval, stream and kind of operation.
//!
//! For exports to other programs, which combine them as they need. A row has the figures of its
//! interval only, without uncertainty; those of a window are in [`crate::load_point`].

use std::collections::BTreeMap;

use metrics::fleet::HostRun;
use metrics::histogram::{Counts, bucket_high_ns};
use metrics::interval::{Interval, StreamInterval};
use metrics::run_record::{ExperimentRecord, RunRecord};
use units::{BytesPerSec, OpsPerSec};
use workload::op::OpKind;
use workload::plan::Stream;

use crate::load_point::by_load_point;
use crate::percentile::Percentile;
use crate::series::{PointPhase, phase_of};
use crate::times::FRACTIONS;

/// One kind of operation of a stream in one interval.
#[derive(Clone, Debug)]
pub struct IntervalRow<'a> {
    /// The record.
    pub record: &'a ExperimentRecord,
    /// The load point, by its index in `Findings::load_points`.
    pub load_point: usize,
    /// The run.
    pub run: &'a RunRecord,
    /// The interval.
    pub interval: &'a Interval,
    /// The phase of the interval.
    pub phase: PointPhase,
    /// The stream as planned.
    pub stream: &'a Stream,
    /// The kind of operation.
    pub kind: OpKind,
    /// Operations that succeeded.
    pub completed: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean offered rate of the interval, of all kinds of the stream; `None` in a closed loop.
    pub offered_rate: Option<OpsPerSec>,
    /// Operations completed per second; `None` if the interval has no length.
    pub achieved_rate: Option<OpsPerSec>,
    /// Bytes moved per second.
    pub throughput: Option<BytesPerSec>,
    /// Response times.
    pub response: IntervalTimes<'a>,
    /// Service times.
    pub service: IntervalTimes<'a>,
    /// Mean number of operations outstanding, of all kinds of the stream.
    pub outstanding_mean: Option<f64>,
    /// Mean number of operations due but not issued, of all kinds of the stream.
    pub backlog_mean: Option<f64>,
    /// Processors used by the whole process.
    pub cpu_used: Option<f64>,
    /// Hosts whose interval is part of it; `None` if only one measured.
    pub hosts: Option<usize>,
}

/// Times of operations in one interval.
#[derive(Clone, Debug)]
pub struct IntervalTimes<'a> {
    /// The mean in nanoseconds; `None` without operations, as for the other numbers.
    pub mean_ns: Option<f64>,
    /// The exact minimum.
    pub min_ns: Option<u64>,
    /// The percentiles of [`FRACTIONS`]; `None` with too few samples above.
    pub percentiles_ns: [Option<u64>; FRACTIONS.len()],
    /// The exact maximum.
    pub max_ns: Option<u64>,
    counts: &'a Counts,
}

impl<'a> IntervalTimes<'a> {
    fn of(counts: &'a Counts) -> IntervalTimes<'a> {
        let any = counts.total() > 0;
        IntervalTimes {
            mean_ns: counts.mean_ns(),
            min_ns: any.then_some(counts.min_ns),
            percentiles_ns: FRACTIONS.map(|fraction| Percentile::of(counts, fraction).value_ns),
            max_ns: any.then_some(counts.max_ns),
            counts,
        }
    }

    /// The histogram: the upper edge of each bucket with operations, at most the exact maximum, and
    /// their number, in ascending order. Times beyond the last bucket are at the maximum.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let max_ns = self.counts.max_ns;
        let inside = self.counts.buckets.iter();
        let inside = inside.map(move |(bucket, ops)| (bucket_high_ns(*bucket).min(max_ns), *ops));
        let beyond = self.counts.over_range;
        inside.chain((beyond > 0).then_some((max_ns, beyond)))
    }
}

/// The rows of a record, in the order of its runs, intervals, streams and kinds of operation.
/// Intervals of warm-up and cool-down are included. A stream has the kinds that were planned.
pub fn interval_rows(record: &ExperimentRecord) -> Vec<IntervalRow<'_>> {
    let mut load_points: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, group) in by_load_point(&record.runs).iter().enumerate() {
        load_points.extend(group.iter().map(|run| (run.run.index, index)));
    }
    let mut rows = Vec::new();
    for run in &record.runs {
        for interval in &run.intervals {
            // A third-party record may lack a stream in an interval without operations.
            for (stream, measured) in run.run.streams.iter().zip(&interval.streams) {
                for kind in stream.kinds() {
                    let load_point = load_points[&run.run.index];
                    rows.push(row(record, load_point, run, interval, stream, measured, kind));
                }
            }
        }
    }
    rows
}

fn row<'a>(
    record: &'a ExperimentRecord,
    load_point: usize,
    run: &'a RunRecord,
    interval: &'a Interval,
    stream: &'a Stream,
    measured: &'a StreamInterval,
    kind: OpKind,
) -> IntervalRow<'a> {
    let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
    let length_ns = (length_ns > 0).then_some(length_ns as f64);
    let per_second = |amount: u64| length_ns.map(|length_ns| amount as f64 / (length_ns / 1e9));
    let of_kind = &measured.kinds[kind as usize];
    let cpu_ns = interval.process_user_ns + interval.process_system_ns;
    IntervalRow {
        record,
        load_point,
        run,
        interval,
        phase: phase_of(stream.active.window(&run.run.phases), interval),
        stream,
        kind,
        completed: of_kind.completed,
        failed: of_kind.failed_total(),
        bytes: of_kind.bytes,
        offered_rate: length_ns.and_then(|_| {
            stream.offered_between(interval.start_ns, interval.end_ns, &run.run.phases)
        }),
        achieved_rate: per_second(of_kind.completed).map(OpsPerSec::new),
        throughput: per_second(of_kind.bytes).map(BytesPerSec::new),
        response: IntervalTimes::of(&of_kind.response),
        service: IntervalTimes::of(&of_kind.service),
        outstanding_mean: length_ns.map(|length| measured.outstanding_time_ns as f64 / length),
        backlog_mean: length_ns.map(|length| measured.backlog_time_ns as f64 / length),
        cpu_used: length_ns.map(|length| cpu_ns as f64 / length),
        hosts: (!run.hosts.is_empty()).then(|| {
            let has_it = |host: &&HostRun| host.intervals.len() > interval.index as usize;
            run.hosts.iter().filter(has_it).count()
        }),
    }
}
