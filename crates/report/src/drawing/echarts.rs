//! A chart as options for ECharts: plain JSON. Where an option needs a function, the JSON has its
//! name and `assets/charts.js` the function.

use serde_json::{Value, json};

use super::text_width::width;
use super::theme::{DARK, HEAT, LIGHT, Palette};
use super::ticks::NINES;
use super::{Axis, Chart, Panel, Point, Scale, Series, Shape, Stroke, band, round};

/// Rows of a legend for which a chart has room; each further row makes it higher.
const LEGEND_ROWS: usize = 2;
/// An axis with more names shows only some of them.
const NAMES_SHOWN_MAX: usize = 12;
/// Width of one of two charts side by side, in pixels: the room for a legend.
const CHART_WIDTH: f64 = 540.0;
/// Height of a row of the legend, in pixels.
const LEGEND_ROW: usize = 22;

/// The charts of a page, numbered.
#[derive(Default)]
pub(crate) struct Charts(Vec<Value>);

impl Charts {
    /// Adds a chart and returns its number.
    pub(crate) fn add(&mut self, chart: &Chart) -> usize {
        self.0.push(option(chart));
        self.0.len() - 1
    }

    /// Whether there are no charts.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All charts and both themes as JSON for a `<script>` element: without `<`, which could end it,
    /// and without the separators that JavaScript reads as line ends.
    pub(crate) fn into_script_json(self) -> String {
        json!({ "options": self.0, "themes": { "light": theme(&LIGHT), "dark": theme(&DARK) } })
            .to_string()
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
    }
}

fn theme(palette: &Palette) -> Value {
    let Palette { text, faint, line, ground, .. } = palette;
    let axis = json!({
        "axisLine": { "show": true, "lineStyle": { "color": faint } },
        "axisTick": { "show": true, "lineStyle": { "color": faint } },
        "axisLabel": { "color": faint },
        "nameTextStyle": { "color": faint },
        "splitLine": { "show": true, "lineStyle": { "color": line } },
        "minorSplitLine": { "show": false },
    });
    json!({
        "color": palette.series,
        "backgroundColor": "transparent",
        "textStyle": { "color": text },
        "valueAxis": axis,
        "logAxis": axis,
        "categoryAxis": axis,
        "legend": {
            "textStyle": { "color": text }, "inactiveColor": line,
            "pageTextStyle": { "color": faint }, "pageIconColor": text,
            "pageIconInactiveColor": line,
        },
        "tooltip": {
            "backgroundColor": ground, "borderColor": line, "textStyle": { "color": text },
        },
        "visualMap": { "textStyle": { "color": faint } },
        "markLine": { "label": { "color": faint }, "lineStyle": { "color": faint } },
    })
}

pub(crate) fn option(chart: &Chart) -> Value {
    let names = chart.names();
    let heat = chart.panels.iter().find_map(largest_cell);
    let several = chart.panels.len() > 1;
    let mut series = Vec::new();
    let (mut grids, mut xs, mut ys) = (Vec::new(), Vec::new(), Vec::new());
    for (number, panel) in chart.panels.iter().enumerate() {
        grids.push(grid(chart, number, &names));
        let last = number + 1 == chart.panels.len();
        xs.push(x_axis(&panel.x, number, several, last));
        let left = ys.len();
        ys.push(y_axis(&panel.y, number, several));
        if let Some(right) = &panel.right {
            let mut axis = y_axis(right, number, several);
            axis["position"] = json!("right");
            axis["splitLine"] = json!({ "show": false });
            ys.push(axis);
        }
        let first = series.len();
        for drawn in &panel.series {
            let y = left + usize::from(drawn.right && panel.right.is_some());
            series.extend(of_series(panel, drawn, &names, (number, y)));
        }
        if let Some(carrier) = series.get_mut(first) {
            marks(panel, carrier);
        }
    }
    let mut option = json!({
        "animation": false,
        "aria": { "enabled": true, "label": { "description": chart.caption } },
        "textStyle": { "fontFamily": "system-ui, sans-serif" },
        "grid": grids,
        "xAxis": xs,
        "yAxis": ys,
        "tooltip": { "trigger": if several { "axis" } else { "item" }, "confine": true },
        "series": series,
    });
    if let Some(largest) = heat {
        option["visualMap"] = json!({
            "type": "continuous", "min": 0, "max": round(largest), "dimension": 2,
            "orient": "horizontal", "left": "center", "top": 0, "calculable": false,
            "text": ["many operations", "few"], "inRange": { "color": HEAT }, "itemHeight": 160,
        });
    } else {
        option["legend"] =
            json!({ "type": "plain", "top": 0, "left": 0, "right": 0, "data": names });
    }
    if several {
        let all: Vec<usize> = (0..chart.panels.len()).collect();
        option["axisPointer"] = json!({ "link": [{ "xAxisIndex": "all" }] });
        option["dataZoom"] =
            json!([{ "type": "slider", "xAxisIndex": all, "bottom": 4, "height": 18 }]);
    }
    option
}

