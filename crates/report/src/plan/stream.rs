//! A stream in words.

use std::time::Duration;

use units::{Bytes, OpsPerSec, counted, print_duration, thousands};
use workload::arrival::Arrival;
use workload::file_use::Sharing;
use workload::pattern::AccessPattern;
use workload::plan::{Run, Spread, Stream, StreamTargets, WeightedSize};
use workload::replay::Replay;

/// `12 targets, each used by all hosts`
fn targets_words(targets: &StreamTargets) -> String {
    let used_by = match targets.spread {
        Spread::All => "each used by all hosts",
        Spread::Host => "hosts in turn",
        Spread::Worker => "workers in turn",
    };
    format!("{} targets ({used_by})", targets.count())
}

/// A stream's operations. Settings in the load point's name are not repeated, so that all load
/// points of a sweep have the same description.
pub(super) fn stream_words(stream: &Stream, run: &Run) -> String {
    let named = |key: &str| {
        let of_stream = format!("{}.{key}", stream.name);
        run.parameters.iter().any(|(name, _)| name == key || *name == of_stream)
    };
    let or_named = |key: &str, words: String| {
        if named(key) { format!("{} as named", label(key)) } else { words }
    };
    let set = stream.working_set;
    let mut parts = match (&stream.names, &stream.replay) {
        (_, Some(replay)) => replay_parts(replay, named("replay")),
        (Some(load), None) => {
            let operations = match &load.scenario {
                Some(scenario) => format!("scenario: {scenario}"),
                None => or_named("mix", load.mix.to_string()),
            };
            vec![operations, or_named("names", load.tree.to_string())]
        }
        (None, None) => vec![
            or_named("read", mix_words(stream.read_permille)),
            or_named("transfer_size", sizes_words(&stream.transfer_sizes)),
            or_named("pattern", pattern_words(stream.access_pattern)),
            format!("{} x {}", set.files, Bytes::new(set.area_bytes.min(set.file_size_bytes))),
        ],
    };
    parts.push(or_named("workers", counted(u64::from(stream.workers), "worker")));
    if stream.targets.count() > 1 {
        parts.push(targets_words(&stream.targets));
    }
    let file_use = stream.file_use;
    if named("sharing") || file_use.sharing != Sharing::All {
        let of = format!("separate files for each {}", file_use.sharing.name());
        parts.push(or_named("sharing", of));
    }
    if named("read_what") || file_use.filled_by_others.is_some() {
        parts.push(or_named("read_what", "only files that another host filled".to_owned()));
    }
    let users = stream.arrival.users();
    if !named("queue_depth") && users.is_none() {
        parts.push(format!("queue depth {}", stream.queue_depth));
    }
    let mut arrival = match &stream.replay {
        None => arrival_words(&stream.arrival),
        Some(replay) if replay.speed.is_some() => "at the times of the list".to_owned(),
        Some(_) => "closed loop".to_owned(),
    };
    if stream.arrival.is_open() && stream.fsync_every_writes.is_some() {
        arrival.push_str(" (fsyncs included)");
    }
    match users {
        Some(users) if named("users") => {
            let cycle = print_duration(Duration::from_nanos(users.cycle_ns));
            let starts = users.starts.name();
            parts.push(format!(
                "users as named, each with a scenario every {cycle} ({starts} starts)"
            ));
        }
        _ => parts.push(or_named("arrival", arrival)),
    }
    match (named("start"), named("end")) {
        (false, false) if stream.active.is_whole_run() => {}
        (false, false) => parts.push(format!("active {}", stream.active)),
        _ => parts.push("start and end as named".to_owned()),
    }
    match stream.write_stability {
        None if stream.names.is_some() => {
            if named("dsync") || stream.dsync {
                parts.push(or_named("dsync", "O_DSYNC".to_owned()));
            }
        }
        None => {
            let direct = if stream.direct { "direct" } else { "buffered" };
            parts.push(or_named("direct", direct.to_owned()));
            if named("dsync") || stream.dsync {
                parts.push(or_named("dsync", "O_DSYNC".to_owned()));
            }
        }
        // A stream that only reads has no writes to make stable.
        Some(stability) if stream.read_permille < 1000 => {
            let key = if named("dsync") { "dsync" } else { "write_stability" };
            parts.push(or_named(key, format!("{} writes", stability.name())));
        }
        Some(_) => {}
    }
    match stream.fsync_every_writes {
        Some(writes) => {
            let words = format!("fsync every {}", counted(u64::from(writes), "write"));
            parts.push(or_named("fsync_every", words));
        }
        None if named("fsync_every") => parts.push(or_named("fsync_every", String::new())),
        None => {}
    }
    format!("{}: {}", stream.name, parts.join(", "))
}

