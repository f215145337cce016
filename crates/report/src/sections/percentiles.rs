//! How sure percentiles are, and what the generator took, at the highest rate of each curve.

use analysis::Findings;
use analysis::estimate::Estimate;
use analysis::load_point::LoadPoint;
use analysis::percentile::Percentile;

use crate::document::{Block, Section};
use crate::number::{half_width, percent, percentile_name};
use crate::rows::{TimeUnit, load_point_name, percentile_with_interval};

/// More load points than this are in the JSON and the CSV only.
const POINTS_MAX: usize = 8;
/// The percentiles that are named.
const NAMED: [f64; 3] = [0.5, 0.99, 0.999];

/// The section; nothing where no percentile has an interval.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mut places: Vec<usize> = Vec::new();
    for curve in &findings.curves {
        let most = curve.most.and_then(|most| curve.points.get(most));
        let place = most.map(|point| point.load_point);
        places.extend(place.filter(|place| !places.contains(place)));
    }
    let points = || places.iter().take(POINTS_MAX).map(|place| &findings.load_points[*place]);
    let known = |point: &LoadPoint| {
        let response = &point.merged.total.data.response;
        response.percentiles.iter().any(|p| p.interval_ns.is_some())
    };
    if !points().any(known) {
        return None;
    }
    let words =
        "At the highest rate of each curve, response times with their 95 % interval, which \
                 need not lie evenly around them; CSV and JSON have it for every load point."
            .to_owned();
    Some(Section {
        id: "sure",
        title: "How sure the percentiles are".to_owned(),
        blocks: vec![Block::Paragraph(words), Block::List(points().map(line).collect())],
        method: vec!["Percentiles", "Uncertainty", "Schedule delay", "CPU per operation"],
    })
}

fn line(point: &LoadPoint) -> String {
    let total = &point.merged.total;
    let named = |p: &&Percentile| NAMED.contains(&p.fraction);
    let percentiles = total.data.response.percentiles.iter().filter(named);
    let mut parts: Vec<String> = percentiles
        .map(|p| {
            let unit = if p.value_ns.is_some() { " us" } else { "" };
            let value = percentile_with_interval(p, TimeUnit::Us);
            format!("{} {value}{unit}", percentile_name(p.fraction))
        })
        .collect();
    // Without a schedule operations are delayed by making and checking data only.
    let is_delayed = |delay: &Estimate| total.offered_rate.is_some() || delay.value > 0.0;
    if let Some(delay) = total.schedule_delay_mean_ns.filter(is_delayed) {
        let value = crate::number::us(delay.value);
        parts.push(format!("schedule delay {value} us{}", plus_minus(delay)));
    }
    if let Some(busy) = total.worker_busy_max {
        let share = percent(busy.value);
        parts.push(format!("busiest worker {share} of its processors{}", plus_minus(busy)));
    }
    format!("{}: {}", load_point_name(point), parts.join("; "))
}

fn plus_minus(estimate: Estimate) -> String {
    estimate.relative().map_or(String::new(), |share| format!(" (± {})", half_width(share)))
}
