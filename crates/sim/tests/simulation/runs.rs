//! Runs for tests, and sums over their measurements.

use metrics::interval::{KindInterval, StreamInterval};
use metrics::run_record::RunRecord;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{Phases, Run, Stream, WeightedSize, WorkingSet};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;

/// One worker that reads 8 KiB at random offsets.
pub(crate) fn stream(arrival: Arrival, queue_depth: u32) -> Stream {
    Stream {
        name: "random".to_owned(),
        read_permille: 1000,
        transfer_sizes: vec![WeightedSize { size_bytes: 8192, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth,
        workers: 1,
        arrival,
        active: ActiveTime::WHOLE_RUN,
        direct: true,
        dsync: false,
        write_stability: None,
        targets: workload::plan::StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    }
}

/// A run without warm-up.
pub(crate) fn run(streams: Vec<Stream>, measure_ns: u64, interval_ns: u64) -> Run {
    Run {
        index: 0,
        variant: "simulated".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 42,
        hosts: 1,
        connections: None,
        streams,
        phases: Phases { warm_up_ns: 0, measure_ns, interval_ns },
        tolerated_errors: u64::MAX,
        operation_deadline_ns: 60 * S,
    }
}

pub(crate) const CLOSED: Arrival = Arrival::Closed { think_time_ns: 0 };

pub(crate) fn constant(offered_rate: f64) -> Arrival {
    Arrival::Constant { offered_rate }
}

pub(crate) fn poisson(offered_rate: f64) -> Arrival {
    Arrival::Poisson { offered_rate }
}

/// A stream over all intervals. Operations outstanding at inner boundaries cancel out.
pub(crate) fn whole(record: &RunRecord, stream: usize) -> StreamInterval {
    let mut sum = StreamInterval::default();
    for interval in &record.intervals {
        sum.merge(&interval.streams[stream]);
    }
    sum
}

/// The reads of the only stream over all intervals.
pub(crate) fn reads(record: &RunRecord) -> KindInterval {
    whole(record, 0).kinds[OpKind::Read as usize].clone()
}

#[track_caller]
pub(crate) fn assert_near(value: f64, expected: f64, share: f64, what: &str) {
    let off = (value - expected) / expected;
    assert!(off.abs() <= share, "{what}: {value:.6}, not {expected:.6} ({:+.2} %)", off * 100.0);
}
