//! Known answers for verdicts, on constructed records.

use crate::records;
use crate::records::{
    SECOND_NS, done, emulated_volume, emulated_volume_of, experiment, reads, run, second_of, stream,
};
use analysis::curve::Missing;
use analysis::curve::plateau::{Inconclusive, Reason, State};
use analysis::verdict::experiment::{Change, Experiment};
use analysis::verdict::{Answer, Evidence, Gap, Limit, Verdict};
use analysis::{Findings, analyze};
use metrics::interval::StreamInterval;
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::wire::{CounterSource, WireInterval};
use workload::arrival::Arrival;
use workload::names::{NameLoad, NameMix, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::plan::{Spread, Stream, StreamTargets, TargetSpec};

const MIB: u64 = 1 << 20;

/// A closed loop of reads of `bytes` at each depth: unloaded they take 0.4 ms, and no rate is
/// beyond `ceiling` operations per second.
fn curve_of(name: &str, bytes: u64, ceiling: u64, depths: &[u32]) -> Vec<RunRecord> {
    let point = |depth: &u32| {
        let rate = (u64::from(*depth) * 2500).min(ceiling);
        point(name, *depth, bytes, &[rate; 6])
    };
    depths.iter().map(point).collect()
}

/// One load point with these operations in its seconds.
fn point(name: &str, depth: u32, bytes: u64, rates: &[u64]) -> RunRecord {
    let mut stream = stream("data", depth);
    stream.transfer_sizes[0].size_bytes = bytes;
    let second = |rate: &u64| reads(*rate, bytes, u64::from(depth) * SECOND_NS / rate);
    let seconds: Vec<StreamInterval> = rates.iter().map(second).collect();
    done(run(name, vec![stream], 0, rates.len() as u64), seconds)
}

fn curve(ceiling: u64, depths: &[u32]) -> Vec<RunRecord> {
    curve_of("random read 8 KiB", 8192, ceiling, depths)
}

fn busy(runs: &mut [RunRecord], share: f64) {
    for worker in runs.iter_mut().flat_map(|run| &mut run.intervals).flat_map(|i| &mut i.workers) {
        worker.cpu_ns = (share * SECOND_NS as f64) as u64;
    }
}

fn known(record: &mut ExperimentRecord, limit: &str, value: &str) {
    record.environment.extend([(format!("known.{limit}"), value.to_owned())]);
}

fn only(record: &ExperimentRecord) -> Verdict {
    let mut verdicts = analyze(record).verdicts;
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    verdicts.remove(0)
}

fn probability(verdict: &Verdict) -> f64 {
    match &verdict.answer {
        Answer::Limited { probability, .. } => *probability,
        other => panic!("nothing is named: {other:?}"),
    }
}

#[test]
fn a_limit_set_by_the_program_is_found_with_one_or_more_load_points() {
    // 128 MiB/s are 16,384 operations of 8 KiB; 99.6 % of them are 16,318.
    for (ceiling, depths) in
        [(16_384, &[1, 4, 16, 64][..]), (16_318, &[1, 4, 16]), (16_318, &[16]), (16_384, &[8, 16])]
    {
        let mut record = experiment(curve(ceiling, depths));
        *record.plan.target_mut() = emulated_volume();
        let found = only(&record);
        assert_eq!(found.named(), [Limit::VolumeThroughput], "{found:#?}");
        assert_eq!(found.plateau.state, State::Reached(Reason::AtKnownLimit));
        assert!(probability(&found) > 0.98);
    }
}

/// A closed loop on a tree, of one kind of operation that moves `bytes`: at least 0.4 ms each, and at
/// most `ceiling` operations per second.
fn names_curve(of: OpKind, bytes: u64, ceiling: u64) -> ExperimentRecord {
    let point = |depth: &u32| {
        let rate = (u64::from(*depth) * 2500).min(ceiling);
        let names = NameLoad {
            tree: TreeShape {
                files: 1000,
                depth: 1,
                width: 10,
                directories: 10,
                name_length: 12,
                spread: NameSpread::RoundRobin,
                sizes: NameSize::constant(bytes),
            },
            mix: NameMix::of(&[(of, 1000)]),
            append_bytes: 4096,
            scenario: None,
        };
        let stream = Stream { names: Some(names), read_permille: 0, ..stream("data", *depth) };
        let second = || second_of(&[(of, rate, bytes, u64::from(*depth) * SECOND_NS / rate)]);
        done(run(of.name(), vec![stream], 0, 6), (0..6).map(|_| second()).collect())
    };
    let mut record = experiment([1, 4, 16, 64].iter().map(point).collect());
    *record.plan.target_mut() = emulated_volume();
    record
}

#[test]
fn operations_on_names_reach_a_throughput_limit_only_with_the_bytes_that_they_move() {
    // 16,384 stat/s would be 128 MiB/s if each moved the 8 KiB of the stream's unused transfer size.
    let moves_nothing = only(&names_curve(OpKind::Stat, 0, 16_384));
    assert_eq!(moves_nothing.plateau.state, State::Reached(Reason::Flat), "{moves_nothing:#?}");
    assert!(!moves_nothing.named().contains(&Limit::VolumeThroughput), "{moves_nothing:#?}");
    assert_eq!(moves_nothing.bytes_per_op(), 0.0);
    // New files of 4 KiB reach it at 32,768 operations per second, and not at half of it.
    let files = only(&names_curve(OpKind::Create, 4096, 32_768));
    assert_eq!(files.plateau.state, State::Reached(Reason::AtKnownLimit), "{files:#?}");
    assert_eq!(files.named(), [Limit::VolumeThroughput]);
    let below = only(&names_curve(OpKind::Create, 4096, 16_384));
    assert_eq!(below.plateau.state, State::Reached(Reason::Flat), "{below:#?}");
    assert!(!below.named().contains(&Limit::VolumeThroughput), "{below:#?}");
}

#[test]
fn no_experiment_changes_the_transfers_of_operations_on_names() {
    let found = only(&names_curve(OpKind::Stat, 0, 12_000));
    assert!(found.named().is_empty(), "{found:#?}");
    let changed = match found.next {
        Some(Experiment::Change { change, .. }) => Some(change),
        _ => None,
    };
    assert!(matches!(changed, Some(Change::Workers | Change::Connections)), "{:#?}", found.next);
}

#[test]
fn different_operations_on_names_are_no_load_points_of_one_kind() {
    let kind = |of| analyze(&names_curve(of, 0, 12_000)).load_points[0].signature.kind.clone();
    assert_ne!(kind(OpKind::Stat), kind(OpKind::Access));
    assert_eq!(kind(OpKind::Stat), kind(OpKind::Stat));
}

#[test]
fn fsyncs_move_no_bytes_towards_a_throughput_limit() {
    // A write of 8 KiB and an fsync alternate: 32,768 operations per second are 128 MiB/s.
    let with = |ceiling: u64| {
        let point = |depth: u32| {
            let rate = (u64::from(depth) * 2500).min(ceiling);
            let stream =
                Stream { read_permille: 0, fsync_every_writes: Some(1), ..stream("data", depth) };
            let each_ns = u64::from(depth) * SECOND_NS / rate;
            let kinds = [OpKind::Write, OpKind::Fsync];
            let bytes = [8192, 0];
            let second = || second_of(&[0, 1].map(|at| (kinds[at], rate / 2, bytes[at], each_ns)));
            done(run("log", vec![stream], 0, 6), (0..6).map(|_| second()).collect())
        };
        let mut record = experiment([1, 4, 16, 64].map(point).to_vec());
        *record.plan.target_mut() = emulated_volume();
        only(&record)
    };
    let half = with(16_384);
    assert_eq!(half.plateau.state, State::Reached(Reason::Flat), "{half:#?}");
    assert!(!half.named().contains(&Limit::VolumeThroughput), "{half:#?}");
    let full = with(32_768);
    assert_eq!(full.plateau.state, State::Reached(Reason::AtKnownLimit), "{full:#?}");
    assert_eq!(full.named(), [Limit::VolumeThroughput]);
    // 8 KiB in two operations.
    assert_eq!(full.bytes_per_op(), 4096.0);
}

#[test]
fn the_certain_limit_of_unequal_volumes_is_the_sum_of_those_that_a_run_uses() {
    // 64 and 192 MiB/s, in operations of 8 KiB.
    let (small, large) = (8192, 24_576);
    let limited = |ceiling: u64, positions: &[u32], order: [u64; 2]| {
        let mut runs = curve(ceiling, &[4, 16, 64]);
        for run in &mut runs {
            let stream = &mut run.run.streams[0];
            let positions = positions.to_vec();
            stream.targets = StreamTargets { positions, spread: Spread::All };
        }
        let mut record = experiment(runs);
        record.plan.targets = order.map(|limit| emulated_volume_of(limit * 8192)).to_vec();
        only(&record)
    };
    for (ceiling, positions, order) in [
        (small + large, &[0, 1][..], [small, large]),
        (small + large, &[0, 1], [large, small]),
        (small, &[0], [small, large]),
        (large, &[1], [small, large]),
    ] {
        let found = limited(ceiling, positions, order);
        assert_eq!(found.plateau.state, State::Reached(Reason::AtKnownLimit), "{found:#?}");
        assert_eq!(found.named(), [Limit::VolumeThroughput]);
    }
    // Twice the smaller limit is the limit of neither.
    let found = limited(2 * small, &[0, 1], [small, large]);
    assert_eq!(found.plateau.state, State::Reached(Reason::Flat));
    assert!(found.named().is_empty(), "{found:#?}");
}

#[test]
fn a_flat_curve_without_known_limits_leads_to_an_experiment() {
    let found = only(&experiment(curve(16_384, &[1, 4, 16, 64])));
    assert_eq!(found.answer, Answer::NotEnoughData(Gap::Undecided), "{found:#?}");
    assert!(found.candidates.len() > 2, "{:?}", found.candidates);
    assert!(found.next.is_some());
}

#[test]
fn a_proportional_rate_has_no_limit() {
    let mut record = experiment(curve(1_000_000, &[1, 2, 4, 8]));
    *record.plan.target_mut() = emulated_volume();
    *record.plan.target_mut() = TargetSpec::Directory { path: "/mnt/vol1".to_owned() };
    let found = only(&record);
    assert_eq!(found.answer, Answer::NotReached, "{found:#?}");
    assert!(found.candidates.is_empty() && found.named().is_empty());
}

#[test]
fn two_distant_load_points_have_no_cause() {
    // The depths that a quick run had: 168 us alone, and 6 times the rate at depth 16, where the
    // ceiling may be reached or not.
    let records = vec![point("read", 1, 8192, &[5957; 8]), point("read", 16, 8192, &[35_739; 8])];
    let found = only(&experiment(records));
    let why = Gap::End(Inconclusive::MoreLoad);
    assert_eq!(found.answer, Answer::NotEnoughData(why), "{found:#?}");
    assert!(found.candidates.is_empty());
    assert!(found.next.is_some(), "it says what would tell");
}

#[test]
fn one_load_point_has_no_limit() {
    for rate in [100, 16_384] {
        let found = only(&experiment(vec![point("read", 16, 8192, &[rate; 6])]));
        let why = Gap::End(Inconclusive::OnePoint);
        assert_eq!(found.answer, Answer::NotEnoughData(why), "{found:#?}");
    }
}

#[test]
fn imprecise_points_have_no_verdict() {
    // 64 operations at a time, half of the seconds disturbed: ±50 % and more.
    let wild = [16_384, 3000, 16_000, 2500, 16_384, 2800];
    let mut records = curve(16_384, &[1, 4, 16]);
    records.push(point("random read 8 KiB", 64, 8192, &wild));
    let mut record = experiment(records);
    known(&mut record, "network_flow", "134217728 bytes/s, as given");
    let found = only(&record);
    let why = Gap::End(Inconclusive::Precision(3));
    assert_eq!(found.answer, Answer::NotEnoughData(why), "{found:#?}");
    assert!(found.plateau.level.relative().is_some());
}

#[test]
fn two_rates_at_the_same_load_are_unstable() {
    let mut records = curve(16_384, &[1, 4, 16, 64]);
    let mut again = point("random read 8 KiB", 64, 8192, &[8192; 6]);
    again.run.repeat = 1;
    records.push(again);
    let found = only(&experiment(records));
    let why = Gap::End(Inconclusive::Stability(3));
    assert_eq!(found.answer, Answer::NotEnoughData(why), "{found:#?}");
}

#[test]
fn a_limits_interval_is_not_the_unloaded_latency() {
    // 64 KiB on 48 MiB/s: 768 operations per second from queue depth 1 on, 1.3 ms each.
    let rate = 48 * MIB / 65_536;
    let at = |depth: u32| point("sequential read 64 KiB", depth, 65_536, &[rate; 6]);
    let findings = analyze(&experiment([1, 4, 16, 64].map(at).to_vec()));
    let curve = &findings.curves[0];
    let floor = curve.floor.as_ref().unwrap();
    assert!(floor.is_pace && floor.latency_ns().is_none());
    let knees = curve.knees.as_ref().unwrap();
    assert_eq!(knees.bounds, Err(Missing::FloorIsPace));
    assert_eq!(knees.slo, Err(Missing::FloorIsPace));
    assert_eq!(knees.objective, None);
    assert!(findings.verdicts[0].plateau.floor_is_pace);
}

#[test]
fn a_constant_backlog_does_not_exclude_a_limit() {
    // 1,000 ops/s are offered and done, each after 37 s, with all 64 slots in use all the time.
    let mut of = stream("data", 64);
    of.arrival = Arrival::Constant { offered_rate: 1000.0 };
    let second = || {
        let mut second = reads(1000, 8192, 64_000_000);
        second.kinds[0].response = records::kind(1000, 8192, 64_000_000, 37 * SECOND_NS).response;
        second.backlog_end = 37_000;
        second.backlog_time_ns = 37_000 * u128::from(SECOND_NS);
        second
    };
    let mut run = run("read", vec![of], 0, 6);
    run.parameters = vec![("offered_rate".to_owned(), "1000/s".to_owned())];
    let mut record = done(run, (0..7).map(|_| second()).collect());
    // The backlog was there before the window, so it does not grow in it.
    record.run.phases.warm_up_ns = SECOND_NS;
    let found = only(&experiment(vec![record]));
    assert_ne!(found.answer, Answer::NotReached, "{found:#?}");
    let why = Gap::End(Inconclusive::BacklogStood(0));
    assert_eq!(found.answer, Answer::NotEnoughData(why));
}

#[test]
fn long_schedule_delays_with_idle_slots_miss_the_offered_rate() {
    // The same waits of 37 s, but the target answers in 1 ms: 1 of 64 slots is in use on average.
    let mut of = stream("data", 64);
    of.arrival = Arrival::Constant { offered_rate: 1000.0 };
    let second = || {
        let mut second = reads(1000, 8192, 1_000_000);
        second.kinds[0].response = records::kind(1000, 8192, 1_000_000, 37 * SECOND_NS).response;
        second
    };
    let mut run = run("read", vec![of], 0, 6);
    run.parameters = vec![("offered_rate".to_owned(), "1000/s".to_owned())];
    let found = only(&experiment(vec![done(run, (0..6).map(|_| second()).collect())]));
    let why = Gap::End(Inconclusive::BacklogStood(0));
    assert_eq!(found.answer, Answer::NotEnoughData(why), "{found:#?}");
}

#[test]
fn mixed_closed_and_open_streams_have_no_verdict() {
    // The tutorial's experiment: a database at queue depth 16 with a log at 500/s.
    let mut log = stream("log", 1);
    log.arrival = Arrival::Poisson { offered_rate: 500.0 };
    let both = |_| vec![reads(16_000, 8192, 1_000_000), reads(500, 4096, 300_000)];
    let mut record = done(run("oltp", vec![stream("database", 16), log], 0, 6), Vec::new());
    record.intervals = (0..6).map(|index| records::interval(index, both(index))).collect();
    let findings = analyze(&experiment(vec![record]));
    assert!(findings.verdicts.is_empty(), "{:#?}", findings.verdicts);
}

#[test]
fn busy_workers_at_a_flat_rate_indicate_the_hosts_processors() {
    let mut runs = curve(12_000, &[1, 4, 16, 64]);
    busy(&mut runs, 0.99);
    let found = only(&experiment(runs));
    assert_eq!(found.named(), [Limit::ClientCpu], "{found:#?}");
    let host = found.evidence.iter().find_map(|one| match one.evidence {
        Evidence::HostProcessors { busy, .. } => Some(busy),
        _ => None,
    });
    assert_eq!(host, Some(0.99));
}

#[test]
fn a_given_limit_is_named_if_the_ceiling_equals_it() {
    let mut record = experiment(curve(16_384, &[1, 4, 16, 64]));
    known(&mut record, "volume_throughput", "134217728 bytes/s, 2 TiB x Premium");
    let found = only(&record);
    assert_eq!(found.named(), [Limit::VolumeThroughput], "{found:#?}");
    let strongest = &found.evidence[0].evidence;
    assert!(matches!(strongest, Evidence::Known { limit: Limit::VolumeThroughput, .. }));
}

#[test]
fn measurements_override_a_wrong_given_limit() {
    // The same bytes per second for both sizes would be the volume's limit; here it is the same
    // number of operations, and the given limit happens to equal the ceiling of the first.
    let mut records = curve_of("random read 8 KiB", 8192, 16_384, &[1, 4, 16, 64]);
    records.extend(curve_of("random read 64 KiB", 65_536, 16_384, &[1, 4, 16, 64]));
    let mut record = experiment(records);
    known(&mut record, "volume_throughput", "134217728 bytes/s, as given");
    let findings = analyze(&record);
    for found in &findings.verdicts {
        assert!(!found.named().contains(&Limit::VolumeThroughput), "{found:#?}");
    }
    // One whose ceiling lies above it is said to be contradicted.
    let contradicted = findings.verdicts[1].contradicted();
    assert_eq!(contradicted.map(|(limit, _, _)| limit), Some(Limit::VolumeThroughput));
}

#[test]
fn a_rate_from_a_cache_is_not_a_limit_of_the_storage() {
    let mut runs = curve(16_384, &[1, 4, 16, 64]);
    for interval in runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let source = CounterSource::NfsMount;
        interval.wire = vec![WireInterval { source, received_bytes: 0, sent_bytes: 0 }];
    }
    let mut record = experiment(runs);
    known(&mut record, "volume_throughput", "134217728 bytes/s, 2 TiB x Premium");
    let found = only(&record);
    assert_eq!(found.answer, Answer::NotEnoughData(Gap::Cached), "{found:#?}");
    assert!(found.candidates.is_empty());
}

