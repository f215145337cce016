//! A prediction laid out: what is reached and what bounds it first, then bounds, curve, why.

pub mod json;

use predict::{Bound, Curve, Interval, Point, Topology, measured};

use crate::charts::of_prediction;
use crate::document::{Block, Column, Section, Table};
use crate::expect::Expectation;
use crate::number::{NONE, mib, percent, plain, thousands};
use crate::sheet::{Sheet, reasons};

/// Rows of a curve that are shown where not all are wanted.
const POINTS_SHOWN: usize = 10;
/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;

/// How much of it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Every point of the curve.
    pub curve: bool,
    /// The arithmetic with its rows.
    pub explain: bool,
}

/// What a prediction is set beside.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Each workload beside published figures; empty where that is not wanted.
    pub published: Vec<Expectation>,
    /// Measured runs.
    pub measured: Vec<MeasuredRun>,
}

/// A measured run beside a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRun {
    /// The record.
    pub id: String,
    /// Its load points that do what is predicted, with rising concurrency.
    pub points: Vec<measured::Beside>,
}

/// A prediction as sections.
pub fn sheet(topology: &Topology, curve: &Curve, beside: &Beside, detail: Detail) -> Sheet {
    let mut first = prediction(topology, curve);
    first.blocks.push(Block::Charts(of_prediction(topology, curve, beside)));
    let mut sections = vec![first, bounds(curve), points(curve, detail)];
    sections.extend(beside.measured.iter().map(measurement));
    sections.extend(beside.published.iter().map(|one| {
        let section = crate::expect::section(one);
        Section { title: format!("Published: {}", section.title), ..section }
    }));
    if detail.explain {
        sections.push(Section {
            id: "why",
            title: "Why".to_owned(),
            blocks: vec![reasons(&curve.reasons)],
            method: Vec::new(),
        });
    }
    sections.push(Section {
        id: "assumptions",
        title: "What is assumed".to_owned(),
        blocks: vec![Block::List(curve.assumptions.clone())],
        method: Vec::new(),
    });
    Sheet { title: format!("Prediction of {}", topology.name), sections }
}

fn prediction(topology: &Topology, curve: &Curve) -> Section {
    let not_modelled = curve.not_modelled.iter().cloned();
    let mut blocks: Vec<Block> = not_modelled.map(Block::Paragraph).collect();
    blocks.push(Block::Paragraph(match &curve.asked {
        Some(point) => format!(
            "With {} operations outstanding over {} hosts: {}, {}, response time {}.",
            count(point.outstanding),
            thousands(i128::from(topology.host_count())),
            ops(point.ops_per_s),
            throughput(point.bytes_per_s),
            response(point.response_s)
        ),
        None => "What is offered is more than is let through: the backlog would grow without \
                 end."
            .to_owned(),
    }));
    if let Some(point) = &curve.asked {
        blocks.push(Block::Paragraph(format!("What bounds it: {}.", point.bounded_by)));
    }
    blocks.push(Block::Paragraph(format!(
        "The most of the curve: {}, {}, with {} outstanding. The line of one operation at a time \
         and the least bound cross at {} outstanding (Little's law).",
        ops(curve.most.ops_per_s),
        throughput(curve.most.bytes_per_s),
        count(curve.most.outstanding),
        interval(curve.knee_outstanding, count)
    )));
    blocks.push(Block::Paragraph(format!(
        "The model covers reads and writes over NFSv3, not metadata operations. {}",
        predict::coverage::sentence()
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
            bound.resource.short(),
        ]
    };
    let table = Table {
        caption: "What each would let through if nothing else bounded, the least first.".to_owned(),
        columns: vec![
            Column::numbers("how many", ""),
            Column::numbers("rate", "ops/s"),
            Column::numbers("90 % interval", "ops/s"),
            Column::numbers("throughput", "MiB/s"),
            Column::words("resource"),
        ],
        rows: curve.bounds.iter().map(row).collect(),
    };
    let blocks = match curve.bounds.is_empty() {
        true => vec![Block::Paragraph("Nothing bounds but the slots.".to_owned())],
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
            point.bounded_by.short(),
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
            Column::words("bounded by"),
        ],
        rows: shown.map(row).collect(),
    };
    let stretches = curve.stretches.iter().map(|stretch| {
        format!(
            "from {} to {} outstanding: {}",
            count(stretch.from),
            count(stretch.to),
            stretch.bounded_by
        )
    });
    let blocks = vec![Block::Table(table), Block::List(stretches.collect())];
    Section { id: "curve", title: "Curve".to_owned(), blocks, method: vec!["Prediction"] }
}

/// What was measured beside what is predicted of as many operations outstanding.
fn measurement(run: &MeasuredRun) -> Section {
    let row = |point: &measured::Beside| {
        vec![
            count(point.outstanding),
            whole(point.ops_per_s),
            whole(point.predicted.ops_per_s.value),
            off(point.rate_off()),
            plain(point.response_s * MS_PER_S),
            plain(point.predicted.response_s.value * MS_PER_S),
            off(point.response_off()),
        ]
    };
    let table = Table {
        caption: format!(
            "Load points of `{}` that do what is predicted, at the operations that were \
             outstanding.",
            run.id
        ),
        columns: vec![
            Column::numbers("outstanding", ""),
            Column::numbers("measured", "ops/s"),
            Column::numbers("predicted", "ops/s"),
            Column::numbers("off", ""),
            Column::numbers("measured", "ms"),
            Column::numbers("predicted", "ms"),
            Column::numbers("off", ""),
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
fn off(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(share))
}

/// `195,000 [170,000..220,000]`, or the number alone where it is not in doubt.
fn interval(of: Interval, print: impl Fn(f64) -> String) -> String {
    let (low, value, high) = (print(of.low), print(of.value), print(of.high));
    if low == value && high == value { value } else { format!("{value} [{low}..{high}]") }
}

/// Its ends alone; where they are printed alike there is nothing to say.
pub(crate) fn ends(of: Interval, print: impl Fn(f64) -> String) -> String {
    let (low, high) = (print(of.low), print(of.high));
    if low == high { NONE.to_owned() } else { format!("{low}..{high}") }
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

/// Operations outstanding: whole where there are many.
fn count(number: f64) -> String {
    if number >= 10.0 { whole(number) } else { plain(number) }
}

/// Three digits are what a prediction is worth.
pub(crate) fn whole(number: f64) -> String {
    if !number.is_finite() || number < 1000.0 {
        return plain(number);
    }
    let rounded: f64 = format!("{number:.2e}").parse().expect("what was printed is a number");
    thousands(rounded as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_exact_as_a_prediction() {
        assert_eq!(whole(194_936.0), "195,000");
        assert_eq!(whole(512.0), "512");
        assert_eq!(count(6.11), "6.11");
        let doubtful = Interval { low: 170_123.0, value: 195_456.0, high: 220_789.0 };
        assert_eq!(interval(doubtful, whole), "195,000 [170,000..221,000]");
        assert_eq!(interval(Interval::exactly(64.0), plain), "64.0");
    }
}
