//! A prediction as a sheet: rate, latency and bottleneck first, then charts, the system and the use of
//! its resources; bounds, every point and reasons are folded.

mod charts;
pub mod json;
pub(crate) mod system;

use predict::measured::MeasuredPoint;
use predict::{Bound, Curve, Interval, Point, Topology};
use units::counted;

use crate::document::{Block, Column, Section, Table};
use crate::expect::{Expectation, published_blocks};
use crate::model::quantity::{is_on_names, range, with_range};
use crate::model::words;
use crate::number::{BYTES_PER_MIB, ends, mib, percent, plain, thousands, whole};
use crate::results::rate_unit;
use crate::sheet::{Sheet, reasons};

/// Points of the curve that are shown; all are folded.
const POINTS_SHOWN: usize = 8;
/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;

/// What a prediction is compared with.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Published figures for each workload; empty if not requested.
    pub published: Vec<Expectation>,
    /// Measured runs.
    pub measured: Vec<MeasuredRun>,
}

/// A measured run with predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRun {
    /// The record.
    pub id: String,
    /// Its load points with the predicted workload, by increasing concurrency.
    pub points: Vec<MeasuredPoint>,
}

/// A prediction as a sheet.
pub fn sheet(topology: &Topology, curve: &Curve, with: &Comparison) -> Sheet {
    let unit = rate_unit(is_on_names(topology));
    let of_run = |run| measurement(run, unit);
    let mut sections: Vec<Section> = with.measured.iter().map(of_run).collect();
    if !with.published.is_empty() {
        let blocks = published_blocks(&with.published);
        sections.push(section("published", "Nearest published figures", blocks));
    }
    sections.extend(system::sections(topology, curve, with));
    sections.push(section("curve", "Curve", vec![Block::Table(points(curve, unit, POINTS_SHOWN))]));
    let mut folded = vec![whole_curve(curve, unit), bounds(curve, unit)];
    folded.extend(with.published.iter().map(|one| {
        let section = crate::expect::section(one);
        Section { title: format!("Published: {}", section.title), ..section }
    }));
    let why = reasons(&curve.reasons.iter().map(words::reason).collect::<Vec<_>>());
    folded.push(section("why", "Why", vec![why]));
    folded.push(model_section(curve));
    Sheet {
        title: format!("Prediction of {}", topology.name),
        answer: answer(topology, curve, unit),
        sections,
        folded,
    }
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks, method: vec!["Prediction"] }
}

/// What the topology's load reaches, and the peak. What the model does not cover comes before any
/// number.
fn answer(topology: &Topology, curve: &Curve, unit: &str) -> Vec<String> {
    let not_modelled = curve.not_modelled.iter().copied().map(words::not_modelled);
    let not_counted = curve.not_counted.iter().map(words::not_counted);
    let mut answer: Vec<String> = not_modelled.chain(not_counted).collect();
    answer.push(match &curve.requested {
        Some(point) => format!(
            "Expect {}, {}, at a mean latency of {}, with {} operations outstanding on {}; bottleneck: \
             {}.",
            with_range(point.ops_per_s, unit, whole),
            throughput(point.bytes_per_s),
            latency(point.response_s),
            count(point.outstanding),
            counted(topology.host_count(), "host"),
            words::resource(&point.bounded_by)
        ),
        None => "The offered rate exceeds a limit: the backlog would grow without end.".to_owned(),
    });
    answer.push(format!(
        "Peak: {}, {}, with {} outstanding; {} would suffice at the latency of queue depth 1 (Little's \
         law). In brackets: 90 % intervals.",
        with_range(curve.most.ops_per_s, unit, whole),
        throughput(curve.most.bytes_per_s),
        count(curve.most.outstanding),
        range(curve.knee_outstanding, count)
    ));
    answer
}

/// What the model covers, how often it is right, and what it assumes.
pub(crate) fn model_section(curve: &Curve) -> Section {
    let covers = "The model covers reads, writes and operations on names over NFSv3.";
    let mut points = vec![format!("{covers} {}", words::coverage())];
    points.extend(curve.assumptions.iter().copied().map(words::assumption));
    section("assumptions", "Model and assumptions", vec![Block::List(points)])
}

