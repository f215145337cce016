//! What was observed in a trace as a sheet: the load in a sentence, then tables of the figures, what
//! the trace does not show, and what the experiment does not express.

pub mod experiment;
pub mod json;
pub mod replay;
mod words;

use observe::observation::{
    Arrival, Concurrency, DataFigures, Direction, Observation, OtherFigures, ResponseTimes,
    SizeCount, WorkingSet,
};
use observe::{Format, Profile};
use units::{Bytes, counted};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, NS_PER_S, TOO_FEW, TimeUnit, mib, percent, plain, thousands};
use crate::sheet::Sheet;

/// Rows of a table of sizes, calls or files that are shown; all are folded.
const SHOWN: usize = 6;
/// Files that are listed.
const FILES_SHOWN: usize = 50;
/// Above this share, chance explains part of the sequential operations.
const CHANCE_MENTIONED: f64 = 0.005;

/// An observation as a sheet.
pub fn sheet(observation: &Observation, profile: &Profile) -> Sheet {
    let mut sections = vec![load(observation)];
    sections.push(section(
        "characteristics",
        "Characteristics",
        vec![characteristics(observation)],
    ));
    let notes: Vec<String> = observation.notes.iter().map(words::note).collect();
    let notes: Vec<String> =
        words::assumed_unit(&observation.source).into_iter().chain(notes).collect();
    if !notes.is_empty() {
        sections.push(section("caveats", "Caveats", vec![Block::List(notes)]));
    }
    if !profile.left_out.is_empty() {
        let points = profile.left_out.iter().map(words::left_out).collect();
        sections.push(section("left-out", "Not in the experiment", vec![Block::List(points)]));
    }
    sections.push(section("sizes", "Transfer sizes", vec![sizes(observation, SHOWN)]));
    if !observation.others.is_empty() {
        let table = others(&observation.others, SHOWN);
        sections.push(section("others", "Other operations", vec![table]));
    }
    let mut folded = Vec::new();
    if observation.data.iter().any(|data| data.sizes.len() > SHOWN) {
        let all = sizes(observation, usize::MAX);
        folded.push(section("all-sizes", "All transfer sizes", vec![all]));
    }
    if observation.others.len() > SHOWN {
        let all = others(&observation.others, usize::MAX);
        folded.push(section("all-others", "All other operations", vec![all]));
    }
    folded.push(section("files", "Files", vec![files(&observation.working_set)]));
    Sheet {
        title: "Observation of a trace".to_owned(),
        answer: answer(observation),
        sections,
        folded,
    }
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks, method: vec!["Observation"] }
}

/// The load, and what was read.
fn answer(observation: &Observation) -> Vec<String> {
    let operations = observation.operations();
    let rate = match (observation.arrival, observation.duration_ns) {
        (Some(arrival), Some(ns)) => format!(
            " in {} ({} ops/s, {} MiB/s)",
            seconds(ns),
            plain(arrival.mean_per_s),
            mib(observation.bytes() as f64 * NS_PER_S / ns as f64)
        ),
        _ => String::new(),
    };
    let reads = observation.data[Direction::Read.index()].operations;
    let sequential = observation.runs.sequential as f64 / operations as f64;
    let below = match &observation.under {
        Some(path) => format!(" below `{path}`"),
        None => String::new(),
    };
    let load = format!(
        "{} reads and writes{below}{rate}: {} reads, {} sequential, {} in {}.",
        thousands(operations.into()),
        percent(reads as f64 / operations as f64),
        percent(sequential),
        Bytes::new(observation.working_set.touched_bytes),
        counted(observation.working_set.files.len() as u64, "file"),
    );
    let source = &observation.source;
    let (format, records) = match source.format {
        Format::Iolog => ("a fio I/O log", "line"),
        Format::Strace => ("strace", "line"),
        Format::Blktrace => ("blkparse", "line"),
        Format::Capture => ("a capture", "packet"),
    };
    let read = format!(
        "Read from {format}: {}, {}{}.",
        counted(source.records, records),
        Bytes::new(source.bytes),
        words::damaged(&observation.notes),
    );
    vec![load, read]
}

