//! Searches and mixes as JSON.

use analysis::Findings;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// The outcome of a search.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchJson<'a> {
    /// Its title.
    name: &'a str,
    /// Its load points, by their index in `load_points`.
    load_points: &'a [usize],
    /// The number of its runs.
    runs: u32,
    /// Why it ended; null if it was interrupted.
    ended: Option<&'static str>,
    /// Load points that did not reach the required precision.
    not_converged: &'a [usize],
}

/// The shares of reads of a stream that reads and writes.
#[derive(Serialize, JsonSchema)]
pub(super) struct MixJson<'a> {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// The stream's name.
    stream: &'a str,
    /// The requested share of reads.
    requested_read_fraction: f64,
    /// The achieved share of reads.
    achieved_read_fraction: f64,
    /// Reads and writes completed.
    operations: u64,
}

/// The outcome of each search.
pub(super) fn searches(findings: &Findings) -> Vec<SearchJson<'_>> {
    let each = findings.searches.iter().map(|searched| SearchJson {
        name: &searched.name,
        load_points: &searched.load_points,
        runs: searched.runs,
        ended: searched.ended.map(|ended| ended.name()),
        not_converged: &searched.not_converged,
    });
    each.collect()
}

/// The requested and achieved shares of reads of each stream that reads and writes.
pub(super) fn mixes(findings: &Findings) -> Vec<MixJson<'_>> {
    let each = findings.mixes.iter().map(|mix| MixJson {
        load_point: mix.load_point,
        stream: &mix.stream,
        requested_read_fraction: exported(mix.planned),
        achieved_read_fraction: exported(mix.achieved),
        operations: mix.operations,
    });
    each.collect()
}
