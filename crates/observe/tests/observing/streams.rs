//! Operation streams of the product, written as the traces that other tools make of them, are observed
//! within the stated error.

use std::collections::BTreeSet;
use std::fmt::Write;

use observe::observation::Observation;
use observe::profile::{ArrivalProfile, LeftOut, Pattern, Profile};
use workload::active_time::ActiveTime;
use workload::arrival::{Arrival, constant_due_ns, poisson_gap_ns};
use workload::data::DataPattern;
use workload::file_use::FileUse;
use workload::op::{Op, OpKind, OpStream};
use workload::pattern::AccessPattern;
use workload::plan::{Stream, StreamTargets, WeightedSize, WorkingSet};

use crate::observed;

const MIB: u64 = 1 << 20;
/// The seed of every stream; results are the same in every run of the tests.
const SEED: u64 = 7;
/// Half-widths in standard deviations: a correct figure is outside with a probability of 6e-7.
const DEVIATIONS: f64 = 5.0;

fn stream(read_permille: u16, pattern: AccessPattern) -> Stream {
    Stream {
        name: "s".to_owned(),
        read_permille,
        transfer_sizes: vec![WeightedSize { size_bytes: 8192, weight: 1 }],
        access_pattern: pattern,
        working_set: WorkingSet { files: 4, file_size_bytes: 16 * MIB, area_bytes: 16 * MIB },
        file_use: FileUse::ALL,
        queue_depth: 1,
        workers: 2,
        arrival: Arrival::Closed { think_time_ns: 0 },
        active: ActiveTime::WHOLE_RUN,
        direct: true,
        dsync: false,
        write_stability: None,
        targets: StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    }
}

/// The first operations of all workers, in turn, with the times at which they are due.
fn operations(stream: &Stream, count: u64) -> Vec<(u64, Op)> {
    let prepared = OpStream::new(stream, SEED);
    let mut due = vec![0.0; stream.workers as usize];
    let mut all = Vec::new();
    for step in 0..count / u64::from(stream.workers) {
        for lane in 0..stream.workers {
            let time = &mut due[lane as usize];
            let ns = match stream.arrival {
                Arrival::Constant { offered_rate } => {
                    constant_due_ns(offered_rate, lane, stream.workers, step)
                }
                Arrival::Poisson { offered_rate } => {
                    *time += poisson_gap_ns(SEED, offered_rate, lane, stream.workers, step);
                    *time as u64
                }
                Arrival::Closed { .. } => step * 1_000_000,
                Arrival::Thinking { .. } | Arrival::Scheduled { .. } | Arrival::Users(_) => {
                    unreachable!("no test observes it")
                }
            };
            all.push((ns, prepared.op(lane, step)));
        }
    }
    all.sort_by_key(|(ns, _)| *ns);
    all
}