/// The largest value among the cells of a panel.
fn largest_cell(panel: &Panel) -> Option<f64> {
    panel.series.iter().find_map(|series| match &series.shape {
        Shape::Cells(cells) => Some(cells.iter().map(|cell| cell.2).fold(0.0, f64::max)),
        _ => None,
    })
}

/// Rows that a legend needs in one of two charts side by side.
fn legend_rows(names: &[&str]) -> usize {
    let (mut rows, mut x) = (1, 0.0);
    for name in names {
        let wide = 42.0 + width(name, 12.0);
        if x > 0.0 && x + wide > CHART_WIDTH {
            (rows, x) = (rows + 1, 0.0);
        }
        x += wide;
    }
    rows
}

/// Pixels that a long legend adds to the height of a chart.
pub(crate) fn legend_height(chart: &Chart) -> usize {
    let beyond = legend_rows(&chart.names()).saturating_sub(LEGEND_ROWS);
    if chart.panels.len() > 1 { 0 } else { LEGEND_ROW * beyond }
}

fn grid(chart: &Chart, number: usize, names: &[&str]) -> Value {
    let right = if chart.panels[number].right.is_some() { 84 } else { 32 };
    let mut grid = json!({ "left": 96, "right": right, "outerBoundsMode": "none" });
    if chart.panels.len() == 1 {
        grid["top"] = json!(24 + LEGEND_ROW * legend_rows(names).max(LEGEND_ROWS));
        grid["bottom"] = json!(48);
    } else {
        // Below the legend, above the slider.
        let each = 84.0 / chart.panels.len() as f64;
        grid["top"] = json!(format!("{}%", round(10.0 + each * number as f64)));
        grid["height"] = json!(format!("{}%", round(each - 6.0)));
    }
    grid
}

