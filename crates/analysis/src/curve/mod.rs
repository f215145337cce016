//! Load points in order of what was swept, and what the curve of achieved rate and response time
//! says: its floor, where it bends, where it ends, and which model explains it.
//!
//! A curve is made of measured points only; what lies between them is said as a bracket. Models
//! ([`crate::fit`]) are kept apart, because a fitted number is not a measured one.
//!
//! Reading order: [`Curve`], [`sample`] (a point as numbers), [`floor`], [`plateau`], [`knee`].

pub mod axis;
pub mod floor;
pub mod knee;
mod kneedle;
pub mod plateau;
pub mod sample;

use std::collections::BTreeMap;

use crate::curve::axis::Axes;
use crate::curve::floor::Floor;
use crate::curve::knee::Knees;
use crate::curve::plateau::{Plateau, Step};
use crate::curve::sample::{Load, Sample};
use crate::fit::{self, Fits};
use crate::little::LittleCheck;
use crate::load_point::{LoadPoint, StreamSummary};

/// Load points of one variant that differ in one thing only.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The variant, and the parameters that are equal all along the curve.
    pub name: String,
    /// What differs along it: a parameter's key, or `queue depth`.
    pub axis: String,
    /// What is raised along it.
    pub load: Load,
    /// Its points, ascending.
    pub points: Vec<CurvePoint>,
    /// The point with the largest achieved rate, as a place in `points`.
    pub most: Option<usize>,
    /// The time of an operation that is alone, or why there is none.
    pub floor: Result<Floor, Missing>,
    /// Whether throughput has stopped rising, or why that is no question.
    pub plateau: Result<Plateau, Missing>,
    /// Where it bends, by each method, or why not.
    pub knees: Result<Knees, Missing>,
    /// Models fitted to it, or why there are none. What they say was not measured.
    pub fits: Result<Fits, Missing>,
    /// The point whose two sides of Little's law differ most, as a place in `points`.
    pub little_worst: Option<usize>,
}

/// One place on a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// Where it stands on the axis.
    pub x: f64,
    /// The same as a user would write it.
    pub label: String,
    /// The point as numbers; `None` where nothing was measured, or the axis is no load.
    pub sample: Option<Sample>,
    /// Little's law on its window, in the form that mismatches more; `None` where neither holds a
    /// statement: operations failed, or the backlog changed.
    pub little: Option<LittleCheck>,
}

/// Why a number of a curve is not there.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// What differs along the curve is no load.
    NotALoad,
    /// No point was measured.
    NothingMeasured,
    /// Too few points.
    TooFewPoints {
        /// Points there are.
        points: usize,
        /// Points there must be.
        wanted: usize,
    },
    /// No point with queue depth 1 over all workers.
    NoQueueDepthOne,
    /// The highest load is not twice the lowest.
    NotDoubled,
    /// Saturation was not reached, so nothing that is made of it is known.
    NotSaturated,
    /// Operations at queue depth 1 already go at the pace of a limit, so their time is no floor.
    FloorIsPace,
    /// Every measured point meets the objective.
    ObjectiveMetEverywhere,
    /// No measured point meets the objective.
    ObjectiveNeverMet,
    /// The method sees no bend.
    NoBend,
    /// Arrivals are not those of a Poisson process.
    NotPoisson,
}

impl Missing {
    /// Why, as the end of a sentence.
    pub fn in_words(&self) -> String {
        match self {
            Missing::NotALoad => "what was swept is no load".into(),
            Missing::NothingMeasured => "nothing was measured".into(),
            Missing::TooFewPoints { points, wanted } => {
                let noun = if *points == 1 { "load point" } else { "load points" };
                format!("{points} {noun}, at least {wanted} are needed")
            }
            Missing::NoQueueDepthOne => "no load point with queue depth 1 and one worker".into(),
            Missing::NotDoubled => "the load was not doubled".into(),
            Missing::NotSaturated => "saturation was not reached".into(),
            Missing::FloorIsPace => {
                "at queue depth 1 throughput is already at the limit, so the time of an operation \
                 there is the limit's pace and not the latency of the target"
                    .into()
            }
            Missing::ObjectiveMetEverywhere => "every load point meets the objective".into(),
            Missing::ObjectiveNeverMet => "no load point meets the objective".into(),
            Missing::NotPoisson => "arrivals are not Poisson, so the formulas do not hold".into(),
            Missing::NoBend => "the curve shows no bend".into(),
        }
    }
}

/// The axis where nothing else is swept.
pub const QUEUE_DEPTH: &str = "queue depth";

/// A curve before anything is computed from it but whether throughput has stopped rising.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) axis: String,
    pub(crate) load: Load,
    pub(crate) points: Vec<CurvePoint>,
    /// `steps[point]`; `None` where nothing was measured.
    pub(crate) steps: Vec<Option<Step>>,
    /// `certain[point]`: operations per second at a limit that is known for certain.
    pub(crate) certain: Vec<Option<f64>>,
    pub(crate) plateau: Result<Plateau, Missing>,
}

impl Outline {
    /// One of its points judged alone, as where its axis is no load.
    pub(crate) fn alone(&self, point: usize) -> Option<Plateau> {
        plateau::judge(&[self.steps[point]], self.certain[point])
    }
}

