//! Differences in the circumstances of two experiments are found, named, and prevent a verdict.

use crate::records::{done, emulated_volume, experiment, reads, run, stream};
use analysis::compare::facts::Item;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, Overall, compare};
use metrics::environment::fact_of_target;
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, RunRecord};
use workload::arrival::Arrival;
use workload::pattern::AccessPattern;
use workload::plan::{
    IoMethodUsed, Spread, StreamTargets, TargetSpec, WeightedSize, WriteStability,
};

/// Five repeats of one load point; `faster` adds this many operations per second.
fn repeats(faster: u64) -> Vec<RunRecord> {
    (0..5u32)
        .map(|repeat| {
            let mut run = run("random read 8 KiB", vec![stream("data", 4)], 1, 6);
            run.repeat = repeat;
            let seconds = (0..7u64).map(|second| {
                let rate = 10_000 + faster + 10 * u64::from(repeat) + 3 * (second % 2);
                reads(rate, 8192, 400_000)
            });
            done(run, seconds.collect())
        })
        .collect()
}

fn mounted() -> ExperimentRecord {
    let mut record = experiment(repeats(0));
    let facts = [
        ("clock.source", "tsc"),
        ("cpu.count", "8"),
        ("cpu.model", "EPYC 7763"),
        ("filesystem.type", "nfs"),
        ("fourcorners.build_id", "aa"),
        ("host.name", "client-1"),
        ("kernel.release", "6.8.0-1015-azure"),
        ("machine.product", "Virtual Machine"),
        ("memory.bytes", "16787386368"),
        ("mount.nconnect", "8"),
        ("mount.options", "rw,noatime"),
        ("mount.point", "/mnt/vol1"),
        ("mount.source", "10.0.0.4:/vol1"),
        (
            "mount.super_options",
            "rw,vers=3,rsize=262144,wsize=262144,hard,nconnect=8,addr=10.0.0.4",
        ),
        ("nic.driver", "hv_netvsc"),
        ("sunrpc.tcp_max_slot_table_entries", "65536"),
        ("vm.size", "Standard_D8s_v5"),
    ];
    record.environment =
        facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    record
}

fn compared(first: &ExperimentRecord, second: &ExperimentRecord, allowed: &[Item]) -> Comparison {
    let options = Options { allowed: allowed.to_vec(), ..Options::default() };
    compare(&[Side::of(first), Side::of(second)], &options)
}

/// Differences between the record and itself after `change`, as `(item, key)`.
#[track_caller]
fn found(
    first: &ExperimentRecord,
    change: impl FnOnce(&mut ExperimentRecord),
) -> Vec<(Item, String)> {
    let mut second = first.clone();
    change(&mut second);
    let comparison = compared(first, &second, &[]);
    let pair = &comparison.pairs[0];
    let obstacles: Vec<_> = pair.obstacles().map(|d| (d.item, d.key.clone())).collect();
    assert_eq!(pair.verdict == Overall::NotComparable, !obstacles.is_empty());
    obstacles
}

fn set(record: &mut ExperimentRecord, name: &str, value: &str) {
    let mut pairs = record.environment.pairs();
    let fact = pairs.iter_mut().find(|(own, _)| own == name).expect("it is there");
    fact.1 = value.to_owned();
    record.environment = pairs.into_iter().collect();
}

#[test]
fn a_record_equals_itself() {
    assert_eq!(found(&mounted(), |_| {}), []);
    let same = compared(&mounted(), &mounted(), &[]);
    assert_eq!(same.pairs[0].differences, []);
    assert_eq!(same.pairs[0].verdict, Overall::NoDifference);
}

#[test]
fn each_relevant_fact_has_its_item() {
    let flips = [
        ("kernel.release", "6.8.0-1020-azure", Item::Kernel),
        ("clock.source", "hyperv_clocksource_tsc_page", Item::Clock),
        ("cpu.count", "16", Item::Cpu),
        ("cpu.model", "Xeon 8370C", Item::Cpu),
        ("filesystem.type", "nfs4", Item::Mount),
        ("fourcorners.build_id", "bb", Item::Tool),
        ("machine.product", "KVM", Item::Vm),
        ("memory.bytes", "33574772736", Item::Memory),
        ("mount.nconnect", "1", Item::Nconnect),
        ("mount.point", "/mnt/vol2", Item::Target),
        ("mount.source", "10.0.0.4:/vol2", Item::Target),
        ("nic.driver", "virtio_net", Item::Network),
        ("sunrpc.tcp_max_slot_table_entries", "128", Item::Mount),
        ("vm.size", "Standard_D16s_v5", Item::Vm),
    ];
    for (name, value, item) in flips {
        let found = found(&mounted(), |record| set(record, name, value));
        assert_eq!(found, [(item, name.to_owned())]);
    }
}

