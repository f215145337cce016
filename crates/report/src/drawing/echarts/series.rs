//! Series as options for ECharts. Each point has its exact value in words, for its tooltip.

use serde_json::{Value, json};

use super::with;
use crate::drawing::ruler::Rulers;
use crate::drawing::symbol::symbol;
use crate::drawing::ticks::{self, NINES, short};
use crate::drawing::{Axis, Flag, Panel, Point, Scale, Series, Shape, Stroke, band, round};
use crate::number::thousands;

/// Named lines closer than this, as a share of the axis, have their names at different ends.
const SAME_LINE: f64 = 0.07;
/// More values above bars would overlap.
const VALUES_MAX: usize = 14;
/// Distance of the total of stacked bars from its symbol, in pixels.
const ABOVE_WHISKERS: f64 = 10.0;
/// Named points closer than this, as shares of the axes, have their names at different sides.
const SAME_POINT: [f64; 2] = [0.12, 0.08];
/// Series with more points have plain numbers as data, to keep the page small.
const WORDS_MAX: usize = 400;

/// Where a series is drawn, and its colour and symbol.
pub(super) struct Identity {
    /// The index of its x axis.
    pub(super) x: usize,
    /// The index of its y axis.
    pub(super) y: usize,
    /// The index of its colour and symbol.
    pub(super) look: usize,
}

/// A series, and its 95 % confidence intervals if there are any.
pub(super) fn of_series(panel: &Panel, series: &Series, identity: &Identity) -> Vec<Value> {
    let y_axis = panel.right.as_ref().filter(|_| series.right).unwrap_or(&panel.y);
    let drawn = Drawn { panel, series, y_axis };
    let look = identity.look;
    let identity = json!({
        "name": series.name, "xAxisIndex": identity.x, "yAxisIndex": identity.y,
        // Read by the page's script: the index of the colour, and the unit in tooltips.
        "colour": look, "unit": y_axis.unit(),
    });
    match &series.shape {
        Shape::Line { points, stroke: Stroke::Rings } => {
            let rings = json!({
                "type": "scatter", "data": drawn.data(points), "symbol": "circle",
                "symbolSize": 19, "z": 5, "silent": true,
                // Visible on both backgrounds.
                "itemStyle": {
                    "color": "rgba(0, 0, 0, 0)", "borderColor": "#808080", "borderWidth": 2,
                },
            });
            vec![with(rings, identity)]
        }
        Shape::Line { points, stroke } if !stroke.is_joined() => {
            let mut separate = json!({
                "type": "scatter", "data": drawn.data(points), "symbol": symbol(look).echarts,
                "symbolSize": 8.0 * stroke.symbol_scale().unwrap_or(1.0), "z": 5,
            });
            if panel.series.iter().any(|one| matches!(one.shape, Shape::Bars { stacked: true, .. }))
            {
                // The total of stacked bars has the value, because they have no room for theirs.
                separate["data"] = json!(drawn.bars(points, false));
                separate["label"] = json!({ "distance": ABOVE_WHISKERS });
            }
            let whiskers = drawn.intervals(points, &identity, None);
            std::iter::once(with(separate, identity)).chain(whiskers).collect()
        }
        Shape::Line { points, stroke } => {
            let kind = match stroke {
                Stroke::Model => json!([10, 3, 2, 3]),
                _ => json!("solid"),
            };
            let size = stroke.symbol_scale();
            let line = json!({
                "type": "line", "data": drawn.data(points), "connectNulls": false,
                "showSymbol": size.is_some(),
                "symbol": if stroke.is_measured() { symbol(look).echarts } else { "none" },
                "symbolSize": 8.0 * size.unwrap_or(1.0),
                "lineStyle": { "type": kind, "width": stroke.width() },
                // The legend would show a symbol where the line has none.
                "itemStyle": { "opacity": if stroke.is_measured() { 1 } else { 0 } },
                // Only measured points have a tooltip.
                "silent": !stroke.is_measured(),
            });
            let of_points = match band(&panel.x, &y_axis.scale, points) {
                Some(edges) => Some(with(band_of(points, &edges), identity.clone())),
                None => drawn.intervals(points, &identity, None),
            };
            std::iter::once(with(line, identity)).chain(of_points).collect()
        }
        Shape::Bars { points, stacked } => {
            let mut bars =
                json!({ "type": "bar", "data": drawn.bars(points, *stacked), "barMaxWidth": 56 });
            if *stacked {
                bars["stack"] = json!("all");
                return vec![with(bars, identity)];
            }
            let side_by_side: Vec<&Series> = panel.series.iter().filter(is_bars).collect();
            let index = side_by_side.iter().position(|s| s.name == series.name).unwrap_or(0);
            let whiskers = drawn.intervals(points, &identity, Some((index, side_by_side.len())));
            std::iter::once(with(bars, identity)).chain(whiskers).collect()
        }
        Shape::Cells { cells, .. } => {
            let data: Vec<Value> = cells
                .iter()
                .map(|(column, row, value)| json!([column, row, round(*value)]))
                .collect();
            vec![with(json!({ "type": "heatmap", "data": data, "silent": true }), identity)]
        }
        Shape::Boxes(boxes) => vec![with(drawn.boxes(boxes), identity)],
    }
}

