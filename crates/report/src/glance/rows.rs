//! The table of results at one glance: the rows of a curve together, letters only where something is
//! wrong, and fewer columns and rows where there is no room.

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint};
use units::counted;

use super::curves::{axis, operating_index};
use crate::number::{NONE, TOO_FEW, TimeUnit};
use crate::results::{self, Figure, Row};
use crate::table::{Column, Table, terminal};

/// The mark of a load point at a limit.
const AT_LIMIT: char = 'L';
/// Names wider than this share of the width, in percent, are lines above their rows instead of a
/// column.
const NAME_PERCENT_MAX: usize = 40;

/// The numbers of a row, with their headings and how soon they are left out in a narrow terminal,
/// the highest first and 0 never.
type Figures = [(Figure, &'static str, u8); 10];

/// Of reads and writes.
const FIGURES: Figures = [
    (Figure::Rate, results::rate_unit(false), 0),
    (Figure::HalfWidth, "95 % CI", 3),
    (Figure::Throughput, "MiB/s", 2),
    (Figure::Mean, "mean", 0),
    (Figure::Percentile(0.5), "p50", 5),
    (Figure::Percentile(0.99), "p99", 1),
    (Figure::Percentile(0.999), "p99.9", 4),
    (Figure::Service, "service", 8),
    (Figure::Outstanding, "in flight", 6),
    (Figure::Cpu, "CPU µs", 7),
];

/// Of operations on names, which are measured by their rate.
const FIGURES_ON_NAMES: Figures = [
    (Figure::Rate, results::rate_unit(true), 0),
    (Figure::HalfWidth, "95 % CI", 3),
    (Figure::Mean, "mean", 0),
    (Figure::Percentile(0.5), "p50", 2),
    (Figure::Percentile(0.99), "p99", 1),
    (Figure::Percentile(0.999), "p99.9", 4),
    (Figure::Service, "service", 9),
    (Figure::Outstanding, "in flight", 7),
    (Figure::Throughput, "MiB/s", 6),
    (Figure::Cpu, "CPU µs", 8),
];

/// Which rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Each load point, with its streams or kinds of operation.
    Everything,
    /// Each load point.
    LoadPoints,
    /// Of the best curve of each workload the lowest load, the operating point and the highest load.
    Decisive,
    /// Of the best curve of each workload the peak.
    Peaks,
}

/// The rows of a load point, with the name of the first.
struct Line<'a> {
    name: String,
    row: Row<'a>,
}

/// Appends the table and its legend.
///
/// * `marks` - letters of the caveats that are explained below
pub(super) fn write(
    findings: &Findings,
    marks: &[char],
    detail: Detail,
    width: usize,
    out: &mut String,
) {
    let shown = selected(findings, detail);
    let figures = if findings.is_on_names() { FIGURES_ON_NAMES } else { FIGURES };
    let unit = TimeUnit::compact(results::response_times_ns(&[findings], &[0.5, 0.99, 0.999]));
    let widest = shown.iter().map(|(curve, _)| curve.name.chars().count()).max().unwrap_or(0);
    let has_name_column = widest <= width * NAME_PERCENT_MAX / 100;
    let mut tables: Vec<Table> = shown
        .iter()
        .map(|(curve, points)| {
            let rows = points.iter().flat_map(|point| {
                lines(findings, point, detail).into_iter().enumerate().map(|(index, line)| {
                    let marks = match index {
                        0 => marks_of(findings, marks, point.load_point),
                        _ => String::new(),
                    };
                    cells(&line, &figures, marks, (unit, has_name_column))
                })
            });
            let mut rows: Vec<Vec<String>> = rows.collect();
            if let Some(first) = rows.first_mut().filter(|_| has_name_column) {
                first[0].clone_from(&curve.name);
            }
            let caption = if has_name_column { String::new() } else { curve.name.clone() };
            Table { caption, columns: Vec::new(), rows }
        })
        .collect();
    let axes: Vec<&str> = shown.iter().map(|(curve, _)| axis(curve)).collect();
    let axis = match axes.windows(2).all(|pair| pair[0] == pair[1]) {
        true => axes.first().copied().unwrap_or_default(),
        false => "load",
    };
    let columns = columns(&figures, axis, (unit, has_name_column));
    for (index, table) in tables.iter_mut().enumerate() {
        table.columns = columns.clone();
        if index > 0 {
            table.columns.iter_mut().for_each(without_heading);
        }
    }
    if findings.is_on_names() {
        results::without_empty(&mut tables, "MiB/s");
    }
    let mut drawn = String::new();
    terminal::write_listings(&tables, width, &mut drawn);
    let is_broken = drawn.lines().any(|line| line.chars().count() > width);
    if detail == Detail::Everything && is_broken {
        // Long names of streams; rows of load points have none.
        return write(findings, marks, Detail::LoadPoints, width, out);
    }
    out.push_str(&drawn);
    let points = shown.iter().map(|(_, points)| points.len()).sum();
    let left_out = findings.load_points.len().saturating_sub(points);
    let legend = legend(&tables, left_out);
    if !legend.is_empty() {
        crate::prose::wrap(&legend, "", "", width, out);
    }
}

