//! The knee: the load beyond which throughput gains cost much response time, by several methods.
//!
//! A curve that bends slowly has as many knees as there are methods. Each is given with its
//! bracket, and wide disagreement is reported.
//!
//! Sources: power: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems
//! in computer communications", ICC 1979; asymptotic bounds: Lazowska, Zahorjan, Graham and
//! Sevcik, "Quantitative System Performance", 1984, section 5.2; Kneedle: see
//! [`crate::curve::kneedle`].

use crate::curve::floor::Floor;
use crate::curve::kneedle;
use crate::curve::plateau::Plateau;
use crate::curve_point::{CurvePoint, Missing};
use crate::sample::{Draws, Load, Sample};

/// Resampled curves per bracket.
const DRAWS: u64 = 200;
/// Seed of the resampling.
const SEED: u64 = 0x4B4E_4545;
/// The default objective as a multiple of the floor.
pub const OBJECTIVE_PER_FLOOR: f64 = 2.0;
/// Knees disagree if their brackets are disjoint and their loads differ by more than this factor.
pub const DISAGREE_MIN: f64 = 4.0;
/// Fewer points cannot have an interior maximum of power.
const POINTS_MIN: usize = 3;

/// Methods of finding a knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KneeMethod {
    /// The point with the highest rate divided by response time (power).
    Power,
    /// The last point that meets a response time objective, as all points before it do.
    Slo,
    /// Kneedle (Satopaa et al. 2011).
    Kneedle,
    /// The crossing of the asymptotic bounds: saturation times floor, in outstanding operations.
    Bounds,
}

impl KneeMethod {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            KneeMethod::Power => "knee_power",
            KneeMethod::Slo => "knee_slo",
            KneeMethod::Kneedle => "knee_kneedle",
            KneeMethod::Bounds => "knee_bounds",
        }
    }
}

/// A knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The method.
    pub method: KneeMethod,
    /// Index of the point in the curve; `None` if it is between points.
    pub point: Option<usize>,
    /// Its load: queue depth of all workers, or offered operations per second.
    pub load: f64,
    /// Lower end of the bracket.
    pub low: f64,
    /// Upper end of the bracket; `None` if no higher load was measured.
    pub high: Option<f64>,
}

/// An objective for the mean response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// In seconds.
    pub response_s: f64,
    /// Its source.
    pub origin: Origin,
}

/// The source of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    Given,
    /// Twice the floor.
    TwiceFloor,
    /// Twice the shortest measured mean response time, if there is no floor.
    TwiceShortest,
}

impl Origin {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Given => "given",
            Origin::TwiceFloor => "twice_floor",
            Origin::TwiceShortest => "twice_shortest",
        }
    }
}

/// The knees of a curve by all methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Knees {
    /// By power.
    pub power: Result<Knee, Missing>,
    /// By `objective`.
    pub slo: Result<Knee, Missing>,
    /// The objective; `None` if none is given and the floor is unknown.
    pub objective: Option<Objective>,
    /// Kneedle.
    pub kneedle: Result<Knee, Missing>,
    /// By asymptotic bounds, for closed loops only.
    pub bounds: Result<Knee, Missing>,
    /// The two methods that disagree most, if they do.
    pub disagreement: Option<Disagreement>,
}

/// Two methods that disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disagreement {
    /// The method with the lower load.
    pub lowest: KneeMethod,
    /// The method with the higher load.
    pub highest: KneeMethod,
    /// Ratio of the loads.
    pub factor: f64,
}

impl Knees {
    /// Each method with its result.
    pub fn each(&self) -> [(KneeMethod, &Result<Knee, Missing>); 4] {
        [
            (KneeMethod::Power, &self.power),
            (KneeMethod::Slo, &self.slo),
            (KneeMethod::Kneedle, &self.kneedle),
            (KneeMethod::Bounds, &self.bounds),
        ]
    }
}

