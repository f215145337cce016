//! A prediction as sections: rate and bottleneck first, then bounds, curve and reasons.

mod charts;
pub mod json;

use predict::measured::MeasuredPoint;
use predict::{Bound, Curve, Interval, Point, Topology};
use units::counted;

use crate::document::{Block, Column, Section, Table};
use crate::expect::Expectation;
use crate::model::words;
use crate::number::{ends, mib, percent, plain, thousands, whole};
use crate::sheet::{Sheet, reasons};
use charts::of_prediction;

/// Rows of a curve shown unless all are requested.
const POINTS_SHOWN: usize = 10;
/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Every point of the curve.
    pub curve: bool,
    /// The arithmetic with its rows.
    pub explain: bool,
}

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

/// A prediction as sections.
pub fn sheet(topology: &Topology, curve: &Curve, with: &Comparison, detail: Detail) -> Sheet {
    let mut first = prediction(topology, curve);
    first.blocks.push(Block::Charts(of_prediction(topology, curve, with)));
    let mut sections = vec![first, bounds(curve), points(curve, detail)];
    sections.extend(with.measured.iter().map(measurement));
    sections.extend(with.published.iter().map(|one| {
        let section = crate::expect::section(one);
        Section { title: format!("Published: {}", section.title), ..section }
    }));
    if detail.explain {
        sections.push(Section {
            id: "why",
            title: "Why".to_owned(),
            blocks: vec![reasons(&curve.reasons.iter().map(words::reason).collect::<Vec<_>>())],
            method: Vec::new(),
        });
    }
    sections.push(Section {
        id: "assumptions",
        title: "Assumptions".to_owned(),
        blocks: vec![Block::List(
            curve.assumptions.iter().copied().map(words::assumption).collect(),
        )],
        method: Vec::new(),
    });
    Sheet { title: format!("Prediction of {}", topology.name), sections }
}

fn prediction(topology: &Topology, curve: &Curve) -> Section {
    let not_modelled = curve.not_modelled.iter().copied().map(words::not_modelled);
    let mut blocks: Vec<Block> = not_modelled.map(Block::Paragraph).collect();
    blocks.push(Block::Paragraph(match &curve.requested {
        Some(point) => format!(
            "With {} operations outstanding on {}: {}, {}, response time {}.",
            count(point.outstanding),
            counted(topology.host_count(), "host"),
            ops(point.ops_per_s),
            throughput(point.bytes_per_s),
            response(point.response_s)
        ),
        None => "The offered rate exceeds a limit: the backlog would grow without end.".to_owned(),
    }));
    if let Some(point) = &curve.requested {
        let bottleneck = words::resource(&point.bounded_by);
        blocks.push(Block::Paragraph(format!("Bottleneck: {bottleneck}.")));
    }
    blocks.push(Block::Paragraph(format!(
        "Peak: {}, {}, with {} outstanding. At the response time of queue depth 1, the lowest bound \
         is reached with {} outstanding (Little's law).",
        ops(curve.most.ops_per_s),
        throughput(curve.most.bytes_per_s),
        count(curve.most.outstanding),
        interval(curve.knee_outstanding, count)
    )));
    blocks.push(Block::Paragraph(format!(
        "The model covers reads and writes over NFSv3, not metadata operations. {}",
        words::coverage()
    )));
    Section {
        id: "prediction",
        title: format!("Prediction of {}", topology.name),
        blocks,
        method: vec!["Prediction"],
    }
}

fn bounds(curve: &Curve) -> Section {
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
            Column::numbers("rate", "ops/s"),
            Column::numbers("90 % interval", "ops/s"),
            Column::numbers("throughput", "MiB/s"),
            Column::words("resource"),
        ],
        rows: curve.bounds.iter().map(row).collect(),
    };
    let blocks = match curve.bounds.is_empty() {
        true => vec![Block::Paragraph("The request slots are the only limit.".to_owned())],
        false => vec![Block::Table(table)],
    };
    Section { id: "bounds", title: "Bounds".to_owned(), blocks, method: vec!["Prediction"] }
}

fn points(curve: &Curve, detail: Detail) -> Section {
    let step = match detail.curve {
        true => 1,
        false => curve.points.len().div_ceil(POINTS_SHOWN).max(1),
    };
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
    let table = Table {
        caption: String::new(),
        columns: vec![
            Column::numbers("outstanding", ""),
            Column::numbers("rate", "ops/s"),
            Column::numbers("90 % interval", "ops/s"),
            Column::numbers("throughput", "MiB/s"),
            Column::numbers("response", "ms"),
            Column::words("bottleneck"),
        ],
        rows: shown.map(row).collect(),
    };
    let stretches = curve.stretches.iter().map(|stretch| {
        format!(
            "from {} to {} outstanding: {}",
            count(stretch.from),
            count(stretch.to),
            words::resource(&stretch.bounded_by)
        )
    });
    let blocks = vec![Block::Table(table), Block::List(stretches.collect())];
    Section { id: "curve", title: "Curve".to_owned(), blocks, method: vec!["Prediction"] }
}

/// Measured load points and predictions for the same outstanding operations.
fn measurement(run: &MeasuredRun) -> Section {
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
            Column::numbers("measured", "ops/s"),
            Column::numbers("predicted", "ops/s"),
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

/// `195,000 [170,000..220,000]`, or only the number if the interval has no width.
fn interval(of: Interval, print: impl Fn(f64) -> String) -> String {
    let (low, value, high) = (print(of.low), print(of.value), print(of.high));
    if low == value && high == value { value } else { format!("{value} [{low}..{high}]") }
}

fn ops(of: Interval) -> String {
    format!("{} ops/s", interval(of, whole))
}

fn throughput(of: Interval) -> String {
    format!("{} MiB/s", interval(of, mib))
}

fn response(of: Interval) -> String {
    format!("{} ms", interval(of, |s| plain(s * MS_PER_S)))
}

/// Outstanding operations: whole if there are many.
fn count(number: f64) -> String {
    if number >= 10.0 { whole(number) } else { plain(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_with_a_width_show_their_ends() {
        assert_eq!(count(6.11), "6.11");
        let doubtful = Interval { low: 170_123.0, value: 195_456.0, high: 220_789.0 };
        assert_eq!(interval(doubtful, whole), "195,000 [170,000..221,000]");
        assert_eq!(interval(Interval::exactly(64.0), plain), "64.0");
    }
}
