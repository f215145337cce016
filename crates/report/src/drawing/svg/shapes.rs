//! The content of a frame: lines, bars, boxes and cells.

use super::elements::element;
use super::frame::Frame;
use super::labels::Labels;
use crate::drawing::symbol;
use crate::drawing::theme::{HEAT, Palette};
use crate::drawing::ticks::short;
use crate::drawing::{Chart, Panel, Point, Scale, Series, Shape, Stroke, band};

/// The share of a name's width that its bars fill.
const FILLED: f64 = 0.72;
/// The widest bar, in pixels.
const BAR_MAX: f64 = 72.0;
/// Room around a frame, so that symbols and rings on its edge are whole, in pixels.
const MARGIN: f64 = 11.0;
/// The widest box of repeats, in pixels.
const BOX_MAX: f64 = 28.0;

/// What is drawn in one panel.
pub(super) struct Content<'a> {
    pub(super) chart: &'a Chart,
    pub(super) panel: &'a Panel,
    pub(super) frame: &'a Frame,
    pub(super) palette: &'a Palette,
}

/// Draws the series, lines and names of a panel, clipped at its frame.
pub(super) fn draw(content: &Content<'_>, panel_number: usize, out: &mut String) {
    let Content { panel, frame, palette, .. } = content;
    let area = frame.area;
    let mut labels = Labels::new(area);
    element(
        out,
        format_args!(
            "<clipPath id=\"panel{panel_number}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\"/></clipPath>",
            area.left - MARGIN,
            area.top - MARGIN,
            area.width + 2.0 * MARGIN,
            area.height + 2.0 * MARGIN,
        ),
    );
    element(out, format_args!("<g clip-path=\"url(#panel{panel_number})\">"));
    let names = content.chart.names();
    let mut stacks: Vec<(f64, f64)> = Vec::new();
    for series in &panel.series {
        let index = names.iter().find(|(name, _)| *name == series.name).map_or(0, |(_, i)| *i);
        let colour = palette.colour(index);
        match &series.shape {
            Shape::Line { points, stroke: Stroke::Rings } => {
                for point in points {
                    let Some(y) = point.y else { continue };
                    ring(out, (frame.x(point.x), frame.y(y, series.right)), palette);
                }
            }
            Shape::Line { points, stroke } => {
                content.line(series, points, *stroke, (index, colour), out);
            }
            Shape::Bars { points, stacked: false } => {
                content.bars(series, points, colour, &mut labels, out);
            }
            Shape::Bars { points, stacked: true } => {
                let wide = (frame.column() * FILLED).min(BAR_MAX);
                for point in points {
                    let Some(y) = point.y else { continue };
                    let below = stacks.iter().find(|s| s.0 == point.x).map_or(0.0, |s| s.1);
                    let left = frame.x(point.x) - wide / 2.0;
                    let ends = (frame.y(below + y, series.right), frame.y(below, series.right));
                    bar(out, (left, wide), ends, colour);
                    stacks.retain(|s| s.0 != point.x);
                    stacks.push((point.x, below + y));
                }
            }
            Shape::Boxes(boxes) => content.boxes(series, boxes, colour, out),
            Shape::Cells { cells, .. } => heat(frame, cells, out),
        }
    }
    out.push_str("</g>\n");
    for (x, height) in stacks {
        // Above the symbol of the total.
        labels.value((frame.x(x), frame.y(height, false) - 6.0), &short(height));
    }
    labels.draw(panel, frame, palette, out);
}

