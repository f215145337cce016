//! Curves: load points ordered by the swept parameter, with floor, knees, saturation and fitted
//! models.
//!
//! A curve consists of measured points only; a position between points is a bracket. Fitted models
//! ([`crate::fit`]) are separate, because they are not measurements.
//!
//! Reading order: [`Curve`], [`sample`] (a point as numbers), [`floor`], [`plateau`], [`knee`].

pub mod axis;
pub mod fit_line;
pub mod floor;
pub mod knee;
mod kneedle;
pub mod plateau;

use std::collections::BTreeMap;

use crate::curve::axis::Axes;
use crate::curve::floor::Floor;
use crate::curve::knee::Knees;
use crate::curve::plateau::{Plateau, Step};
use crate::fit::{self, Fits};
use crate::little::LittleCheck;
use crate::load_point::{LoadPoint, StreamSummary};
use crate::sample::{Load, Sample};
use crate::users::{self, OverloadPoint};

pub use crate::curve_point::{CurvePoint, Missing};

/// Load points of one variant that differ in one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The variant and the parameters that are constant along the curve.
    pub name: String,
    /// The axis: a parameter's key, or the load: [`QUEUE_DEPTH`], [`OFFERED_RATE`] or [`MIXED_LOAD`].
    pub axis: String,
    /// The kind of load along it.
    pub load: Load,
    /// Its points, ascending.
    pub points: Vec<CurvePoint>,
    /// Index of the point with the highest achieved rate, of those without lost hosts if there are any.
    pub most: Option<usize>,
    /// The floor, or why there is none.
    pub floor: Result<Floor, Missing>,
    /// Whether throughput has stopped rising, or why that does not apply.
    pub plateau: Result<Plateau, Missing>,
    /// The knees by each method, or why there are none.
    pub knees: Result<Knees, Missing>,
    /// Fitted models, or why there are none; these are not measurements.
    pub fits: Result<Fits, Missing>,
    /// Index of the point with the largest mismatch of Little's law.
    pub little_worst: Option<usize>,
    /// How many users can start their scenarios in time; `None` unless its axis is users.
    pub overload_point: Option<OverloadPoint>,
}

/// The axis of a closed load if nothing else is swept.
pub const QUEUE_DEPTH: &str = "queue depth";
/// The axis of users if nothing else is swept.
pub const USERS: &str = "users";
/// The axis of an offered load if nothing else is swept.
pub const OFFERED_RATE: &str = "offered rate";
/// The axis if nothing else is swept and closed loops ran next to offered rates: a single load point.
pub const MIXED_LOAD: &str = "load";

/// A curve with only the decision whether throughput has stopped rising.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) axis: String,
    pub(crate) load: Load,
    pub(crate) points: Vec<CurvePoint>,
    /// `steps[point]`; `None` if nothing was measured or hosts were lost.
    pub(crate) steps: Vec<Option<Step>>,
    /// `certain[point]`: operations per second at a certain limit.
    pub(crate) certain: Vec<Option<f64>>,
    pub(crate) plateau: Result<Plateau, Missing>,
}

impl Outline {
    /// The decision for a single point, for axes that are not a load.
    pub(crate) fn alone(&self, point: usize) -> Option<Plateau> {
        plateau::judge(&[self.steps[point]], self.certain[point])
    }
}

/// Groups load points into curves in the order of the plan, and decides for each curve with
/// increasing load whether it is saturated.
///
/// * `certain`: operations per second at a certain limit, for the load of a load point
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
        let axis = axis.map_or_else(|| axis::of_load(load_point).to_owned(), axis::in_words);
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
        // A load point without lost hosts only: fewer hosts are another load.
        let of_whole =
            |(step, point): (Option<Step>, &&LoadPoint)| step.filter(|_| point.is_whole());
        let steps: Vec<Option<Step>> =
            plateau::steps(&measured).into_iter().zip(&measured).map(of_whole).collect();
        let certain: Vec<Option<f64>> = measured.iter().map(|point| certain(point)).collect();
        let plateau = match load {
            Load::NotRaised => Err(Missing::NotALoad),
            Load::Closed | Load::Open => {
                let certain = certain.first().copied().flatten();
                let judged = plateau::judge(&steps, certain).ok_or_else(|| nothing(&measured));
                judged.map(|plateau| Plateau {
                    floor_is_pace: plateau.floor_is_pace
                        || plateau::is_pace_of_a_target(&plateau, &measured),
                    ..plateau
                })
            }
        };
        Outline { name, axis, load, points, steps, certain, plateau }
    };
    groups.into_iter().map(outline).collect()
}

