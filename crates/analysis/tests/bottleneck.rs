//! Known answers for what limits a curve.

mod records;

use analysis::analyze;
use analysis::bottleneck::{Limit, LimitFinding};
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::wire::{WireInterval, WirePlace};
use records::{SECOND_NS, done, emulated_volume, experiment, reads, run, stream};

/// A closed loop of 8 KiB reads at each depth: the floor is 0.4 ms, and nothing goes beyond
/// `ceiling` operations per second.
fn curve(ceiling: u64, depths: &[u32]) -> Vec<RunRecord> {
    let point = |depth: &u32| {
        let rate = (u64::from(*depth) * 2500).min(ceiling);
        let service_ns = u64::from(*depth) * SECOND_NS / rate;
        let intervals = vec![reads(rate, 8192, service_ns); 6];
        done(run("random read 8 KiB", vec![stream("data", *depth)], 0, 6), intervals)
    };
    depths.iter().map(point).collect()
}

fn busy(runs: &mut [RunRecord], share: f64) {
    for worker in runs.iter_mut().flat_map(|run| &mut run.intervals).flat_map(|i| &mut i.workers) {
        worker.cpu_ns = (share * SECOND_NS as f64) as u64;
    }
}

fn only(record: &ExperimentRecord) -> LimitFinding {
    let mut limits = analyze(record).limits;
    assert_eq!(limits.len(), 1, "{limits:#?}");
    limits.remove(0)
}

#[test]
fn a_rate_that_is_flat_at_quota_times_level_is_the_volumes_limit() {
    // 128 MiB/s are 16,384 operations of 8 KiB.
    let mut record = experiment(curve(16_384, &[1, 4, 16, 64]));
    record.plan.target = emulated_volume();
    let found = only(&record);
    assert_eq!(found.limit, Limit::VolumeThroughput, "{found:#?}");
    assert!(found.confidence > 0.95, "{}", found.confidence);
    assert_eq!(found.load_points, [0, 1, 2, 3]);
    assert_eq!(found.ceiling_ops_per_s.map(|rate| rate.value), Some(16_384.0));
    let known = &found.evidence[1].seen;
    let expected = "128.00 MiB/s of reads and writes together are 100.0 % of the 128.00 MiB/s that \
                    1 TiB x Ultra gives";
    assert_eq!(known, expected);
    // Twice the rate at 128 MiB/s per TiB.
    assert!(found.remedy[1].contains("256.00 MiB/s, wants a quota of 2 TiB"), "{:?}", found.remedy);
}

#[test]
fn the_same_curve_without_a_known_limit_is_left_open_and_an_experiment_is_proposed() {
    let found = only(&experiment(curve(16_384, &[1, 4, 16, 64])));
    assert_eq!(found.limit, Limit::Unknown, "{found:#?}");
    assert!(found.candidates.len() > 2, "{:?}", found.candidates);
    let experiment = found.experiment.expect("something tells them apart");
    assert!(!experiment.why.is_empty());
}

#[test]
fn a_rate_that_rises_with_what_is_asked_has_no_limit_yet() {
    let mut record = experiment(curve(1_000_000, &[1, 2, 4, 8]));
    record.plan.target = emulated_volume();
    let found = only(&record);
    assert_eq!(found.limit, Limit::NotReached, "{found:#?}");
    assert_eq!((found.at, found.ceiling_ops_per_s), (3, None));
}

#[test]
fn a_flat_rate_with_busy_workers_is_this_hosts_processors() {
    let mut runs = curve(12_000, &[1, 4, 16, 64]);
    busy(&mut runs, 0.99);
    let found = only(&experiment(runs));
    assert_eq!(found.limit, Limit::ClientCpu, "{found:#?}");
    assert!(found.evidence.iter().any(|e| e.seen.starts_with("99 % of the processors")));
}

#[test]
fn a_busy_generator_lowers_the_confidence_of_another_limit_and_stands_in_its_evidence() {
    let of = |share: f64| {
        let mut runs = curve(16_384, &[1, 4, 16, 64]);
        busy(&mut runs, share);
        let mut record = experiment(runs);
        record.plan.target = emulated_volume();
        let warned = analyze(&record).warnings.iter().any(|group| group.code == "generator_busy");
        (only(&record), warned)
    };
    let (idle, warned) = of(0.50);
    assert_eq!((idle.limit, warned), (Limit::VolumeThroughput, false));
    for share in [0.91, 0.96, 0.99] {
        let (found, warned) = of(share);
        assert!(warned, "{share}");
        // The volume's limit is met to the operation, so it is still the most probable.
        assert_eq!(found.candidates[0].limit, Limit::VolumeThroughput, "{found:#?}");
        assert!(found.confidence < idle.confidence, "{share}: {}", found.confidence);
        let named = format!("{:.0} % of the processors", 100.0 * share);
        assert!(found.evidence.iter().any(|one| one.seen.starts_with(&named)), "{found:#?}");
    }
    assert!(idle.evidence.iter().all(|one| !one.seen.contains("processors")));
}

