//! How an experiment ended: its verdict, exit code and failure.

use analysis::Findings;
use anyhow::anyhow;
use metrics::run_record;
use runner::conduct::ConductError;
use workload::plan::TargetSpec;

pub use super::event_line::Verdict;
use crate::outcome::{Exit, Failure, Outcome};
use crate::refusal;

/// The verdict and the outcome of an experiment on `target`.
pub fn verdict(
    ended: Result<run_record::Outcome, ConductError>,
    findings: &Findings,
    target: &TargetSpec,
) -> (Verdict, Outcome) {
    match failure(ended, target) {
        Ok(run_record::Outcome::Interrupted) => (Verdict::Interrupted, Ok(Exit::Negative)),
        Ok(_) => of_numbers(findings),
        Err(failure) => (Verdict::Failed, Err(failure)),
    }
}

/// The failure of an execution that failed.
pub(super) fn failure(
    ended: Result<run_record::Outcome, ConductError>,
    target: &TargetSpec,
) -> Result<run_record::Outcome, Failure> {
    match ended {
        Err(ConductError::Refused(refused)) => Err(refusal::failure(refused)),
        Err(ConductError::Fill(error)) => Err(refusal::of_fill(error, target)),
        Err(error) => Err(Failure::target(error)),
        Ok(run_record::Outcome::Failed { reason }) => Err(Failure::target(anyhow!("{reason}"))),
        Ok(run_record::Outcome::Aborted) => {
            Err(Failure::internal(anyhow!("the runs ended without an outcome")))
        }
        Ok(ended) => Ok(ended),
    }
}

fn of_numbers(findings: &Findings) -> (Verdict, Outcome) {
    let negative = |verdict: Verdict| (verdict, Ok(Exit::Negative));
    if let Some(tune) = &findings.tune {
        // Overload is part of a tuning: it tries rates that a queue depth cannot reach.
        return match tune.outcome.is_reached() {
            true => (Verdict::Done, Ok(Exit::Done)),
            false => negative(Verdict::NotReached),
        };
    }
    if is_overloaded(findings) {
        return negative(Verdict::Overloaded);
    }
    match not_converged(findings) {
        0 => (Verdict::Done, Ok(Exit::Done)),
        _ => negative(Verdict::Uncertain),
    }
}

/// How many load points did not reach the precision of `--until`.
pub fn not_converged(findings: &Findings) -> usize {
    findings.searches.iter().map(|one| one.not_converged.len()).sum()
}

/// Whether a load point was overloaded, except those of an open curve, which continues until it
/// overloads the target.
fn is_overloaded(findings: &Findings) -> bool {
    let is_expected = |index: usize| {
        let open = |search: &analysis::search::Searched| {
            search.load_points.contains(&index) && search.goes_to_overload
        };
        findings.searches.iter().any(open)
    };
    let overloaded = findings.warnings.iter().filter(|group| group.code == "overloaded");
    let mut sightings = overloaded.flat_map(|group| &group.sightings);
    sightings.any(|sighting| !sighting.load_point.is_some_and(is_expected))
}
