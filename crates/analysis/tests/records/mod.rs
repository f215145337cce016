//! Records made by hand, for tests: every number in them is chosen, so every number that comes out
//! is known.

// Each test program takes what it needs.
#![allow(dead_code, unreachable_pub, missing_docs)]

pub mod draws;

use metrics::connection::ConnectionInterval;
use metrics::environment::Environment;
use metrics::histogram::{Counts, Histogram, bucket_of};
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interval::{Interval, KindInterval, StreamInterval, WorkerInterval};
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, Outcome, RunRecord};
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::connection::{CallCounters, Endpoint, TcpState};
use workload::data::DataPattern;
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{
    EmulatedVolume, IoMethod, IoMethodUsed, Phases, Plan, Run, Spread, Step, Stream, StreamTargets,
    TargetSpec, WeightedSize, WorkingSet,
};

pub const SECOND_NS: u64 = 1_000_000_000;

/// Times that were counted one by one.
pub fn counts(times_ns: &[u64]) -> Counts {
    let mut histogram = Histogram::default();
    for time in times_ns {
        histogram.record(*time);
    }
    let mut counts = Counts::default();
    histogram.drain_into(&mut counts);
    counts
}

/// `completed` operations of `bytes` each, all of `service_ns` and `response_ns`.
pub fn kind(completed: u64, bytes: u64, service_ns: u64, response_ns: u64) -> KindInterval {
    let of = |time_ns: u64| {
        let mut one = counts(&[time_ns]);
        for bucket in &mut one.buckets {
            bucket.1 = completed;
        }
        one.sum_ns = u128::from(completed) * u128::from(time_ns);
        if completed == 0 { Counts::default() } else { one }
    };
    KindInterval {
        completed,
        bytes: completed * bytes,
        service: of(service_ns),
        response: of(response_ns),
        ..KindInterval::default()
    }
}

/// A stream's interval with reads only, accounted so that Little's law holds exactly.
pub fn reads(completed: u64, bytes: u64, service_ns: u64) -> StreamInterval {
    let mut interval = StreamInterval {
        issued: completed,
        outstanding_time_ns: u128::from(completed) * u128::from(service_ns),
        ..StreamInterval::default()
    };
    interval.kinds[OpKind::Read as usize] = kind(completed, bytes, service_ns, service_ns);
    interval
}

/// A stream's second of `(kind, operations, bytes of each, time in ns)`, accounted so that Little's law
/// holds exactly.
pub fn second_of(kinds: &[(OpKind, u64, u64, u64)]) -> StreamInterval {
    let mut second = StreamInterval::default();
    for (of, completed, bytes, time_ns) in kinds {
        second.issued += completed;
        second.outstanding_time_ns += u128::from(completed * time_ns);
        second.kinds[*of as usize] = kind(*completed, *bytes, *time_ns, *time_ns);
    }
    second
}