fn is_bars(series: &&Series) -> bool {
    matches!(series.shape, Shape::Bars { .. })
}

/// A series on its axes.
struct Drawn<'a> {
    panel: &'a Panel,
    series: &'a Series,
    y_axis: &'a Axis,
}

impl Drawn<'_> {
    fn has(&self, point: &Point) -> bool {
        let y_scale = &self.y_axis.scale;
        self.panel.x.scale.has(point.x) && point.y.is_none_or(|value| y_scale.has(value))
    }

    /// The points that the axes can show, with their values in words if they are few.
    fn data(&self, points: &[Point]) -> Vec<Value> {
        let in_words = points.len() <= WORDS_MAX;
        let shown = points.iter().filter(|point| self.has(point));
        let item = |point: &Point| match in_words && point.y.is_some() {
            true => json!({ "value": pair(point), "name": self.words(point) }),
            false => pair(point),
        };
        shown.map(item).collect()
    }

    fn bars(&self, points: &[Point], stacked: bool) -> Vec<Value> {
        let side_by_side = self.panel.series.iter().filter(is_bars).count().max(1);
        let has_room = stacked || points.len() * side_by_side <= VALUES_MAX;
        let item = |point: &Point| {
            let mut item = json!({ "value": pair(point), "name": self.words(point) });
            if let Some(y) = point.y.filter(|_| !stacked && has_room) {
                item["label"] = json!({ "show": true, "position": "top", "formatter": short(y) });
            }
            item
        };
        points.iter().filter(|point| self.has(point)).map(item).collect()
    }

    /// `queue depth 16: mean 0.977 ms (95 % CI 0.97 to 0.984) at 128 MiB/s`.
    fn words(&self, point: &Point) -> String {
        let Some(y) = point.y else { return String::new() };
        let unit = self.y_axis.unit();
        let x = &self.panel.x;
        let quantity = x.name.rsplit_once(", ").map_or(x.name.as_str(), |(quantity, _)| quantity);
        let mut words = match (&x.scale, point.load) {
            (Scale::Names(names), _) => {
                let name = names.get(point.x as usize).map_or("", String::as_str);
                format!("{quantity} {name}").trim().to_owned()
            }
            (_, Some(load)) => format!("{} {}", self.panel.load, ticks::label(load)),
            (_, None) => format!("{quantity} {}", exact(point.x)),
        };
        words.push_str(": ");
        if self.series.is_p99() {
            words.push_str("p99 ");
        } else if self.panel.series.iter().any(Series::is_p99) {
            words.push_str("mean ");
        }
        words.push_str(&format!("{} {unit}", exact(y)));
        if let Some([low, high]) = point.interval {
            words.push_str(&format!(" (95 % CI {} to {})", exact(low), exact(high)));
        }
        if point.load.is_some() {
            words.push_str(&format!(" at {} {}", exact(point.x), x.unit()));
        }
        words
    }

    /// 95 % confidence intervals as a series of the same name, so that the legend hides both
    /// together.
    ///
    /// * `bar` - index and number of the bars side by side
    fn intervals(
        &self,
        points: &[Point],
        identity: &Value,
        bar: Option<(usize, usize)>,
    ) -> Option<Value> {
        let (index, count) = bar.unwrap_or((0, 0));
        let data: Vec<Value> = points
            .iter()
            .filter(|point| self.has(point))
            .filter_map(|p| Some((p.x, p.y?, p.drawn_interval(&self.y_axis.scale)?)))
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

    /// x, minimum, quartiles and maximum of each box, with the index and number of boxes side by
    /// side.
    fn boxes(&self, boxes: &[(f64, [f64; 5])]) -> Value {
        let is_same = |one: &&Series| matches!(one.shape, Shape::Boxes(_));
        let all: Vec<&Series> = self.panel.series.iter().filter(is_same).collect();
        let index = all.iter().position(|one| one.name == self.series.name).unwrap_or(0);
        let item = |(x, five): &(f64, [f64; 5])| {
            let mut value = vec![*x];
            value.extend(five);
            value.extend([index as f64, all.len() as f64]);
            let [low, first, median, third, high] = five.map(exact);
            let words = format!(
                "{}: median {median}, quartiles {first} to {third}, range {low} to {high} {}",
                self.words(&Point::at(*x, Some(five[2]))).split(": ").next().unwrap_or_default(),
                self.y_axis.unit(),
            );
            json!({ "value": value, "name": words })
        };
        json!({
            "type": "custom", "renderItem": "quartiles", "clip": true, "z": 4,
            "data": boxes.iter().map(item).collect::<Vec<_>>(),
            "encode": { "x": 0, "y": [1, 2, 3, 4, 5] },
        })
    }
}

