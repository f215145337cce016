//! The two charts of the first screen: throughput by load, and latency against throughput; of
//! operations on names the rate instead. Each curve is one series.

use analysis::Findings;

use super::loads::{Detail, by_load, latency_against};
use super::quantity::Quantity;
use super::shown_curve::{ShownCurve, colours};
use super::{legend, mix, pairs};
use crate::drawing::Chart;
use crate::results::is_along_mix;

/// The charts of the first screen. Without measurements they are empty.
pub(crate) struct Overview {
    /// Throughput or rate by the load.
    pub(crate) output: Chart,
    /// Latency against it.
    pub(crate) latency: Chart,
}

/// The overview of a record: the best curve of each workload variant, as far as they have the axis
/// of the first.
pub(crate) fn overview(findings: &Findings) -> Overview {
    let all = ShownCurve::of(findings);
    let best = findings.summary.curves.iter().filter_map(|one| all.get(one.curve)).copied();
    let best: Vec<ShownCurve<'_>> = best.collect();
    let Some(name) = best.first().map(|one| one.curve.axis.as_str()) else {
        return Overview { output: Chart::default(), latency: Chart::default() };
    };
    let shown: Vec<ShownCurve<'_>> =
        best.iter().filter(|one| one.curve.axis == name).copied().collect();
    let quantity = Quantity::leading(&shown);
    let output = match shown.iter().all(|one| one.curve.points.len() == 1) {
        _ if is_along_mix(name) => mix::by_mix(&shown, quantity),
        true => pairs::of_workloads(&shown, quantity),
        false => by_load(&shown, name, quantity, Detail::Overview),
    };
    let latency = latency_against(&shown, name, quantity, Detail::Overview);
    let colours = colours(&all);
    let [output, latency] =
        [(quantity.name(), output), ("latency", latency)].map(|(what, mut chart)| {
            chart.name = format!("overview-{what}");
            chart.colours.clone_from(&colours);
            legend::shorten(&mut chart);
            chart
        });
    Overview { output, latency }
}
