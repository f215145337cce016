//! The tables of a comparison.

use analysis::compare::differences::Difference;
use analysis::compare::facts::OPTION;
use analysis::compare::figure::Figure;
use analysis::compare::figures::{FigureComparison, InconclusiveCause, Verdict};
use analysis::compare::{Comparison, Overall, Pair, PointComparison, SubjectComparison};
use analysis::estimate::Estimate;

use super::{Detail, words};
use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, TimeUnit};
use crate::results::printed;

/// More differences are counted unless everything is shown.
const DIFFERENCES_MAX: usize = 14;
/// Longer values are cut; JSON has them whole.
const VALUE_MAX: usize = 48;

/// Other differences, first those because of which no winner is named.
pub(super) fn differences(comparison: &Comparison, pair: &Pair, detail: Detail) -> Vec<Block> {
    if pair.differences.is_empty() {
        return Vec::new();
    }
    let (a, b) = words::labels(comparison, pair);
    let mut lines = differences_in_words(pair);
    if detail == Detail::Main && lines.len() > DIFFERENCES_MAX {
        let more = lines.len() - DIFFERENCES_MAX;
        lines.truncate(DIFFERENCES_MAX);
        lines.push(format!("and {more} more; the JSON has all"));
    }
    vec![Block::Paragraph(format!("Other differences ({a} | {b}):")), Block::List(lines)]
}

/// Each other difference: `mount: nconnect 1 | 8`.
pub(super) fn differences_in_words(pair: &Pair) -> Vec<String> {
    let mut listed: Vec<&Difference> = pair.differences.iter().collect();
    listed.sort_by_key(|difference| !difference.prevents_verdict);
    let line = |difference: &&Difference| {
        let side = |value: &Option<String>| match value {
            Some(value) => cut(value),
            None if difference.key.starts_with(OPTION) => "not set".to_owned(),
            None => "not recorded".to_owned(),
        };
        let points = match difference.load_points {
            0 => String::new(),
            count => format!(" (in {count} load point{})", if count == 1 { "" } else { "s" }),
        };
        format!(
            "{}: {} {} | {}{points}{}",
            difference.item.name(),
            difference.key,
            side(&difference.first),
            side(&difference.second),
            if difference.prevents_verdict { "" } else { " (allowed)" },
        )
    };
    listed.iter().map(line).collect()
}

fn cut(value: &str) -> String {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match value.chars().count() > VALUE_MAX {
        true => format!("{}...", value.chars().take(VALUE_MAX - 3).collect::<String>()),
        false => value,
    }
}

/// A table for each load point, and a legend for the marks in them.
pub(super) fn points(comparison: &Comparison, pair: &Pair, detail: Detail) -> Vec<Block> {
    let unit = words::time_unit(comparison);
    let mut blocks: Vec<Block> = pair
        .points
        .iter()
        .filter_map(|point| table(comparison, pair, point, detail, unit))
        .collect();
    blocks.extend(legend(pair, detail));
    blocks
}

/// The meaning of the marks of inconclusive figures.
pub(super) fn legend(pair: &Pair, detail: Detail) -> Option<Block> {
    let causes: Vec<InconclusiveCause> = ALL_CAUSES
        .into_iter()
        .filter(|cause| {
            let is_marked = |f: &FigureComparison| f.verdict == Verdict::CannotTell(*cause);
            pair.figures().any(|(_, _, figure)| is_shown(pair, figure, detail) && is_marked(figure))
        })
        .collect();
    let has_marks = pair.verdict != Overall::NotComparable && !causes.is_empty();
    has_marks.then(|| {
        let meaning = |cause: &InconclusiveCause| {
            format!("({}) {}", mark(*cause), crate::verdict::words::inconclusive_cause(*cause))
        };
        Block::List(causes.iter().map(meaning).collect())
    })
}