/// A value as a tooltip shows it: at least four significant digits.
fn exact(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        return thousands(value.round() as i128);
    }
    ticks::label(round(value))
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
        "encode": { "x": 0, "y": [1, 3] }, "z": 1, "tooltip": { "show": false },
    })
}

/// The named points of a panel.
pub(super) fn flags(panel: &Panel, rulers: &Rulers, identity: &Identity) -> Option<Value> {
    if panel.flags.is_empty() {
        return None;
    }
    let at = |flag: &Flag| [rulers.x.position(flag.x), rulers.y.position(flag.y)];
    let is_near = |a: [f64; 2], b: [f64; 2]| (0..2).all(|n| (a[n] - b[n]).abs() < SAME_POINT[n]);
    let item = |(index, flag): (usize, &Flag)| {
        let here = at(flag);
        let near = panel.flags[..index].iter().filter(|other| is_near(here, at(other))).count();
        // A name at the end of the axis would leave the frame.
        let sides = match here[0] > 0.9 {
            true => ["left", "bottom", "top", "right"],
            false => ["right", "bottom", "left", "top"],
        };
        let label = json!({ "position": sides[near % sides.len()] });
        json!({ "value": [round(flag.x), round(flag.y)], "name": flag.name, "label": label })
    };
    Some(json!({
        "type": "scatter", "name": "flags", "symbolSize": 1, "silent": true, "z": 6,
        "data": panel.flags.iter().enumerate().map(item).collect::<Vec<_>>(),
        "xAxisIndex": identity.x, "yAxisIndex": identity.y, "tooltip": { "show": false },
        "itemStyle": { "opacity": 0 },
        // Labels inherit the opacity of their point.
        "label": { "show": true, "distance": 12, "formatter": "{b}", "opacity": 1 },
    }))
}

/// Adds named lines and shades to `carrier`, the panel's first series.
pub(super) fn lines(panel: &Panel, rulers: &Rulers, carrier: &mut Value) {
    let mut lines: Vec<Value> = Vec::new();
    let nines = NINES.into_iter().filter(|_| panel.x.scale == Scale::Nines);
    lines.extend(nines.map(|(name, x)| {
        let label = json!({ "formatter": name, "position": "start" });
        json!({ "xAxis": x, "label": label, "lineStyle": { "type": "dotted" } })
    }));
    let marks = panel.marks.iter().map(|mark| (rulers.x.position(mark.x), mark.name.as_str()));
    let ends = ["insideEndTop", "insideStartTop", "insideEndBottom", "insideStartBottom"];
    for (mark, position) in panel.marks.iter().zip(positions(marks.collect(), ends)) {
        let label = json!({ "formatter": mark.name, "position": position });
        lines.push(json!({ "xAxis": round(mark.x), "label": label }));
    }
    let levels = panel.levels.iter().map(|level| (rulers.y.position(level.y), level.name.as_str()));
    let ends = ["insideEndTop", "insideStartTop", "insideEndBottom", "insideStartBottom"];
    for (level, position) in panel.levels.iter().zip(positions(levels.collect(), ends)) {
        let label = json!({ "formatter": level.name, "position": position });
        lines.push(json!({ "yAxis": round(level.y), "label": label }));
    }
    if !lines.is_empty() {
        carrier["markLine"] = json!({
            "silent": true, "symbol": "none", "animation": false, "data": lines,
            "label": { "distance": 8 }, "lineStyle": { "type": "dashed", "width": 1.5 },
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

/// Where the name of each line is written: at another place than the names of lines close to it.
fn positions(lines: Vec<(f64, &str)>, ends: [&'static str; 4]) -> Vec<&'static str> {
    let near = |index: usize| {
        let (at, _) = lines[index];
        lines[..index].iter().filter(|(other, _)| (other - at).abs() < SAME_LINE).count()
    };
    (0..lines.len()).map(|index| ends[near(index) % ends.len()]).collect()
}
