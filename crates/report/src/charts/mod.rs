//! The charts that findings have. A chart exists only if its data do.
//!
//! Most are those of the published papers on Azure NetApp Files, made from the user's own data:
//! throughput and latency by queue depth, latency against throughput for several sets of clients,
//! the range from all reads to all writes, and pairs with and without a setting. Others show
//! whether the results can be trusted.

mod annotations;
mod corners;
mod heat;
mod host_heat;
mod kinds;
mod legend;
mod loads;
mod metric;
mod mix;
mod over_time;
mod overview;
mod pairs;
mod parts;
mod percentiles;
mod quantity;
mod record;
mod repeats;
pub(crate) mod scraped;
mod shown_curve;
mod tune;

use crate::drawing::Chart;

pub(crate) use annotations::method_name;
pub(crate) use overview::{Overview, overview};
pub(crate) use record::{RecordCharts, TimeGroup};
pub(crate) use shown_curve::{ShownCurve, axis};

use crate::results::is_along_mix;

/// More curves cannot be distinguished in one chart.
const CURVES_MAX: usize = 12;

/// The charts of curves: a set for each swept key, in the order of the curves.
pub(crate) fn of_curves(shown: &[ShownCurve<'_>]) -> Vec<Chart> {
    let mut axes: Vec<&str> = Vec::new();
    for one in shown {
        if !axes.contains(&one.curve.axis.as_str()) {
            axes.push(&one.curve.axis);
        }
    }
    let mut charts = pairs::pairs(shown);
    for axis in axes {
        let of_axis: Vec<ShownCurve<'_>> =
            shown.iter().filter(|one| one.curve.axis == axis).copied().collect();
        if !is_along_mix(axis) {
            charts.extend(corners::figures(&of_axis, axis));
        }
        if shown.iter().all(|one| one.record.is_none()) {
            charts.extend(repeats::figure(&of_axis, axis));
        }
        for (number, (variant, group)) in groups(&of_axis).into_iter().enumerate() {
            let charts_of_group = match is_along_mix(axis) {
                true => mix::charts(&group, axis),
                false => loads::charts(&group, axis),
            };
            charts.extend(charts_of_group.into_iter().map(|mut chart| {
                if let Some(variant) = variant.filter(|variant| !chart.title.contains(variant)) {
                    chart.title.push_str(&format!(": {variant}"));
                }
                if number > 0 {
                    chart.name.push_str(&format!("-{}", number + 1));
                }
                chart
            }));
        }
    }
    charts.retain(Chart::has_measurements);
    let colours = shown_curve::colours(shown);
    for chart in &mut charts {
        // The colours among all curves, not among those of one chart.
        if !chart.colours.is_empty() {
            chart.colours.clone_from(&colours);
        }
        legend::shorten(chart);
    }
    charts
}

/// Curves that are shown together: of several records those of one workload variant, otherwise as
/// many as can be distinguished.
fn groups<'a>(shown: &[ShownCurve<'a>]) -> Vec<(Option<&'a str>, Vec<ShownCurve<'a>>)> {
    if shown.iter().all(|one| one.record.is_none()) {
        return shown.chunks(CURVES_MAX).map(|chunk| (None, chunk.to_vec())).collect();
    }
    let mut variants: Vec<&str> = shown.iter().filter_map(ShownCurve::variant).collect();
    variants.dedup();
    let mut groups = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        if variants[..index].contains(variant) {
            continue;
        }
        let of_variant = shown.iter().filter(|one| one.variant() == Some(variant)).copied();
        let of_variant: Vec<ShownCurve<'_>> = of_variant.collect();
        groups.extend(of_variant.chunks(CURVES_MAX).map(|chunk| (Some(*variant), chunk.to_vec())));
    }
    groups
}
