//! The plan of a load point as keys and values, to list the differences between two plans.

use std::time::Duration;

use units::{Bytes, OpsPerSec, Share, print_duration};
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::file_use::FileUse;
use workload::pattern::AccessPattern;
use workload::plan::{Phases, Run, Spread, Stream, TargetSpec, WeightedSize, WorkingSet};
use workload::replay::Replay;

use super::facts::Item;

/// The key of the targets that a stream uses.
const TARGETS_USED: &str = "targets used";

/// The item of a key: which targets are used is a fact about the target, like the path of a single one.
pub(super) fn item_of(key: &str) -> Item {
    match key.ends_with(TARGETS_USED) {
        true => Item::Target,
        false => Item::Plan,
    }
}

/// Everything that a run's numbers can depend on, `(key, value as a user writes it)`, without the
/// properties in which repeats differ (index, seed).
///
/// * `targets`: those of the plan
pub(super) fn of_run(run: &Run, targets: &[TargetSpec]) -> Vec<(String, String)> {
    // Without `..`, so that a new field has to be handled here.
    let Run {
        index: _,
        variant: _,
        parameters: _,
        repeat: _,
        seed: _,
        hosts,
        connections,
        streams,
        phases: Phases { warm_up_ns, measure_ns, interval_ns },
        tolerated_errors,
        operation_deadline_ns,
    } = run;
    let mut keys = vec![
        ("run.warm_up".to_owned(), time(*warm_up_ns)),
        ("run.measure".to_owned(), time(*measure_ns)),
        ("run.interval".to_owned(), time(*interval_ns)),
        ("run.tolerated_errors".to_owned(), tolerated_errors.to_string()),
        ("run.operation_deadline".to_owned(), time(*operation_deadline_ns)),
        ("run.hosts".to_owned(), hosts.to_string()),
        (
            "run.nconnect".to_owned(),
            connections.map_or("the target's".to_owned(), |count| count.to_string()),
        ),
    ];
    for stream in streams {
        let name = &stream.name;
        keys.extend(
            of_stream(stream, *hosts).into_iter().map(|(key, v)| (format!("{name}.{key}"), v)),
        );
        let used = targets_used(stream, targets);
        keys.extend(used.map(|used| (format!("{name}.{TARGETS_USED}"), used)));
    }
    keys
}

/// The targets that a stream uses, in any order; `None` for all of the plan, which are facts of the record.
fn targets_used(stream: &Stream, targets: &[TargetSpec]) -> Option<String> {
    let positions = &stream.targets.positions;
    if positions.len() >= targets.len() {
        return None;
    }
    let target = |position: &u32| targets.get(*position as usize).map(TargetSpec::in_words);
    let mut used: Vec<String> = positions.iter().filter_map(target).collect();
    used.sort();
    Some(used.join(", "))
}

fn of_stream(stream: &Stream, hosts: u32) -> Vec<(&'static str, String)> {
    let Stream {
        name: _,
        read_permille,
        transfer_sizes,
        access_pattern,
        working_set: WorkingSet { files, file_size_bytes, area_bytes },
        file_use: FileUse { sharing, hosts: _, filled_by_others },
        queue_depth,
        workers,
        arrival,
        active: ActiveTime { start_ns, end_ns },
        direct,
        dsync,
        write_stability,
        fsync_every_writes,
        data: DataPattern { compressible_permille, duplicate_permille },
        targets,
        names,
        replay,
    } = stream;
    let of_host = workers / hosts.max(1);
    // As the key says: with `all`, the workers of each target.
    let workers = match targets.spread {
        Spread::All => of_host / targets.count().max(1),
        Spread::Host | Spread::Worker => of_host,
    };
    let mut keys = vec![
        ("read", percent(*read_permille)),
        ("transfer_size", sizes(transfer_sizes)),
        ("pattern", pattern(*access_pattern)),
        ("files", files.to_string()),
        ("file_size", Bytes::new(*file_size_bytes).to_string()),
        ("area", Bytes::new(*area_bytes).to_string()),
        ("sharing", sharing.name().to_owned()),
        ("read_what", if filled_by_others.is_some() { "others" } else { "all" }.to_owned()),
        (
            "queue_depth",
            match arrival.users() {
                Some(_) => "one operation of each user".to_owned(),
                None => queue_depth.to_string(),
            },
        ),
        ("workers", workers.to_string()),
        ("targets", targets.count().to_string()),
        ("spread", targets.spread.name().to_owned()),
        ("arrival", arrival_words(arrival)),
        ("direct", direct.to_string()),
        ("dsync", dsync.to_string()),
        ("write_stability", write_stability.map_or("none", |s| s.name()).to_owned()),
        ("fsync_every", fsync_every_writes.map_or("never".to_owned(), |n| format!("{n} writes"))),
        ("compressible", percent(*compressible_permille)),
        ("duplicates", percent(*duplicate_permille)),
    ];
    // Older baselines do not have them.
    if *start_ns > 0 {
        keys.push(("start", time(*start_ns)));
    }
    keys.extend(end_ns.map(|end_ns| ("end", time(end_ns))));
    keys.extend(replay.as_ref().map(|replay| ("replay", replay_words(replay))));
    let scenario = names.as_ref().and_then(|names| names.scenario.as_ref());
    keys.extend(scenario.map(|scenario| ("scenario", scenario.to_string())));
    keys
}

/// A list by its content, wherever its file is.
fn replay_words(replay: &Replay) -> String {
    let Replay { checksum, speed, repeat, .. } = replay;
    let speed = speed.map_or("max".to_owned(), |speed| format!("{speed}x"));
    let repeated = if *repeat { ", repeated" } else { "" };
    let operations = replay.operations_total();
    format!("{operations} operations (checksum {checksum}) at {speed}{repeated}")
}

fn time(ns: u64) -> String {
    print_duration(Duration::from_nanos(ns))
}

fn percent(permille: u16) -> String {
    Share::from_permille(u64::from(permille)).to_string()
}

fn sizes(sizes: &[WeightedSize]) -> String {
    let one = |size: &WeightedSize| Bytes::new(size.size_bytes).to_string();
    if let [only] = sizes {
        return one(only);
    }
    let weighed = |size: &WeightedSize| format!("{} x {}", size.weight, one(size));
    sizes.iter().map(weighed).collect::<Vec<_>>().join(", ")
}

fn pattern(pattern: AccessPattern) -> String {
    match pattern {
        AccessPattern::Sequential => "sequential".to_owned(),
        AccessPattern::Uniform => "uniform".to_owned(),
        AccessPattern::Zipf { theta } => format!("zipf {theta}"),
        AccessPattern::PartlySequential { seek_permille } => {
            format!("sequential, {} seeks", percent(seek_permille))
        }
        AccessPattern::Stride { stride_bytes } => format!("stride {}", Bytes::new(stride_bytes)),
        AccessPattern::HotSet { area_permille, accesses_permille } => {
            format!("{} of accesses to {}", percent(accesses_permille), percent(area_permille))
        }
    }
}

fn arrival_words(arrival: &Arrival) -> String {
    match *arrival {
        Arrival::Constant { offered_rate } => format!("constant {}", OpsPerSec::new(offered_rate)),
        Arrival::Poisson { offered_rate } => format!("poisson {}", OpsPerSec::new(offered_rate)),
        _ => arrival.to_string(),
    }
}