const ALL_CAUSES: [InconclusiveCause; 11] = [
    InconclusiveCause::NotMeasured,
    InconclusiveCause::SingleRunsDiffer,
    InconclusiveCause::SingleRuns,
    InconclusiveCause::TestsDisagree,
    InconclusiveCause::AmongMany,
    InconclusiveCause::TooCoarse,
    InconclusiveCause::Drift,
    InconclusiveCause::FewBackToBack,
    InconclusiveCause::HostDiffers,
    InconclusiveCause::HostsLost,
    InconclusiveCause::ChangesByPlan,
];

const fn mark(cause: InconclusiveCause) -> char {
    match cause {
        InconclusiveCause::NotMeasured => 'a',
        InconclusiveCause::SingleRunsDiffer => 'b',
        InconclusiveCause::SingleRuns => 'c',
        InconclusiveCause::TestsDisagree => 'd',
        InconclusiveCause::AmongMany => 'e',
        InconclusiveCause::TooCoarse => 'f',
        InconclusiveCause::Drift => 'g',
        InconclusiveCause::FewBackToBack => 'h',
        InconclusiveCause::HostDiffers => 'i',
        InconclusiveCause::HostsLost => 'j',
        InconclusiveCause::ChangesByPlan => 'k',
    }
}

fn is_shown(pair: &Pair, figure: &FigureComparison, detail: Detail) -> bool {
    let differs = matches!(figure.verdict, Verdict::Better | Verdict::Worse)
        && pair.verdict != Overall::NotComparable;
    figure.main || differs || detail == Detail::All
}

fn table(
    comparison: &Comparison,
    pair: &Pair,
    point: &PointComparison,
    detail: Detail,
    unit: TimeUnit,
) -> Option<Block> {
    let (a, b) = words::labels(comparison, pair);
    let mut rows = Vec::new();
    for subject in &point.subjects {
        for figure in subject.figures.iter().filter(|figure| is_shown(pair, figure, detail)) {
            let name = match subject.name.as_str() {
                "" => format!("{}, {}", short(figure.figure), words::unit(figure.figure, unit)),
                subject => {
                    let unit = words::unit(figure.figure, unit);
                    format!("{subject}: {}, {unit}", short(figure.figure))
                }
            };
            rows.push([vec![name], cells(pair, figure, unit).to_vec()].concat());
        }
    }
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: point.name.clone(),
            columns: [vec![Column::words("figure")], columns(a, b)].concat(),
            rows,
        })
    })
}

/// One table with the main figures of every load point, and other figures that differ.
pub(super) fn summary(comparison: &Comparison, pair: &Pair) -> Table {
    one_table(comparison, pair, |figure| is_shown(pair, figure, Detail::Main))
}

/// One table with some of the figures of every load point.
pub(super) fn one_table(
    comparison: &Comparison,
    pair: &Pair,
    is_shown: impl Fn(&FigureComparison) -> bool,
) -> Table {
    let (a, b) = words::labels(comparison, pair);
    let unit = words::time_unit(comparison);
    let shown = pair.figures().filter(|(_, _, figure)| is_shown(figure));
    let row = |(point, subject, figure): (&PointComparison, &SubjectComparison, &_)| {
        let figure: &FigureComparison = figure;
        let mut name = vec![point.name.clone(), subject.name.clone()];
        name.retain(|part| !part.is_empty());
        let what = format!("{}, {}", short(figure.figure), words::unit(figure.figure, unit));
        [vec![name.join(", "), what], cells(pair, figure, unit).to_vec()].concat()
    };
    Table {
        columns: [vec![Column::words("load point"), Column::words("figure")], columns(a, b)]
            .concat(),
        rows: shown.map(row).collect(),
        ..Table::default()
    }
}

/// The heading of the confidence interval.
pub(super) const INTERVAL: &str = "95 % CI";

/// The columns of [`cells`].
fn columns(a: &str, b: &str) -> Vec<Column> {
    vec![
        Column::numbers(a, ""),
        Column::numbers(b, ""),
        Column::numbers("change", ""),
        Column::numbers(INTERVAL, ""),
        Column::words("verdict"),
    ]
}

