//! What is known of a run when it has ended: the calls that the service counted.

use metrics::service_counters::{PROCEDURES, ServiceCounters};
use serde::Serialize;

#[derive(Serialize)]
pub(in crate::measure) struct ProcedureLine {
    procedure: &'static str,
    calls: u64,
}

/// The procedures that occurred.
pub(super) fn procedure_lines(counts: &ServiceCounters) -> Vec<ProcedureLine> {
    let all = PROCEDURES.into_iter();
    let lines = all
        .map(|(kind, procedure)| ProcedureLine { procedure, calls: counts.calls[kind as usize] });
    lines.filter(|line| line.calls > 0).collect()
}
