//! Confidence intervals of percentiles, schedule delay and CPU use at the highest rate of each curve.

use analysis::Findings;
use analysis::estimate::Estimate;
use analysis::load_point::LoadPoint;
use analysis::percentile::Percentile;

use crate::document::{Block, Section};
use crate::number::{TimeUnit, half_width, percent, percentile_name};
use crate::results::{load_point_name, percentile_with_interval, time_unit};

/// More load points are in the JSON and the CSV only.
const POINTS_MAX: usize = 8;
/// The percentiles that are listed.
const LISTED: [f64; 3] = [0.5, 0.99, 0.999];

/// The section; `None` if no percentile has a confidence interval.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mut indices: Vec<usize> = Vec::new();
    for curve in &findings.curves {
        let most = curve.most.and_then(|most| curve.points.get(most));
        let index = most.map(|point| point.load_point);
        indices.extend(index.filter(|index| !indices.contains(index)));
    }
    let points = || indices.iter().take(POINTS_MAX).map(|index| &findings.load_points[*index]);
    let has_interval = |point: &LoadPoint| {
        let response = &point.merged.total.data.response;
        response.percentiles.iter().any(|p| p.interval_ns.is_some())
    };
    if !points().any(has_interval) {
        return None;
    }
    let unit = time_unit(&[findings]);
    let is_swept = findings.curves.iter().any(|curve| curve.points.len() > 1);
    let introduction = format!(
        "Response times in {}{}, with 95 % confidence intervals (not necessarily symmetric). CSV \
         and JSON have those of every load point.",
        unit.symbol(),
        if is_swept { " at the highest rate of each curve" } else { "" }
    );
    let lines = points().map(|point| line(point, unit)).collect();
    Some(Section {
        id: "confidence-intervals",
        title: "Confidence intervals".to_owned(),
        blocks: vec![Block::Paragraph(introduction), Block::List(lines)],
        method: vec!["Percentiles", "Uncertainty", "Schedule delay", "CPU per operation"],
    })
}

fn line(point: &LoadPoint, unit: TimeUnit) -> String {
    let total = &point.merged.total;
    let is_listed = |p: &&Percentile| LISTED.contains(&p.fraction);
    let percentiles = total.data.response.percentiles.iter().filter(is_listed);
    let mut parts: Vec<String> = percentiles
        .map(|p| format!("{} {}", percentile_name(p.fraction), percentile_with_interval(p, unit)))
        .collect();
    // In a closed loop only generating and verifying data delays operations.
    let is_delayed = |delay: &Estimate| total.offered_rate.is_some() || delay.value > 0.0;
    if let Some(delay) = total.schedule_delay_mean_ns.filter(is_delayed) {
        parts.push(format!("schedule delay {}{}", unit.print(delay.value), half_width_of(delay)));
    }
    if let Some(busy) = total.worker_busy_max {
        let share = percent(busy.value);
        parts.push(format!("busiest worker: {share} CPU{}", half_width_of(busy)));
    }
    format!("{}: {}", load_point_name(point), parts.join("; "))
}

fn half_width_of(estimate: Estimate) -> String {
    estimate.relative().map_or(String::new(), |share| format!(" (± {})", half_width(share)))
}
