//! Options for ECharts: what each chart of a report shows, as plain JSON without functions.
//!
//! Numbers are rounded to four digits here, which is finer than a chart can show and keeps reports
//! small.

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint};
use analysis::load_point::OpSummary;
use analysis::series::{PointPhase, Series, SeriesPoint};
use serde_json::{Value, json};

/// Nanoseconds in a microsecond.
const NS_PER_US: f64 = 1e3;
/// Bytes in a MiB.
const BYTES_PER_MIB: f64 = 1_048_576.0;
/// Colours that readers with any kind of colour vision can tell apart, on white.
///
/// Source: Okabe and Ito, "Color Universal Design", 2008; yellow is left out because it cannot be
/// seen on white.
const COLOURS_LIGHT: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#b0578d", "#c98500", "#3a93c4", "#555555"];
/// The same on a dark ground.
const COLOURS_DARK: [&str; 7] =
    ["#56b4e9", "#ff8a4c", "#2fc99c", "#e29ac4", "#f0c14b", "#8fd0f5", "#b5b5b5"];

/// The charts of a page, numbered.
#[derive(Default)]
pub(crate) struct Charts(Vec<Value>);

impl Charts {
    /// Takes a chart and returns its number.
    pub(crate) fn add(&mut self, option: Value) -> usize {
        self.0.push(option);
        self.0.len() - 1
    }

    /// All charts and both themes as JSON that may stand inside a `<script>` element: no `<` that
    /// could end it, and no line separator that JavaScript would take for a line's end.
    pub(crate) fn into_script_json(self) -> String {
        let themes = json!({
            "light": theme(&COLOURS_LIGHT, "#1a1d21", "#59616b", "#d8dce2", "#ffffff"),
            "dark": theme(&COLOURS_DARK, "#e6e9ec", "#a3abb4", "#363c43", "#1d2125"),
        });
        json!({ "options": self.0, "themes": themes })
            .to_string()
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
    }
}

fn theme(colours: &[&str], text: &str, faint: &str, line: &str, ground: &str) -> Value {
    let axis = json!({
        "axisLine": { "show": true, "lineStyle": { "color": faint } },
        "axisTick": { "show": true, "lineStyle": { "color": faint } },
        "axisLabel": { "color": faint },
        "nameTextStyle": { "color": faint },
        "splitLine": { "show": true, "lineStyle": { "color": line } },
        "minorSplitLine": { "show": false },
    });
    json!({
        "color": colours,
        "backgroundColor": "transparent",
        "textStyle": { "color": text },
        "valueAxis": axis,
        "logAxis": axis,
        "legend": {
            "textStyle": { "color": text }, "inactiveColor": line,
            "pageTextStyle": { "color": faint }, "pageIconColor": text,
            "pageIconInactiveColor": line,
        },
        "tooltip": {
            "backgroundColor": ground, "borderColor": line, "textStyle": { "color": text },
        },
        "markLine": { "label": { "color": faint }, "lineStyle": { "color": faint } },
    })
}

/// Four digits.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

fn base(description: &str) -> Value {
    json!({
        "animation": false,
        "aria": { "enabled": true, "label": { "description": description } },
        "textStyle": { "fontFamily": "system-ui, sans-serif" },
        "grid": {
            "left": 96, "right": 32, "top": 68, "bottom": 48, "outerBoundsMode": "none",
        },
        "tooltip": { "trigger": "item", "confine": true },
    })
}

fn with(mut option: Value, more: Value) -> Value {
    if let (Value::Object(option), Value::Object(more)) = (&mut option, more) {
        option.extend(more);
    }
    option
}

/// Names up to this many stand in rows below each other; more are leafed through, which paper
/// cannot.
const LEGEND_MAX: usize = 8;

/// Sets what is drawn, and with it the form of the legend.
fn drawn(option: Value, series: Vec<Value>) -> Value {
    let mut names: Vec<&str> = series.iter().filter_map(|line| line["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let form = if names.len() > LEGEND_MAX { "scroll" } else { "plain" };
    let legend = json!({ "type": form, "top": 0, "left": 0, "right": 0 });
    with(option, json!({ "legend": legend, "series": series }))
}

fn x_axis(name: &str, log_base: Option<u32>) -> Value {
    let mut axis = json!({
        "type": "value", "name": name, "nameLocation": "middle", "nameGap": 28,
        "splitLine": { "show": false },
    });
    if let Some(base) = log_base {
        axis = with(axis, json!({ "type": "log", "logBase": base }));
    }
    axis
}

fn y_axis(name: &str, log: bool) -> Value {
    let kind = if log { "log" } else { "value" };
    json!({
        "type": kind, "name": name, "nameLocation": "middle", "nameGap": 74, "nameRotate": 90,
    })
}

/// The swept quantity: doublings are evenly spaced where all are above 0.
fn swept_axis(curves: &[&Curve]) -> Value {
    let positive = curves.iter().flat_map(|c| &c.points).all(|p| p.x > 0.0);
    let name = curves.first().map_or("", |c| c.axis.as_str());
    x_axis(name, positive.then_some(2))
}

fn data_of<'a>(findings: &'a Findings, point: &CurvePoint) -> &'a OpSummary {
    &findings.load_points[point.load_point].merged.total.data
}

