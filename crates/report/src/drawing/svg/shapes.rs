//! The content of a frame: lines, bars, cells and marks.

use super::elements::{element, text};
use super::frame::Frame;
use crate::drawing::theme::{HEAT, Palette};
use crate::drawing::{Chart, Panel, Point, Series, Shape, Stroke, band};

/// The share of a name's width that its bars fill.
const FILLED: f64 = 0.72;
/// The widest bar, in pixels.
const BAR_MAX: f64 = 72.0;

/// Draws the series and marks of a panel, clipped at its frame.
pub(super) fn draw(
    chart: &Chart,
    panel: &Panel,
    frame: &Frame,
    panel_number: usize,
    palette: &Palette,
    out: &mut String,
) {
    let area = frame.area;
    // The margin keeps symbols on the edge whole.
    element(
        out,
        format_args!(
            "<clipPath id=\"panel{panel_number}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
         height=\"{:.1}\"/></clipPath>",
            area.left - 6.0,
            area.top - 6.0,
            area.width + 12.0,
            area.height + 6.0,
        ),
    );
    element(out, format_args!("<g clip-path=\"url(#panel{panel_number})\">"));
    let names = chart.names();
    let side_by_side: Vec<&Series> = panel
        .series
        .iter()
        .filter(|s| matches!(s.shape, Shape::Bars { stacked: false, .. }))
        .collect();
    let mut stacks: Vec<(f64, f64)> = Vec::new();
    for series in &panel.series {
        let number = names.iter().position(|name| *name == series.name).unwrap_or(0);
        let colour = palette.series[number % palette.series.len()];
        match &series.shape {
            Shape::Line { points, stroke: Stroke::Rings } => {
                for point in points {
                    let Some(y) = point.y else { continue };
                    ring(out, (frame.x(point.x), frame.y(y, series.right)), palette);
                }
            }
            Shape::Line { points, stroke } => {
                let edges = band(&panel.x, points);
                if let Some(edges) = &edges {
                    draw_band(frame, series.right, edges, colour, out);
                }
                if *stroke != Stroke::Points {
                    path(frame, series, points, *stroke, colour, out);
                }
                for point in points.iter().filter(|_| stroke.has_symbols()) {
                    let Some(y) = point.y else { continue };
                    let at = (frame.x(point.x), frame.y(y, series.right));
                    if edges.is_none() {
                        interval(frame, series.right, at.0, point, colour, out);
                    }
                    symbol(out, number, at, colour);
                }
            }
            Shape::Bars { points, stacked: false } => {
                let count = side_by_side.len() as f64;
                let index = side_by_side.iter().position(|s| s.name == series.name).unwrap_or(0);
                let wide = (frame.column() * FILLED / count).min(BAR_MAX);
                let from = (index as f64 - count / 2.0) * wide;
                for point in points {
                    let Some(y) = point.y else { continue };
                    let left = frame.x(point.x) + from;
                    bar(
                        out,
                        (left + 1.0, wide - 2.0),
                        frame.y(y, series.right),
                        area.bottom(),
                        colour,
                    );
                    interval(frame, series.right, left + wide / 2.0, point, palette.text, out);
                }
            }
            Shape::Bars { points, stacked: true } => {
                let wide = (frame.column() * FILLED).min(BAR_MAX);
                for point in points {
                    let Some(y) = point.y else { continue };
                    let below = stacks.iter().find(|s| s.0 == point.x).map_or(0.0, |s| s.1);
                    let left = frame.x(point.x) - wide / 2.0;
                    let (top, foot) =
                        (frame.y(below + y, series.right), frame.y(below, series.right));
                    bar(out, (left, wide), top, foot, colour);
                    stacks.retain(|s| s.0 != point.x);
                    stacks.push((point.x, below + y));
                }
            }
            Shape::Cells(cells) => heat(frame, cells, out),
        }
    }
    out.push_str("</g>\n");
    for mark in &panel.marks {
        let x = frame.x(mark.x);
        element(
            out,
            format_args!(
                "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{}\" stroke-dasharray=\"2 4\"/>",
                area.top,
                area.bottom(),
                palette.faint
            ),
        );
        // Towards the middle, so that the text stays inside the frame.
        let (anchor, aside) =
            if x > area.left + area.width / 2.0 { ("end", -5.0) } else { ("start", 5.0) };
        text(out, (x + aside, area.top + 12.0), anchor, 12.0, palette.faint, &mark.name);
    }
}