/// The knees of a curve, ascending in load. `given_s` is an objective for the mean response time,
/// in seconds.
///
/// # Errors
/// The axis is not a load, or nothing was measured.
pub(crate) fn of_points(
    points: &[CurvePoint],
    load: Load,
    floor: &Result<Floor, Missing>,
    plateau: Option<&Plateau>,
    given_s: Option<f64>,
) -> Result<Knees, Missing> {
    if load == Load::NotRaised {
        return Err(Missing::NotALoad);
    }
    let bend = Bend::of(points, load);
    let shortest = bend.samples.iter().map(|s| s.response_s.value).reduce(f64::min);
    let shortest = shortest.ok_or(Missing::NothingMeasured)?;
    let objective = match (given_s, floor) {
        (Some(response_s), _) => Ok(Objective { response_s, origin: Origin::Given }),
        (None, Ok(floor)) => floor.response_ns().map_or(Err(Missing::FloorIsPace), |alone_ns| {
            let response_s = OBJECTIVE_PER_FLOOR * alone_ns.value * 1e-9;
            Ok(Objective { response_s, origin: Origin::TwiceFloor })
        }),
        (None, Err(_)) => {
            let response_s = OBJECTIVE_PER_FLOOR * shortest;
            Ok(Objective { response_s, origin: Origin::TwiceShortest })
        }
    };
    let mut knees = Knees {
        power: bend.power(),
        slo: objective.clone().and_then(|objective| bend.slo(objective)),
        objective: objective.ok(),
        kneedle: bend.kneedle(),
        bounds: bounds(load, floor, plateau, &bend),
        disagreement: None,
    };
    knees.disagreement = disagreement(&knees);
    Ok(knees)
}

/// The points of a curve that can show a knee.
struct Bend {
    load: Load,
    /// Points whose schedule was kept.
    samples: Vec<Sample>,
    /// Index of each in the curve.
    indices: Vec<usize>,
    /// The first load whose schedule was not kept.
    beyond: Option<f64>,
}

impl Bend {
    fn of(points: &[CurvePoint], load: Load) -> Bend {
        let measured = || points.iter().enumerate().filter_map(|(p, at)| Some((p, at.sample?)));
        let kept = || measured().take_while(|(_, sample)| !sample.overloaded);
        Bend {
            load,
            samples: kept().map(|(_, sample)| sample).collect(),
            indices: kept().map(|(index, _)| index).collect(),
            beyond: measured().map(|(_, s)| s).find(|s| s.overloaded).map(|s| s.load),
        }
    }

    fn power(&self) -> Result<Knee, Missing> {
        self.enough(POINTS_MIN)?;
        let winner = largest_power(&self.samples).ok_or(Missing::NothingMeasured)?;
        let (low, high) = self.spread(winner, largest_power);
        Ok(self.knee(KneeMethod::Power, winner, low.saturating_sub(1), high + 1))
    }

    fn slo(&self, objective: Objective) -> Result<Knee, Missing> {
        self.enough(1)?;
        let last = |samples: &[Sample]| last_within(samples, objective.response_s);
        let winner = last(&self.samples).ok_or(Missing::ObjectiveNeverMet)?;
        if winner + 1 == self.samples.len() && self.beyond.is_none() {
            return Err(Missing::ObjectiveMetEverywhere);
        }
        // If no point of a resampled curve meets the objective, the knee is before the first.
        let (low, high) = self.spread(winner, |samples| Some(last(samples).unwrap_or(0)));
        Ok(self.knee(KneeMethod::Slo, winner, low, high + 1))
    }

    fn kneedle(&self) -> Result<Knee, Missing> {
        self.enough(kneedle::POINTS_MIN)?;
        let find = |samples: &[Sample]| kneedle::of_samples(samples, self.load);
        let winner = find(&self.samples).ok_or(Missing::NoBend)?;
        let (low, high) = self.spread(winner, find);
        Ok(self.knee(KneeMethod::Kneedle, winner, low.saturating_sub(1), high + 1))
    }

