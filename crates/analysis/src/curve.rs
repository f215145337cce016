//! Load points in order of what was swept: the curve of achieved rate and response time.

use units::{Bytes, OpsPerSec, Percent, parse_duration};

use crate::load_point::LoadPoint;

/// Load points of one variant that differ in one thing only.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The variant, and the parameters that are equal all along the curve.
    pub name: String,
    /// What differs along it: a parameter's key, or `queue depth`.
    pub axis: String,
    /// Its points, ascending.
    pub points: Vec<CurvePoint>,
    /// The point with the largest achieved rate, as a place in `points`: saturation, as far as was
    /// measured.
    pub saturation: Option<usize>,
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
}

/// The axis where nothing else is swept.
pub const QUEUE_DEPTH: &str = "queue depth";

/// Sorts the load points into curves, in the order in which the plan brings them.
pub(crate) fn curves(load_points: &[LoadPoint]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (index, load_point) in load_points.iter().enumerate() {
        let axis = axis_of(load_points, load_point);
        let name = name_without(load_point, axis.as_deref());
        let point = point(index, load_point, axis.as_deref());
        let axis = axis.map_or(QUEUE_DEPTH.to_owned(), |key| in_words(&key));
        match curves.iter_mut().find(|c| c.name == name && c.axis == axis) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, axis, points: vec![point], saturation: None }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        curve.saturation = saturation(&curve.points, load_points);
    }
    curves
}

/// The parameter that is the axis of this load point's curve: among those that differ within the
/// variant the queue depth, else the workers, else an offered rate, else the first whose values are
/// quantities.
fn axis_of(load_points: &[LoadPoint], mine: &LoadPoint) -> Option<String> {
    let family = || load_points.iter().filter(|p| p.variant == mine.variant);
    let differs = |key: &str| {
        let value =
            |p: &LoadPoint| p.parameters.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        family().any(|p| value(p) != value(mine))
    };
    let mut swept: Vec<&(String, String)> =
        mine.parameters.iter().filter(|(key, _)| differs(key)).collect();
    // A variant of one load point still has its queue depth as axis, like its neighbours.
    if swept.is_empty() {
        swept = mine.parameters.iter().collect();
    }
    let last_word = |key: &str| key.rsplit('.').next().map(str::to_owned);
    ["queue_depth", "workers", "offered_rate", "rate"]
        .iter()
        .find_map(|wanted| swept.iter().find(|(key, _)| last_word(key).as_deref() == Some(wanted)))
        .or_else(|| swept.iter().find(|(_, value)| quantity(value).is_some()))
        .map(|(key, _)| key.clone())
}

/// A value as a number on an axis, whatever its unit.
fn quantity(text: &str) -> Option<f64> {
    text.parse::<f64>()
        .ok()
        .or_else(|| text.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64))
        .or_else(|| text.parse::<OpsPerSec>().ok().map(OpsPerSec::get))
        .or_else(|| parse_duration(text).ok().map(|time| time.as_secs_f64()))
        .or_else(|| text.parse::<Percent>().ok().map(Percent::fraction))
}

fn in_words(key: &str) -> String {
    key.replace('_', " ")
}

fn name_without(load_point: &LoadPoint, axis: Option<&str>) -> String {
    let mut name = load_point.variant.clone();
    for (key, value) in &load_point.parameters {
        // Without an axis only the queue depth is left to tell points apart; it is the label.
        if Some(key.as_str()) != axis {
            name.push_str(&format!(", {}={value}", in_words(key)));
        }
    }
    name
}

fn point(index: usize, load_point: &LoadPoint, axis: Option<&str>) -> CurvePoint {
    let depth = load_point.queue_depth_total;
    let swept = axis.and_then(|key| load_point.parameters.iter().find(|(k, _)| k == key));
    match swept {
        Some((_, value)) => CurvePoint {
            load_point: index,
            x: quantity(value).unwrap_or(index as f64),
            label: value.clone(),
        },
        None => CurvePoint { load_point: index, x: depth as f64, label: depth.to_string() },
    }
}

fn saturation(points: &[CurvePoint], load_points: &[LoadPoint]) -> Option<usize> {
    let rate = |point: &CurvePoint| {
        load_points[point.load_point].merged.total.data.achieved_rate.map(|rate| rate.value)
    };
    let mut best: Option<(usize, f64)> = None;
    for (place, point) in points.iter().enumerate() {
        if let Some(rate) = rate(point)
            && best.is_none_or(|(_, most)| rate > most)
        {
            best = Some((place, rate));
        }
    }
    best.map(|(place, _)| place)
}
