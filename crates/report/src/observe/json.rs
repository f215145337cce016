//! An observation as JSON: units in the names of fields, null for what the trace does not have.

use std::io::{self, Write};

use observe::observation::{DataFigures, Observation, OtherFigures, ResponseTimes};
use observe::profile::{ArrivalProfile, Pattern, StreamProfile};
use observe::{Format, Profile};
use schemars::JsonSchema;
use serde::Serialize;

use super::words;
use crate::json::schema::schema_of;
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
const SCHEMA_VERSION: u32 = 1;
/// Files that are listed.
const FILES_MAX: usize = 1000;

/// What a trace shows of an application.
#[derive(Serialize, JsonSchema)]
struct ObservationJson<'a> {
    /// The version of this form: 1.
    schema_version: u32,
    /// The trace.
    source: SourceJson,
    /// The path of `--under`; null for all files.
    under: Option<&'a str>,
    /// Reads and writes.
    operations: u64,
    /// Bytes read and written.
    bytes: u64,
    /// From the first begin of an operation to the last end.
    duration_s: Option<f64>,
    /// Reads.
    reads: DataJson,
    /// Writes.
    writes: DataJson,
    /// Each other call, the most frequent first.
    others: Vec<CallJson<'a>>,
    /// Runs: operations on a file, each of which begins where an earlier one ended.
    runs: RunsJson,
    /// What the operations touch.
    working_set: WorkingSetJson<'a>,
    /// When operations begin; null without times.
    arrival: Option<ArrivalJson>,
    /// Operations in flight; null without ends.
    in_flight: Option<InFlightJson>,
    /// What a reader must know of these figures.
    notes: Vec<String>,
    /// Records that could not be read.
    damaged_records: u64,
    /// The experiment that offers the same load.
    experiment: ExperimentJson<'a>,
}

/// The trace.
#[derive(Serialize, JsonSchema)]
struct SourceJson {
    /// Its format: `iolog`, `strace`, `pcap` or `blktrace`.
    format: &'static str,
    /// Lines or packets.
    records: u64,
    /// Its size.
    bytes: u64,
}

/// Reads or writes.
#[derive(Serialize, JsonSchema)]
struct DataJson {
    /// Successful ones that moved data.
    operations: u64,
    /// Bytes moved.
    bytes: u64,
    /// Operations that failed.
    failed: u64,
    /// Operations that continue a run.
    sequential: u64,
    /// Operations that bypass the page cache; null if the trace does not show it.
    direct: Option<u64>,
    /// Writes that are durable when they end; null if the trace does not show it.
    durable: Option<u64>,
    /// Each transfer size, the commonest first.
    sizes: Vec<SizeJson>,
    /// From begin to end; null if either is not known.
    response_time: Option<ResponseTimeJson>,
}

/// The operations of one transfer size.
#[derive(Serialize, JsonSchema)]
struct SizeJson {
    /// Bytes moved by one.
    size_bytes: u64,
    /// How many.
    operations: u64,
    /// Those of them that continue a run.
    sequential: u64,
}

/// Response times.
#[derive(Serialize, JsonSchema)]
struct ResponseTimeJson {
    /// Operations with a known begin and end.
    samples: u64,
    /// Their mean.
    mean_ns: f64,
    /// The median; null with fewer than ten samples above it.
    p50_ns: Option<u64>,
    /// The 99th percentile; null with fewer than ten samples above it.
    p99_ns: Option<u64>,
}

/// Calls that neither read nor write.
#[derive(Serialize, JsonSchema)]
struct CallJson<'a> {
    /// The name in the trace.
    name: &'a str,
    /// How many, those that failed included.
    operations: u64,
    /// Those of them that failed.
    failed: u64,
    /// From begin to end; null if either is not known.
    response_time: Option<ResponseTimeJson>,
}

/// Sequential runs.
#[derive(Serialize, JsonSchema)]
struct RunsJson {
    /// Runs, those of one operation included.
    count: u64,
    /// Runs of one operation.
    single: u64,
    /// Operations that continue a run.
    sequential: u64,
    /// Their share in all operations.
    sequential_share: f64,
    /// The share of the operations that continue a run by chance.
    share_by_chance: f64,
    /// Operations of a run.
    mean_operations: f64,
    /// Bytes of a run.
    mean_bytes: f64,
}

/// Blocks of 4 KiB and files.
#[derive(Serialize, JsonSchema)]
struct WorkingSetJson<'a> {
    /// Bytes of the distinct blocks.
    touched_bytes: u64,
    /// Half-width of its 95 % interval as a share of it; 0 if it is exact.
    touched_relative_error: f64,
    /// How often a touched block is accessed on average.
    accesses_per_block: f64,
    /// The share of the accesses that go to the most accessed tenth of the touched blocks.
    busiest_tenth_share: f64,
    /// The same if all touched blocks were equally likely.
    busiest_tenth_share_if_equal: f64,
    /// Files with a read or write.
    files: usize,
    /// The sum of their sizes.
    file_bytes: u64,
    /// The first 1,000 of them, the most accessed first.
    most_accessed_files: Vec<FileJson<'a>>,
}