    fn enough(&self, required: usize) -> Result<(), Missing> {
        match self.samples.len() {
            0 => Err(Missing::NothingMeasured),
            points if points < required => Err(Missing::TooFewPoints { points, required }),
            _ => Ok(()),
        }
    }

    /// Indices between which 95 % of the resampled curves have the knee, including `winner`. Curves
    /// without a knee do not count.
    fn spread(&self, winner: usize, find: impl Fn(&[Sample]) -> Option<usize>) -> (usize, usize) {
        let mut draws = Draws::new(&self.samples, self.load, SEED);
        if !draws.vary() {
            return (winner, winner);
        }
        let mut found: Vec<usize> = (0..DRAWS).filter_map(|n| find(draws.draw(n))).collect();
        found.sort_unstable();
        let tail = found.len() / 40;
        match found.len() {
            0 => (winner, winner),
            count => (found[tail].min(winner), found[count - 1 - tail].max(winner)),
        }
    }

    /// A knee at `winner` with the bracket from point `low` to point `high`, which may be past the
    /// last.
    fn knee(&self, method: KneeMethod, winner: usize, low: usize, high: usize) -> Knee {
        Knee {
            method,
            point: Some(self.indices[winner]),
            load: self.samples[winner].load,
            low: self.samples[low].load,
            high: self.samples.get(high).map(|s| s.load).or(self.beyond),
        }
    }
}

/// Index of the point with the highest power.
fn largest_power(samples: &[Sample]) -> Option<usize> {
    let powers = samples.iter().map(Sample::power).enumerate();
    powers.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(index, _)| index)
}

/// The last of the leading points that meet the objective.
fn last_within(samples: &[Sample], response_s: f64) -> Option<usize> {
    samples.iter().take_while(|s| s.response_s.value <= response_s).count().checked_sub(1)
}

/// `N* = X_max (R_floor + Z)`: below it the rate is at most `N / (R_floor + Z)`, above it at most
/// that of saturation. Half-widths combine as for a product of independent quantities.
fn bounds(
    load: Load,
    floor: &Result<Floor, Missing>,
    plateau: Option<&Plateau>,
    bend: &Bend,
) -> Result<Knee, Missing> {
    if load != Load::Closed {
        return Err(Missing::NotALoad);
    }
    let floor = floor.as_ref().map_err(Missing::clone)?;
    let floor = floor.response_ns().ok_or(Missing::FloorIsPace)?.scaled(1e-9);
    let plateau = plateau.filter(|p| p.is_reached()).ok_or(Missing::NotSaturated)?;
    let think_time_s = bend.samples.first().map_or(0.0, |sample| sample.think_time_s);
    let unloaded_s = floor.value + think_time_s;
    let load = plateau.level.value * unloaded_s;
    let share = |half: Option<f64>, of: f64| half.unwrap_or(0.0) / of;
    let half = load
        * share(floor.uncertainty, unloaded_s)
            .hypot(share(plateau.level.uncertainty, plateau.level.value));
    Ok(Knee {
        method: KneeMethod::Bounds,
        point: None,
        load,
        low: load - half,
        high: Some(load + half),
    })
}

fn disagreement(knees: &Knees) -> Option<Disagreement> {
    let mut found: Vec<Knee> =
        knees.each().into_iter().filter_map(|(_, knee)| knee.clone().ok()).collect();
    found.sort_by(|a, b| a.load.total_cmp(&b.load));
    let (lowest, highest) = (found.first()?, found.last()?);
    let apart = lowest.high.is_some_and(|high| high < highest.low);
    let factor = highest.load / lowest.load;
    (apart && factor > DISAGREE_MIN).then_some(Disagreement {
        lowest: lowest.method,
        highest: highest.method,
        factor,
    })
}
