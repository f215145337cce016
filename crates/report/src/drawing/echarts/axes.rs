//! Axes and their arrangement as options for ECharts.

use serde_json::{Value, json};

use super::{CHART_WIDTH, legend_rows, with};
use crate::drawing::ruler::{Ruler, Rulers};
use crate::drawing::{Axis, Chart, Layout, Panel, Scale, round};

/// Rows of a legend for which a chart has room; each further row makes it higher.
pub(super) const LEGEND_ROWS: usize = 2;
/// Height of a row of the legend, in pixels.
pub(super) const LEGEND_ROW: usize = 22;
/// Small multiples side by side on a narrow screen.
const NARROW_COLUMNS: usize = 2;
/// An axis with more names shows only some of them.
const NAMES_SHOWN_MAX: usize = 12;

/// The rectangle of a panel.
pub(super) fn grid(chart: &Chart, number: usize) -> Value {
    let count = chart.panels.len();
    if let Some([left, top, width, height]) = cell(chart, number) {
        let share = |share: f64| format!("{}%", round(share));
        return json!({
            "left": share(left), "top": share(top), "width": share(width),
            "height": share(height), "outerBoundsMode": "none",
        });
    }
    let right = if chart.panels[number].right.is_some() { 84 } else { 32 };
    let mut grid = json!({ "left": 96, "right": right, "outerBoundsMode": "none" });
    if count == 1 {
        grid["top"] = json!(24 + LEGEND_ROW * legend_rows(chart).max(LEGEND_ROWS));
        grid["bottom"] = json!(48);
    } else {
        // Below the legend, above the slider.
        let each = 84.0 / count as f64;
        grid["top"] = json!(format!("{}%", round(10.0 + each * number as f64)));
        grid["height"] = json!(format!("{}%", round(each - 6.0)));
    }
    grid
}

/// Left edge, top, width and height of one of several small multiples, in percent.
fn cell(chart: &Chart, number: usize) -> Option<[f64; 4]> {
    let Layout::Grid(columns) = chart.layout else { return None };
    let columns = columns.max(1);
    let rows = chart.panels.len().div_ceil(columns);
    // Few columns are for narrow screens, on which the numbers need a larger share.
    let left = if columns <= NARROW_COLUMNS { 17.0 } else { 9.0 };
    let (wide, high) = ((99.0 - left) / columns as f64, 92.0 / rows as f64);
    let (row, column) = ((number / columns) as f64, (number % columns) as f64);
    let title_and_numbers = if rows > 2 { 9.0 } else { 14.0 };
    Some([left + wide * column, 7.0 + high * row, wide - 2.0, high - title_and_numbers])
}

/// The arrangement of small multiples for a narrow screen, which replaces the one for a wide one.
pub(super) fn narrow(chart: &Chart, rulers: &[Rulers]) -> Option<Value> {
    let Layout::Grid(columns) = chart.layout else { return None };
    if columns <= NARROW_COLUMNS {
        return None;
    }
    let chart = &Chart { layout: Layout::Grid(NARROW_COLUMNS), ..chart.clone() };
    let panels = || chart.panels.iter().zip(rulers).enumerate();
    let grids = panels().map(|(number, _)| grid(chart, number));
    let xs = panels().map(|(number, (_, rulers))| x_axis(chart, number, rulers));
    let ys = panels().map(|(number, (panel, rulers))| y_axis(chart, number, &panel.y, &rulers.y));
    Some(json!({
        "grid": grids.collect::<Vec<_>>(), "title": titles(chart),
        "xAxis": xs.collect::<Vec<_>>(), "yAxis": ys.collect::<Vec<_>>(),
    }))
}

/// The titles of small multiples.
pub(super) fn titles(chart: &Chart) -> Vec<Value> {
    let of_panel = |(number, panel): (usize, &Panel)| {
        let [left, top, ..] = cell(chart, number)?;
        let font = json!({ "fontSize": 12, "fontWeight": "bold" });
        Some(json!({
            "text": panel.title, "left": format!("{}%", round(left)), "padding": 0,
            "top": format!("{}%", round(top - 4.0)), "textStyle": font,
        }))
    };
    chart.panels.iter().enumerate().filter_map(of_panel).collect()
}