/// Both values of a figure, the change and the verdict.
fn cells(pair: &Pair, figure: &FigureComparison, unit: TimeUnit) -> [String; 5] {
    let value = |estimate: Option<Estimate>| {
        printed(estimate, |value| words::value(figure.figure, value, unit))
    };
    [
        value(figure.first),
        value(figure.second),
        figure.ratio.map_or(NONE.to_owned(), |ratio| change(ratio.value)),
        figure.ratio.map_or(NONE.to_owned(), |ratio| {
            format!("{} to {} %", bare_change(ratio.low), bare_change(ratio.high))
        }),
        verdict(pair, figure),
    ]
}

/// The figure of a load point in words, with the change and the verdict.
pub(super) fn figure_in_words(pair: &Pair, figure: &FigureComparison, unit: TimeUnit) -> String {
    let [first, second, change, interval, verdict] = cells(pair, figure, unit);
    let verdict = match figure.verdict {
        Verdict::CannotTell(cause) => {
            let cause = crate::verdict::words::inconclusive_cause(cause);
            format!("{}, {cause}", figure.verdict.name())
        }
        _ => verdict,
    };
    let (name, unit) = (short(figure.figure), words::unit(figure.figure, unit));
    format!("{name} {first} to {second} {unit}, {change} (95 % CI {interval}): {verdict}")
}

pub(super) fn short(figure: Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "achieved rate",
        Figure::Throughput => "throughput",
        Figure::ResponseMean => "response mean",
        Figure::ResponseP50 => "response p50",
        Figure::ResponseP99 => "response p99",
        Figure::ResponseP999 => "response p99.9",
        Figure::ServiceMean => "service mean",
        Figure::CpuPerOp => "CPU per op",
    }
}

/// A ratio as a change: `+12.4 %`.
fn change(ratio: f64) -> String {
    format!("{} %", bare_change(ratio))
}

fn bare_change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() {
        size if !size.is_finite() => NONE.to_owned(),
        // Not `-0.0`.
        size if size < 0.05 => "0.0".to_owned(),
        size if size < 99.95 => format!("{percent:+.1}"),
        _ => format!("{percent:+.0}"),
    }
}

fn verdict(pair: &Pair, figure: &FigureComparison) -> String {
    if pair.verdict == Overall::NotComparable {
        return NONE.to_owned();
    }
    let faster = figure.figure.more_is_better();
    match figure.verdict {
        Verdict::Better if faster => "faster".to_owned(),
        Verdict::Worse if faster => "slower".to_owned(),
        Verdict::Better => "better".to_owned(),
        Verdict::Worse => "worse".to_owned(),
        Verdict::NoDifference => "no difference".to_owned(),
        Verdict::CannotTell(cause) => format!("cannot tell ({})", mark(cause)),
    }
}

/// The order of three or more systems.
pub(super) fn rankings(comparison: &Comparison) -> Option<Section> {
    if comparison.rankings.is_empty() {
        return None;
    }
    let unit = words::time_unit(comparison);
    let rows = comparison.rankings.iter().flat_map(|ranking| {
        ranking.ranks.iter().enumerate().map(|(index, side)| {
            vec![
                match index {
                    0 => format!(
                        "{}: {}, {}",
                        ranking.load_point,
                        words::name(ranking.figure),
                        words::unit(ranking.figure, unit)
                    ),
                    _ => String::new(),
                },
                side.rank.to_string(),
                words::value(ranking.figure, side.value, unit),
                comparison.sides[side.side].label.clone(),
            ]
        })
    });
    let table = Table {
        caption: String::new(),
        columns: vec![
            Column::words("load point and figure"),
            Column::numbers("rank", ""),
            Column::numbers("value", ""),
            Column::words("system"),
        ],
        rows: rows.collect(),
    };
    let explanation =
        "A system ranks below those that are significantly better; systems without a \
                       significant difference share a rank."
            .to_owned();
    Some(Section {
        id: "ranking",
        title: "Ranking".to_owned(),
        blocks: vec![Block::Paragraph(explanation), Block::Table(table)],
        method: vec!["Comparison"],
    })
}
