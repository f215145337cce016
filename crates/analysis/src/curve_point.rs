//! A point of a curve, and reasons for missing values.

use crate::little::LittleCheck;
use crate::sample::Sample;

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// Its position on the axis.
    pub x: f64,
    /// Its position as users write it, and the hosts that its totals have if some were lost:
    /// `16 (23/24 hosts)`.
    pub label: String,
    /// The point as numbers; `None` if nothing was measured, hosts were lost or the axis is not a load.
    pub sample: Option<Sample>,
    /// Little's law on its window, in the form with the larger mismatch; `None` if operations
    /// failed or the backlog changed.
    pub little: Option<LittleCheck>,
}

/// Why a value of a curve is missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// The axis is not a load.
    NotALoad,
    /// No point was measured.
    NothingMeasured,
    /// Hosts were lost at every point that could show it.
    HostsLost,
    /// Too few points.
    TooFewPoints {
        /// Measured points.
        points: usize,
        /// Required points.
        required: usize,
    },
    /// No point with one worker at queue depth 1, or one for each host and target.
    NoQueueDepthOne,
    /// The highest load is not twice the lowest.
    NotDoubled,
    /// Saturation, on which the value depends, was not reached.
    NotSaturated,
    /// A limit sets the time of operations even at queue depth 1.
    FloorIsPace,
    /// Every measured point meets the objective.
    ObjectiveMetEverywhere,
    /// No measured point meets the objective.
    ObjectiveNeverMet,
    /// The method finds no knee.
    NoBend,
    /// Arrivals are not those of a Poisson process.
    NotPoisson,
    /// The offered rate changes by plan, so a load point has no single load.
    RateVaries,
}