/// A file.
#[derive(Serialize, JsonSchema)]
struct FileJson<'a> {
    /// Its path, or its handle if no name is known.
    name: &'a str,
    /// Its size as the trace shows it, at least the end of the last access.
    size_bytes: u64,
    /// Reads and writes.
    operations: u64,
    /// Those of them that continue a run.
    sequential: u64,
}

/// When operations begin.
#[derive(Serialize, JsonSchema)]
struct ArrivalJson {
    /// Operations per second, from the first begin to the last.
    mean_per_s: f64,
    /// Whole seconds.
    whole_seconds: u64,
    /// Variance over mean of the operations of each whole second; null for fewer than ten seconds.
    dispersion_per_s: Option<f64>,
    /// Operations of the busiest whole second.
    busiest_second: Option<u64>,
    /// Standard deviation over mean of the times between begins.
    gap_variation: Option<f64>,
}

/// Operations between their begin and end.
#[derive(Serialize, JsonSchema)]
struct InFlightJson {
    /// The mean over time.
    mean: f64,
    /// The most at any time.
    max: u64,
    /// The number that is not exceeded for 99 % of the time.
    p99_of_time: u64,
}

/// An experiment, and what it does not express.
#[derive(Serialize, JsonSchema)]
struct ExperimentJson<'a> {
    /// Its streams with the values of their keys.
    streams: Vec<ExperimentStreamJson<'a>>,
    /// What the trace shows and the experiment does not have.
    not_expressed: Vec<String>,
}

/// A stream of the experiment.
#[derive(Serialize, JsonSchema)]
struct ExperimentStreamJson<'a> {
    /// Its name.
    name: &'a str,
    /// The share of reads in thousandths.
    read_permille: u16,
    /// Transfer sizes with their shares.
    transfer_sizes: Vec<WeightedSizeJson>,
    /// The order of offsets.
    pattern: PatternJson,
    /// Number of files.
    files: usize,
    /// Size of each.
    file_size_bytes: u64,
    /// The accessed part of all files; null for all of them.
    area_bytes: Option<u64>,
    /// Operations in flight, at most.
    queue_depth: u64,
    /// When operations become due.
    arrival: ExperimentArrivalJson,
    /// Whether the page cache is bypassed; null if the trace does not show it.
    direct: Option<bool>,
    /// Whether writes are durable when they end.
    dsync: bool,
    /// Writes before each fsync; null without fsyncs.
    fsync_every: Option<u64>,
}

/// A transfer size and its share.
#[derive(Serialize, JsonSchema)]
struct WeightedSizeJson {
    /// Bytes moved by one operation.
    size_bytes: u64,
    /// Its share in thousandths.
    share_permille: u16,
}

/// The order of offsets: a word, or a share in thousandths.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PatternJson {
    /// From the start of the files to their end.
    Sequential,
    /// Every offset is equally likely.
    Random,
    /// In order, but this share of the operations moves to a random offset.
    SeekPermille(u16),
    /// A tenth of the area gets this share of the operations.
    HotTenthAccessesPermille(u16),
}

/// When operations become due: one of these.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ExperimentArrivalJson {
    /// When one ends, after this time.
    ThinkTimeNs(u64),
    /// At this constant rate, with fsyncs.
    ConstantPerS(f64),
    /// At random times with this rate, with fsyncs.
    PoissonPerS(f64),
}

/// The schema (draft 2020-12) of the documents that [`write`] writes.
pub fn json_schema() -> String {
    schema_of::<ObservationJson<'static>>()
}

/// Writes the document, indented, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(observation: &Observation, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(observation, profile))?;
    writeln!(out)
}