#[test]
fn a_fact_missing_in_one_record_is_a_difference() {
    let found = found(&mounted(), |record| record.environment.vm_size = None);
    assert_eq!(found, [(Item::Vm, "vm.size".to_owned())]);
}

#[test]
fn mount_options_are_compared_individually() {
    let flips = [
        ("rw,vers=3,rsize=65536,wsize=262144,hard,nconnect=8,addr=10.0.0.4", Item::Mount, "rsize"),
        (
            "rw,vers=4.1,rsize=262144,wsize=262144,hard,nconnect=8,addr=10.0.0.4",
            Item::Mount,
            "vers",
        ),
        (
            "rw,vers=3,rsize=262144,wsize=262144,hard,nconnect=4,addr=10.0.0.4",
            Item::Nconnect,
            "nconnect",
        ),
        ("rw,vers=3,rsize=262144,wsize=262144,hard,nconnect=8,addr=10.0.0.5", Item::Target, "addr"),
        ("rw,vers=3,rsize=262144,wsize=262144,nconnect=8,addr=10.0.0.4", Item::Mount, "hard"),
    ];
    for (options, item, option) in flips {
        let found = found(&mounted(), |record| set(record, "mount.super_options", options));
        assert_eq!(found, [(item, format!("mount option {option}"))]);
    }
    let found = found(&mounted(), |record| set(record, "mount.options", "rw,relatime"));
    let named = ["noatime", "relatime"].map(|o| (Item::Mount, format!("mount option {o}")));
    assert_eq!(found, named);
}

/// Repeats on some of these directories, which are mounted alike.
fn on_targets(names: &[&str], positions: &[u32]) -> ExperimentRecord {
    let mut record = mounted();
    let directory = |name: &&str| TargetSpec::Directory { path: format!("/mnt/{name}") };
    record.plan.targets = names.iter().map(directory).collect();
    record.plan.target_names = names.iter().map(|name| (*name).to_owned()).collect();
    let of_first = record.environment.pairs().into_iter();
    let of_first: Vec<_> = of_first
        .filter(|(name, _)| ["mount.", "filesystem."].iter().any(|start| name.starts_with(start)))
        .collect();
    for target in &names[1..] {
        let named =
            |(fact, value): &(String, String)| (fact_of_target(fact, target), value.clone());
        record.environment.extend(of_first.iter().map(named));
    }
    for run in &mut record.runs {
        let positions = positions.to_vec();
        run.run.streams[0].targets = StreamTargets { positions, spread: Spread::All };
    }
    record
}

#[test]
fn other_targets_of_the_same_number_are_a_difference_and_another_order_is_none() {
    let differences = |a: &ExperimentRecord, b: &ExperimentRecord| -> Vec<(Item, String)> {
        let found = compared(a, b, &[]).pairs.remove(0).differences;
        found.into_iter().map(|one| (one.item, one.key)).collect()
    };
    let four = ["vol1", "vol2", "vol3", "vol4"];
    let first = on_targets(&four, &[0, 1]);
    // The same two of another list: none.
    let other_order = on_targets(&["vol4", "vol2", "vol1", "vol3"], &[1, 2]);
    assert_eq!(differences(&first, &other_order), []);
    // Two others of the same list.
    let others = on_targets(&four, &[2, 3]);
    let used = (Item::Target, "data.targets used".to_owned());
    assert_eq!(differences(&first, &others), [used]);
    let found = compared(&first, &others, &[]).pairs.remove(0).differences.remove(0);
    assert_eq!(
        (found.first.as_deref(), found.second.as_deref()),
        (Some("/mnt/vol1, /mnt/vol2"), Some("/mnt/vol3, /mnt/vol4"))
    );
    assert!(found.prevents_verdict);
    assert!(!compared(&first, &others, &[Item::Target]).pairs[0].differences[0].prevents_verdict);
    // All of them, one mounted elsewhere: as a single target.
    let all = on_targets(&four, &[0, 1, 2, 3]);
    let mut elsewhere = all.clone();
    elsewhere.plan.targets[1] = TargetSpec::Directory { path: "/data/vol2".to_owned() };
    let moved = (Item::Target, "target.vol2".to_owned());
    assert_eq!(differences(&all, &elsewhere), [moved]);
    // One with other mount options.
    let mut remounted = all.clone();
    set(
        &mut remounted,
        "mount.super_options.vol2",
        "rw,vers=3,rsize=262144,wsize=262144,hard,soft",
    );
    let soft = (Item::Mount, "mount option soft.vol2".to_owned());
    assert!(differences(&all, &remounted).contains(&soft));
    let is_of_second = |(_, key): &(Item, String)| key.ends_with(".vol2");
    assert!(differences(&all, &remounted).iter().all(is_of_second));
}

