//! A chart as an SVG picture for slides: without scripts, links or embedded fonts, 960 pixels wide.
//!
//! It shows what the page's chart shows, without a browser. `docs/adr/0018-pictures-of-charts.md`
//! has the reasons for a separate writer.

mod elements;
mod frame;
mod labels;
mod shapes;

use super::text_width::{fitted, width};
use super::theme::{HEAT, Palette, Theme};
use super::{Chart, Layout, Shape, Stroke, ruler};
use elements::{element, escaped, text};
use frame::{Area, Frame, Shown};
use shapes::Content;

/// Font names in order of preference; every system has the last.
pub(crate) const FONTS: &str =
    "'DejaVu Sans', 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif";
/// Width of a picture, in pixels: a 16:9 slide with one panel.
const WIDTH: f64 = 960.0;
/// Height with one panel.
const HEIGHT: f64 = 540.0;
/// Where a legend of three rows ends.
const LEGEND_ROOM: f64 = 98.0;
/// Where the title ends.
const TITLE_ONLY: f64 = 36.0;
/// Height of each panel over time.
const PANEL_HEIGHT: f64 = 150.0;
/// Height of a row of small multiples, with the titles above them.
const ROW_HEIGHT: f64 = 236.0;
/// Room for the title above each of several panels.
const PANEL_TITLE: f64 = 26.0;
/// Room between small multiples side by side.
const BETWEEN: f64 = 20.0;
/// Margins for numbers on the left, on the right (without and with an axis there), and below.
const LEFT: f64 = 104.0;
const RIGHT: f64 = 36.0;
const RIGHT_AXIS: f64 = 96.0;
const BELOW: f64 = 76.0;
/// Font sizes, in pixels.
const TITLE: f64 = 20.0;
const LEGEND: f64 = 13.5;
const SOURCE: f64 = 11.0;

/// The picture of a chart; `source` is a line at the bottom with the origin of the numbers.
pub(crate) fn draw(chart: &Chart, theme: Theme, source: &str) -> String {
    let palette = theme.palette();
    let several = chart.panels.len() > 1;
    let mut legend = String::new();
    let below_legend = match colour_ends(chart) {
        Some(ends) => heat_legend(ends, palette, &mut legend),
        None => series_legend(chart, palette, &mut legend),
    };
    let top = below_legend + 12.0;
    let height = match chart.layout {
        Layout::Grid(columns) => {
            let rows = chart.panels.len().div_ceil(columns.max(1)).max(1);
            top + ROW_HEIGHT * rows as f64 + BELOW - PANEL_TITLE
        }
        Layout::OverTime if several => top + PANEL_HEIGHT * chart.panels.len() as f64 + BELOW,
        // A long legend makes the picture higher, not the panel lower.
        Layout::OverTime => HEIGHT + (below_legend - LEGEND_ROOM).max(0.0),
    };
    let mut out = String::new();
    element(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"{FONTS}\" role=\"img\" \
         aria-labelledby=\"title desc\" fill=\"none\">"
        ),
    );
    element(&mut out, format_args!("<title id=\"title\">{}</title>", escaped(&chart.title)));
    element(&mut out, format_args!("<desc id=\"desc\">{}</desc>", escaped(&chart.caption)));
    element(
        &mut out,
        format_args!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"{}\"/>", palette.ground),
    );
    let title = fitted(&chart.title, TITLE, WIDTH - 40.0);
    text(&mut out, (20.0, 32.0), "start", TITLE, palette.text, &title);
    out.push_str(&legend);
    let right = if chart.panels.iter().any(|p| p.right.is_some()) { RIGHT_AXIS } else { RIGHT };
    for (number, (panel, rulers)) in chart.panels.iter().zip(ruler::rulers(chart)).enumerate() {
        let (area, shown) = area_of(
            chart,
            number,
            Area { left: LEFT, top, width: WIDTH - LEFT - right, height: height - top - BELOW },
        );
        let frame = Frame::new(rulers, area);
        frame.draw(panel, shown, palette, &mut out);
        shapes::draw(&Content { chart, panel, frame: &frame, palette }, number, &mut out);
    }
    let source = fitted(source, SOURCE, WIDTH - 40.0);
    let bottom = (WIDTH - 20.0, height - 10.0);
    text(&mut out, bottom, "end", SOURCE, palette.faint, &source);
    out.push_str("</svg>\n");
    out
}

