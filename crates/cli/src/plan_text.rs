//! A plan in words: every run in its order, what its operations are, and how long it takes.
//!
//! A description of a stream is printed where it differs from the one before, so that a sweep of
//! twenty queue depths stays readable.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use units::{Bytes, OpsPerSec, print_duration};
use workload::arrival::Arrival;
use workload::pattern::AccessPattern;
use workload::plan::{EngineChoice, FileSet, Plan, Run, Step, Stream, TargetSpec, WeightedSize};

use crate::live::{engine_name, whole_seconds};
use crate::search_text::search_lines;
use crate::terminal::wrapped;

/// The whole plan. `space` are lines of the head about the target's directory; `processors` are
/// those that workers may be pinned to.
pub(crate) fn plan_text(plan: &Plan, space: &str, processors: usize) -> String {
    let mut out = String::new();
    head(&mut out, "experiment", &format!("{} ({})", plan.name, plan.source));
    if !plan.overrides.is_empty() {
        head(&mut out, "overrides", &plan.overrides.join(", "));
    }
    head(&mut out, "target", &target_words(&plan.target));
    head(&mut out, "engine", engine_words(plan));
    let seed = format!("{}, data of files {}", plan.seed, plan.data_seed);
    head(&mut out, "seed", &seed);
    if plan.pin {
        head(&mut out, "workers", &pin_words(plan, processors));
    }
    if plan.verify {
        head(&mut out, "verify", "what is read is checked against what was written");
    }
    if plan.target != TargetSpec::Null {
        for set in plan.file_sets() {
            head(&mut out, "files", &files_words(&set));
        }
    }
    out.push_str(space);
    let time = whole_seconds(plan.time_max());
    let after = if space.is_empty() { "" } else { ", not counting the fill" };
    let at_most = if plan.searches().next().is_some() { "at most " } else { "" };
    head(&mut out, "runs", &format!("{at_most}{}, {time} in all{after}", plan.runs_max()));
    out.push('\n');
    let mut described = BTreeMap::new();
    for step in &plan.steps {
        match step {
            Step::Fixed(run) => run_lines(&mut out, run, &mut described),
            Step::Search(search) => search_lines(&mut out, search),
        }
    }
    out
}

fn pin_words(plan: &Plan, processors: usize) -> String {
    match crowding(plan, processors) {
        None => "each pinned to a processor of its own".to_owned(),
        Some(crowding) => format!("pinned to processors in turn: {crowding}"),
    }
}

/// Where the run with the most threads has more of them than there are processors: `5 workers share
/// 2 processors`. With blocking calls a worker has a thread for each outstanding operation. Nothing
/// is known of no processors.
pub(crate) fn crowding(plan: &Plan, processors: usize) -> Option<String> {
    let blocking = plan.engine == EngineChoice::Psync && plan.target != TargetSpec::Null;
    let threads = plan.model_runs().map(|run| run.threads(blocking)).max()?;
    let processors = processors as u64;
    let what = if blocking { "threads" } else { "workers" };
    (processors > 0 && threads > processors)
        .then(|| format!("{threads} {what} share {}", count_words(processors, "processor")))
}

/// A labelled line of the plan's head.
pub(crate) fn head(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "{label:<11} {text}");
}

/// `described[variant]` is what was last said of its streams; it is said again where it differs.
fn run_lines<'p>(out: &mut String, run: &'p Run, described: &mut BTreeMap<&'p str, Vec<String>>) {
    let phases = run.phases;
    let repeat =
        if run.repeat == 0 { String::new() } else { format!(", repeat {}", run.repeat + 1) };
    let _ = writeln!(
        out,
        "{:>4}. {}{repeat}: {} after {} of warm-up",
        run.index + 1,
        run.load_point(),
        print_duration(Duration::from_nanos(phases.measure_ns)),
        print_duration(Duration::from_nanos(phases.warm_up_ns)),
    );
    let mut words: Vec<String> =
        run.streams.iter().map(|stream| stream_words(stream, run)).collect();
    let named = run.parameters.iter().any(|(name, _)| name == "run.nconnect");
    words.extend(
        run.connections.filter(|_| !named).map(|count| count_words(u64::from(count), "connection")),
    );
    if described.get(run.variant.as_str()) != Some(&words) {
        for line in words.iter().flat_map(|words| wrapped(words, TEXT_WIDTH)) {
            let _ = writeln!(out, "      {line}");
        }
        described.insert(&run.variant, words);
    }
}