impl Content<'_> {
    fn line(
        &self,
        series: &Series,
        points: &[Point],
        stroke: Stroke,
        (index, colour): (usize, &str),
        out: &mut String,
    ) {
        let Content { panel, frame, .. } = self;
        let scale = self.scale_of(series);
        let edges = if stroke.is_joined() { band(&panel.x, scale, points) } else { None };
        if let Some(edges) = &edges {
            draw_band(frame, series.right, edges, colour, out);
        }
        if stroke.is_joined() {
            path(frame, series, points, stroke, colour, out);
        }
        let Some(size) = stroke.symbol_scale() else { return };
        for point in points {
            let Some(y) = point.y.filter(|y| scale.has(*y)) else { continue };
            let at = (frame.x(point.x), frame.y(y, series.right));
            if edges.is_none() {
                self.interval(series, at.0, point, colour, out);
            }
            draw_symbol(out, index, at, size, colour);
        }
    }

    /// Bars next to those of the other series, with their values.
    fn bars(
        &self,
        series: &Series,
        points: &[Point],
        colour: &str,
        labels: &mut Labels,
        out: &mut String,
    ) {
        let Content { panel, frame, palette, .. } = self;
        let is_bars = |s: &&Series| matches!(s.shape, Shape::Bars { stacked: false, .. });
        let side_by_side: Vec<&Series> = panel.series.iter().filter(is_bars).collect();
        let count = side_by_side.len() as f64;
        let number = side_by_side.iter().position(|s| s.name == series.name).unwrap_or(0);
        let wide = (frame.column() * FILLED / count).min(BAR_MAX);
        let from = (number as f64 - count / 2.0) * wide;
        for point in points {
            let Some(y) = point.y else { continue };
            let left = frame.x(point.x) + from;
            let ends = (frame.y(y, series.right), frame.area.bottom());
            bar(out, (left + 1.0, wide - 2.0), ends, colour);
            self.interval(series, left + wide / 2.0, point, palette.text, out);
            let top = point.interval.map_or(y, |[_, high]| high.max(y));
            labels.value((left + wide / 2.0, frame.y(top, series.right)), &short(y));
        }
    }

    /// Boxes from the first to the third quartile, whiskers to the ends.
    fn boxes(&self, series: &Series, boxes: &[(f64, [f64; 5])], colour: &str, out: &mut String) {
        let Content { panel, frame, .. } = self;
        let is_same = |s: &&Series| matches!(s.shape, Shape::Boxes(_));
        let all: Vec<&Series> = panel.series.iter().filter(is_same).collect();
        let number = all.iter().position(|s| s.name == series.name).unwrap_or(0);
        let wide = (frame.column() * FILLED / all.len() as f64).min(BOX_MAX);
        let from = (number as f64 - all.len() as f64 / 2.0) * wide;
        for (x, five) in boxes {
            let [low, first, median, third, high] = five.map(|y| frame.y(y, series.right));
            let left = frame.x(*x) + from + 1.0;
            let (middle, wide) = (left + wide / 2.0 - 1.0, wide - 2.0);
            element(
                out,
                format_args!(
                    "<path d=\"M{middle:.1} {high:.1}V{third:.1}M{middle:.1} {first:.1}V{low:.1}\
                     M{left:.1} {third:.1}h{wide:.1}V{first:.1}h-{wide:.1}z\" stroke=\"{colour}\" \
                     stroke-width=\"1.5\" fill=\"{colour}\" fill-opacity=\"0.2\"/>"
                ),
            );
            element(
                out,
                format_args!(
                    "<path d=\"M{left:.1} {median:.1}h{wide:.1}\" stroke=\"{colour}\" \
                     stroke-width=\"3\"/>"
                ),
            );
        }
    }

    /// The 95 % confidence interval of a point, if it is wide enough to be visible next to a symbol.
    fn interval(&self, series: &Series, x: f64, point: &Point, colour: &str, out: &mut String) {
        let Some([low, high]) = point.drawn_interval(self.scale_of(series)) else { return };
        let (top, foot) = (self.frame.y(high, series.right), self.frame.y(low, series.right));
        if foot - top < 3.0 {
            return;
        }
        let left = x - 5.0;
        element(
            out,
            format_args!(
                "<path d=\"M{left:.1} {top:.1}h10M{x:.1} {top:.1}V{foot:.1}M{left:.1} {foot:.1}h10\" \
                 stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            ),
        );
    }

    fn scale_of(&self, series: &Series) -> &Scale {
        let right = self.panel.right.as_ref().filter(|_| series.right);
        &right.unwrap_or(&self.panel.y).scale
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
            "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"{}\" \
             stroke-linejoin=\"round\"{}/>",
            stroke.width(),
            dashes(stroke)
        ),
    );
}

/// The attribute for the style of a line: dashed is only what was not measured.
pub(super) const fn dashes(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Model => " stroke-dasharray=\"10 3 2 3\"",
        _ => "",
    }
}

fn bar(out: &mut String, (left, wide): (f64, f64), (top, foot): (f64, f64), colour: &str) {
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

/// The symbol of a point.
pub(super) fn draw_symbol(
    out: &mut String,
    index: usize,
    (x, y): (f64, f64),
    size: f64,
    colour: &str,
) {
    let resized = if size == 1.0 { String::new() } else { format!(" scale({size})") };
    element(
        out,
        format_args!(
            "<path transform=\"translate({x:.1} {y:.1}){resized}\" d=\"{}\" fill=\"{colour}\"/>",
            symbol::symbol(index).path
        ),
    );
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