#[test]
fn a_flat_null_target_is_limited_by_the_hosts_processors() {
    let of = |depths: &[u32]| {
        let mut record = experiment(curve(12_000, depths));
        *record.plan.target_mut() = TargetSpec::Null;
        only(&record).answer
    };
    let limited = Answer::Limited { by: vec![Limit::ClientCpu], probability: 0.99 };
    assert_eq!(of(&[1, 4, 16, 64]), limited);
    // Whether one load point is all that it can do is not known.
    assert_eq!(of(&[16]), Answer::NotEnoughData(Gap::End(Inconclusive::OnePoint)));
}

#[test]
fn an_emulated_volume_has_no_limits_of_real_storage() {
    let mut runs = curve(12_000, &[1, 4, 16, 64]);
    let mut record = experiment(runs.clone());
    *record.plan.target_mut() = emulated_volume();
    let open = only(&record);
    let network = [Limit::NetworkFlow, Limit::Endpoint, Limit::VmEgress, Limit::Link];
    assert!(open.candidates.iter().all(|c| !network.contains(&c.limit)), "{open:#?}");
    assert!(!open.named().contains(&Limit::VolumeThroughput), "{open:#?}");
    busy(&mut runs, 0.99);
    record.runs = experiment(runs).runs;
    assert_eq!(only(&record).named(), [Limit::ClientCpu]);
}

