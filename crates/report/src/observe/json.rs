//! An observation as JSON: units in the names of fields, null for what the trace does not have.

use std::io::{self, Write};

use observe::observation::{DataFigures, FileFigures, Observation, SizeCount};
use observe::profile::{ArrivalProfile, Pattern, StreamProfile};
use observe::{Format, Profile};
use serde_json::{Value, json};

use super::words;
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
const SCHEMA_VERSION: u32 = 1;
/// Files that are listed.
const FILES_MAX: usize = 1000;

/// Writes the document, indented, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(observation: &Observation, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(observation, profile))?;
    writeln!(out)
}

fn document(observation: &Observation, profile: &Profile) -> Value {
    let source = &observation.source;
    let set = &observation.working_set;
    let runs = &observation.runs;
    let operations = observation.operations();
    let [reads, writes] = &observation.data;
    json!({
        "schema_version": SCHEMA_VERSION,
        "source": {
            "format": match source.format {
                Format::Iolog => "iolog",
                Format::Strace => "strace",
                Format::Capture => "pcap",
            },
            "records": source.records,
            "bytes": source.bytes,
        },
        "under": observation.under,
        "operations": operations,
        "bytes": observation.bytes(),
        "duration_s": observation.duration_ns.map(|ns| exported(ns as f64 / 1e9)),
        "reads": data(reads),
        "writes": data(writes),
        "others": observation.others.iter()
            .map(|(name, count)| json!({ "name": name, "operations": count }))
            .collect::<Vec<_>>(),
        "runs": {
            "count": runs.runs,
            "sequential": runs.sequential,
            "sequential_share": exported(runs.sequential as f64 / operations as f64),
            "share_by_chance": exported(runs.by_chance / operations as f64),
            "mean_operations": exported(operations as f64 / runs.runs.max(1) as f64),
            "mean_bytes": exported(observation.bytes() as f64 / runs.runs.max(1) as f64),
        },
        "working_set": {
            "touched_bytes": set.touched_bytes,
            "touched_relative_error": exported(set.touched_error),
            "accesses_per_block": exported(set.accesses_per_block),
            "busiest_tenth_share": exported(set.hottest_tenth),
            "busiest_tenth_share_if_equal": exported(set.hottest_tenth_uniform),
            "files": set.files.len(),
            "file_bytes": set.file_bytes(),
            "most_accessed_files": set.files.iter().take(FILES_MAX).map(file).collect::<Vec<_>>(),
        },
        "arrival": observation.arrival.map(|arrival| json!({
            "mean_per_s": exported(arrival.mean_per_s),
            "whole_seconds": arrival.seconds,
            "dispersion_per_s": arrival.dispersion.map(exported),
            "busiest_second": arrival.peak_per_s,
            "gap_variation": arrival.gap_variation.map(exported),
        })),
        "in_flight": observation.concurrency.map(|found| json!({
            "mean": exported(found.mean),
            "max": found.max,
            "p99_of_time": found.p99,
        })),
        "notes": words::assumed_unit(source).into_iter()
            .chain(observation.notes.iter().map(words::note))
            .collect::<Vec<_>>(),
        "damaged_records": observation.notes.iter().find_map(words::damaged_count).unwrap_or(0),
        "experiment": {
            "streams": profile.streams.iter().map(stream).collect::<Vec<_>>(),
            "not_expressed": profile.left_out.iter().map(words::left_out).collect::<Vec<_>>(),
        },
    })
}

fn data(data: &DataFigures) -> Value {
    json!({
        "operations": data.operations,
        "bytes": data.bytes,
        "failed": data.failed,
        "sequential": data.sequential(),
        "direct": data.direct,
        "durable": data.durable,
        "sizes": data.sizes.iter().map(size).collect::<Vec<_>>(),
        "response_time": data.response.map(|times| json!({
            "samples": times.samples,
            "mean_ns": exported(times.mean_ns),
            "p50_ns": times.p50_ns,
            "p99_ns": times.p99_ns,
        })),
    })
}

fn size(size: &SizeCount) -> Value {
    json!({
        "size_bytes": size.size_bytes,
        "operations": size.operations,
        "sequential": size.sequential,
    })
}

fn file(file: &FileFigures) -> Value {
    json!({
        "name": file.name,
        "size_bytes": file.size_bytes,
        "operations": file.sequential + file.random,
        "sequential": file.sequential,
    })
}

fn stream(stream: &StreamProfile) -> Value {
    let sizes = stream
        .sizes
        .iter()
        .map(|(bytes, permille)| json!({ "size_bytes": bytes, "share_permille": permille }));
    json!({
        "name": stream.name,
        "read_permille": stream.read_permille,
        "transfer_sizes": sizes.collect::<Vec<_>>(),
        "pattern": match stream.pattern {
            Pattern::Sequential => json!("sequential"),
            Pattern::Random => json!("random"),
            Pattern::HotTenth { accesses_permille } => json!({
                "hot_tenth_accesses_permille": accesses_permille,
            }),
        },
        "files": stream.files,
        "file_size_bytes": stream.file_size_bytes,
        "area_bytes": stream.area_bytes,
        "queue_depth": stream.queue_depth,
        "arrival": match stream.arrival {
            ArrivalProfile::Closed { think_time_ns } => json!({ "think_time_ns": think_time_ns }),
            ArrivalProfile::Constant { per_s } => json!({ "constant_per_s": exported(per_s) }),
            ArrivalProfile::Poisson { per_s } => json!({ "poisson_per_s": exported(per_s) }),
        },
        "direct": stream.direct,
        "dsync": stream.dsync,
        "fsync_every": stream.fsync_every,
    })
}