pub(crate) const TEXT_WIDTH: usize = 74;

/// A stream's operations. What the load point names is not repeated, so that all load points of a
/// sweep have the same description.
pub(crate) fn stream_words(stream: &Stream, run: &Run) -> String {
    let named = |key: &str| {
        let of_stream = format!("{}.{key}", stream.name);
        run.parameters.iter().any(|(name, _)| name == key || *name == of_stream)
    };
    let or_named = |key: &str, words: String| {
        if named(key) { format!("{} as named", label(key)) } else { words }
    };
    let set = stream.working_set;
    let mut parts = vec![
        or_named("read", mix_words(stream.read_permille)),
        or_named("transfer_size", sizes_words(&stream.transfer_sizes)),
        or_named("pattern", pattern_words(stream.access_pattern)),
        format!("{} x {}", set.files, Bytes::new(set.area_bytes.min(set.file_size_bytes))),
        or_named("workers", count_words(u64::from(stream.workers), "worker")),
    ];
    if !named("queue_depth") {
        parts.push(format!("queue depth {}", stream.queue_depth));
    }
    let mut arrival = arrival_words(stream.arrival);
    if stream.arrival.offered_rate().is_some() && stream.fsync_every_writes.is_some() {
        arrival.push_str(" (fsyncs included)");
    }
    parts.push(or_named("arrival", arrival));
    match stream.write_stability {
        None => {
            let direct = if stream.direct { "direct" } else { "buffered" };
            parts.push(or_named("direct", direct.to_owned()));
            if named("dsync") || stream.dsync {
                parts.push(or_named("dsync", "O_DSYNC".to_owned()));
            }
        }
        // Of a stream that only reads there is nothing to say: there is no cache to go past.
        Some(stability) if stream.read_permille < 1000 => {
            let key = if named("dsync") { "dsync" } else { "write_stability" };
            parts.push(or_named(key, format!("{} writes", stability.name())));
        }
        Some(_) => {}
    }
    match stream.fsync_every_writes {
        Some(writes) => {
            let words = format!("fsync every {}", count_words(u64::from(writes), "write"));
            parts.push(or_named("fsync_every", words));
        }
        None if named("fsync_every") => parts.push(or_named("fsync_every", String::new())),
        None => {}
    }
    format!("{}: {}", stream.name, parts.join(", "))
}

/// What a key sets, in words.
fn label(key: &str) -> &str {
    match key {
        "read" => "share of reads",
        "transfer_size" => "transfer size",
        "fsync_every" => "fsync",
        "write_stability" => "write stability",
        other => other,
    }
}

fn count_words(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
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
        AccessPattern::HotSet { area_permille, accesses_permille } => format!(
            "hot set ({}% of operations on {}%)",
            percent(accesses_permille),
            percent(area_permille)
        ),
    }
}

fn arrival_words(arrival: Arrival) -> String {
    match arrival {
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
    }
}

fn target_words(target: &TargetSpec) -> String {
    match target {
        TargetSpec::Directory { .. } | TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } => {
            target.in_words()
        }
        TargetSpec::Null => "null: (nothing; the generator's own ceiling)".to_owned(),
    }
}

fn engine_words(plan: &Plan) -> &'static str {
    if plan.target.is_nfs() {
        return "nfs_client (NFSv3 in user space; nothing is cached)";
    }
    match plan.engine {
        workload::plan::EngineChoice::Auto => "auto (a short probe on the target decides)",
        forced => engine_name(forced),
    }
}

fn files_words(set: &FileSet) -> String {
    let mut words = format!("{}: {} x {}", set.stream, set.files, Bytes::new(set.file_size_bytes));
    if set.files > 1 {
        let _ = write!(words, " = {}", Bytes::new(set.total_bytes()));
    }
    let percent = |permille: u16| f64::from(permille) / 10.0;
    if set.data.compressible_permille > 0 {
        let _ = write!(words, ", compressible by {}%", percent(set.data.compressible_permille));
    }
    if set.data.duplicate_permille > 0 {
        let _ = write!(words, ", {}% duplicates", percent(set.data.duplicate_permille));
    }
    words
}