fn kind_of(axis: &Axis) -> Value {
    match &axis.scale {
        Scale::Linear => json!({ "type": "value" }),
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

fn with(mut option: Value, more: Value) -> Value {
    if let (Value::Object(option), Value::Object(more)) = (&mut option, more) {
        option.extend(more);
    }
    option
}

fn x_axis(axis: &Axis, number: usize, several: bool, last: bool) -> Value {
    let mut option = with(
        json!({
            "gridIndex": number, "nameLocation": "middle", "nameGap": 28,
            "name": if last { axis.name.as_str() } else { "" },
            "splitLine": { "show": false },
        }),
        kind_of(axis),
    );
    if several {
        option["min"] = json!(0);
        option["max"] = json!("dataMax");
    }
    option
}

fn y_axis(axis: &Axis, number: usize, several: bool) -> Value {
    let mut option = with(
        json!({
            "gridIndex": number, "name": axis.name, "nameLocation": "middle",
            "nameGap": if matches!(axis.scale, Scale::Names(_)) { 66 } else { 74 },
            "nameRotate": 90,
        }),
        kind_of(axis),
    );
    if several {
        option["splitNumber"] = json!(3);
    }
    option
}

/// A series, and its 95 % confidence intervals if there are any.
fn of_series(panel: &Panel, series: &Series, names: &[&str], (x, y): (usize, usize)) -> Vec<Value> {
    let number = names.iter().position(|name| *name == series.name).unwrap_or(0);
    let identity = json!({ "name": series.name, "xAxisIndex": x, "yAxisIndex": y });
    let y_scale = match &panel.right {
        Some(right) if series.right => &right.scale,
        _ => &panel.y.scale,
    };
    let has = |point: &Point| {
        panel.x.scale.has(point.x) && point.y.is_none_or(|value| y_scale.has(value))
    };
    match &series.shape {
        Shape::Line { points, stroke: Stroke::Rings } => {
            let data: Vec<Value> = points.iter().filter(|p| has(p)).map(pair).collect();
            let rings = json!({
                "type": "scatter", "data": data, "symbol": "circle", "symbolSize": 19, "z": 5,
                // Visible on both backgrounds.
                "itemStyle": {
                    "color": "rgba(0, 0, 0, 0)", "borderColor": "#808080", "borderWidth": 2,
                },
                "silent": true,
            });
            vec![with(rings, identity)]
        }
        Shape::Line { points, stroke: Stroke::Points } => {
            let data: Vec<Value> = points.iter().filter(|p| has(p)).map(pair).collect();
            let separate = json!({
                "type": "scatter", "data": data, "symbol": symbol(number), "symbolSize": 12, "z": 5,
            });
            vec![with(separate, identity)]
        }
        Shape::Line { points, stroke } => {
            let data: Vec<Value> = points.iter().filter(|p| has(p)).map(pair).collect();
            let kind = match stroke {
                Stroke::Model => json!([10, 3, 2, 3]),
                stroke => json!(stroke.kind()),
            };
            let line = json!({
                "type": "line", "data": data, "connectNulls": false,
                "showSymbol": stroke.has_symbols(),
                "symbol": if stroke.is_measured() { symbol(number) } else { "none" },
                "symbolSize": if *stroke == Stroke::Dashed { 5 } else { 8 },
                "lineStyle": { "type": kind, "width": 2 },
                // The legend would show a symbol where the line has none.
                "itemStyle": { "opacity": if stroke.is_measured() { 1 } else { 0 } },
                // Only measured points have a tooltip.
                "silent": !stroke.is_measured(),
            });
            let of_points = match band(&panel.x, points) {
                Some(edges) => Some(with(band_of(points, &edges), identity.clone())),
                None => intervals(points.iter().filter(|p| has(p)), &identity, None),
            };
            std::iter::once(with(line, identity)).chain(of_points).collect()
        }
        Shape::Bars { points, stacked } => {
            let data: Vec<Value> = points.iter().filter(|p| has(p)).map(pair).collect();
            let mut bars = json!({ "type": "bar", "data": data, "barMaxWidth": 56 });
            if *stacked {
                bars["stack"] = json!("all");
                return vec![with(bars, identity)];
            }
            let side_by_side: Vec<&Series> = panel.series.iter().filter(is_bars).collect();
            let index = side_by_side.iter().position(|s| s.name == series.name).unwrap_or(0);
            let shown = points.iter().filter(|p| has(p));
            std::iter::once(with(bars, identity.clone()))
                .chain(intervals(shown, &identity, Some((index, side_by_side.len()))))
                .collect()
        }
        Shape::Cells(cells) => {
            let data: Vec<Value> = cells
                .iter()
                .map(|(column, row, value)| json!([column, row, round(*value)]))
                .collect();
            vec![with(json!({ "type": "heatmap", "data": data, "silent": true }), identity)]
        }
    }
}

fn is_bars(series: &&Series) -> bool {
    matches!(series.shape, Shape::Bars { .. })
}

fn pair(point: &Point) -> Value {
    json!([round(point.x), point.y.map(round)])
}

/// 95 % confidence intervals as a band behind a line: x, y, low, high.
fn band_of(points: &[Point], edges: &[[f64; 3]]) -> Value {
    let data: Vec<Value> = points
        .iter()
        .zip(edges)
        .map(|(point, [x, low, high])| {
            json!([round(*x), point.y.map(round), round(*low), round(*high)])
        })
        .collect();
    json!({
        "type": "custom", "renderItem": "band", "data": data, "silent": true, "clip": true,
        // The axis encloses the upper ends; lower ends below it are clipped.
        "encode": { "x": 0, "y": [1, 3] }, "z": 1, "tooltip": { "show": false },
    })
}

/// 95 % confidence intervals as a series of the same name, so that the legend hides both together.
///
/// * `bar` - index and number of the bars side by side
fn intervals<'a>(
    points: impl Iterator<Item = &'a Point>,
    identity: &Value,
    bar: Option<(usize, usize)>,
) -> Option<Value> {
    let (index, count) = bar.unwrap_or((0, 0));
    let data: Vec<Value> = points
        .filter_map(|p| Some((p.x, p.y?, p.interval?)))
        .map(|(x, y, [low, high])| {
            json!([round(x), round(y), round(low), round(high), index, count])
        })
        .collect();
    if data.is_empty() {
        return None;
    }
    let series = json!({
        "type": "custom", "renderItem": "interval", "data": data, "silent": true, "clip": true,
        "encode": { "x": 0, "y": 1 }, "z": 4, "tooltip": { "show": false },
    });
    Some(with(series, identity.clone()))
}

/// The symbol of a series, which distinguishes lines where colours do not.
fn symbol(number: usize) -> &'static str {
    ["circle", "rect", "triangle", "diamond", "roundRect", "arrow"][number % 6]
}

/// Adds vertical lines and shades to `carrier`, the panel's first series.
fn marks(panel: &Panel, carrier: &mut Value) {
    let named = panel.marks.iter().map(|mark| (mark.name.as_str(), mark.x));
    let nines = NINES.into_iter().filter(|_| panel.x.scale == Scale::Nines);
    let lines: Vec<Value> = named
        .chain(nines)
        .map(|(name, x)| json!({ "xAxis": round(x), "label": { "formatter": name } }))
        .collect();
    if !lines.is_empty() {
        let position = if panel.x.scale == Scale::Nines { "start" } else { "insideEndTop" };
        carrier["markLine"] = json!({
            "silent": true, "symbol": "none", "animation": false, "data": lines,
            "label": { "position": position, "distance": 8 },
            "lineStyle": { "type": "dotted", "width": 1 },
        });
    }
    if !panel.shades.is_empty() {
        let areas: Vec<Value> = panel
            .shades
            .iter()
            .map(|[from, to]| json!([{ "xAxis": from }, { "xAxis": to }]))
            .collect();
        carrier["markArea"] = json!({
            "silent": true, "itemStyle": { "color": "rgba(128, 128, 128, 0.18)" },
            "label": { "show": false }, "data": areas,
        });
    }
}