fn bounds(curve: &Curve, unit: &str) -> Section {
    let row = |bound: &Bound| {
        vec![
            thousands(i128::from(bound.count)),
            whole(bound.ops_per_s.value),
            ends(bound.ops_per_s, whole),
            mib(bound.bytes_per_s.value),
            words::resource_label(&bound.resource),
        ]
    };
    let table = Table {
        caption: "Capacity of each resource on its own, lowest first.".to_owned(),
        columns: vec![
            Column::numbers("count", ""),
            Column::numbers("rate", unit),
            Column::numbers("90 % interval", unit),
            Column::numbers("throughput", "MiB/s"),
            Column::words("resource"),
        ],
        rows: curve.bounds.iter().map(row).collect(),
    };
    let blocks = match curve.bounds.is_empty() {
        true => vec![Block::Paragraph("The request slots are the only limit.".to_owned())],
        false => vec![Block::Table(table)],
    };
    section("bounds", "Bounds", blocks)
}

/// Every point, and the bottleneck along the curve.
fn whole_curve(curve: &Curve, unit: &str) -> Section {
    let stretches = curve.stretches.iter().map(|stretch| {
        format!(
            "from {} to {} outstanding: {}",
            count(stretch.from),
            count(stretch.to),
            words::resource(&stretch.bounded_by)
        )
    });
    let stretches = Block::List(stretches.collect());
    let all = points(curve, unit, curve.points.len());
    section("every-point", "Every point of the curve", vec![Block::Table(all), stretches])
}

/// At most this many points of the curve.
fn points(curve: &Curve, unit: &str, most: usize) -> Table {
    let step = curve.points.len().div_ceil(most.max(1)).max(1);
    let shown = curve.points.iter().rev().step_by(step).collect::<Vec<_>>().into_iter().rev();
    let row = |point: &Point| {
        vec![
            count(point.outstanding),
            whole(point.ops_per_s.value),
            ends(point.ops_per_s, whole),
            mib(point.bytes_per_s.value),
            plain(point.response_s.value * MS_PER_S),
            words::resource_label(&point.bounded_by),
        ]
    };
    Table {
        caption: String::new(),
        columns: vec![
            Column::numbers("outstanding", ""),
            Column::numbers("rate", unit),
            Column::numbers("90 % interval", unit).dispensable(2),
            Column::numbers("throughput", "MiB/s").dispensable(1),
            Column::numbers("latency", "ms"),
            Column::words("bottleneck").dispensable(3),
        ],
        rows: shown.map(row).collect(),
    }
}

/// Measured load points and predictions for the same outstanding operations.
fn measurement(run: &MeasuredRun, unit: &str) -> Section {
    let row = |point: &MeasuredPoint| {
        vec![
            count(point.outstanding),
            whole(point.rate.get()),
            whole(point.predicted.ops_per_s.value),
            signed_percent(point.rate_error()),
            plain(point.response_s * MS_PER_S),
            plain(point.predicted.response_s.value * MS_PER_S),
            signed_percent(point.response_error()),
        ]
    };
    let table = Table {
        caption: format!(
            "Load points of `{}` with the predicted workload, at their measured outstanding \
             operations.",
            run.id
        ),
        columns: vec![
            Column::numbers("outstanding", ""),
            Column::numbers("measured", unit),
            Column::numbers("predicted", unit),
            Column::numbers("error", ""),
            Column::numbers("measured", "ms"),
            Column::numbers("predicted", "ms"),
            Column::numbers("error", ""),
        ],
        rows: run.points.iter().map(row).collect(),
    };
    Section {
        id: "measured",
        title: format!("Measured: {}", run.id),
        blocks: vec![Block::Table(table)],
        method: vec!["Prediction"],
    }
}

/// With its sign: `-3.1 %`.
fn signed_percent(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(share))
}

fn throughput(of: Interval) -> String {
    with_range(of.times(1.0 / BYTES_PER_MIB), "MiB/s", plain)
}

fn latency(of: Interval) -> String {
    with_range(of.times(MS_PER_S), "ms", plain)
}

/// Outstanding operations: whole if there are many.
fn count(number: f64) -> String {
    if number >= 10.0 { whole(number) } else { plain(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_outstanding_operations_have_three_digits() {
        assert_eq!((count(6.11), count(2496.0)), ("6.11".to_owned(), "2,500".to_owned()));
    }
}
