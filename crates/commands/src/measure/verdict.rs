//! How an experiment ended: its verdict, exit code and failure.

use analysis::Findings;
use anyhow::anyhow;
use metrics::run_record;
use runner::conduct::ConductError;
use runner::fleet::FleetError;
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
        Err(error) => Err(of_error(error, target)),
        Ok(run_record::Outcome::Failed { reason }) => Err(Failure::target(anyhow!("{reason}"))),
        Ok(run_record::Outcome::Aborted) => {
            Err(Failure::internal(anyhow!("the runs ended without an outcome")))
        }
        Ok(ended) => Ok(ended),
    }
}

/// The failure of an execution that could not continue.
pub(crate) fn of_error(error: ConductError, target: &TargetSpec) -> Failure {
    match error {
        ConductError::Refused(refused) => refusal::failure(refused),
        ConductError::Fill(error) => refusal::of_fill(error, target),
        ConductError::Fleet(FleetError::Host { reason, remedy }) => {
            Failure { remedy, ..Failure::target(anyhow!(reason)) }
        }
        error => Failure::target(error),
    }
}

fn of_numbers(findings: &Findings) -> (Verdict, Outcome) {
    let negative = |verdict: Verdict| (verdict, Ok(Exit::Negative));
    if findings.load_points.iter().any(|point| !point.is_whole()) {
        return negative(Verdict::HostsLost);
    }
    if let Some(tune) = &findings.tune {
        return match tune.outcome.is_reached() {
            true => (Verdict::Done, Ok(Exit::Done)),
            false => negative(Verdict::NotReached),
        };
    }
    if findings.is_overloaded() {
        return negative(Verdict::Overloaded);
    }
    match findings.not_converged() {
        0 => (Verdict::Done, Ok(Exit::Done)),
        _ => negative(Verdict::Uncertain),
    }
}
