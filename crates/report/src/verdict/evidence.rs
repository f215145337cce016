//! Evidence in sentences with numbers, without full stops.

use analysis::curve::plateau::{Reason, State};
use analysis::verdict::{Difference, Evidence, Limit, Observed, Verdict};
use units::{Bytes, BytesPerSec, OpsPerSec, counted};

use super::words;
use crate::number::{percent, plain};

/// Evidence weaker than this (as a logarithm of a likelihood ratio) does not support an answer.
const STRENGTH_MIN: f64 = 0.2;
/// A host this busy is mentioned whatever limits.
const BUSY_MIN: f64 = 0.90;

/// The strongest evidence for the answer, and what speaks against it, in sentences.
///
/// * `most`: sentences at most
pub(crate) fn evidence(verdict: &Verdict, most: usize) -> Vec<String> {
    let is_named = !verdict.named().is_empty();
    let is_certain = verdict.plateau.state == State::Reached(Reason::AtKnownLimit);
    let worth = |one: &&Observed| match &one.evidence {
        // The sentence on the curve's shape has it already.
        Evidence::Known { .. } if is_certain => false,
        Evidence::HostProcessors { busy, .. } => {
            *busy > BUSY_MIN || verdict.named() == [Limit::ClientCpu]
        }
        Evidence::Known { .. } | Evidence::Compared { .. } if !is_named => true,
        _ => is_named && one.strength > STRENGTH_MIN,
    };
    let mut sentences: Vec<String> = Vec::new();
    if let Some((limit, measured, known)) = verdict.contradicted() {
        sentences.push(format!(
            "the given value of {} is contradicted: {} were measured, {} of the {} given",
            words::limit(limit),
            amount(limit, measured),
            percent(measured / known),
            amount(limit, known)
        ));
    }
    let worth = verdict.evidence.iter().filter(worth);
    sentences.extend(worth.filter_map(|one| sentence(&one.evidence)).take(most));
    sentences
}

/// One observation in words; `None` where it says nothing to a reader.
pub(crate) fn sentence(evidence: &Evidence) -> Option<String> {
    Some(match evidence {
        Evidence::HostProcessors { busy, others } => {
            let busy = format!(
                "the generator used, or waited for, {} of this host's processors",
                percent(*busy)
            );
            match others.filter(|others| *others > 0.1) {
                Some(others) => format!("{busy}; other processes used {} of them", plain(others)),
                None => busy,
            }
        }
        Evidence::ServiceProcessor { busy } => {
            format!("the processor that serves the emulated volume was {} busy", percent(*busy))
        }
        Evidence::ClientSlots { outstanding, slots, full: true } => format!(
            "all request slots of the client were in use: {} of {} calls outstanding on each \
             connection",
            plain(*outstanding),
            plain(*slots)
        ),
        Evidence::ClientSlots { .. } => return None,
        Evidence::ServerSlots { per_connection, total } => format!(
            "the rate is that of {} requests at a time on each connection ({} in all), each as \
             fast as an unloaded one",
            plain(*per_connection),
            plain(*total)
        ),
        Evidence::Known { limit, measured, known, origin } => format!(
            "{} are {} of {} ({}, {})",
            amount(*limit, *measured),
            percent(measured / known),
            words::limit(*limit),
            amount(*limit, *known),
            words::origin(origin)
        ),
        Evidence::Evenness { dispersion } => match *dispersion < 0.5 {
            true => format!(
                "operations complete evenly, as behind a rate limit (variance over mean of \
                 completions: {}; 1 if random)",
                plain(*dispersion)
            ),
            false => format!(
                "operations complete unevenly, unlike behind a rate limit (variance over mean of \
                 completions: {})",
                plain(*dispersion)
            ),
        },
        Evidence::Knee { shortfall } => match *shortfall < 0.05 {
            true => "the knee is sharp: operations wait only once the limit is reached".to_owned(),
            false => format!(
                "the knee is rounded: near it throughput falls short of both bounds by {}",
                percent(*shortfall)
            ),
        },
        Evidence::Compared { differences, operations, bytes, reached, .. } => {
            let at_least = if *reached { "" } else { "at least " };
            format!(
                "{}: {at_least}{} times the operations per second, {} times the bytes per second",
                differences.iter().map(difference).collect::<Vec<_>>().join(", "),
                plain(*operations),
                plain(*bytes)
            )
        }
    })
}

fn difference(difference: &Difference) -> String {
    let size = |bytes: f64| Bytes::new(bytes.round() as u64).to_string();
    match difference {
        Difference::Connections { from, to } => format!("{to} connections instead of {from}"),
        Difference::TransferSize { from, to } => {
            format!("transfers of {} instead of {}", size(*to), size(*from))
        }
        Difference::ReadShare { from, to } => {
            format!("{} reads instead of {}", percent(*to), percent(*from))
        }
        Difference::Order => "the other access pattern (random or sequential)".to_owned(),
        Difference::Workers { from, to } => format!("{to} workers instead of {from}"),
        Difference::Volumes { from, to } => {
            format!("{} instead of {from}", counted(u64::from(*to), "volume"))
        }
        Difference::Hosts { from, to } => {
            format!("{} instead of {from}", counted(u64::from(*to), "host"))
        }
    }
}

/// A limit's amount with its unit.
pub(super) fn amount(limit: Limit, value: f64) -> String {
    match limit {
        Limit::OperationsPerSecond => OpsPerSec::new(value).to_string(),
        Limit::ServerSlots | Limit::ClientSlots => {
            format!("{} requests on each connection", plain(value))
        }
        _ => BytesPerSec::new(value).to_string(),
    }
}
