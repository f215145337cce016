//! What is known of a run when it has ended: the calls that the service counted, and the trees of names.

use metrics::service_counters::{PROCEDURES, ServiceCounters};
use metrics::tree_comparison::{TreeComparison, TreeResult};
use serde::Serialize;

#[derive(Serialize)]
pub(in crate::measure) struct ProcedureLine {
    procedure: &'static str,
    calls: u64,
}

#[derive(Serialize)]
pub(in crate::measure) struct TreeLine<'a> {
    stream: &'a str,
    target_index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<ComparedLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<&'static str>,
}

#[derive(Serialize)]
struct ComparedLine {
    files: u64,
    directories: u64,
    symbolic_links: u64,
    unknown: u64,
    differences: u64,
    with_content: bool,
}

/// The procedures that occurred.
pub(super) fn procedure_lines(counts: &ServiceCounters) -> Vec<ProcedureLine> {
    let all = PROCEDURES.into_iter();
    let lines = all
        .map(|(kind, procedure)| ProcedureLine { procedure, calls: counts.calls[kind as usize] });
    lines.filter(|line| line.calls > 0).collect()
}

pub(super) fn tree_line(tree: &TreeComparison) -> TreeLine<'_> {
    let (compared, reason) = match tree.result {
        TreeResult::Compared(found) => (Some(found), None),
        TreeResult::NotCompared(reason) => (None, Some(reason.name())),
    };
    TreeLine {
        stream: &tree.stream,
        target_index: tree.target,
        compared: compared.map(|found| ComparedLine {
            files: found.files,
            directories: found.directories,
            symbolic_links: found.symbolic_links,
            unknown: found.unknown,
            differences: found.differences,
            with_content: found.with_content,
        }),
        not_compared: reason,
    }
}