#[test]
fn what_is_warned_of_is_the_answer_or_stands_beside_it_whatever_the_rate_is() {
    for ceiling in [3_000, 12_000, 16_384, 40_000] {
        for share in [0.3, 0.92, 0.97] {
            let mut runs = curve(ceiling, &[1, 4, 16]);
            busy(&mut runs, share);
            let findings = analyze(&experiment(runs));
            let warned = findings.warnings.iter().any(|group| group.code == "generator_busy");
            for found in &findings.limits {
                let says = found.limit == Limit::ClientCpu
                    || found.evidence.iter().any(|one| one.seen.contains("busy as well"));
                assert_eq!(warned, says, "{ceiling} at {share}: {found:#?}");
            }
        }
    }
}

#[test]
fn a_rate_that_a_cache_made_is_no_limit_of_the_storage() {
    let mut runs = curve(16_384, &[1, 4, 16, 64]);
    for interval in runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let place = WirePlace::NfsMount;
        interval.wire = vec![WireInterval { place, received_bytes: 0, sent_bytes: 0 }];
    }
    let mut record = experiment(runs);
    let known = ("known.volume_throughput".to_owned(), "134217728 bytes/s, 2 TiB x Premium".into());
    record.environment.push(known);
    let found = only(&record);
    assert_eq!(found.limit, Limit::Unknown, "{found:#?}");
    assert!(found.candidates.iter().all(|one| one.limit != Limit::VolumeThroughput));
    assert!(found.evidence[1].seen.starts_with("a cache of this host answered: 100.0 %"));
    assert!(found.remedy[0].contains("direct I/O"), "{:?}", found.remedy);
}

#[test]
fn whatever_a_null_target_reaches_is_this_hosts_processors() {
    for depths in [&[1, 4, 16][..], &[1]] {
        let mut record = experiment(curve(1_000_000, depths));
        record.plan.target = workload::plan::TargetSpec::Null;
        let found = only(&record);
        assert_eq!(found.limit, Limit::ClientCpu, "{found:#?}");
    }
}

#[test]
fn an_emulated_volume_below_its_limit_is_not_explained_by_what_it_does_not_have() {
    let mut runs = curve(12_000, &[1, 4, 16, 64]);
    let mut record = experiment(runs.clone());
    record.plan.target = emulated_volume();
    let open = only(&record);
    let network = [Limit::NetworkFlow, Limit::Endpoint, Limit::VmEgress, Limit::Link];
    assert!(open.candidates.iter().all(|c| !network.contains(&c.limit)), "{open:#?}");
    busy(&mut runs, 0.99);
    record.runs = experiment(runs).runs;
    assert_eq!(only(&record).limit, Limit::ClientCpu);
}

#[test]
fn a_directory_on_this_hosts_own_disk_is_not_explained_by_a_network() {
    for (filesystem, has_network) in [("ext4", false), ("nfs", true)] {
        let mut record = experiment(curve(12_000, &[1, 4, 16, 64]));
        record.plan.target = workload::plan::TargetSpec::Directory { path: "/data".to_owned() };
        record.environment.push(("filesystem.type".to_owned(), filesystem.to_owned()));
        let open = only(&record);
        let of_network = |limit| matches!(limit, Limit::NetworkFlow | Limit::VolumeThroughput);
        let named = open.candidates.iter().any(|candidate| of_network(candidate.limit));
        assert_eq!(named, has_network, "{filesystem}: {open:#?}");
        assert!(open.candidates.iter().any(|one| one.limit == Limit::Disk), "{open:#?}");
    }
}

#[test]
fn what_is_known_beforehand_comes_from_the_environment() {
    let mut record = experiment(curve(16_384, &[1, 4, 16, 64]));
    let known = ("known.volume_throughput".to_owned(), "134217728 bytes/s, 2 TiB x Premium".into());
    record.environment.push(known);
    let found = only(&record);
    assert_eq!(found.limit, Limit::VolumeThroughput, "{found:#?}");
    assert!(found.evidence[1].seen.ends_with("2 TiB x Premium gives"), "{:?}", found.evidence);
}

#[test]
fn an_empty_record_has_no_findings() {
    assert!(analyze(&experiment(Vec::new())).limits.is_empty());
}