/// A closed stream of 8 KiB random reads.
pub fn stream(name: &str, queue_depth: u32) -> Stream {
    Stream {
        name: name.to_owned(),
        read_permille: 1000,
        transfer_sizes: vec![WeightedSize { size_bytes: 8192, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth,
        workers: 1,
        arrival: Arrival::Closed { think_time_ns: 0 },
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

/// A run of `streams` with `warm_up` and `measure` intervals of one second.
pub fn run(variant: &str, streams: Vec<Stream>, warm_up: u64, measure: u64) -> Run {
    Run {
        index: 0,
        variant: variant.to_owned(),
        parameters: vec![("queue_depth".to_owned(), streams[0].queue_depth.to_string())],
        repeat: 0,
        seed: 1,
        hosts: 1,
        connections: None,
        streams,
        phases: Phases {
            warm_up_ns: warm_up * SECOND_NS,
            measure_ns: measure * SECOND_NS,
            interval_ns: SECOND_NS,
        },
        tolerated_errors: 0,
        operation_deadline_ns: 30 * SECOND_NS,
    }
}

/// Interval `index` of one second; each stream has one worker that used half its processor, the
/// process 0.6 of one.
pub fn interval(index: u32, streams: Vec<StreamInterval>) -> Interval {
    let workers = (0..streams.len() as u32)
        .map(|stream| WorkerInterval { stream, lane: 0, cpu_ns: SECOND_NS / 2 })
        .collect();
    Interval {
        index,
        start_ns: u64::from(index) * SECOND_NS,
        end_ns: u64::from(index + 1) * SECOND_NS,
        streams,
        workers,
        process_user_ns: 200_000_000,
        process_system_ns: 400_000_000,
        connections: Vec::new(),
        targets: Vec::new(),
        wire: Vec::new(),
        host: None,
    }
}

/// One second of a host with two processors, in which 1.5 were busy, 0.4 idle and 0.1 stolen.
pub fn host_second() -> HostInterval {
    let ms = SECOND_NS / 1000;
    HostInterval {
        span_ns: SECOND_NS,
        reading_cpu_ns: 80_000,
        processors: Some(2),
        quota_millicores: Some(1500),
        times: Some(ProcessorTimes { busy_ns: 1_500 * ms, idle_ns: 400 * ms, steal_ns: 100 * ms }),
        runnable_tasks: Some(4),
        pressure_ns: Some(900 * ms),
        run_queue_delay_ns: Some(250 * ms),
        service_cpu_ns: Some(300 * ms),
    }
}

/// A run that was done, with one stream interval for each interval.
pub fn done(run: Run, streams: Vec<StreamInterval>) -> RunRecord {
    let each = streams.into_iter().enumerate();
    RunRecord {
        run,
        started_unix_ms: 1_795_241_733_000,
        intervals: each.map(|(index, s)| interval(index as u32, vec![s])).collect(),
        warnings: Vec::new(),
        hosts: Vec::new(),
        service_counters: None,
        trees: Vec::new(),
        outcome: Outcome::Done,
    }
}

/// A connection that moved `calls` reads of 8 KiB in one second, with `outstanding` of them on
/// average.
pub fn connection(number: u32, calls: u64, outstanding: u64) -> ConnectionInterval {
    let reads = CallCounters { operations: calls, calls, bytes: calls * 8192 };
    ConnectionInterval {
        number,
        local: Endpoint::v4([127, 0, 0, 1], 40_000 + number as u16),
        remote: Endpoint::v4([127, 0, 0, 1], 2049),
        kinds: [reads, CallCounters::default(), CallCounters::default()].into(),
        outstanding_end: outstanding,
        outstanding_time_ns: u128::from(outstanding * SECOND_NS),
        span_ns: SECOND_NS,
        tcp: Some(TcpState { rtt_ns: 50_000, rtt_deviation_ns: 9_000, retransmits: 1 }),
        ..ConnectionInterval::default()
    }
}

/// A run of six seconds at queue depth 64 over connections that did so many reads each second, the
/// first second being warm-up.
pub fn over_connections(calls: &[u64]) -> RunRecord {
    let seconds = (0..6).map(|_| reads(calls.iter().sum(), 8192, 400_000));
    let mut record =
        done(run("random read 8 KiB", vec![stream("data", 64)], 1, 5), seconds.collect());
    for interval in &mut record.intervals {
        let each = calls.iter().enumerate();
        interval.connections =
            each.map(|(number, calls)| connection(number as u32, *calls, 16)).collect();
    }
    record
}

/// The same by four workers, each over one connection: two hosts with one worker for each of two targets.
pub fn over_connections_of_two_hosts_and_targets(calls: &[u64; 4]) -> RunRecord {
    let mut record = over_connections(calls);
    record.run.hosts = 2;
    let stream = &mut record.run.streams[0];
    (stream.workers, stream.queue_depth) = (4, 16);
    stream.targets = StreamTargets { positions: vec![0, 1], spread: Spread::All };
    for interval in &mut record.intervals {
        for connection in &mut interval.connections {
            (connection.lane, connection.number) = (connection.number, 0);
        }
    }
    record
}

/// An emulated volume of 128 MiB/s, with delays of 400 us for reads and 300 us for writes.
pub fn emulated_volume() -> TargetSpec {
    emulated_volume_of(128 << 20)
}

/// The same with this limit.
pub fn emulated_volume_of(throughput_limit_bytes_per_s: u64) -> TargetSpec {
    let volume = EmulatedVolume {
        service_level: "Ultra".to_owned(),
        quota_bytes: 1 << 40,
        throughput_limit_bytes_per_s,
        read_delay_ns: 400_000,
        write_delay_ns: 300_000,
        memory_bytes: 1 << 30,
    };
    TargetSpec::Emulated { volume, connections: None, options: String::new() }
}

/// An experiment of these runs, numbered in order.
pub fn experiment(mut runs: Vec<RunRecord>) -> ExperimentRecord {
    for (index, record) in runs.iter_mut().enumerate() {
        record.run.index = index as u32;
    }
    ExperimentRecord {
        scraped: Default::default(),
        hosts: Vec::new(),
        id: "2026-11-21T06-15-33-a1b2".to_owned(),
        plan: Plan {
            name: "four corners".to_owned(),
            source: "profile:four-corners".to_owned(),
            overrides: Vec::new(),
            targets: vec![TargetSpec::Directory { path: "/mnt/vol1".to_owned() }],
            target_names: Vec::new(),
            io_method: IoMethod::Auto,
            pin: false,
            verify: false,
            metric: None,
            seed: 42,
            data_seed: 43,
            requirements: Vec::new(),
            steps: runs.iter().map(|r| Step::Fixed(r.run.clone())).collect(),
        },
        plan_hash: "0123456789abcdef".repeat(4),
        io_method: ChosenIoMethod {
            io_method: IoMethodUsed::IoUring,
            reason: "the probe did more operations for each CPU second with it".to_owned(),
        },
        environment: Environment::from_iter([
            ("cpu.model".to_owned(), "a processor".to_owned()),
            ("kernel.release".to_owned(), "6.18.0".to_owned()),
        ]),
        started_unix_ms: 1_795_241_733_000,
        prepared: Vec::new(),
        runs,
        warnings: Vec::new(),
        outcome: Outcome::Done,
    }
}

/// Times of operations as shares of their scale, and how many in a thousand have them: a long tail.
const TIMES: [(f64, u64); 10] = [
    (0.55, 100),
    (0.70, 200),
    (0.85, 250),
    (1.00, 200),
    (1.30, 120),
    (1.80, 70),
    (2.60, 40),
    (4.00, 13),
    (7.00, 5),
    (12.0, 2),
];

/// A second of reads of 8 KiB at this rate, with response times of this scale.
pub fn random_reads(rate: f64, scale_ns: f64) -> StreamInterval {
    let completed = rate.round() as u64;
    let mut times = Counts { min_ns: u64::MAX, ..Counts::default() };
    for (share, permille) in TIMES {
        let (time, count) = ((share * scale_ns) as u64, completed * permille / 1000);
        times.buckets.push((bucket_of(time), count));
        times.sum_ns += u128::from(time) * u128::from(count);
        times.min_ns = times.min_ns.min(time);
        times.max_ns = times.max_ns.max(time);
    }
    let mut interval = StreamInterval { issued: completed, ..StreamInterval::default() };
    interval.kinds[OpKind::Read as usize] = KindInterval {
        completed,
        bytes: completed * 8192,
        service: times.clone(),
        response: times,
        ..KindInterval::default()
    };
    interval
}
