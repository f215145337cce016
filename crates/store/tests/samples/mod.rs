//! A plan and intervals to store: pure functions of their numbers, so that a test knows the
//! expected record.

use metrics::histogram::Counts;
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interval::{Interval, KindInterval, StreamInterval, WorkerInterval};
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::pattern::AccessPattern;
use workload::plan::{
    IoMethod, Phases, Plan, Run, Step, Stream, TargetSpec, WeightedSize, WorkingSet,
};
use workload::random;

/// A plan of `runs` runs.
pub(crate) fn plan(name: &str, runs: u32) -> Plan {
    Plan {
        name: name.to_owned(),
        source: "profile:sample".to_owned(),
        overrides: vec!["queue_depth=4".to_owned(), "run.measure=5s".to_owned()],
        targets: vec![TargetSpec::Directory { path: "/mnt/vol1".to_owned() }],
        target_names: Vec::new(),
        io_method: IoMethod::Auto,
        pin: true,
        verify: false,
        metric: None,
        seed: u64::MAX,
        data_seed: 7,
        requirements: Vec::new(),
        steps: (0..runs).map(|index| Step::Fixed(run(index))).collect(),
    }
}

/// Run number `index`.
pub(crate) fn run(index: u32) -> Run {
    Run {
        index,
        variant: "random read 8 KiB".to_owned(),
        parameters: vec![("queue_depth".to_owned(), index.to_string())],
        repeat: 0,
        seed: u64::MAX - u64::from(index),
        hosts: 1,
        connections: None,
        streams: vec![Stream {
            name: "data".to_owned(),
            read_permille: 700,
            transfer_sizes: vec![WeightedSize { size_bytes: 8192, weight: 1 }],
            access_pattern: AccessPattern::Zipf { theta: 0.1 + 0.2 },
            working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
            file_use: workload::file_use::FileUse::ALL,
            queue_depth: 4,
            workers: 2,
            arrival: Arrival::Poisson { offered_rate: 1e5 / 3.0 },
            active: workload::active_time::ActiveTime::WHOLE_RUN,
            direct: true,
            dsync: false,
            write_stability: None,
            targets: workload::plan::StreamTargets::default(),
            names: None,
            replay: None,
            fsync_every_writes: Some(16),
            data: DataPattern::default(),
        }],
        phases: Phases {
            warm_up_ns: 1_000_000_000,
            measure_ns: 4_000_000_000,
            interval_ns: 1_000_000_000,
        },
        tolerated_errors: 0,
        operation_deadline_ns: 30_000_000_000,
    }
}

/// Interval number `index` of `streams` streams that read and write, with `buckets` non-empty
/// buckets in each histogram. Response times differ from service times, as in an open loop.
pub(crate) fn interval(index: u32, streams: u32, buckets: u32) -> Interval {
    let number = |nth: u64| random::at(0xFC, u64::from(index) << 20 | nth);
    Interval {
        index,
        start_ns: u64::from(index) * 1_000_000_000,
        end_ns: u64::from(index + 1) * 1_000_000_000,
        streams: (0..streams).map(|stream| stream_interval(number, stream, buckets)).collect(),
        workers: (0..streams)
            .map(|stream| WorkerInterval { stream, lane: 0, cpu_ns: number(1) % 1_000_000_000 })
            .collect(),
        process_user_ns: number(2) % 1_000_000_000,
        process_system_ns: number(3) % 1_000_000_000,
        connections: Vec::new(),
        targets: Vec::new(),
        wire: Vec::new(),
        host: Some(HostInterval {
            span_ns: 1_000_000_000 + number(10) % 1_000_000,
            processors: Some(4),
            times: Some(ProcessorTimes { busy_ns: number(11) >> 40, idle_ns: 7, steal_ns: 0 }),
            run_queue_delay_ns: Some(number(12) >> 40),
            ..HostInterval::default()
        }),
    }
}

fn stream_interval(number: impl Fn(u64) -> u64, stream: u32, buckets: u32) -> StreamInterval {
    let kind = |kind: OpKind| {
        let first = 16 + (u64::from(stream) * 4 + kind as u64) * 4;
        let service = counts(number(first), buckets);
        let mut failed = [0; ErrorKind::COUNT];
        failed[ErrorKind::Short as usize] = number(first + 1) % 3;
        KindInterval {
            completed: service.total(),
            bytes: service.total() * 8192,
            failed,
            service,
            response: counts(number(first + 2), buckets),
        }
    };
    StreamInterval {
        issued: number(4) >> 40,
        outstanding_start: number(5) % 32,
        outstanding_end: number(6) % 32,
        outstanding_time_ns: u128::from(number(7)) << 3,
        backlog_end: number(8) % 100,
        backlog_time_ns: u128::from(number(9)),
        kinds: [kind(OpKind::Read), kind(OpKind::Write), KindInterval::default()].into(),
        users: None,
    }
}

fn counts(seed: u64, buckets: u32) -> Counts {
    let mut counts = Counts::default();
    let mut bucket = 8_000;
    for nth in 0..buckets {
        let bits = random::at(seed, u64::from(nth));
        bucket += 1 + (bits % 5) as u32;
        let count = 1 + (bits >> 32) % 200;
        let time_ns = metrics::histogram::bucket_low_ns(bucket);
        counts.buckets.push((bucket, count));
        counts.sum_ns += u128::from(time_ns) * u128::from(count);
        counts.min_ns = counts.min_ns.min(time_ns);
        counts.max_ns = counts.max_ns.max(time_ns);
    }
    counts
}
