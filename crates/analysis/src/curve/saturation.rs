//! Saturation: the largest achieved rate of a curve, and whether more load would give more.

use crate::curve::sample::{Load, Sample};
use crate::curve::{CurvePoint, Missing};
use crate::estimate::Estimate;

/// A doubling of the load that gives less than this, as a share of the rate, has given nothing
/// that matters. For the curve whose gains shrink most slowly (`X = A N / (N + c)`) what is left
/// to gain beyond all that was measured is then about the same share.
pub const GAIN_MIN: f64 = 0.025;
/// A gain that is not known better than this says nothing.
const GAIN_UNCERTAINTY_MAX: f64 = 0.05;

/// The largest achieved rate of those measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// Where, as a place in the curve's points.
    pub point: usize,
    /// The load there: queue depth over all workers, or operations per second offered.
    pub load: f64,
    /// Operations per second.
    pub rate: Estimate,
    /// Whether it is the target's.
    pub reached: Reached,
    /// What the last doubling of the load gave, as a share of the rate before it; its half-width.
    /// `None` in an open loop.
    pub last_doubling: Option<Estimate>,
    /// By what share the rate lies below the largest at the highest load, where that is more than
    /// uncertainty.
    pub falls: Option<f64>,
}

/// Whether a largest rate is one that more load would not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The last doubling of the load gave less than [`GAIN_MIN`] or its uncertainty; in an open
    /// loop, an offered rate could not be kept.
    Yes,
    /// The rate still grew, or every offered rate was kept: more load may give more.
    No,
    /// The rates are too uncertain to tell.
    Unclear,
    /// The load was not doubled, so there is no gain to judge.
    NotDoubled,
}

impl Reached {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Reached::Yes => "reached",
            Reached::No => "not_reached",
            Reached::Unclear => "unclear",
            Reached::NotDoubled => "not_doubled",
        }
    }
}

pub(crate) fn of_points(points: &[CurvePoint], load: Load) -> Result<Saturation, Missing> {
    if load == Load::NotRaised {
        return Err(Missing::NotALoad);
    }
    let measured: Vec<(usize, Sample)> = points
        .iter()
        .enumerate()
        .filter_map(|(place, point)| point.sample.map(|sample| (place, sample)))
        .collect();
    let (_, last) = *measured.last().ok_or(Missing::NothingMeasured)?;
    let most = largest(&measured).ok_or(Missing::NothingMeasured)?;
    let last_doubling = match load {
        Load::Closed => last_doubling(&measured, last.load),
        Load::Open | Load::NotRaised => None,
    };
    let reached = match load {
        Load::Open if measured.iter().any(|(_, sample)| sample.overloaded) => Reached::Yes,
        Load::Open => Reached::No,
        Load::Closed | Load::NotRaised => last_doubling.map_or(Reached::NotDoubled, judge),
    };
    let (place, sample) = most;
    let fall = 1.0 - last.rate.value / sample.rate.value;
    let noise = half(&last.rate).hypot(half(&sample.rate));
    Ok(Saturation {
        point: place,
        load: sample.load,
        rate: sample.rate,
        reached,
        last_doubling,
        falls: Some(fall).filter(|fall| *fall > noise.max(GAIN_MIN)),
    })
}

/// The point with the largest rate, the first of several.
fn largest(measured: &[(usize, Sample)]) -> Option<(usize, Sample)> {
    measured.iter().copied().reduce(|most, next| match next.1.rate.value > most.1.rate.value {
        true => next,
        false => most,
    })
}

/// Half-width as a share; nothing known counts as nothing.
fn half(estimate: &Estimate) -> f64 {
    estimate.relative().unwrap_or(0.0)
}

/// What the load above half of the highest gave more than the load up to there.
fn last_doubling(measured: &[(usize, Sample)], highest: f64) -> Option<Estimate> {
    let (before, after): (Vec<_>, Vec<_>) =
        measured.iter().copied().partition(|(_, sample)| sample.load * 2.0 <= highest);
    let before = largest(&before)?.1.rate;
    let after = largest(&after)?.1.rate;
    let ratio = after.value / before.value;
    let known = before.relative().zip(after.relative());
    Some(Estimate {
        value: ratio - 1.0,
        uncertainty: known.map(|(a, b)| ratio * a.hypot(b)),
        samples: before.samples.min(after.samples),
        method: after.method,
    })
}

fn judge(gain: Estimate) -> Reached {
    let uncertainty = gain.uncertainty.unwrap_or(0.0);
    if gain.value > GAIN_MIN.max(uncertainty) {
        Reached::No
    } else if uncertainty > GAIN_UNCERTAINTY_MAX {
        Reached::Unclear
    } else {
        Reached::Yes
    }
}