/// The area of a panel within that of all, and which of its axes have names.
fn area_of(chart: &Chart, number: usize, all: Area) -> (Area, Shown) {
    let count = chart.panels.len();
    match chart.layout {
        Layout::Grid(columns) => {
            let columns = columns.max(1);
            let (row, column) = (number / columns, number % columns);
            let wide = (all.width + BETWEEN) / columns as f64;
            let area = Area {
                left: all.left + wide * column as f64,
                top: all.top + PANEL_TITLE + ROW_HEIGHT * row as f64,
                width: wide - BETWEEN,
                height: ROW_HEIGHT - 2.0 * PANEL_TITLE,
            };
            let is_first = column == 0;
            let is_last_row = number + columns >= count;
            (area, Shown { x_name: is_last_row, y_name: is_first, y_numbers: is_first })
        }
        Layout::OverTime if count > 1 => {
            let area = Area {
                top: all.top + PANEL_HEIGHT * number as f64,
                height: PANEL_HEIGHT - 34.0,
                ..all
            };
            (area, Shown { x_name: number + 1 == count, y_name: true, y_numbers: true })
        }
        Layout::OverTime => (all, Shown { x_name: true, y_name: true, y_numbers: true }),
    }
}

/// What the colours of a heat map mean; `None` for other charts.
fn colour_ends(chart: &Chart) -> Option<&[String; 2]> {
    let mut all = chart.panels.iter().flat_map(|panel| &panel.series);
    all.find_map(|series| match &series.shape {
        Shape::Cells { ends, .. } => Some(ends),
        _ => None,
    })
}

/// Draws the legend in as many lines as necessary; returns where it ends.
fn series_legend(chart: &Chart, palette: &Palette, out: &mut String) -> f64 {
    if chart.legend().is_empty() {
        return TITLE_ONLY;
    }
    let (mut x, mut y) = (20.0, 58.0);
    for (full, index) in chart.legend() {
        let name = fitted(full, LEGEND, WIDTH - 120.0);
        let wide = 34.0 + width(&name, LEGEND) + 22.0;
        if x > 20.0 && x + wide > WIDTH - 20.0 {
            (x, y) = (20.0, y + 20.0);
        }
        let colour = palette.colour(index);
        match shape_of(chart, full) {
            Some(Shape::Bars { .. } | Shape::Boxes(_)) => element(
                out,
                format_args!(
                    "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"26\" height=\"12\" fill=\"{colour}\"/>",
                    y - 10.5
                ),
            ),
            Some(Shape::Line { stroke: Stroke::Rings, .. }) => {
                shapes::ring(out, (x + 13.0, y - 4.5), palette);
            }
            Some(Shape::Line { stroke, .. }) => {
                let long = if stroke.is_joined() { 26 } else { 0 };
                element(
                    out,
                    format_args!(
                        "<path d=\"M{x:.1} {:.1}h{long}\" stroke=\"{colour}\" \
                         stroke-width=\"{}\"{}/>",
                        y - 4.5,
                        stroke.width(),
                        shapes::dashes(*stroke)
                    ),
                );
                if let Some(size) = stroke.symbol_scale() {
                    shapes::draw_symbol(out, index, (x + 13.0, y - 4.5), size, colour);
                }
            }
            _ => {}
        }
        text(out, (x + 34.0, y), "start", LEGEND, palette.text, &name);
        x += wide;
    }
    y
}

/// The first shape of a name, which the legend shows.
fn shape_of<'a>(chart: &'a Chart, name: &str) -> Option<&'a Shape> {
    let mut all = chart.panels.iter().flat_map(|panel| &panel.series);
    all.find(|series| series.name == name).map(|series| &series.shape)
}

/// Draws what the colours of cells mean; returns where it ends.
fn heat_legend([darkest, brightest]: &[String; 2], palette: &Palette, out: &mut String) -> f64 {
    text(out, (20.0, 58.0), "start", LEGEND, palette.text, darkest);
    let left = 20.0 + width(darkest, LEGEND) + 10.0;
    for (step, colour) in HEAT.iter().enumerate() {
        element(
            out,
            format_args!(
                "<rect x=\"{:.1}\" y=\"46\" width=\"30\" height=\"14\" fill=\"{colour}\"/>",
                left + 30.0 * step as f64
            ),
        );
    }
    let right = left + 30.0 * HEAT.len() as f64 + 10.0;
    text(out, (right, 58.0), "start", LEGEND, palette.text, brightest);
    58.0
}