/// One line for each curve; `xy` gives a point's place, or nothing where there is no number.
fn lines(
    curves: &[&Curve],
    dashed: bool,
    xy: impl Fn(&CurvePoint) -> Option<[f64; 2]>,
) -> Vec<Value> {
    let line = |(number, curve): (usize, &&Curve)| {
        let data: Vec<[f64; 2]> = curve.points.iter().filter_map(&xy).collect();
        let kind = if dashed { "dashed" } else { "solid" };
        json!({
            "type": "line", "name": curve.name, "data": data,
            "symbolSize": if dashed { 5 } else { 8 },
            "symbol": symbol(number),
            "lineStyle": { "type": kind },
        })
    };
    curves.iter().enumerate().map(line).collect()
}

/// Symbols tell lines apart where colours do not.
fn symbol(number: usize) -> &'static str {
    ["circle", "rect", "triangle", "diamond", "roundRect", "pin"][number % 6]
}

/// What a volume was set to, as a dotted line across everything that was swept. A line of its own,
/// not a mark on another, so that the axis reaches to it where nothing measured does.
fn setting(curves: &[&Curve], name: &str, y: f64) -> Value {
    let xs = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    json!({
        "type": "line", "name": name, "data": [[left, round(y)], [right, round(y)]],
        "silent": true, "symbol": "none", "lineStyle": { "type": "dotted", "width": 2 },
    })
}

/// Throughput over what was swept, and the limit where it is known.
pub(crate) fn throughput(findings: &Findings, curves: &[&Curve], description: &str) -> Value {
    let mut series = lines(curves, false, |p| {
        let throughput = data_of(findings, p).throughput?;
        Some([p.x, round(throughput.value / BYTES_PER_MIB)])
    });
    if let Some(emulated) = &findings.emulated {
        let limit = emulated.volume.throughput_limit_bytes_per_s as f64 / BYTES_PER_MIB;
        series.push(setting(curves, "throughput limit", limit));
    }
    let axes = json!({
        "xAxis": swept_axis(curves), "yAxis": y_axis("throughput, MiB/s", false),
    });
    drawn(with(base(description), axes), series)
}

/// Response time, mean and p99, over what was swept, and the delays below which nothing can be
/// where they are known.
pub(crate) fn response_time(findings: &Findings, curves: &[&Curve], description: &str) -> Value {
    let mut series = lines(curves, false, |p| {
        let mean = data_of(findings, p).response.mean_ns?;
        Some([p.x, round(mean.value / NS_PER_US)])
    });
    let p99 = lines(curves, true, |p| {
        let p99 = data_of(findings, p).response.percentile(0.99)?.value_ns?;
        Some([p.x, round(p99 as f64 / NS_PER_US)])
    });
    series.extend(p99);
    if let Some(emulated) = &findings.emulated {
        let delays = [
            ("read delay", emulated.volume.read_delay_ns),
            ("write delay", emulated.volume.write_delay_ns),
        ];
        // Zero has no place on a logarithmic axis, and is no bound.
        for (name, ns) in delays.into_iter().filter(|(_, ns)| *ns > 0) {
            series.push(setting(curves, name, ns as f64 / NS_PER_US));
        }
    }
    let axes = json!({
        "xAxis": swept_axis(curves), "yAxis": y_axis("response time, µs", true),
    });
    drawn(with(base(description), axes), series)
}

/// Response time over achieved rate, drawn in the order of what was swept: past saturation the
/// curve bends back.
pub(crate) fn response_by_rate(findings: &Findings, curves: &[&Curve], description: &str) -> Value {
    let series = lines(curves, false, |p| {
        let data = data_of(findings, p);
        let (rate, mean) = (data.achieved_rate?, data.response.mean_ns?);
        Some([round(rate.value), round(mean.value / NS_PER_US)])
    });
    let axes = json!({
        "xAxis": x_axis("achieved rate, ops/s", None),
        "yAxis": y_axis("mean response time, µs", true),
    });
    drawn(with(base(description), axes), series)
}

/// Percentiles of the response time, each further nine as far from the last one.
pub(crate) fn percentiles(findings: &Findings, curve: &Curve, description: &str) -> Value {
    let mut series: Vec<Value> = curve
        .points
        .iter()
        .map(|point| {
            let times = &data_of(findings, point).response;
            let data: Vec<[f64; 2]> = times
                .drawable()
                .filter(|row| row.fraction < 1.0 && row.value_ns > 0)
                .map(|row| {
                    [round(1.0 / (1.0 - row.fraction)), round(row.value_ns as f64 / NS_PER_US)]
                })
                .collect();
            json!({
                "type": "line", "name": format!("{} {}", curve.axis, point.label), "data": data,
                "showSymbol": false, "symbol": "circle", "symbolSize": 6,
            })
        })
        .collect();
    if let Some(first) = series.first_mut() {
        let marks: Vec<Value> =
            [("50 %", 2), ("90 %", 10), ("99 %", 100), ("99.9 %", 1_000), ("99.99 %", 10_000)]
                .iter()
                .map(|(name, x)| json!({ "xAxis": x, "label": { "formatter": name } }))
                .collect();
        first["markLine"] = json!({
            "silent": true, "symbol": "none", "animation": false, "data": marks,
            "label": { "position": "start", "distance": 8 },
            "lineStyle": { "type": "dotted", "width": 1 },
        });
    }
    let mut x = x_axis("percentile", Some(10));
    x["axisLabel"] = json!({ "show": false });
    x["axisTick"] = json!({ "show": false });
    let axes = json!({ "xAxis": x, "yAxis": y_axis("response time, µs", true) });
    drawn(with(base(description), axes), series)
}