fn path(
    frame: &Frame,
    series: &Series,
    points: &[Point],
    stroke: Stroke,
    colour: &str,
    out: &mut String,
) {
    let mut d = String::new();
    let mut joined = false;
    for point in points {
        match point.y {
            Some(y) => {
                let step = if joined { 'L' } else { 'M' };
                let (x, y) = (frame.x(point.x), frame.y(y, series.right));
                d.push_str(&format!("{step}{x:.1} {y:.1}"));
                joined = true;
            }
            None => joined = false,
        }
    }
    element(
        out,
        format_args!(
            "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"2.5\" \
             stroke-linejoin=\"round\"{}/>",
            dashes(stroke)
        ),
    );
}

/// The attribute for the style of a line.
pub(super) fn dashes(stroke: Stroke) -> &'static str {
    match stroke.kind() {
        "dashed" => " stroke-dasharray=\"8 5\"",
        "dotted" => " stroke-dasharray=\"2 4\"",
        "dash-dotted" => " stroke-dasharray=\"10 3 2 3\"",
        _ => "",
    }
}

fn bar(out: &mut String, (left, wide): (f64, f64), top: f64, foot: f64, colour: &str) {
    element(
        out,
        format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             fill=\"{colour}\"/>",
            wide.max(1.0),
            (foot - top).max(0.0),
        ),
    );
}

/// The 95 % confidence interval of a point, if it is wide enough to be visible next to a symbol.
fn interval(frame: &Frame, right: bool, x: f64, point: &Point, colour: &str, out: &mut String) {
    let Some([low, high]) = point.interval else { return };
    let (top, foot) = (frame.y(high, right), frame.y(low, right));
    if foot - top < 3.0 {
        return;
    }
    element(
        out,
        format_args!(
            "<path d=\"M{:.1} {top:.1}h10M{x:.1} {top:.1}V{foot:.1}M{:.1} {foot:.1}h10\" \
         stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            x - 5.0,
            x - 5.0,
        ),
    );
}

/// The confidence intervals of a line: along the upper ends, and back along the lower ends.
fn draw_band(frame: &Frame, right: bool, edges: &[[f64; 3]], colour: &str, out: &mut String) {
    let position = |x: f64, y: f64| format!("{:.1} {:.1}", frame.x(x), frame.y(y, right));
    let upper = edges.iter().map(|[x, _, high]| position(*x, *high));
    let lower = edges.iter().rev().map(|[x, low, _]| position(*x, *low));
    let d = upper.chain(lower).collect::<Vec<_>>().join("L");
    element(out, format_args!("<path d=\"M{d}z\" fill=\"{colour}\" fill-opacity=\"0.2\"/>"));
}

/// A ring around a point of another series.
pub(super) fn ring(out: &mut String, (x, y): (f64, f64), palette: &Palette) {
    element(
        out,
        format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" stroke=\"{}\" stroke-width=\"2\"/>",
            palette.text
        ),
    );
}

/// The symbol of a point, which distinguishes series where colours do not.
pub(super) fn symbol(out: &mut String, number: usize, (x, y): (f64, f64), colour: &str) {
    let d = match number % 4 {
        0 => {
            element(
                out,
                format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>"),
            );
            return;
        }
        1 => format!("M{:.1} {:.1}h8v8h-8z", x - 4.0, y - 4.0),
        2 => format!("M{x:.1} {:.1}l5 9h-10z", y - 5.0),
        _ => format!("M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z", y - 5.5),
    };
    element(out, format_args!("<path d=\"{d}\" fill=\"{colour}\"/>"));
}

fn heat(frame: &Frame, cells: &[(usize, usize, f64)], out: &mut String) {
    let most = cells.iter().map(|cell| cell.2).fold(0.0, f64::max);
    let (wide, high) = (frame.column(), frame.row());
    for (column, row, value) in cells {
        let share = if most > 0.0 { value / most } else { 0.0 };
        let step = ((share * HEAT.len() as f64) as usize).min(HEAT.len() - 1);
        let (x, y) = (frame.x(*column as f64), frame.y(*row as f64, false));
        // A little wider than its column, so that no background shows between neighbours.
        element(
            out,
            format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                x - wide / 2.0,
                y - high / 2.0,
                wide + 0.3,
                high + 0.3,
                HEAT[step],
            ),
        );
    }
}
