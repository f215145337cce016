//! Services, networks and runs for tests, and sums over measurements.

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use metrics::interval::{KindInterval, StreamInterval};
use metrics::run_record::RunRecord;
use sim::nfs_world::Simulated;
use units::Bytes;
use volume::config::Config;
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::connection::CallCounters;
use workload::data::DataPattern;
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{Phases, Run, Stream, WeightedSize, WorkingSet};

pub(crate) const US: u64 = 1000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;
pub(crate) const MIB: f64 = 1_048_576.0;

pub(crate) const SEEDS: [u64; 3] = [1, 2, 3];
pub(crate) const CLOSED: Arrival = Arrival::Closed { think_time_ns: 0 };
pub(crate) const VOLUME: &str = "vol1";

/// One volume, with or without a limit, whose storage time is constant.
pub(crate) fn volume(limit_mib: Option<u64>, time_ns: u64) -> Config {
    volume_of(limit_mib, None, Distribution::Constant { ns: time_ns })
}

/// One volume with a limit per network flow.
pub(crate) fn volume_of(
    limit_mib: Option<u64>,
    flow_mib: Option<u64>,
    time: Distribution,
) -> Config {
    let one = OneVolume {
        name: VOLUME.to_owned(),
        kind: VolumeKind::Regular,
        quota: Bytes::gib(100),
        level: ServiceLevel::Premium,
        throughput: limit_mib.and_then(KibPerSec::from_mib),
        address: "127.0.0.1:0".parse().unwrap(),
        flow_throughput: flow_mib.and_then(KibPerSec::from_mib),
        enforced: limit_mib.is_some(),
        read: time.clone(),
        write: time,
    };
    one.config(&Catalog::embedded()).unwrap()
}

/// Parses a service's configuration.
pub(crate) fn described(text: &str) -> Config {
    let mut none = |file: &str| Err(format!("no {file}"));
    volume::config::parse(text, "volumes.toml", &Catalog::embedded(), &mut none).unwrap()
}

/// One worker that reads 8 KiB at random offsets.
pub(crate) fn stream(arrival: Arrival, queue_depth: u32) -> Stream {
    Stream {
        name: "random".to_owned(),
        read_permille: 1000,
        transfer_sizes: size(8192),
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

pub(crate) fn size(size_bytes: u64) -> Vec<WeightedSize> {
    vec![WeightedSize { size_bytes, weight: 1 }]
}

/// A few small files.
pub(crate) fn small(files: u32, file_size_bytes: u64) -> WorkingSet {
    WorkingSet { files, file_size_bytes, area_bytes: file_size_bytes }
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

/// A stream over all intervals. Operations outstanding at inner boundaries cancel out.
pub(crate) fn whole(record: &RunRecord, stream: usize) -> StreamInterval {
    let mut sum = StreamInterval::default();
    for interval in &record.intervals {
        sum.merge(&interval.streams[stream]);
    }
    sum
}

/// One kind of the only stream over all intervals.
pub(crate) fn kind(record: &RunRecord, kind: OpKind) -> KindInterval {
    whole(record, 0).kinds[kind as usize].clone()
}

/// MiB/s of a stream in the intervals of a range.
pub(crate) fn throughput(
    record: &RunRecord,
    stream: usize,
    intervals: std::ops::Range<usize>,
) -> f64 {
    let intervals = &record.intervals[intervals];
    let length_ns = intervals.last().unwrap().end_ns - intervals[0].start_ns;
    let kinds = intervals.iter().flat_map(|interval| &interval.streams[stream].kinds);
    kinds.map(|kind| kind.bytes).sum::<u64>() as f64 / (length_ns as f64 / 1e9) / MIB
}

/// The calls of one kind, on all connections or on the one with this number.
pub(crate) fn calls(record: &RunRecord, kind: OpKind, number: Option<u32>) -> CallCounters {
    let mut sum = CallCounters::default();
    let all = record.intervals.iter().flat_map(|interval| &interval.connections);
    for connection in all.filter(|one| number.is_none_or(|number| one.number == number)) {
        let counted = connection.kinds[kind as usize];
        sum.operations += counted.operations;
        sum.calls += counted.calls;
        sum.bytes += counted.bytes;
    }
    sum
}

/// `(reconnects, replays)` of all connections.
pub(crate) fn repeats(record: &RunRecord) -> (u64, u64) {
    let all = record.intervals.iter().flat_map(|interval| &interval.connections);
    all.fold((0, 0), |sum, one| (sum.0 + one.reconnects, sum.1 + one.replays))
}

/// All issued operations succeeded.
#[track_caller]
pub(crate) fn assert_whole(simulated: &Simulated) {
    let record = &simulated.record;
    assert_eq!(record.outcome, metrics::run_record::Outcome::Done);
    for stream in 0..record.run.streams.len() {
        let sum = whole(record, stream);
        assert!(sum.issued > 0, "no operation was issued");
        assert_eq!((sum.completed(), sum.failed()), (sum.issued, 0));
    }
    assert_eq!(simulated.mismatches, Vec::<String>::new());
    assert!(simulated.overdue.is_empty() && simulated.abandoned.is_empty());
}

#[track_caller]
pub(crate) fn assert_near(value: f64, expected: f64, share: f64, what: &str) {
    let off = (value - expected) / expected;
    assert!(off.abs() <= share, "{what}: {value:.6}, not {expected:.6} ({:+.2} %)", off * 100.0);
}
