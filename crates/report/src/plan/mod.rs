//! A plan in words: every run in order, its operations and its duration.
//!
//! A stream is described again only if it differs from the previous description, so that a sweep of
//! twenty queue depths stays readable.

mod search;
mod stream;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use units::{Bytes, counted, listed, print_duration, print_whole_seconds, thousands};
use workload::metric::Metric;
use workload::names::{NameSet, Population};
use workload::plan::{FileSet, IoMethod, IoMethodUsed, Plan, Run, Step, TargetSpec};

use crate::prose::wrap;
use crate::table::Table;
use search::search_lines;
use stream::stream_words;

/// Margin of the text below the line of a run.
const MARGIN: &str = "      ";
/// Columns of that text, with its margin.
const TEXT_WIDTH: usize = 80;

/// File sets of one stream that are listed; more are summarised.
const SETS_LISTED: usize = 4;

/// A property of the plan: its name and its value.
pub type Property = (&'static str, String);

/// The whole plan for a terminal.
///
/// * `space` - properties of the target's directory
/// * `processors` - how many workers may be pinned to
/// * `width` - columns of the properties
pub fn text(plan: &Plan, space: &[Property], processors: usize, width: usize) -> String {
    let properties = properties(plan, space, processors);
    let pairs = properties.into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut out = Table::pairs(pairs).text(width);
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

/// `job sets; passes with 95 % of the offered rate and a mean response time up to 20ms`
fn metric_words(metric: &Metric) -> String {
    let least = f64::from(metric.rate_min_permille) / 10.0;
    let ceiling = metric.response_time_max_ns.map_or(String::new(), |ns| {
        let most = print_duration(Duration::from_nanos(ns));
        format!(" and a {} response time up to {most}", metric.response_time.name())
    });
    format!("{}; passes with {least} % of the offered rate{ceiling}", metric.name)
}

fn properties(plan: &Plan, space: &[Property], processors: usize) -> Vec<Property> {
    let mut all = vec![("experiment", format!("{} ({})", plan.name, plan.source))];
    if !plan.overrides.is_empty() {
        all.push(("overrides", plan.overrides.join(", ")));
    }
    match plan.targets.as_slice() {
        [only] => all.push(("target", target_words(only))),
        several => all.extend(
            several
                .iter()
                .zip(&plan.target_names)
                .map(|(target, name)| ("target", format!("{name}: {}", target_words(target)))),
        ),
    }
    if let Some(metric) = &plan.metric {
        all.push(("metric", metric_words(metric)));
    }
    all.push(("engine", engine_words(plan).to_owned()));
    all.push(("seed", format!("{}, data of files {}", plan.seed, plan.data_seed)));
    if plan.pin {
        all.push(("workers", pin_words(plan, processors)));
    }
    if plan.verify {
        all.push(("verify", "data read is compared with the data written".to_owned()));
    }
    if plan.target().capabilities().moves_data {
        all.extend(files(plan));
    }
    all.extend_from_slice(space);
    let time = print_whole_seconds(plan.time_max());
    let after = if space.is_empty() { "" } else { ", not counting the fill" };
    let at_most = if plan.searches().next().is_some() { "at most " } else { "" };
    all.push(("runs", format!("{at_most}{}, {time} in all{after}", plan.runs_max())));
    all
}

/// The files on each target, once if all targets have the same.
fn files(plan: &Plan) -> Vec<Property> {
    let on = |target: usize| -> Vec<Property> {
        let sets = plan.file_sets(target);
        let of_streams = sets.chunk_by(|one, next| one.stream == next.stream);
        let words = |sets: &[FileSet]| match sets.len() > SETS_LISTED {
            true => vec![many_files_words(sets)],
            false => sets.iter().map(files_words).collect(),
        };
        let files = of_streams.flat_map(words).map(|words| ("files", words));
        let names = plan.name_sets(target).into_iter().map(|set| ("names", names_words(&set)));
        files.chain(names).collect()
    };
    let count = plan.targets.len();
    if count > 1 && (1..count).all(|target| on(target) == on(0)) {
        let words = |words: String| format!("{words} on each of {count} targets");
        return on(0).into_iter().map(|(name, of)| (name, words(of))).collect();
    }
    let of_target = |target: usize| {
        let target_name =
            plan.target_names.get(target).map_or(String::new(), |name| format!("{name}, "));
        on(target)
            .into_iter()
            .map(|(name, words)| (name, format!("{target_name}{words}")))
            .collect::<Vec<_>>()
    };
    (0..count).flat_map(of_target).collect()
}

fn pin_words(plan: &Plan, processors: usize) -> String {
    match crowding(plan, processors) {
        None => "each pinned to a separate processor".to_owned(),
        Some(crowding) => format!("pinned to processors in turn: {crowding}"),
    }
}

/// `5 workers share 2 processors`, if the run with the most threads has more of them than there are
/// processors. With blocking calls a worker has a thread for each outstanding operation. `None` if
/// the number of processors is 0, which means unknown.
pub fn crowding(plan: &Plan, processors: usize) -> Option<String> {
    let blocking = plan.io_method == IoMethod::Psync && plan.target().capabilities().local_files;
    let threads = plan.model_runs().map(|run| run.threads(blocking)).max()?;
    let processors = processors as u64;
    let what = if blocking { "threads" } else { "workers" };
    (processors > 0 && threads > processors).then(|| {
        format!("{} {what} share {}", thousands(threads), counted(processors, "processor"))
    })
}

/// A run, with the description of its streams unless that equals `described[variant]`, the last one
/// printed for the variant.
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
        run.connections.filter(|_| !named).map(|count| counted(u64::from(count), "connection")),
    );
    if described.get(run.variant.as_str()) != Some(&words) {
        write_lines(&words, out);
        described.insert(&run.variant, words);
    }
}

