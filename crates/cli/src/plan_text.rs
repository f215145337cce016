//! A plan in words: every run in its order, what its operations are, and how long it takes.
//!
//! A description of a stream is printed where it differs from the one before, so that a sweep of
//! twenty queue depths stays readable.

use std::fmt::Write as _;
use std::time::Duration;

use units::{Bytes, OpsPerSec, print_duration};
use workload::arrival::Arrival;
use workload::pattern::AccessPattern;
use workload::plan::{FileSet, Plan, Run, Stream, TargetSpec};

use crate::live::{engine_name, whole_seconds};
use crate::terminal::wrapped;

/// The whole plan. `space` are lines of the head about the target's directory.
pub(crate) fn plan_text(plan: &Plan, space: &str) -> String {
    let mut out = String::new();
    head(&mut out, "experiment", &format!("{} ({})", plan.name, plan.source));
    head(&mut out, "target", &target_words(&plan.target));
    head(&mut out, "engine", engine_words(plan));
    let seed = format!("{}, data of files {}", plan.seed, plan.data_seed);
    head(&mut out, "seed", &seed);
    if plan.pin {
        head(&mut out, "workers", "each pinned to a processor of its own");
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
    let total: u64 = plan.runs().map(|run| run.phases.total_ns()).sum();
    let runs = plan.runs().count();
    let time = whole_seconds(Duration::from_nanos(total));
    let after = if space.is_empty() { "" } else { ", not counting the fill" };
    head(&mut out, "runs", &format!("{runs}, {time} in all{after}"));
    out.push('\n');
    let mut before: Vec<String> = Vec::new();
    for run in plan.runs() {
        run_lines(&mut out, run, &mut before);
    }
    out
}

/// A labelled line of the plan's head.
pub(crate) fn head(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "{label:<11} {text}");
}

fn run_lines(out: &mut String, run: &Run, before: &mut Vec<String>) {
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
    let described: Vec<String> =
        run.streams.iter().map(|stream| stream_words(stream, run)).collect();
    if described != *before {
        for words in &described {
            for line in wrapped(words, TEXT_WIDTH) {
                let _ = writeln!(out, "      {line}");
            }
        }
    }
    *before = described;
}

const TEXT_WIDTH: usize = 74;

/// A stream's operations, without the queue depth where the load point names it.
fn stream_words(stream: &Stream, run: &Run) -> String {
    let mut words = format!("{}: {}", stream.name, mix_words(stream.read_permille));
    let sizes: Vec<String> = stream
        .transfer_sizes
        .iter()
        .map(|size| {
            let bytes = Bytes::new(size.size_bytes);
            if stream.transfer_sizes.len() == 1 {
                bytes.to_string()
            } else {
                format!("{bytes} x{}", size.weight)
            }
        })
        .collect();
    let _ = write!(words, " of {}, {}", sizes.join(" / "), pattern_words(stream.access_pattern));
    let set = stream.working_set;
    let _ = write!(
        words,
        " over {} x {}",
        set.files,
        Bytes::new(set.area_bytes.min(set.file_size_bytes))
    );
    let _ = write!(
        words,
        "; {} {}",
        stream.workers,
        if stream.workers == 1 { "worker" } else { "workers" },
    );
    if !run.parameters.iter().any(|(key, _)| key.ends_with("queue_depth")) {
        let _ = write!(words, " x queue depth {}", stream.queue_depth);
    }
    let _ = write!(words, ", {}", arrival_words(stream.arrival));
    words.push_str(if stream.direct { ", direct" } else { ", buffered" });
    if stream.dsync {
        words.push_str(", O_DSYNC");
    }
    if let Some(writes) = stream.fsync_every_writes {
        let _ = write!(words, ", fsync every {writes} writes");
    }
    words
}

fn mix_words(read_permille: u16) -> String {
    match read_permille {
        0 => "writes".to_owned(),
        1000 => "reads".to_owned(),
        reads => format!("{} % reads", f64::from(reads) / 10.0),
    }
}

fn pattern_words(pattern: AccessPattern) -> String {
    let percent = |permille: u16| f64::from(permille) / 10.0;
    match pattern {
        AccessPattern::Sequential => "sequential".to_owned(),
        AccessPattern::Uniform => "uniform random".to_owned(),
        AccessPattern::Zipf { theta } => format!("zipf {theta}"),
        AccessPattern::HotSet { area_permille, accesses_permille } => format!(
            "hot set ({} % of operations on {} %)",
            percent(accesses_permille),
            percent(area_permille)
        ),
    }
}

fn arrival_words(arrival: Arrival) -> String {
    match arrival {
        Arrival::Closed { think_time_ns: 0 } => "closed".to_owned(),
        Arrival::Closed { think_time_ns } => {
            format!("closed, think time {}", print_duration(Duration::from_nanos(think_time_ns)))
        }
        Arrival::Constant { offered_rate } => {
            format!("constant {}", OpsPerSec::new(offered_rate))
        }
        Arrival::Poisson { offered_rate } => format!("poisson {}", OpsPerSec::new(offered_rate)),
    }
}

fn target_words(target: &TargetSpec) -> String {
    match target {
        TargetSpec::Directory { path } => path.clone(),
        TargetSpec::Null => "null: (nothing; the generator's own ceiling)".to_owned(),
    }
}

fn engine_words(plan: &Plan) -> &'static str {
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
        let _ = write!(words, ", compressible by {} %", percent(set.data.compressible_permille));
    }
    if set.data.duplicate_permille > 0 {
        let _ = write!(words, ", {} % duplicates", percent(set.data.duplicate_permille));
    }
    words
}