/// The curves with the points that are shown.
fn selected(findings: &Findings, detail: Detail) -> Vec<(&Curve, Vec<&CurvePoint>)> {
    if matches!(detail, Detail::Everything | Detail::LoadPoints) {
        let curves = findings.curves.iter();
        return curves.map(|curve| (curve, curve.points.iter().collect())).collect();
    }
    let best = findings.summary.curves.iter().map(|one| {
        let curve = &findings.curves[one.curve];
        let mut points = match detail {
            Detail::Peaks => vec![one.most],
            _ => {
                let ends = [0, curve.points.len() - 1];
                ends.into_iter().chain(operating_index(one)).collect()
            }
        };
        points.sort_unstable();
        points.dedup();
        (curve, points.into_iter().map(|point| &curve.points[point]).collect())
    });
    best.collect()
}

/// The rows of a load point: all operations, then its streams, or its kinds of operation.
fn lines<'a>(findings: &'a Findings, point: &CurvePoint, detail: Detail) -> Vec<Line<'a>> {
    let mut all = results::rows(findings, point, None).into_iter();
    let total = all.next().map(|row| Line { name: String::new(), row });
    if detail != Detail::Everything {
        return total.into_iter().collect();
    }
    let streams = &findings.load_points[point.load_point].merged.streams;
    let below: Vec<Row<'a>> = match streams.len() {
        0 | 1 => all.collect(),
        several => (0..several)
            .filter_map(|stream| {
                let mut row = results::rows(findings, point, Some(stream)).into_iter().next()?;
                row.label.clone_from(&streams[stream].name);
                Some(row)
            })
            .collect(),
    };
    let below = below.into_iter().map(|row| Line { name: format!("  {}", row.label), row });
    total.into_iter().chain(below).collect()
}

/// The cells below [`columns`]; a row below that of its load point has its label in the column of
/// names, if there is one.
fn cells(
    line: &Line<'_>,
    figures: &Figures,
    marks: String,
    (unit, has_name_column): (TimeUnit, bool),
) -> Vec<String> {
    let label = line.row.label.clone();
    let mut cells = match has_name_column {
        true if line.name.is_empty() => vec![String::new(), label],
        true => vec![line.name.clone(), String::new()],
        false => vec![label],
    };
    cells.extend(figures.iter().map(|(figure, _, _)| {
        let cell = line.row.cell(*figure, unit);
        match figure {
            Figure::HalfWidth if cell != NONE => format!("±{}", cell.replace(' ', "")),
            _ => cell,
        }
    }));
    cells.push(marks);
    cells
}

fn columns(
    figures: &Figures,
    axis: &str,
    (unit, has_name_column): (TimeUnit, bool),
) -> Vec<Column> {
    let mut columns = Vec::new();
    if has_name_column {
        columns.push(Column::words(""));
    }
    columns.push(Column::numbers(axis, "").narrow("", axis));
    columns.extend(figures.iter().map(|(figure, name, rank)| {
        let column = match figure {
            Figure::Mean | Figure::Percentile(_) | Figure::Service => {
                Column::numbers(name, unit.symbol()).grouped("latency")
            }
            _ => Column::numbers(name, "").narrow("", name),
        };
        column.dispensable(*rank)
    }));
    columns.push(Column::marks("").narrow("", ""));
    columns
}

fn without_heading(column: &mut Column) {
    let Column { content, dispensable, .. } = *column;
    *column = Column { content, dispensable, ..Column::default() };
}

/// The letters of a load point: caveats that do not concern all load points, and the limit.
fn marks_of(findings: &Findings, explained: &[char], load_point: usize) -> String {
    let concerns = |warning: usize| {
        let sightings = &findings.warnings[warning].sightings;
        sightings.iter().any(|sighting| sighting.load_point == Some(load_point))
    };
    let all = findings.load_points.len();
    let mut marks: Vec<char> = findings
        .summary
        .caveats
        .iter()
        .filter(|caveat| (caveat.load_points < all || all == 1) && concerns(caveat.warning))
        .map(|caveat| findings.warnings[caveat.warning].mark)
        .filter(|mark| explained.contains(mark))
        .collect();
    marks.sort_unstable();
    marks.extend(is_at_limit(findings, load_point).then_some(AT_LIMIT));
    marks.into_iter().collect()
}

/// Whether throughput has stopped rising at this load point of its curve; unknown if hosts were lost.
fn is_at_limit(findings: &Findings, load_point: usize) -> bool {
    if !findings.load_points[load_point].is_whole() {
        return false;
    }
    let Some(verdict) = findings.verdict_of(load_point) else { return false };
    let from = verdict.plateau.from.unwrap_or(verdict.plateau.top);
    let position = verdict.load_points.iter().position(|one| *one == load_point);
    verdict.plateau.is_reached() && position.is_some_and(|position| position >= from)
}

fn legend(tables: &[Table], left_out: usize) -> String {
    let cells = || tables.iter().flat_map(|table| &table.rows).flatten();
    let marks = || tables.iter().flat_map(|table| &table.rows).filter_map(|row| row.last());
    let mut legend = Vec::new();
    if marks().any(|marks| marks.contains(AT_LIMIT)) {
        legend.push(format!("{AT_LIMIT}: at the limit"));
    }
    if cells().any(|cell| cell == TOO_FEW) {
        legend.push(format!("{TOO_FEW}: too few samples"));
    }
    if left_out > 0 {
        legend.push(format!("+ {}: --full", counted(left_out as u64, "load point")));
    }
    legend.join("; ")
}