#[test]
fn engine_target_and_emulated_volume_are_compared() {
    let engine = found(&mounted(), |record| {
        record.io_method = ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: String::new() };
    });
    assert_eq!(engine, [(Item::Engine, "engine".to_owned())]);
    let target = found(&mounted(), |record| {
        *record.plan.target_mut() = TargetSpec::Directory { path: "/mnt/vol2".to_owned() };
    });
    assert_eq!(target, [(Item::Target, "target".to_owned())]);
    let mut emulated = mounted();
    *emulated.plan.target_mut() = emulated_volume();
    let url = ("target.url".to_owned(), "nfs://127.0.0.1:4001/e".to_owned());
    emulated.environment.extend([url]);
    assert_eq!(
        found(&emulated, |record| set(record, "target.url", "nfs://127.0.0.1:4002/e")),
        [],
        "the port of a service that is started for each run means nothing"
    );
    let volume = found(&emulated, |record| {
        if let TargetSpec::Emulated { volume, .. } = record.plan.target_mut() {
            volume.read_delay_ns = 500_000;
            volume.throughput_limit_bytes_per_s = 64 << 20;
        }
    });
    let named = ["volume.throughput_limit", "volume.read_delay"];
    assert_eq!(volume, named.map(|key| (Item::Volume, key.to_owned())));
    let connections = found(&emulated, |record| {
        if let TargetSpec::Emulated { connections, .. } = record.plan.target_mut() {
            *connections = Some(8);
        }
    });
    assert_eq!(connections, [(Item::Nconnect, "nconnect".to_owned())]);
}

#[test]
fn every_different_key_of_the_plan_is_named() {
    type Change = fn(&mut RunRecord);
    let flips: [(&str, Change); 18] = [
        ("run.warm_up", |r| r.run.phases.warm_up_ns *= 2),
        ("run.measure", |r| r.run.phases.measure_ns /= 2),
        ("run.interval", |r| r.run.phases.interval_ns /= 2),
        ("run.tolerated_errors", |r| r.run.tolerated_errors = 9),
        ("run.operation_deadline", |r| r.run.operation_deadline_ns /= 2),
        ("data.read", |r| r.run.streams[0].read_permille = 700),
        ("data.transfer_size", |r| {
            r.run.streams[0].transfer_sizes = vec![WeightedSize { size_bytes: 4096, weight: 1 }];
        }),
        ("data.pattern", |r| r.run.streams[0].access_pattern = AccessPattern::Sequential),
        ("data.files", |r| r.run.streams[0].working_set.files = 8),
        ("data.file_size", |r| r.run.streams[0].working_set.file_size_bytes <<= 1),
        ("data.area", |r| r.run.streams[0].working_set.area_bytes >>= 1),
        ("data.queue_depth", |r| r.run.streams[0].queue_depth = 8),
        ("data.workers", |r| r.run.streams[0].workers = 2),
        ("data.arrival", |r| {
            r.run.streams[0].arrival = Arrival::Closed { think_time_ns: 1_000 };
        }),
        ("data.direct", |r| r.run.streams[0].direct = false),
        ("data.dsync", |r| r.run.streams[0].dsync = true),
        ("data.write_stability", |r| {
            r.run.streams[0].write_stability = Some(WriteStability::FileSync);
        }),
        ("data.fsync_every", |r| r.run.streams[0].fsync_every_writes = Some(4)),
    ];
    for (key, change) in flips {
        let found = found(&mounted(), |record| record.runs.iter_mut().for_each(change));
        assert_eq!(found, [(Item::Plan, key.to_owned())], "{key}");
    }
}

#[test]
fn irrelevant_differences_are_reported_and_allow_a_verdict() {
    let mut second = mounted();
    second.plan.seed = 99;
    second.plan_hash = "f".repeat(64);
    set(&mut second, "host.name", "client-2");
    let comparison = compared(&mounted(), &second, &[]);
    let pair = &comparison.pairs[0];
    let keys: Vec<&str> = pair.differences.iter().map(|d| d.key.as_str()).collect();
    assert_eq!(keys, ["host.name", "run.seed"]);
    assert_eq!(pair.verdict, Overall::NoDifference);
}

#[test]
fn allowed_differences_are_reported_and_allow_a_verdict() {
    let mut second = mounted();
    let faster = experiment(repeats(2_000));
    second.runs = faster.runs;
    set(&mut second, "kernel.release", "6.11");
    set(&mut second, "mount.nconnect", "16");
    let refused = compared(&mounted(), &second, &[Item::Kernel]);
    assert_eq!(refused.pairs[0].verdict, Overall::NotComparable);
    let allowed = compared(&mounted(), &second, &[Item::Kernel, Item::Nconnect]);
    assert_eq!(allowed.pairs[0].verdict, Overall::Faster);
    assert_eq!(allowed.pairs[0].differences.len(), 2);
    assert!(allowed.pairs[0].obstacles().next().is_none());
}
