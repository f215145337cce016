//! A chart as options for ECharts: plain JSON. Where an option needs a function, the JSON has its
//! name and `assets/charts.js` the function.

mod axes;
mod series;

use serde_json::{Value, json};

use super::text_width::width;
use super::theme::{DARK, HEAT, LIGHT, Palette};
use super::{Chart, Layout, Panel, Shape, round, ruler};
use axes::{LEGEND_ROW, LEGEND_ROWS};
use series::Identity;

/// Width of one of two charts side by side, in pixels: the room for a legend.
const CHART_WIDTH: f64 = 540.0;

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
        "title": { "textStyle": { "color": text } },
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
    let mut series = Vec::new();
    let (mut grids, mut xs, mut ys) = (Vec::new(), Vec::new(), Vec::new());
    let all_rulers = ruler::rulers(chart);
    for (number, (panel, rulers)) in chart.panels.iter().zip(&all_rulers).enumerate() {
        grids.push(axes::grid(chart, number));
        xs.push(axes::x_axis(chart, number, rulers));
        let left = ys.len();
        ys.push(axes::y_axis(chart, number, &panel.y, &rulers.y));
        if let (Some(right), Some(ruler)) = (&panel.right, &rulers.right) {
            let mut axis = axes::y_axis(chart, number, right, ruler);
            axis["position"] = json!("right");
            axis["splitLine"] = json!({ "show": false });
            ys.push(axis);
        }
        let first = series.len();
        for drawn in &panel.series {
            let look = names.iter().find(|(name, _)| *name == drawn.name).map_or(0, |(_, i)| *i);
            let y = left + usize::from(drawn.right && panel.right.is_some());
            series.extend(series::of_series(panel, drawn, &Identity { x: number, y, look }));
        }
        if let Some(carrier) = series.get_mut(first) {
            series::lines(panel, rulers, carrier);
        }
        series.extend(series::flags(panel, rulers, &Identity { x: number, y: left, look: 0 }));
    }
    let over_time = chart.is_over_time();
    let mut option = json!({
        "animation": false,
        "aria": { "enabled": true, "label": { "description": chart.caption } },
        "textStyle": { "fontFamily": "system-ui, sans-serif" },
        "grid": grids,
        "xAxis": xs,
        "yAxis": ys,
        "tooltip": { "trigger": if over_time { "axis" } else { "item" }, "confine": true },
        "series": series,
    });
    if !over_time {
        // The name of the series, and the point's values in words.
        option["tooltip"]["formatter"] = json!("{a}<br>{b}");
    }
    if let Layout::Grid(_) = chart.layout {
        option["title"] = json!(axes::titles(chart));
        // Read by the page's script.
        option["narrow"] = json!(axes::narrow(chart, &all_rulers));
    }
    if let Some((largest, [darkest, brightest])) = heat {
        option["visualMap"] = json!({
            "type": "continuous", "min": 0, "max": round(largest), "dimension": 2,
            "orient": "horizontal", "left": "center", "top": 0, "calculable": false,
            "text": [brightest, darkest], "inRange": { "color": HEAT }, "itemHeight": 160,
        });
    } else {
        let legend: Vec<&str> = chart.legend().into_iter().map(|(name, _)| name).collect();
        option["legend"] =
            json!({ "type": "plain", "top": 0, "left": 0, "right": 0, "data": legend });
    }
    if over_time {
        let all: Vec<usize> = (0..chart.panels.len()).collect();
        option["axisPointer"] = json!({ "link": [{ "xAxisIndex": "all" }] });
        option["dataZoom"] =
            json!([{ "type": "slider", "xAxisIndex": all, "bottom": 4, "height": 18 }]);
    }
    option
}

/// The largest value among the cells of a panel, and what the colours mean.
fn largest_cell(panel: &Panel) -> Option<(f64, &[String; 2])> {
    panel.series.iter().find_map(|series| match &series.shape {
        Shape::Cells { cells, ends } => {
            Some((cells.iter().map(|cell| cell.2).fold(0.0, f64::max), ends))
        }
        _ => None,
    })
}

/// Rows that a legend needs in one of two charts side by side.
fn legend_rows(chart: &Chart) -> usize {
    let (mut rows, mut x) = (1, 0.0);
    for (name, _) in chart.legend() {
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
    let beyond = legend_rows(chart).saturating_sub(LEGEND_ROWS);
    if chart.panels.len() > 1 { 0 } else { LEGEND_ROW * beyond }
}

fn with(mut option: Value, more: Value) -> Value {
    if let (Value::Object(option), Value::Object(more)) = (&mut option, more) {
        option.extend(more);
    }
    option
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Axis, Level, Point, Scale, Series, Stroke};

    fn chart(points: Vec<Point>, levels: &[(&str, f64)]) -> Chart {
        let series = Series {
            name: "random read".to_owned(),
            right: false,
            shape: Shape::Line { points, stroke: Stroke::Solid },
        };
        let levels = levels.iter().map(|(name, y)| Level { name: (*name).to_owned(), y: *y });
        let panel = Panel {
            x: Axis { name: "queue depth".to_owned(), scale: Scale::Log(2) },
            y: Axis { name: "throughput, MiB/s".to_owned(), scale: Scale::Linear },
            series: vec![series],
            levels: levels.collect(),
            ..Panel::default()
        };
        let colours = vec![("random read".to_owned(), 3)];
        Chart { panels: vec![panel], colours, ..Chart::default() }
    }

    #[test]
    fn the_page_has_the_axes_of_the_picture() {
        let points = [(1.0, 20_000.0), (16.0, 97_000.0)].map(|(x, y)| Point::at(x, Some(y)));
        let chart = chart(points.to_vec(), &[]);
        let (option, rulers) = (option(&chart), &ruler::rulers(&chart)[0]);
        let y = &option["yAxis"][0];
        assert_eq!((y["min"].as_f64(), y["max"].as_f64()), (Some(0.0), Some(rulers.y.last)));
        assert_eq!(y["axisLabel"]["customValues"], json!(rulers.y.ticks));
        assert_eq!(y["magnitude"], json!([1e3, "k"]));
        assert_eq!(option["xAxis"][0]["axisTick"]["customValues"], json!([1.0, 16.0]));
        assert_eq!(option["series"][0]["colour"], 3);
        assert_eq!(option["series"][0]["unit"], "MiB/s");
    }

    #[test]
    fn a_tooltip_has_the_exact_value_with_unit_and_interval() {
        let points = vec![
            Point::with_half_width(4.0, Some(66.6729), Some(6.5)),
            Point::with_half_width(16.0, Some(1280.4), Some(1.0)),
        ];
        let option = option(&chart(points, &[]));
        let data = &option["series"][0]["data"];
        assert_eq!(data[0]["name"], "queue depth 4: 66.67 MiB/s (95 % CI 60.17 to 73.17)");
        assert_eq!(data[1]["name"], "queue depth 16: 1,280 MiB/s (95 % CI 1,279 to 1,281)");
    }

    #[test]
    fn names_of_lines_close_to_each_other_are_at_different_ends() {
        let levels = [("read delay", 400.0), ("write delay", 390.0), ("limit", 100.0)];
        let option = option(&chart(vec![Point::at(1.0, Some(400.0))], &levels));
        let lines = option["series"][0]["markLine"]["data"].as_array().unwrap();
        let positions = lines.iter().map(|line| line["label"]["position"].as_str().unwrap());
        assert_eq!(
            positions.collect::<Vec<_>>(),
            ["insideEndTop", "insideStartTop", "insideEndTop"]
        );
    }
}
