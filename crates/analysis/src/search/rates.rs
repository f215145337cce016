//! The open curve: the saturation rate from a ladder of queue depths, then load points at shares of
//! it.
//!
//! As in Vdbench's `curve` and the load points of SPECstorage: a closed loop finds the highest
//! rate, and open arrivals find the response times below it.

use units::OpsPerSec;
use workload::plan::Run;
use workload::search::{OfferedRates, Search};

use super::ladder;
use super::{Ended, is_failed, rate, response_ns};
use crate::load_point::{LoadPoint, RunSummary};

/// A target that completes this share less than the offered rate is overloaded.
const SHORT_MAX: f64 = 0.03;

/// The next run of the open curve, or the reason why there is none.
pub(super) fn next(
    search: &Search,
    rates: &OfferedRates,
    done: &[&LoadPoint],
) -> Result<Run, Ended> {
    match ladder::next(search, &rates.ladder, done) {
        Ok(run) => return Ok(run),
        Err(Ended::Failed) => return Err(Ended::Failed),
        Err(_) => {}
    }
    let saturation = ladder::steps(done).iter().map(ladder::Step::rate).fold(0.0, f64::max);
    if saturation <= 0.0 {
        return Err(Ended::Failed);
    }
    for point in 1..=rates.load_points + rates.beyond {
        let offered = saturation * f64::from(point) / f64::from(rates.load_points.max(1));
        let run = search.template.with_offered_rate(OpsPerSec::new(offered));
        let same = |known: &&&LoadPoint| known.parameters == run.parameters;
        let Some(known) = done.iter().find(same).and_then(|known| known.runs.first()) else {
            return Ok(run);
        };
        if is_failed(known) {
            return Err(Ended::Failed);
        }
        if is_overloaded(known) {
            return Err(Ended::Overloaded);
        }
        let objective = rates.ladder.response_time_max_ns;
        if objective.is_some_and(|most| response_ns(known) > most as f64) {
            return Err(Ended::ResponseTime);
        }
    }
    Err(Ended::AllTried)
}

/// Whether the target was overloaded: the backlog grew, or the completed rate is below the offered
/// one by more than a tolerance and twice the standard deviation of a Poisson count.
fn is_overloaded(run: &RunSummary) -> bool {
    let total = &run.summary.total;
    let Some(offered) = total.offered_rate else { return false };
    let offered = offered.get();
    let due = offered * run.summary.window_ns as f64 / 1e9;
    let tolerated = SHORT_MAX + 2.0 / due.max(1.0).sqrt();
    total.overload.is_some() || rate(run) < offered * (1.0 - tolerated)
}