/// Sentences below the line of a run or search.
fn write_lines(sentences: &[String], out: &mut String) {
    for sentence in sentences {
        wrap(sentence, MARGIN, MARGIN, TEXT_WIDTH, out);
    }
}

fn target_words(target: &TargetSpec) -> String {
    match target {
        TargetSpec::Directory { .. } | TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } => {
            target.in_words()
        }
        TargetSpec::Null => "null: (no I/O; the load generator's own limit)".to_owned(),
    }
}

fn engine_words(plan: &Plan) -> &'static str {
    if plan.target().capabilities().own_client {
        return "nfs_client (NFSv3 in user space, no cache)";
    }
    match plan.io_method {
        IoMethod::Auto => "auto (a short probe on the target decides)",
        forced => IoMethodUsed::from(forced).name(),
    }
}

/// `home: 10,000 files and 1,000 hard links in 110 directories; 11,110 inodes, 39.1 MiB (4KiB)`
fn names_words(set: &NameSet) -> String {
    let Population { files, originals, moved, links, symlinks, made } = set.population;
    let classes = [
        (files, "file", "files"),
        (originals, "file that links and copies refer to", "files that links and copies refer to"),
        (moved, "file that is renamed", "files that are renamed"),
        (links, "hard link", "hard links"),
        (symlinks, "symbolic link", "symbolic links"),
        (made, "empty directory", "empty directories"),
    ];
    let words = classes.into_iter().filter(|(count, ..)| *count > 0);
    let words = words.map(|(count, one, several)| {
        format!("{} {}", thousands(count), if count == 1 { one } else { several })
    });
    let mut words = format!("{}: {}", set.stream, listed(&words.collect::<Vec<_>>()));
    let _ = match set.directories() {
        0 => Ok(()),
        1 => write!(words, " in 1 directory"),
        directories => write!(words, " in {} directories", thousands(directories)),
    };
    let inodes = thousands(set.inodes());
    let _ = write!(words, "; {inodes} inodes, {} ({})", Bytes::new(set.bytes()), set.tree.sizes);
    words
}

/// The file sets of one stream together: `app: 120 files of 4 KiB to 1 GiB = 3.2 GiB`.
fn many_files_words(sets: &[FileSet]) -> String {
    let sizes = || sets.iter().map(|set| set.file_size_bytes);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let files: u64 = sets.iter().map(|set| u64::from(set.files)).sum();
    let bytes = sets.iter().map(FileSet::total_bytes).sum();
    let stream = sets.first().map_or("", |set| set.stream.as_str());
    let (files, bytes) = (counted(files, "file"), Bytes::new(bytes));
    format!("{stream}: {files} of {} to {} = {bytes}", Bytes::new(least), Bytes::new(most))
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
