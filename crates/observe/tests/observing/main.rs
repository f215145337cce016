//! Traces with known answers: streams of our own workloads, captures made of synthetic frames, and texts
//! of strace and fio.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod capture_file;
mod captures;
mod cut;
mod recordings;
mod streams;
mod traces;

use observe::observation::{Direction, Note};
use observe::{Observation, Options, observe};

/// The observation of a trace that must be readable.
fn observed(trace: &[u8]) -> Observation {
    observe(trace, &Options::default()).unwrap()
}

/// The error of a trace.
fn refused(trace: &[u8]) -> String {
    observe(trace, &Options::default()).unwrap_err().to_string()
}

/// Operations by size: `(bytes, operations)`.
fn sizes(observation: &Observation, direction: Direction) -> Vec<(u64, u64)> {
    let sizes = observation.data[direction.index()].sizes.iter();
    sizes.map(|size| (size.size_bytes, size.operations)).collect()
}

/// Damaged records.
fn damaged(observation: &Observation) -> u64 {
    let count = |note: &Note| match note {
        Note::Damaged { count, .. } => Some(*count),
        _ => None,
    };
    observation.notes.iter().find_map(count).unwrap_or(0)
}