fn document<'a>(observation: &'a Observation, profile: &'a Profile) -> ObservationJson<'a> {
    let source = &observation.source;
    let [reads, writes] = &observation.data;
    let calls = observation.others.iter();
    let assumed = words::assumed_unit(source).into_iter();
    ObservationJson {
        schema_version: SCHEMA_VERSION,
        source: SourceJson {
            format: match source.format {
                Format::Iolog => "iolog",
                Format::Strace => "strace",
                Format::Blktrace => "blktrace",
                Format::Capture => "pcap",
            },
            records: source.records,
            bytes: source.bytes,
        },
        under: observation.under.as_deref(),
        operations: observation.operations(),
        bytes: observation.bytes(),
        duration_s: observation.duration_ns.map(|ns| exported(ns as f64 / 1e9)),
        reads: data(reads),
        writes: data(writes),
        others: calls.map(call).collect(),
        runs: runs(observation),
        working_set: working_set(observation),
        arrival: observation.arrival.map(|arrival| ArrivalJson {
            mean_per_s: exported(arrival.mean_per_s),
            whole_seconds: arrival.seconds,
            dispersion_per_s: arrival.dispersion.map(exported),
            busiest_second: arrival.peak_per_s,
            gap_variation: arrival.gap_variation.map(exported),
        }),
        in_flight: observation.concurrency.map(|found| InFlightJson {
            mean: exported(found.mean),
            max: found.max,
            p99_of_time: found.p99,
        }),
        notes: assumed.chain(observation.notes.iter().map(words::note)).collect(),
        damaged_records: observation.notes.iter().find_map(words::damaged_count).unwrap_or(0),
        experiment: ExperimentJson {
            streams: profile.streams.iter().map(stream).collect(),
            not_expressed: profile.left_out.iter().map(words::left_out).collect(),
        },
    }
}

fn runs(observation: &Observation) -> RunsJson {
    let runs = &observation.runs;
    let operations = observation.operations() as f64;
    let count = runs.runs.max(1) as f64;
    RunsJson {
        count: runs.runs,
        single: runs.single,
        sequential: runs.sequential,
        sequential_share: exported(runs.sequential as f64 / operations),
        share_by_chance: exported(runs.by_chance / operations),
        mean_operations: exported(operations / count),
        mean_bytes: exported(observation.bytes() as f64 / count),
    }
}

fn working_set(observation: &Observation) -> WorkingSetJson<'_> {
    let set = &observation.working_set;
    let files = set.files.iter().take(FILES_MAX).map(|file| FileJson {
        name: &file.name,
        size_bytes: file.size_bytes,
        operations: file.sequential + file.random,
        sequential: file.sequential,
    });
    WorkingSetJson {
        touched_bytes: set.touched_bytes,
        touched_relative_error: exported(set.touched_error),
        accesses_per_block: exported(set.accesses_per_block),
        busiest_tenth_share: exported(set.hottest_tenth),
        busiest_tenth_share_if_equal: exported(set.hottest_tenth_uniform),
        files: set.files.len(),
        file_bytes: set.file_bytes(),
        most_accessed_files: files.collect(),
    }
}

fn data(data: &DataFigures) -> DataJson {
    let sizes = data.sizes.iter().map(|size| SizeJson {
        size_bytes: size.size_bytes,
        operations: size.operations,
        sequential: size.sequential,
    });
    DataJson {
        operations: data.operations,
        bytes: data.bytes,
        failed: data.failed,
        sequential: data.sequential(),
        direct: data.direct,
        durable: data.durable,
        sizes: sizes.collect(),
        response_time: data.response.map(response_time),
    }
}

fn call(other: &OtherFigures) -> CallJson<'_> {
    CallJson {
        name: &other.name,
        operations: other.operations,
        failed: other.failed,
        response_time: other.response.map(response_time),
    }
}

fn response_time(times: ResponseTimes) -> ResponseTimeJson {
    ResponseTimeJson {
        samples: times.samples,
        mean_ns: exported(times.mean_ns),
        p50_ns: times.p50_ns,
        p99_ns: times.p99_ns,
    }
}

fn stream(stream: &StreamProfile) -> ExperimentStreamJson<'_> {
    let sizes = stream.sizes.iter().map(|(size_bytes, share_permille)| WeightedSizeJson {
        size_bytes: *size_bytes,
        share_permille: *share_permille,
    });
    ExperimentStreamJson {
        name: &stream.name,
        read_permille: stream.read_permille,
        transfer_sizes: sizes.collect(),
        pattern: match stream.pattern {
            Pattern::Sequential => PatternJson::Sequential,
            Pattern::Random => PatternJson::Random,
            Pattern::Seek { permille } => PatternJson::SeekPermille(permille),
            Pattern::HotTenth { accesses_permille } => {
                PatternJson::HotTenthAccessesPermille(accesses_permille)
            }
        },
        files: stream.files,
        file_size_bytes: stream.file_size_bytes,
        area_bytes: stream.area_bytes,
        queue_depth: stream.queue_depth,
        arrival: match stream.arrival {
            ArrivalProfile::Closed { think_time_ns } => {
                ExperimentArrivalJson::ThinkTimeNs(think_time_ns)
            }
            ArrivalProfile::Constant { per_s } => {
                ExperimentArrivalJson::ConstantPerS(exported(per_s))
            }
            ArrivalProfile::Poisson { per_s } => {
                ExperimentArrivalJson::PoissonPerS(exported(per_s))
            }
        },
        direct: stream.direct,
        dsync: stream.dsync,
        fsync_every: stream.fsync_every,
    }
}
