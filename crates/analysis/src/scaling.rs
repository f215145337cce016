//! How the rate grows with the number of hosts or of targets, compared with the smallest number.

use crate::load_point::LoadPoint;

/// Parameters that count hosts or targets.
const COUNTS: [&str; 2] = ["run.hosts", "run.targets"];

/// Load points that differ only in the number of hosts or of targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The variant and the other parameters.
    pub name: String,
    /// What is counted: `hosts` or `targets`.
    pub counted: &'static str,
    /// The load points, by their number, ascending; at least two.
    pub points: Vec<ScalingPoint>,
}

/// A load point with its part of a perfect scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingPoint {
    /// Index in `Findings::load_points`.
    pub load_point: usize,
    /// Number of hosts or targets.
    pub count: u32,
    /// The rate for each host or target over that of the first point; `None` if a rate is not known or
    /// says nothing about scaling: it was offered, hosts were lost, or the operations outstanding for each
    /// host or target differ.
    pub efficiency: Option<Efficiency>,
}

/// A ratio of rates, 1 if each host or target adds as much as the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// The ratio.
    pub value: f64,
    /// Half-width of its 95 % interval, from those of both rates; `None` if one is not known.
    pub uncertainty: Option<f64>,
}

/// All of them, in the order of the load points.
pub(crate) fn scalings(load_points: &[LoadPoint]) -> Vec<Scaling> {
    let mut all: Vec<Scaling> = Vec::new();
    for counted in COUNTS {
        let word = counted.rsplit('.').next().unwrap_or(counted);
        for (index, point) in load_points.iter().enumerate() {
            let Some(count) = count_of(point, counted) else { continue };
            let name = name_without(point, counted);
            let new = ScalingPoint { load_point: index, count, efficiency: None };
            match all.iter_mut().find(|one| one.counted == word && one.name == name) {
                Some(known) => known.points.push(new),
                None => all.push(Scaling { name, counted: word, points: vec![new] }),
            }
        }
    }
    all.retain(|one| one.points.len() > 1);
    for one in &mut all {
        one.points.sort_by_key(|point| point.count);
        let first = one.points[0];
        for point in &mut one.points {
            point.efficiency = efficiency(load_points, first, *point);
        }
    }
    all
}

fn count_of(point: &LoadPoint, parameter: &str) -> Option<u32> {
    let (_, value) = point.parameters.iter().find(|(key, _)| key == parameter)?;
    value.parse().ok()
}

fn name_without(point: &LoadPoint, parameter: &str) -> String {
    let others = point.parameters.iter().filter(|(key, _)| key != parameter);
    others.fold(point.variant.clone(), |name, (key, value)| format!("{name}, {key}={value}"))
}

fn efficiency(
    load_points: &[LoadPoint],
    first: ScalingPoint,
    point: ScalingPoint,
) -> Option<Efficiency> {
    let [of_first, of_point] = [first, point].map(|of| &load_points[of.load_point]);
    let is_comparable = |of: &LoadPoint| of.signature.closed && of.is_whole();
    // Outstanding for each, multiplied by both numbers so that it is exact.
    let depths = [
        of_first.queue_depth_total * u64::from(point.count),
        of_point.queue_depth_total * u64::from(first.count),
    ];
    if !is_comparable(of_first) || !is_comparable(of_point) || depths[0] != depths[1] {
        return None;
    }
    let rate = |of: &LoadPoint| of.merged.total.data.achieved_rate;
    let (one, all) = (rate(of_first)?, rate(of_point)?);
    let of_each = |rate: f64, of: ScalingPoint| rate / f64::from(of.count.max(1));
    let value = of_each(all.value, point) / of_each(one.value, first);
    if !value.is_finite() {
        return None;
    }
    let relative = one.relative().zip(all.relative());
    let uncertainty = relative.map(|(one, all)| value * one.hypot(all));
    let is_first = first.load_point == point.load_point;
    Some(Efficiency { value, uncertainty: uncertainty.filter(|_| !is_first) })
}
