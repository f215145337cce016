//! The two numbers that prove a verdict: what was measured, and what it is compared with.

use analysis::Findings;
use analysis::curve::plateau::{Inconclusive, Reason, State};
use analysis::verdict::Verdict;
use units::BytesPerSec;

use super::{
    is_open, judged_bytes, known_limit, last_whole, latency, load, rate, rate_offered, throughput,
};

/// A number of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// What it is: `configured limit`.
    pub(crate) name: String,
    /// With its unit: `128 MiB/s`.
    pub(crate) value: String,
}

/// The two numbers; `None` if the measurements do not decide whether throughput still rises.
pub(crate) fn proof(findings: &Findings, verdict: &Verdict) -> Option<[Number; 2]> {
    let plateau = &verdict.plateau;
    let point = |index: usize| &findings.load_points[verdict.load_points[index]];
    let (top, last) = (point(plateau.top), last_whole(findings, verdict));
    let number = |name: String, value: String| Number { name, value };
    let from_to = |from: usize| {
        let (low, high) = (point(from), point(last));
        let loads = format!("{} to {}", load(low), load(high));
        [
            number(
                format!("throughput, {loads}"),
                format!("{} to {}", throughput(low), throughput(high)),
            ),
            number("latency".to_owned(), format!("{} to {}", latency(low), latency(high))),
        ]
    };
    let offered = |at| {
        [number("offered".to_owned(), rate_offered(at)), number("completed".to_owned(), rate(at))]
    };
    match plateau.state {
        State::Reached(Reason::Flat) => {
            let from = plateau.from.unwrap_or(plateau.top).min(last);
            Some(from_to(if from < last { from } else { 0 }))
        }
        State::Reached(Reason::AtKnownLimit) => {
            let (known, _) = known_limit(verdict)?;
            let (judged, _) = judged_bytes(top);
            Some([
                number(format!("measured at {}", load(top)), BytesPerSec::new(judged).to_string()),
                number("configured limit".to_owned(), BytesPerSec::new(known).to_string()),
            ])
        }
        State::Reached(Reason::RateNotKept) => Some(offered(top)),
        State::NotReached if is_open(top) => Some(offered(point(last))),
        State::NotReached if last > 0 => Some(from_to(0)),
        State::Inconclusive(Inconclusive::MoreLoad) => Some(from_to(plateau.growth?.from)),
        State::NotReached | State::Inconclusive(_) => None,
    }
}