/// One run over time: achieved rate, response time, and outstanding with processors used, one below
/// the other.
pub(crate) fn over_time(streams: &[&Series], description: &str) -> Value {
    let seconds = |p: &SeriesPoint| round_time(p.end_ns);
    let line = |stream: &Series,
                grid: usize,
                name: String,
                more: Value,
                y: &dyn Fn(&SeriesPoint) -> Option<f64>| {
        let data: Vec<Value> =
            stream.points.iter().map(|p| json!([seconds(p), y(p).map(round)])).collect();
        let line = json!({
            "type": "line", "name": name, "data": data, "xAxisIndex": grid, "yAxisIndex": grid,
            "showSymbol": stream.points.len() < 60, "symbol": "circle", "symbolSize": 4,
            "connectNulls": false,
        });
        with(line, more)
    };
    let mut series = Vec::new();
    for (number, stream) in streams.iter().enumerate() {
        // Lines of one name have one colour: all of a stream's are told from another stream's at a
        // glance.
        let name = || stream.stream.clone();
        let solid = |grid: usize, y: &dyn Fn(&SeriesPoint) -> Option<f64>| {
            line(stream, grid, name(), json!({}), y)
        };
        let first = series.len();
        series.push(solid(0, &|p| Some(p.achieved_rate)));
        series.push(solid(1, &|p| Some(p.throughput / BYTES_PER_MIB)));
        series.push(solid(2, &|p| p.response_mean_ns.map(|ns| ns / NS_PER_US)));
        series.push(solid(3, &|p| Some(p.outstanding_mean)));
        let p99 = |p: &SeriesPoint| p.response_p99_ns.map(|ns| ns as f64 / NS_PER_US);
        let dashed = json!({ "lineStyle": { "type": "dashed" } });
        if number == 0 {
            // The first line of each grid carries its shading.
            for line in &mut series[first..] {
                line["markArea"] = json!({
                    "silent": true, "itemStyle": { "color": "rgba(128, 128, 128, 0.18)" },
                    "label": { "show": false }, "data": unmeasured(stream),
                });
            }
        }
        series.push(line(stream, 2, name(), dashed, &p99));
    }
    // The process has one CPU time, whatever the number of streams.
    if let Some(stream) = streams.first() {
        let used = "processors used".to_owned();
        series.push(line(stream, 3, used, json!({}), &|p| Some(p.cpu_used)));
    }
    let grid = |top: &str| {
        json!({
            "left": 96, "right": 32, "top": top, "height": "15%",
            "outerBoundsMode": "none",
        })
    };
    let x = |index: usize, name: &str| {
        json!({
            "type": "value", "gridIndex": index, "name": name, "nameLocation": "middle",
            "nameGap": 26,
            "min": 0, "max": "dataMax", "splitLine": { "show": false },
        })
    };
    let y = |index: usize, name: &str, kind: &str| {
        json!({
            "type": kind, "gridIndex": index, "name": name, "nameLocation": "middle", "nameGap": 74,
        })
    };
    let option = json!({
        "grid": [grid("10%"), grid("31%"), grid("52%"), grid("73%")],
        "xAxis": [x(0, ""), x(1, ""), x(2, ""), x(3, "seconds from the run's start")],
        "yAxis": [
            y(0, "ops/s", "value"), y(1, "MiB/s", "value"), y(2, "mean, p99 - -, µs", "log"),
            y(3, "operations, CPUs", "value"),
        ],
        "axisPointer": { "link": [{ "xAxisIndex": "all" }] },
        "tooltip": { "trigger": "axis", "confine": true },
        "dataZoom": [{ "type": "slider", "xAxisIndex": [0, 1, 2, 3], "bottom": 4, "height": 18 }],
    });
    drawn(with(base(description), option), series)
}

/// Seconds with milliseconds.
fn round_time(ns: u64) -> f64 {
    (ns / 1_000_000) as f64 / 1e3
}

/// Stretches of time outside the window, as areas.
fn unmeasured(series: &Series) -> Vec<Value> {
    let phases = series.points.chunk_by(|a, b| a.phase == b.phase);
    phases
        .filter(|points| points[0].phase != PointPhase::Measure)
        .map(|points| {
            let (start, end) = (points[0].start_ns, points[points.len() - 1].end_ns);
            json!([{ "xAxis": round_time(start) }, { "xAxis": round_time(end) }])
        })
        .collect()
}