/// A log of fio, version 3, with times in microseconds.
fn iolog(operations: &[(u64, Op)]) -> String {
    let mut text = String::from("fio version 3 iolog\n");
    for (ns, op) in operations {
        let (us, file) = (ns / 1000, op.file);
        let (offset, size) = (op.offset_bytes, op.size_bytes);
        let line = match op.kind {
            OpKind::Fsync => format!("{us} /f{file} datasync"),
            kind => format!("{us} /f{file} {} {offset} {size}", kind.name()),
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn observed_stream(stream: &Stream, count: u64) -> (Observation, Vec<(u64, Op)>) {
    let operations = operations(stream, count);
    (observed(iolog(&operations).as_bytes()), operations)
}

/// The share of the operations that continue a run.
fn sequential(observation: &Observation) -> f64 {
    observation.runs.sequential as f64 / observation.operations() as f64
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
}

#[test]
fn our_own_streams_are_observed_within_the_stated_error() {
    let sizes = vec![
        WeightedSize { size_bytes: 8192, weight: 700 },
        WeightedSize { size_bytes: 65536, weight: 300 },
    ];
    let arrival = Arrival::Poisson { offered_rate: 2000.0 };
    let random = Stream { transfer_sizes: sizes, arrival, ..stream(700, AccessPattern::Uniform) };
    let count = 40_000;
    let (found, operations) = observed_stream(&random, count);
    assert_eq!(found.operations(), count);
    // The mix is exact over 1,000 operations of a worker.
    let reads = found.data[0].operations as f64 / count as f64;
    close(reads, 0.7, 1e-9);
    // A size is drawn for each operation.
    let small: u64 = crate::sizes(&found, observe::observation::Direction::Read)
        .iter()
        .chain(&crate::sizes(&found, observe::observation::Direction::Write))
        .filter(|(size, _)| *size == 8192)
        .map(|(_, operations)| operations)
        .sum();
    let deviation = (0.7f64 * 0.3 / count as f64).sqrt();
    close(small as f64 / count as f64, 0.7, DEVIATIONS * deviation);
    // Blocks, counted independently: the set is small enough to be exact.
    let blocks: BTreeSet<(u32, u64)> = operations
        .iter()
        .flat_map(|(_, op)| {
            let first = op.offset_bytes / 4096;
            let blocks = u64::from(op.size_bytes) / 4096;
            (first..first + blocks).map(|block| (op.file, block))
        })
        .collect();
    assert_eq!(found.working_set.touched_bytes, blocks.len() as u64 * 4096);
    assert_eq!(found.working_set.touched_error, 0.0);
    assert_eq!((found.working_set.files.len(), found.working_set.file_bytes()), (4, 64 * MIB));
    // Random offsets continue a run by chance only, and no more often than stated.
    close(sequential(&found), found.runs.by_chance / count as f64, 0.01);
    let arrival = found.arrival.unwrap();
    // The sum of n exponential gaps has a relative deviation of 1 / sqrt(n).
    let tolerance = DEVIATIONS / (count as f64).sqrt();
    close(arrival.mean_per_s / 2000.0, 1.0, tolerance);
    close(arrival.gap_variation.unwrap(), 1.0, 0.05);
    // The dispersion of k seconds has a relative deviation of sqrt(2 / (k - 1)).
    let tolerance = DEVIATIONS * (2.0 / (arrival.seconds - 1) as f64).sqrt();
    close(arrival.dispersion.unwrap(), 1.0, tolerance);
}

#[test]
fn a_profile_of_our_own_random_stream_has_its_keys() {
    let sizes = vec![
        WeightedSize { size_bytes: 8192, weight: 700 },
        WeightedSize { size_bytes: 65536, weight: 300 },
    ];
    let arrival = Arrival::Poisson { offered_rate: 2000.0 };
    let random = Stream { transfer_sizes: sizes, arrival, ..stream(700, AccessPattern::Uniform) };
    let profile = Profile::of(&observed_stream(&random, 40_000).0);
    let [only] = profile.streams.as_slice() else { panic!("{:?}", profile.streams) };
    assert_eq!((only.read_permille, only.pattern), (700, Pattern::Random));
    assert_eq!((only.files, only.file_size_bytes, only.area_bytes), (4, 16 * MIB, None));
    let [(8192, small), (65536, large)] = only.sizes[..] else { panic!("{:?}", only.sizes) };
    assert_eq!(small + large, 1000);
    close(f64::from(small), 700.0, 12.0);
    let ArrivalProfile::Poisson { per_s } = only.arrival else { panic!("{:?}", only.arrival) };
    close(per_s, 2000.0, 50.0);
    assert!(profile.left_out.contains(&LeftOut::Concurrency), "{:?}", profile.left_out);
}

#[test]
fn sequential_workers_of_one_set_of_files_are_sequential() {
    for workers in [1, 4, 32] {
        let one = Stream { workers, ..stream(1000, AccessPattern::Sequential) };
        let (found, _) = observed_stream(&one, 8192);
        // Every worker passes the ends of at most four files, and the set once.
        let runs_max = u64::from(workers) * 5 + 4;
        assert!(found.runs.runs <= runs_max, "{workers}: {:?}", found.runs);
        let profile = Profile::of(&found);
        let [only] = profile.streams.as_slice() else { panic!("{:?}", profile.streams) };
        assert_eq!((only.pattern, only.read_permille), (Pattern::Sequential, 1000));
        assert_eq!(only.sizes, [(8192, 1000)]);
    }
}

#[test]
fn a_hot_set_is_observed_with_its_share_of_the_accesses() {
    let pattern = AccessPattern::HotSet { area_permille: 100, accesses_permille: 800 };
    let count = 200_000;
    let (found, _) = observed_stream(&stream(1000, pattern), count);
    let deviation = (0.8f64 * 0.2 / count as f64).sqrt();
    close(found.working_set.hottest_tenth, 0.8, DEVIATIONS * deviation + 0.001);
    let profile = Profile::of(&found);
    let Pattern::HotTenth { accesses_permille } = profile.streams[0].pattern else {
        panic!("{:?}", profile.streams)
    };
    close(f64::from(accesses_permille), 800.0, 6.0);
    // Equally likely offsets are not mistaken for it.
    let (uniform, _) = observed_stream(&stream(1000, AccessPattern::Uniform), count);
    let set = &uniform.working_set;
    close(set.hottest_tenth, set.hottest_tenth_uniform, 0.005);
    assert_eq!(Profile::of(&uniform).streams[0].pattern, Pattern::Random);
}

#[test]
fn an_area_and_a_constant_rate_with_fsyncs_are_observed() {
    let constant = Stream {
        arrival: Arrival::Constant { offered_rate: 500.0 },
        fsync_every_writes: Some(8),
        working_set: WorkingSet { files: 2, file_size_bytes: 16 * MIB, area_bytes: 4 * MIB },
        ..stream(500, AccessPattern::Uniform)
    };
    let (found, operations) = observed_stream(&constant, 20_000);
    let syncs = operations.iter().filter(|(_, op)| op.kind == OpKind::Fsync).count();
    assert_eq!(found.syncs(), syncs as u64);
    let profile = Profile::of(&found);
    let [only] = profile.streams.as_slice() else { panic!("{:?}", profile.streams) };
    assert_eq!(only.fsync_every, Some(8));
    let ArrivalProfile::Constant { per_s } = only.arrival else { panic!("{:?}", only.arrival) };
    // Fsyncs are part of an offered rate.
    close(per_s, 500.0, 1.0);
    // A log does not show the size of a file beyond the last access.
    close(only.file_size_bytes as f64, 4.0 * MIB as f64, 65536.0);
    assert_eq!((only.files, only.area_bytes), (2, None));
}

/// Every worker is a thread that issues its next operation when its last one ends, as in strace.
#[test]
fn a_closed_queue_is_observed_with_its_depth_and_response_time() {
    let closed = Stream { workers: 6, ..stream(1000, AccessPattern::Uniform) };
    let prepared = OpStream::new(&closed, SEED);
    let mut lines = Vec::new();
    for lane in 0..6u64 {
        for step in 0..2000 {
            let op = prepared.op(lane as u32, step);
            // 600 us, without a gap; threads begin at different times.
            let (begin_us, name) = (lane * 100 + step * 600, op.file);
            let (size, offset) = (op.size_bytes, op.offset_bytes);
            lines.push((begin_us, format!(
                "{} 1700000000.{begin_us:06} pread64(3</f{name}>, \"\"..., {size}, {offset}) = {size} <0.000600>\n",
                100 + lane
            )));
        }
    }
    lines.retain(|(begin_us, _)| *begin_us < 1_000_000);
    // In the order of ends.
    lines.sort_by_key(|(begin_us, _)| *begin_us);
    let text: String = lines.into_iter().map(|(_, line)| line).collect();
    let found = observed(text.as_bytes());
    let flight = found.concurrency.unwrap();
    assert_eq!((flight.max, flight.p99), (6, 6));
    close(flight.mean, 6.0, 0.01);
    let response = found.data[0].response.unwrap();
    close(response.mean_ns, 600_000.0, 1.0);
    close(response.p99_ns.unwrap() as f64, 600_000.0, 6_000.0);
    let profile = Profile::of(&found);
    assert_eq!(profile.streams[0].queue_depth, 6);
    assert_eq!(profile.streams[0].arrival, ArrivalProfile::Closed { think_time_ns: 0 });
}

#[test]
fn random_reads_and_a_sequential_log_become_two_streams_with_their_rates() {
    let reads = Stream {
        arrival: Arrival::Poisson { offered_rate: 900.0 },
        working_set: WorkingSet { files: 4, file_size_bytes: 1024 * MIB, area_bytes: 1024 * MIB },
        ..stream(1000, AccessPattern::Uniform)
    };
    let mut all = operations(&reads, 18_000);
    for at in 0..2_000u64 {
        let op = Op {
            index: at,
            offset_bytes: at * 4096,
            size_bytes: 4096,
            file: 9,
            kind: OpKind::Write,
        };
        all.push((at * 10_000_000, op));
    }
    all.sort_by_key(|(ns, _)| *ns);
    let profile = Profile::of(&observed(iolog(&all).as_bytes()));
    let [log, random] = profile.streams.as_slice() else { panic!("{:?}", profile.streams) };
    assert_eq!((log.name.as_str(), log.pattern), ("sequential", Pattern::Sequential));
    // At most 64 of 131,072 positions of a file continue a run of reads.
    assert!(log.read_permille <= 10, "{log:?}");
    assert_eq!((random.pattern, random.files), (Pattern::Random, 4));
    assert!(random.read_permille >= 999, "{random:?}");
    let rate = |arrival| match arrival {
        ArrivalProfile::Poisson { per_s } | ArrivalProfile::Constant { per_s } => per_s,
        ArrivalProfile::Closed { .. } => panic!("{arrival:?}"),
    };
    close(rate(random.arrival) + rate(log.arrival), 1000.0, 50.0);
    close(rate(log.arrival), 100.0, 15.0);
}

/// Shares of seeks are found within one percent of the operations, whatever the size of the files and the
/// number of workers, and the profile has one stream.
#[test]
fn our_own_seeks_are_observed_with_their_share() {
    let large = WorkingSet { files: 4, file_size_bytes: 1024 * MIB, area_bytes: 1024 * MIB };
    let small = WorkingSet { files: 4, file_size_bytes: 64 * MIB, area_bytes: 64 * MIB };
    for (working_set, workers, seek_permille) in [
        (large, 1, 250),
        (large, 4, 20),
        (large, 2, 100),
        (large, 2, 500),
        (large, 2, 750),
        (small, 1, 250),
        (small, 2, 500),
    ] {
        let pattern = AccessPattern::PartlySequential { seek_permille };
        let arrival = Arrival::Constant { offered_rate: 1000.0 };
        let seeking = Stream { working_set, workers, arrival, ..stream(700, pattern) };
        let profile = Profile::of(&observed_stream(&seeking, 40_000).0);
        let what = format!("{working_set:?}, {workers} workers, {seek_permille}: {profile:?}");
        let [only] = profile.streams.as_slice() else { panic!("{what}") };
        let Pattern::Seek { permille } = only.pattern else { panic!("{what}") };
        assert!(permille.abs_diff(seek_permille) <= 10, "{what}");
        assert_eq!((only.name.as_str(), only.read_permille), ("seeking", 700));
        assert_eq!(only.sizes, [(8192, 1000)]);
        let is_run_length = |one: &LeftOut| matches!(one, LeftOut::RunLength { .. });
        assert!(!profile.left_out.iter().any(is_run_length), "a seek has the run length: {what}");
    }
}

/// Seeks that are drawn independently, as those of fio, have runs of geometric length.
#[test]
fn independent_seeks_are_observed_with_their_share() {
    for seek_permille in [100u64, 300, 600] {
        let (mut block, mut all) = (0u64, Vec::new());
        for at in 0..40_000u64 {
            let bits = workload::random::at(SEED, at);
            let is_seek =
                workload::random::below(workload::random::mix64(bits), 1000) < seek_permille;
            block = if is_seek { workload::random::below(bits, 1 << 20) } else { block + 1 };
            let (offset_bytes, size_bytes) = (block * 8192, 8192);
            let op = Op { index: at, offset_bytes, size_bytes, file: 0, kind: OpKind::Read };
            all.push((at * 1_000_000, op));
        }
        let profile = Profile::of(&observed(iolog(&all).as_bytes()));
        let [only] = profile.streams.as_slice() else { panic!("{profile:?}") };
        let Pattern::Seek { permille } = only.pattern else { panic!("{profile:?}") };
        // Five standard deviations of the sample, and 0.2 % by chance.
        let share = seek_permille as f64 / 1000.0;
        let tolerance = 5.0 * (share * (1.0 - share) / 40_000.0).sqrt() * 1000.0 + 2.0;
        close(f64::from(permille), seek_permille as f64, tolerance);
    }
}