/// Why a curve has no step.
fn nothing(points: &[&LoadPoint]) -> Missing {
    match points.iter().all(|point| point.is_whole()) {
        true if points.iter().any(|point| point.merged.total.rate_varies) => Missing::RateVaries,
        true => Missing::NothingMeasured,
        false => Missing::HostsLost,
    }
}

/// Computes the curve of each outline.
///
/// * `objective_s`: the given objective for the mean response time of a load point, in seconds
/// * `overload_max`: the given objective for its overload, 0 to 1
pub(crate) fn curves(
    outlines: Vec<Outline>,
    load_points: &[LoadPoint],
    objective_s: impl Fn(&LoadPoint) -> Option<f64>,
    overload_max: impl Fn(&LoadPoint) -> Option<f64>,
) -> Vec<Curve> {
    let curve = |outline: Outline| {
        let mut points = outline.points.iter();
        let given = points.find_map(|point| objective_s(&load_points[point.load_point]));
        let mut points = outline.points.iter();
        let overload_max = points.find_map(|point| overload_max(&load_points[point.load_point]));
        curve(outline, load_points, given, overload_max.unwrap_or(users::OVERLOAD_MAX))
    };
    outlines.into_iter().map(curve).collect()
}

fn curve(
    outline: Outline,
    load_points: &[LoadPoint],
    given_s: Option<f64>,
    overload_max: f64,
) -> Curve {
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
    let knees = match plateau {
        Err(Missing::RateVaries) => Err(Missing::RateVaries),
        _ => knee::of_points(&points, load, &floor, reached, given_s),
    };
    let fits = fit::of_points(&points, load_points, load);
    let mismatch = |point: &CurvePoint| point.little.map(|check| check.mismatch.abs());
    let rate = |point: &CurvePoint| {
        load_points[point.load_point].merged.total.data.achieved_rate.map(|rate| rate.value)
    };
    let of_all_hosts =
        |point: &CurvePoint| rate(point).filter(|_| load_points[point.load_point].is_whole());
    let most = index_of_largest(&points, of_all_hosts);
    let of_points: Vec<&LoadPoint> =
        points.iter().map(|point| &load_points[point.load_point]).collect();
    Curve {
        overload_point: users::overload_point(&of_points, overload_max),
        most: most.or_else(|| index_of_largest(&points, rate)),
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

/// Index of the largest `number`; the first of several.
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

/// The kind of load that increases from point to point.
fn load(points: &[CurvePoint], load_points: &[LoadPoint]) -> Load {
    let totals = || points.iter().map(|point| &load_points[point.load_point].merged);
    let rising = |loads: Vec<f64>| loads.windows(2).all(|pair| pair[0] < pair[1]);
    // With users, response times do not follow from the number that may be in flight.
    if totals().any(|m| m.total.users.is_some()) {
        return Load::NotRaised;
    }
    let closed = totals().all(|m| m.streams.iter().all(|s| s.offered_rate.is_none()));
    if closed && rising(totals().map(|m| m.total.queue_depth_total as f64).collect()) {
        return Load::Closed;
    }
    let offered: Option<Vec<f64>> = totals().map(|m| Some(m.total.offered_rate?.get())).collect();
    match offered {
        Some(offered) if rising(offered.clone()) => Load::Open,
        _ => Load::NotRaised,
    }
}

/// Little's law on a window, in the form with the larger mismatch.
fn little(total: &StreamSummary) -> Option<LittleCheck> {
    if !total.errors.is_empty() {
        return None;
    }
    let forms = [total.little_service, total.little_response];
    let worse = |a: &LittleCheck, b: &LittleCheck| a.mismatch.abs().total_cmp(&b.mismatch.abs());
    forms.into_iter().flatten().max_by(worse)
}