#[test]
fn a_directory_on_a_local_disk_has_no_network_limits() {
    for (filesystem, has_network) in [("ext4", false), ("nfs", true)] {
        let mut record = experiment(curve(12_000, &[1, 4, 16, 64]));
        *record.plan.target_mut() = TargetSpec::Directory { path: "/data".to_owned() };
        record.environment.prior.filesystem = Some(filesystem.to_owned());
        let open = only(&record);
        let of_network = |limit| matches!(limit, Limit::NetworkFlow | Limit::VolumeThroughput);
        let named = open.candidates.iter().any(|candidate| of_network(candidate.limit));
        assert_eq!(named, has_network, "{filesystem}: {open:#?}");
        assert!(open.candidates.iter().any(|one| one.limit == Limit::Disk), "{open:#?}");
    }
}

#[test]
fn an_empty_record_has_no_verdicts() {
    assert!(analyze(&experiment(Vec::new())).verdicts.is_empty());
}

#[test]
fn every_load_point_has_one_verdict_and_every_load_curve_too() {
    let mut records = curve(16_384, &[1, 4, 16, 64]);
    for (size, bytes) in [("4 KiB", 4096), ("16 KiB", 16_384)] {
        let mut record = point("other", 16, bytes, &[2000; 6]);
        record.run.parameters = vec![("transfer_size".to_owned(), size.to_owned())];
        records.push(record);
    }
    let findings: Findings = analyze(&experiment(records));
    for index in 0..findings.load_points.len() {
        let of = findings.verdicts.iter().filter(|one| one.load_points.contains(&index));
        assert_eq!(of.count(), 1, "{index}");
    }
    for curve in findings.curves.iter().filter(|curve| curve.plateau.is_ok()) {
        let verdict = findings.verdict_of(curve.points[0].load_point).unwrap();
        assert_eq!(Ok(verdict.plateau), curve.plateau);
    }
}
