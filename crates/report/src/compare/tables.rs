//! The tables of a comparison.

use analysis::compare::differences::Difference;
use analysis::compare::facts::OPTION;
use analysis::compare::figures::{Doubt, FigureComparison, Verdict};
use analysis::compare::{Comparison, Overall, Pair, PointComparison};

use super::{Detail, words};
use crate::document::{Block, Column, Section, Table};
use crate::number::NONE;

/// More differences than this are counted where not everything is shown.
const DIFFERENCES_MAX: usize = 14;
/// Longer values are cut in tables; JSON has them whole.
const VALUE_MAX: usize = 48;

/// What else differs: first what forbids to call a winner.
pub(super) fn differences(comparison: &Comparison, pair: &Pair, detail: Detail) -> Vec<Block> {
    if pair.differences.is_empty() {
        return Vec::new();
    }
    let (a, b) = words::labels(comparison, pair);
    let mut listed: Vec<&Difference> = pair.differences.iter().collect();
    listed.sort_by_key(|difference| !difference.forbids);
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
            if difference.forbids { "" } else { " (no obstacle)" },
        )
    };
    let most = if detail == Detail::All { listed.len() } else { DIFFERENCES_MAX };
    let mut lines: Vec<String> = listed.iter().take(most).map(line).collect();
    if listed.len() > most {
        lines.push(format!("and {} more, all in the JSON", listed.len() - most));
    }
    vec![Block::Paragraph(format!("What else differs ({a} | {b}):")), Block::List(lines)]
}

fn cut(value: &str) -> String {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match value.chars().count() > VALUE_MAX {
        true => format!("{}...", value.chars().take(VALUE_MAX - 3).collect::<String>()),
        false => value,
    }
}

/// A table for each load point, and what the marks in them mean.
pub(super) fn points(comparison: &Comparison, pair: &Pair, detail: Detail) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        pair.points.iter().filter_map(|point| table(comparison, pair, point, detail)).collect();
    let doubts: Vec<Doubt> = ALL_DOUBTS
        .into_iter()
        .filter(|doubt| {
            let marked = |f: &FigureComparison| f.verdict == Verdict::CannotTell(*doubt);
            pair.figures().any(|(_, _, figure)| shown(pair, figure, detail) && marked(figure))
        })
        .collect();
    if pair.verdict != Overall::NotComparable && !doubts.is_empty() {
        let legend = doubts.iter().map(|doubt| format!("({}) {}", mark(*doubt), doubt.in_words()));
        blocks.push(Block::List(legend.collect()));
    }
    blocks
}

const ALL_DOUBTS: [Doubt; 9] = [
    Doubt::NotMeasured,
    Doubt::SingleRunsDiffer,
    Doubt::SingleRuns,
    Doubt::TestsDisagree,
    Doubt::AmongMany,
    Doubt::TooCoarse,
    Doubt::Drift,
    Doubt::FewBackToBack,
    Doubt::HostDiffers,
];

const fn mark(doubt: Doubt) -> char {
    match doubt {
        Doubt::NotMeasured => 'a',
        Doubt::SingleRunsDiffer => 'b',
        Doubt::SingleRuns => 'c',
        Doubt::TestsDisagree => 'd',
        Doubt::AmongMany => 'e',
        Doubt::TooCoarse => 'f',
        Doubt::Drift => 'g',
        Doubt::FewBackToBack => 'h',
        Doubt::HostDiffers => 'i',
    }
}

fn shown(pair: &Pair, figure: &FigureComparison, detail: Detail) -> bool {
    let differs = matches!(figure.verdict, Verdict::Better | Verdict::Worse)
        && pair.verdict != Overall::NotComparable;
    figure.main || differs || detail == Detail::All
}

fn table(
    comparison: &Comparison,
    pair: &Pair,
    point: &PointComparison,
    detail: Detail,
) -> Option<Block> {
    let (a, b) = words::labels(comparison, pair);
    let mut rows = Vec::new();
    for subject in &point.subjects {
        for figure in subject.figures.iter().filter(|figure| shown(pair, figure, detail)) {
            let name = match subject.name.as_str() {
                "" => format!("{}, {}", short(figure), words::unit(figure.figure)),
                subject => format!("{subject}: {}, {}", short(figure), words::unit(figure.figure)),
            };
            let value = |estimate: Option<analysis::estimate::Estimate>| {
                estimate.map_or(NONE.to_owned(), |e| words::value(figure.figure, e.value))
            };
            rows.push(vec![
                name,
                value(figure.first),
                value(figure.second),
                figure.ratio.map_or(NONE.to_owned(), |ratio| change(ratio.value)),
                figure.ratio.map_or(NONE.to_owned(), |ratio| {
                    format!("{} .. {} %", bare_change(ratio.low), bare_change(ratio.high))
                }),
                verdict(pair, figure),
            ]);
        }
    }
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: point.name.clone(),
            columns: vec![
                Column::words("figure"),
                Column::numbers(a, ""),
                Column::numbers(b, ""),
                Column::numbers("change", ""),
                Column::numbers("95 % interval", ""),
                Column::words("verdict"),
            ],
            rows,
        })
    })
}

fn short(figure: &FigureComparison) -> &'static str {
    use analysis::compare::figure::Figure;
    match figure.figure {
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

/// A ratio as the change that it is: `+12.4 %`.
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
        Verdict::CannotTell(doubt) => format!("cannot tell ({})", mark(doubt)),
    }
}

/// Who is better than whom, of three and more.
pub(super) fn rankings(comparison: &Comparison) -> Option<Section> {
    if comparison.rankings.is_empty() {
        return None;
    }
    let rows = comparison.rankings.iter().flat_map(|ranking| {
        ranking.places.iter().enumerate().map(|(place, side)| {
            vec![
                match place {
                    0 => format!("{}: {}", ranking.load_point, words::name(ranking.figure)),
                    _ => String::new(),
                },
                side.rank.to_string(),
                words::value(ranking.figure, side.value),
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
    let words = "A system ranks below those that are better beyond chance; those that cannot be \
                 told apart share a rank."
        .to_owned();
    Some(Section {
        id: "ranking",
        title: "Ranking".to_owned(),
        blocks: vec![Block::Paragraph(words), Block::Table(table)],
        method: vec!["Comparison"],
    })
}