/// Reads, writes and both.
fn load(observation: &Observation) -> Section {
    let unit = time_unit(observation.data.iter().filter_map(|data| data.response));
    let total = observation.operations();
    let row = |name: &str, data: &DataFigures| {
        let operations = data.operations as f64;
        let mean =
            data.bytes.checked_div(data.operations).map(|bytes| Bytes::new(bytes).to_string());
        let mut row = vec![
            name.to_owned(),
            thousands(data.operations.into()),
            percent(operations / total as f64),
            thousands(data.failed.into()),
            mean.unwrap_or_else(|| NONE.to_owned()),
            match data.operations {
                0 => NONE.to_owned(),
                _ => percent(data.sequential() as f64 / operations),
            },
        ];
        row.extend(unit.iter().flat_map(|unit| times(data.response, *unit)));
        row
    };
    let mut columns = vec![
        Column::words(""),
        Column::numbers("operations", ""),
        Column::numbers("share", ""),
        Column::numbers("failed", ""),
        Column::numbers("mean size", ""),
        Column::numbers("sequential", ""),
    ];
    columns.extend(unit.iter().flat_map(time_columns));
    let [reads, writes] = &observation.data;
    let rows = vec![row("reads", reads), row("writes", writes)];
    let table = Table { caption: String::new(), columns, rows };
    section("load", "Load", vec![Block::Table(table)])
}

/// The unit of a table with these times; `None` without times.
fn time_unit(times: impl Iterator<Item = ResponseTimes>) -> Option<TimeUnit> {
    let of = |times: ResponseTimes| {
        let percentiles = [times.p50_ns, times.p99_ns].into_iter().flatten();
        percentiles.map(|ns| ns as f64).chain([times.mean_ns])
    };
    let times: Vec<f64> = times.flat_map(of).collect();
    (!times.is_empty()).then(|| TimeUnit::of(times))
}

fn time_columns(unit: &TimeUnit) -> [Column; 3] {
    let symbol = unit.symbol();
    ["mean", "p50", "p99"].map(|name| Column::numbers(name, symbol))
}

/// Mean, median and 99th percentile of a row.
fn times(response: Option<ResponseTimes>, unit: TimeUnit) -> [String; 3] {
    let time = |ns: Option<f64>| ns.map_or_else(|| TOO_FEW.to_owned(), |ns| unit.print(ns));
    [
        time(response.map(|times| times.mean_ns)),
        time(response.and_then(|times| times.p50_ns).map(|ns| ns as f64)),
        time(response.and_then(|times| times.p99_ns).map(|ns| ns as f64)),
    ]
}

/// Runs, working set, arrival and concurrency, by name.
fn characteristics(observation: &Observation) -> Block {
    let runs = &observation.runs;
    let operations = observation.operations() as f64;
    let count = runs.runs.max(1) as f64;
    let chance = runs.by_chance / operations;
    let by_chance = match chance >= CHANCE_MENTIONED {
        true => format!("; {} by chance", percent(chance)),
        false => String::new(),
    };
    let mut pairs = vec![
        ("sequential", format!("{}{by_chance}", percent(runs.sequential as f64 / operations))),
        (
            "mean run",
            format!(
                "{} operations, {}",
                plain(operations / count),
                Bytes::new((observation.bytes() as f64 / count) as u64)
            ),
        ),
    ];
    pairs.extend(set_pairs(&observation.working_set));
    pairs.extend(arrival_pairs(observation.arrival.as_ref()));
    pairs.push(("in flight", in_flight(observation.concurrency.as_ref())));
    pairs.extend(durability(observation));
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
    Block::Table(Table::pairs(pairs))
}

fn set_pairs(set: &WorkingSet) -> Vec<(&'static str, String)> {
    let error = match set.touched_error > 0.0 {
        true => format!(" ± {}", percent(set.touched_error)),
        false => String::new(),
    };
    let touched = format!(
        "{}{error} in blocks of 4 KiB, each accessed {} times",
        Bytes::new(set.touched_bytes),
        plain(set.accesses_per_block)
    );
    let hot = format!(
        "{} of the accesses (equally likely blocks: {})",
        percent(set.hottest_tenth),
        percent(set.hottest_tenth_uniform)
    );
    let sizes = set.files.iter().map(|file| file.size_bytes);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let each = match least == most {
        true => format!("of {}", Bytes::new(most)),
        false => format!("of {} to {}", Bytes::new(least), Bytes::new(most)),
    };
    let files = counted(set.files.len() as u64, "file");
    vec![
        ("working set", touched),
        ("busiest tenth", hot),
        ("files", format!("{files} {each}, {} in total", Bytes::new(set.file_bytes()))),
    ]
}