/// A list with its operations, and how much of it is replayed.
fn replay_parts(replay: &Replay, is_named: bool) -> Vec<String> {
    let mut parts =
        vec![if is_named { "replay as named".to_owned() } else { format!("replay of {replay}") }];
    let total = replay.operations_total();
    let count = |count: u64| thousands(count);
    let kinds = ["read", "write", "fsync"].into_iter().zip(replay.operations);
    let kinds = kinds.filter(|(_, number)| *number > 0);
    let kinds: Vec<String> = kinds.map(|(name, number)| counted(number, name)).collect();
    let bytes = Bytes::new(replay.bytes.iter().sum());
    let length = match replay.length_ns {
        Some(ns) => format!(" in {}", print_duration(Duration::from_nanos(rounded(ns)))),
        None => String::new(),
    };
    parts.push(format!("{} of {bytes}{length}", kinds.join(" + ")));
    // How much of the list the run has.
    match replay.due {
        Some(due) if due < total => {
            parts.push(format!("the first {} of {} operations", count(due), count(total)));
        }
        Some(due) if due > total => {
            parts.push(format!("{} operations by repetition", count(due)));
        }
        _ => {}
    }
    if replay.left_out > 0 {
        parts.push(format!("{} of the trace left out", counted(replay.left_out, "operation")));
    }
    parts.push(counted(u64::from(replay.files_total()), "file"));
    parts
}

/// With four digits: the length of a trace has more than a reader needs.
fn rounded(ns: u64) -> u64 {
    let unit = 10u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(3));
    ns.saturating_add(unit / 2) / unit * unit
}

/// The setting of a key.
fn label(key: &str) -> &str {
    match key {
        "read" => "share of reads",
        "transfer_size" => "transfer size",
        "fsync_every" => "fsync",
        "write_stability" => "write stability",
        "sharing" => "sharing of files",
        "read_what" => "files read",
        other => other,
    }
}

/// `8 KiB`, or `70% 4 KiB / 30% 32 KiB`.
fn sizes_words(sizes: &[WeightedSize]) -> String {
    let [one] = sizes else {
        let sum: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
        let share = |size: &WeightedSize| {
            let percent = f64::from(size.weight) * 100.0 / sum.max(1) as f64;
            format!("{}% {}", (percent * 10.0).round() / 10.0, Bytes::new(size.size_bytes))
        };
        return sizes.iter().map(share).collect::<Vec<_>>().join(" / ");
    };
    Bytes::new(one.size_bytes).to_string()
}

fn mix_words(read_permille: u16) -> String {
    match read_permille {
        0 => "writes".to_owned(),
        1000 => "reads".to_owned(),
        reads => format!("{}% reads", f64::from(reads) / 10.0),
    }
}

fn pattern_words(pattern: AccessPattern) -> String {
    let percent = |permille: u16| f64::from(permille) / 10.0;
    match pattern {
        AccessPattern::Sequential => "sequential".to_owned(),
        AccessPattern::Uniform => "uniform random".to_owned(),
        AccessPattern::Zipf { theta } => format!("zipf {theta}"),
        AccessPattern::PartlySequential { seek_permille } => {
            format!("sequential with {}% seeks", percent(seek_permille))
        }
        AccessPattern::Stride { stride_bytes } => {
            format!("stride of {}", Bytes::new(stride_bytes))
        }
        AccessPattern::HotSet { area_permille, accesses_permille } => format!(
            "hot set ({}% of operations on {}%)",
            percent(accesses_permille),
            percent(area_permille)
        ),
    }
}

fn arrival_words(arrival: &Arrival) -> String {
    match *arrival {
        Arrival::Closed { think_time_ns: 0 } => "closed loop".to_owned(),
        Arrival::Closed { think_time_ns } => {
            format!(
                "closed loop with think time {}",
                print_duration(Duration::from_nanos(think_time_ns))
            )
        }
        Arrival::Constant { offered_rate } => {
            format!("constant {}", OpsPerSec::new(offered_rate))
        }
        Arrival::Poisson { offered_rate } => format!("poisson {}", OpsPerSec::new(offered_rate)),
        Arrival::Thinking { .. } | Arrival::Scheduled { .. } | Arrival::Users(_) => {
            arrival.to_string()
        }
    }
}
