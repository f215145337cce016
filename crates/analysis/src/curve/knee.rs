//! The knee: the load from which response time pays for little rate, by methods that are named.
//!
//! There is no one knee: a curve that bends slowly has as many as there are methods. So each is
//! given with the bracket in which it must lie, and where they disagree widely that is said.
//!
//! Sources: power: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems
//! in computer communications", ICC 1979; asymptotic bounds: Lazowska, Zahorjan, Graham and
//! Sevcik, "Quantitative System Performance", 1984, section 5.2; Kneedle: see
//! [`crate::curve::kneedle`].

use crate::curve::floor::Floor;
use crate::curve::plateau::Plateau;
use crate::curve::sample::{Draws, Load, Sample};
use crate::curve::{CurvePoint, Missing, kneedle};

/// Curves drawn from the points' uncertainties for each bracket.
const DRAWS: u64 = 200;
/// Named so that nothing else draws the same.
const SEED: u64 = 0x4B4E_4545;
/// The objective where none is given, as a multiple of the floor.
pub const OBJECTIVE_PER_FLOOR: f64 = 2.0;
/// Knees whose brackets are apart and whose loads differ by more than this factor, two doublings,
/// disagree.
pub const DISAGREE_MIN: f64 = 4.0;
/// Fewer points cannot have a largest power between two others.
const POINTS_MIN: usize = 3;

/// How a knee was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KneeMethod {
    /// The point with the largest rate over response time.
    Power,
    /// The last point whose mean response time meets an objective, as all before it do.
    Slo,
    /// Kneedle (Satopaa et al. 2011).
    Kneedle,
    /// Where the asymptotic bounds cross: saturation times floor, in operations outstanding.
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

/// A place on a curve where it bends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// How it was found.
    pub method: KneeMethod,
    /// Where, as a place in the curve's points; `None` where it lies between them.
    pub point: Option<usize>,
    /// The load: queue depth over all workers, or operations per second offered.
    pub load: f64,
    /// The least load that it may be: the measured neighbour, or what uncertainty allows.
    pub low: f64,
    /// The largest load that it may be; `None` where no higher load was measured.
    pub high: Option<f64>,
}

/// A mean response time that is to be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// In seconds.
    pub response_s: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an objective comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Given,
    /// Twice the floor.
    TwiceFloor,
    /// Twice the shortest mean response time measured, where there is no floor.
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

/// What all methods say about one curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Knees {
    /// The largest rate over response time.
    pub power: Result<Knee, Missing>,
    /// The last point that meets `objective`.
    pub slo: Result<Knee, Missing>,
    /// What `slo` was compared with; `None` where none is given and the latency of the target is
    /// not known.
    pub objective: Option<Objective>,
    /// Kneedle.
    pub kneedle: Result<Knee, Missing>,
    /// The crossing of the asymptotic bounds; of closed loops only.
    pub bounds: Result<Knee, Missing>,
    /// The methods that lie farthest apart, where that is far.
    pub disagreement: Option<Disagreement>,
}

/// Two methods that do not mean the same bend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disagreement {
    /// The method with the least load.
    pub lowest: KneeMethod,
    /// The method with the largest load.
    pub highest: KneeMethod,
    /// The one load over the other.
    pub factor: f64,
}

impl Knees {
    /// Each method with what it found.
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
/// Where the axis is no load, or nothing was measured.
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

/// The points of a curve that say where it bends.
struct Bend {
    load: Load,
    /// Those whose schedule was kept.
    samples: Vec<Sample>,
    /// Where each is in the curve's points.
    places: Vec<usize>,
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
            places: kept().map(|(place, _)| place).collect(),
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
        // In a draw in which no point meets the objective the knee lies before the first.
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

    fn enough(&self, wanted: usize) -> Result<(), Missing> {
        match self.samples.len() {
            0 => Err(Missing::NothingMeasured),
            points if points < wanted => Err(Missing::TooFewPoints { points, wanted }),
            _ => Ok(()),
        }
    }

    /// The places between which 95 % of the drawn curves have it; `winner` among them. Draws in
    /// which the method finds nothing do not count.
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

    /// A knee at `winner`, in the bracket from the point `low` to the point `high`, which may lie
    /// beyond the last.
    fn knee(&self, method: KneeMethod, winner: usize, low: usize, high: usize) -> Knee {
        Knee {
            method,
            point: Some(self.places[winner]),
            load: self.samples[winner].load,
            low: self.samples[low].load,
            high: self.samples.get(high).map(|s| s.load).or(self.beyond),
        }
    }
}

/// The place of the largest rate over response time.
fn largest_power(samples: &[Sample]) -> Option<usize> {
    let powers = samples.iter().map(Sample::power).enumerate();
    powers.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(place, _)| place)
}

/// The last of the points from the first on that meet the objective.
fn last_within(samples: &[Sample], response_s: f64) -> Option<usize> {
    samples.iter().take_while(|s| s.response_s.value <= response_s).count().checked_sub(1)
}

/// `N* = X_max (R_floor + Z)`: below it the rate cannot be above `N / (R_floor + Z)`, beyond it not
/// above saturation. Half-widths add as those of a product of independent numbers.
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
