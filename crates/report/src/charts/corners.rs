//! Small multiples: a column for each workload with its throughput above its latency, all on the
//! same axes, so that workloads are compared by eye without a legend.

use super::annotations::limits;
use super::loads::{means_and_p99s, swept};
use super::quantity::Quantity;
use super::shown_curve::{ShownCurve, colours, file_name, latency_axis, lost_hosts, unit};
use crate::drawing::{Alternative, Chart, Layout, Level, Panel, Stroke};

/// More columns are too narrow to read.
const COLUMNS_MAX: usize = 4;
/// More curves of one workload cannot be distinguished in a small panel.
const CURVES_MAX: usize = 6;

/// The figures of curves with the same axis; none for a single workload, which has its own charts.
pub(super) fn figures(shown: &[ShownCurve<'_>], name: &str) -> Vec<Chart> {
    let columns = by_variant(shown);
    if columns.len() < 2 {
        return Vec::new();
    }
    let figures = columns.chunks(COLUMNS_MAX).enumerate();
    figures.map(|(number, columns)| figure(shown, columns, name, number)).collect()
}

/// The curves of a workload.
type Column<'a> = (&'a str, Vec<ShownCurve<'a>>);

/// The curves of each workload that were measured at several loads.
fn by_variant<'a>(shown: &[ShownCurve<'a>]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for one in shown.iter().filter(|one| one.curve.points.len() > 1) {
        let Some(variant) = one.variant() else { continue };
        match columns.iter_mut().find(|(name, _)| *name == variant) {
            Some((_, curves)) => curves.push(*one),
            None => columns.push((variant, vec![*one])),
        }
    }
    columns.retain(|(_, curves)| curves.len() <= CURVES_MAX);
    columns
}

fn figure(all: &[ShownCurve<'_>], columns: &[Column<'_>], name: &str, number: usize) -> Chart {
    let drawn: Vec<ShownCurve<'_>> =
        columns.iter().flat_map(|(_, curves)| curves).copied().collect();
    let (quantity, unit) = (Quantity::leading(&drawn), unit(&drawn));
    let mut named: Vec<f64> = Vec::new();
    let mut upper = Vec::new();
    for (variant, curves) in columns {
        let lines = curves.iter().flat_map(|one| {
            one.lines(&one.name_without_variant(), Stroke::Solid, |p| quantity.point(one, p, p.x))
        });
        let levels = limits(curves, quantity).levels().into_iter().map(|level| {
            // The name is written once for all panels.
            let is_named = named.contains(&level.y);
            named.push(level.y);
            let name = if is_named { String::new() } else { "limit".to_owned() };
            Level { name, ..level }
        });
        upper.push(Panel {
            title: (*variant).to_owned(),
            x: swept(&drawn, name),
            y: quantity.axis(),
            series: lines.collect(),
            levels: levels.collect(),
            ..Panel::default()
        });
    }
    let lower = columns.iter().map(|(_, curves)| Panel {
        x: swept(&drawn, name),
        y: latency_axis(unit),
        series: means_and_p99s(curves, ShownCurve::name_without_variant),
        ..Panel::default()
    });
    let limits = limits(&drawn, quantity).sentence;
    let suffix = if number > 0 { format!("-{}", number + 1) } else { String::new() };
    Chart {
        name: file_name(&format!("workloads-by-{name}{suffix}")),
        title: format!("Each workload by {name}"),
        caption: format!(
            "Throughput in {} (above) and mean (thick) and p99 (thin) response time in {} (below) \
             by {name}, a column for each workload, all on the same axes. Bands and whiskers: 95 % \
             CI.{}{limits}",
            quantity.unit(),
            unit.symbol(),
            lost_hosts(&drawn)
        ),
        // The charts of throughput and of latency have the same numbers as tables.
        alternative: Alternative::Caption,
        layout: Layout::Grid(columns.len()),
        panels: upper.into_iter().chain(lower).collect(),
        colours: colours(all),
    }
}