/// Which axes of one of several panels have names, and whether the left one has numbers.
struct Edge {
    is_first_column: bool,
    is_last_row: bool,
}

impl Edge {
    fn of(chart: &Chart, number: usize) -> Edge {
        match chart.layout {
            Layout::Grid(columns) => Edge {
                is_first_column: number.is_multiple_of(columns.max(1)),
                is_last_row: number + columns >= chart.panels.len(),
            },
            Layout::OverTime => {
                Edge { is_first_column: true, is_last_row: number + 1 == chart.panels.len() }
            }
        }
    }
}

pub(super) fn x_axis(chart: &Chart, number: usize, rulers: &Rulers) -> Value {
    let axis = &chart.panels[number].x;
    let edge = Edge::of(chart, number);
    let mut option = with(
        json!({
            "gridIndex": number, "nameLocation": "middle", "nameGap": 28,
            "name": if edge.is_last_row { axis.name.as_str() } else { "" },
            // At the bottom, also where the y axis has negative values.
            "splitLine": { "show": false }, "axisLine": { "onZero": false },
        }),
        kind_of(axis),
    );
    if chart.is_over_time() {
        option["min"] = json!(0);
        option["max"] = json!("dataMax");
    } else {
        range(&mut option, axis, &rulers.x);
    }
    option
}

pub(super) fn y_axis(chart: &Chart, number: usize, axis: &Axis, ruler: &Ruler) -> Value {
    let edge = Edge::of(chart, number);
    let mut option = with(
        json!({
            "gridIndex": number, "nameLocation": "middle",
            "name": if edge.is_first_column { axis.name.as_str() } else { "" },
            "nameGap": match (&axis.scale, chart.layout) {
                (_, Layout::Grid(_)) => 44,
                (Scale::Names(_), Layout::OverTime) => 66,
                (_, Layout::OverTime) => 60,
            },
            "nameRotate": 90,
        }),
        kind_of(axis),
    );
    if chart.is_over_time() {
        // The range follows the part of the run that the reader selects.
        option["splitNumber"] = json!(3);
    } else {
        range(&mut option, axis, ruler);
    }
    if !edge.is_first_column {
        option["axisLabel"] = json!({ "show": false });
    }
    option
}

/// The range and the ticks of a picture's axis.
fn range(option: &mut Value, axis: &Axis, ruler: &Ruler) {
    if !matches!(axis.scale, Scale::Linear | Scale::Span | Scale::Log(_)) {
        return;
    }
    option["min"] = json!(ruler.first);
    option["max"] = json!(ruler.last);
    option["axisTick"] = json!({ "customValues": ruler.ticks });
    option["axisLabel"] = json!({ "customValues": ruler.ticks, "hideOverlap": true });
    // Read by the page's script, because JSON cannot contain a function.
    let (divisor, suffix) = ruler.magnitude();
    option["magnitude"] = json!([divisor, suffix]);
}

fn kind_of(axis: &Axis) -> Value {
    match &axis.scale {
        Scale::Linear => json!({ "type": "value" }),
        Scale::Span => json!({ "type": "value", "scale": true }),
        Scale::Log(base) => json!({ "type": "log", "logBase": base }),
        Scale::Nines => json!({
            "type": "log", "logBase": 10,
            "axisLabel": { "show": false }, "axisTick": { "show": false },
        }),
        Scale::Names(names) if names.len() <= NAMES_SHOWN_MAX => {
            let room = (CHART_WIDTH - 130.0) / names.len().max(1) as f64;
            let label = json!({
                "interval": 0, "width": round(room), "overflow": "break", "lineHeight": 14,
            });
            json!({ "type": "category", "data": names, "axisLabel": label })
        }
        Scale::Names(names) => json!({ "type": "category", "data": names }),
    }
}