/// Sorts the load points into curves, in the order in which the plan brings them, and judges the
/// end of each along which the load was raised.
///
/// * `certain`: operations per second at a limit that is known for certain, for the work of a load
///   point
pub(crate) fn outlines(
    load_points: &[LoadPoint],
    certain: impl Fn(&LoadPoint) -> Option<f64>,
) -> Vec<Outline> {
    let axes = Axes::of(load_points);
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut groups: Vec<(String, String, Vec<CurvePoint>)> = Vec::new();
    for (index, load_point) in load_points.iter().enumerate() {
        let axis = axes.axis_of(load_point);
        let name = axis::name_without(load_point, axis);
        let point = axis::point(index, load_point, axis);
        let axis = axis.map_or(QUEUE_DEPTH.to_owned(), axis::in_words);
        let group = *known.entry((name.clone(), axis.clone())).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, _, points)) => points.push(point),
            None => groups.push((name, axis, vec![point])),
        }
    }
    let outline = |(name, axis, mut points): (String, String, Vec<CurvePoint>)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let load = load(&points, load_points);
        let measured: Vec<&LoadPoint> =
            points.iter().map(|point| &load_points[point.load_point]).collect();
        let steps = plateau::steps(&measured);
        let certain: Vec<Option<f64>> = measured.iter().map(|point| certain(point)).collect();
        let plateau = match load {
            Load::NotRaised => Err(Missing::NotALoad),
            Load::Closed | Load::Open => {
                let certain = certain.first().copied().flatten();
                plateau::judge(&steps, certain).ok_or(Missing::NothingMeasured)
            }
        };
        Outline { name, axis, load, points, steps, certain, plateau }
    };
    groups.into_iter().map(outline).collect()
}

/// What each outline shows.
///
/// * `objective_s`: the mean response time that a load point is to meet, in seconds, where one is
///   given
pub(crate) fn curves(
    outlines: Vec<Outline>,
    load_points: &[LoadPoint],
    objective_s: impl Fn(&LoadPoint) -> Option<f64>,
) -> Vec<Curve> {
    let curve = |outline: Outline| {
        let mut points = outline.points.iter();
        let given = points.find_map(|point| objective_s(&load_points[point.load_point]));
        curve(outline, load_points, given)
    };
    outlines.into_iter().map(curve).collect()
}

fn curve(outline: Outline, load_points: &[LoadPoint], given_s: Option<f64>) -> Curve {
    let Outline { name, axis, load, mut points, plateau, .. } = outline;
    for point in &mut points {
        let load_point = &load_points[point.load_point];
        point.sample = Sample::of_data(load_point, load).filter(|_| load != Load::NotRaised);
        point.little = little(&load_point.merged.total);
    }
    let reached = plateau.as_ref().ok();
    let floor = match load {
        Load::NotRaised => Err(Missing::NotALoad),
        Load::Closed | Load::Open => {
            let is_pace = reached.is_some_and(|plateau| plateau.floor_is_pace);
            floor::of_points(&points, load_points, is_pace)
        }
    };
    let knees = knee::of_points(&points, load, &floor, reached, given_s);
    let fits = fit::of_points(&points, load_points, load);
    let mismatch = |point: &CurvePoint| point.little.map(|check| check.mismatch.abs());
    let rate = |point: &CurvePoint| {
        load_points[point.load_point].merged.total.data.achieved_rate.map(|rate| rate.value)
    };
    Curve {
        most: index_of_largest(&points, rate),
        little_worst: index_of_largest(&points, mismatch),
        name,
        axis,
        load,
        points,
        floor,
        plateau,
        knees,
        fits,
    }
}

/// Where `number` is largest; the first of several.
fn index_of_largest(
    points: &[CurvePoint],
    number: impl Fn(&CurvePoint) -> Option<f64>,
) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, point) in points.iter().enumerate() {
        if let Some(number) = number(point)
            && best.is_none_or(|(_, most)| number > most)
        {
            best = Some((index, number));
        }
    }
    best.map(|(index, _)| index)
}

/// What is raised from point to point: every next one must have more of it.
fn load(points: &[CurvePoint], load_points: &[LoadPoint]) -> Load {
    let totals = || points.iter().map(|point| &load_points[point.load_point].merged);
    let rising = |loads: Vec<f64>| loads.windows(2).all(|pair| pair[0] < pair[1]);
    let closed = totals().all(|m| m.streams.iter().all(|s| s.offered_rate.is_none()));
    if closed && rising(totals().map(|m| m.total.queue_depth_total as f64).collect()) {
        return Load::Closed;
    }
    let offered: Option<Vec<f64>> = totals().map(|m| m.total.offered_rate).collect();
    match offered {
        Some(offered) if rising(offered.clone()) => Load::Open,
        _ => Load::NotRaised,
    }
}

/// Both forms of Little's law on a window; the one that mismatches more.
fn little(total: &StreamSummary) -> Option<LittleCheck> {
    if !total.errors.is_empty() {
        return None;
    }
    let forms = [total.little_service, total.little_response];
    let worse = |a: &LittleCheck, b: &LittleCheck| a.mismatch.abs().total_cmp(&b.mismatch.abs());
    forms.into_iter().flatten().max_by(worse)
}