fn arrival_pairs(arrival: Option<&Arrival>) -> Vec<(&'static str, String)> {
    let Some(arrival) = arrival else {
        return vec![("arrival", words::NOT_IN_TRACE.to_owned())];
    };
    let peak = arrival.peak_per_s.map(|peak| {
        let ratio = plain(peak as f64 / arrival.mean_per_s);
        format!("; busiest second {} ops/s ({ratio} × the mean)", thousands(peak.into()))
    });
    let rate = format!("{} ops/s{}", plain(arrival.mean_per_s), peak.unwrap_or_default());
    let known = |value: Option<f64>| value.map_or_else(|| TOO_FEW.to_owned(), plain);
    let spread = format!(
        "{} per second, gaps {} (0: constant, 1: Poisson, more: bursts)",
        known(arrival.dispersion),
        known(arrival.gap_variation)
    );
    vec![("arrival", rate), ("dispersion", spread)]
}

fn in_flight(concurrency: Option<&Concurrency>) -> String {
    match concurrency {
        Some(found) => format!(
            "mean {}, at most {}; 99 % of the time at most {}",
            plain(found.mean),
            thousands(found.max.into()),
            thousands(found.p99.into())
        ),
        None => words::NOT_IN_TRACE.to_owned(),
    }
}

fn durability(observation: &Observation) -> Vec<(&'static str, String)> {
    let writes = &observation.data[Direction::Write.index()];
    let mut pairs = Vec::new();
    let shares = [
        ("durable writes", writes.durable, writes.operations),
        ("direct", direct(observation), observation.operations()),
    ];
    for (name, part, of) in shares {
        if let Some(part) = part.filter(|_| of > 0) {
            pairs.push((name, percent(part as f64 / of as f64)));
        }
    }
    pairs
}

/// Reads and writes with O_DIRECT, if the trace shows it.
fn direct(observation: &Observation) -> Option<u64> {
    let [reads, writes] = &observation.data;
    let known = reads.direct.is_some() || writes.direct.is_some();
    known.then(|| reads.direct.unwrap_or(0) + writes.direct.unwrap_or(0))
}

/// At most this many sizes of reads and writes, the commonest first.
fn sizes(observation: &Observation, most: usize) -> Block {
    let total = observation.operations() as f64;
    let mut rows = Vec::new();
    for (direction, data) in ["read", "write"].into_iter().zip(&observation.data) {
        let row = |size: &SizeCount| {
            vec![
                direction.to_owned(),
                exact_size(size.size_bytes),
                thousands(size.operations.into()),
                percent(size.operations as f64 / total),
                percent(size.sequential as f64 / size.operations.max(1) as f64),
            ]
        };
        rows.extend(data.sizes.iter().take(most).map(row));
    }
    let columns = vec![
        Column::words(""),
        Column::numbers("size", ""),
        Column::numbers("operations", ""),
        Column::numbers("share", ""),
        Column::numbers("sequential", ""),
    ];
    Block::Table(Table { caption: String::new(), columns, rows })
}

/// A transfer size without rounding: `8 KiB`, `4,097 B`.
fn exact_size(bytes: u64) -> String {
    match bytes.is_multiple_of(1024) {
        true => Bytes::new(bytes).to_string(),
        false => format!("{} B", thousands(bytes.into())),
    }
}

fn others(all: &[OtherFigures], most: usize) -> Block {
    let unit = time_unit(all.iter().filter_map(|other| other.response));
    let mut columns = vec![
        Column::words("operation"),
        Column::numbers("count", ""),
        Column::numbers("failed", ""),
    ];
    columns.extend(unit.iter().flat_map(time_columns));
    let row = |other: &OtherFigures| {
        let [count, failed] = [other.operations, other.failed].map(|count| thousands(count.into()));
        let mut row = vec![other.name.clone(), count, failed];
        row.extend(unit.iter().flat_map(|unit| times(other.response, *unit)));
        row
    };
    let rows = all.iter().take(most).map(row).collect();
    Block::Table(Table { caption: String::new(), columns, rows })
}

fn files(set: &WorkingSet) -> Block {
    let row = |file: &observe::observation::FileFigures| {
        let operations = file.sequential + file.random;
        vec![
            thousands(operations.into()),
            percent(file.sequential as f64 / operations.max(1) as f64),
            Bytes::new(file.size_bytes).to_string(),
            file.name.clone(),
        ]
    };
    let caption = match set.files.len() {
        all if all > FILES_SHOWN => {
            format!("The {FILES_SHOWN} with most operations of {} files.", thousands(all as i128))
        }
        _ => String::new(),
    };
    let columns = vec![
        Column::numbers("operations", ""),
        Column::numbers("sequential", ""),
        Column::numbers("size", ""),
        Column::words("file"),
    ];
    Block::Table(Table {
        caption,
        columns,
        rows: set.files.iter().take(FILES_SHOWN).map(row).collect(),
    })
}

/// A duration in the unit of its magnitude.
fn seconds(ns: u64) -> String {
    TimeUnit::of([ns as f64]).with_symbol(ns as f64)
}
