//! The trees of operations on names after the runs, as JSON.

use analysis::tree_check::TreeCheck;
use metrics::tree_comparison::NotCompared;
use schemars::JsonSchema;
use serde::Serialize;

/// The trees of operations on names, compared after each run with what the operations must have left.
#[derive(Serialize, JsonSchema)]
pub(super) struct TreesJson {
    /// Runs with trees.
    runs: u32,
    /// Those of them in which every tree was compared.
    runs_compared: u32,
    /// Those of them in which a tree differs; they failed.
    runs_that_differ: u32,
    /// Files in the trees of one run, hard links included; those of the run with the most files.
    files: u64,
    /// Directories in the trees of that run.
    directories: u64,
    /// Symbolic links in the trees of that run.
    symbolic_links: u64,
    /// Names that differ, of all runs.
    differences: u64,
    /// Names that failed operations may have changed and that were not compared, of all runs.
    unknown: u64,
    /// Every byte of the files was compared (`--verify`).
    with_content: bool,
    /// Why trees were not compared; empty if all were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_compared: Vec<NotComparedJson>,
}

/// Runs in which a tree was not compared.
#[derive(Serialize, JsonSchema)]
struct NotComparedJson {
    /// `run_ended_early`, `too_many_failed`, `host_lost` or `incomplete`.
    reason: &'static str,
    /// Number of runs.
    runs: u32,
}

pub(super) fn trees(check: TreeCheck) -> TreesJson {
    let reasons = NotCompared::ALL.into_iter().zip(check.not_compared);
    let reasons = reasons.filter(|(_, runs)| *runs > 0);
    TreesJson {
        runs: check.runs,
        runs_compared: check.runs_compared,
        runs_that_differ: check.runs_that_differ,
        files: check.found.files,
        directories: check.found.directories,
        symbolic_links: check.found.symbolic_links,
        differences: check.found.differences,
        unknown: check.found.unknown,
        with_content: check.runs_compared > 0 && check.found.with_content,
        not_compared: reasons
            .map(|(reason, runs)| NotComparedJson { reason: reason.name(), runs })
            .collect(),
    }
}
