//! What is predicted over the operations outstanding: rate or throughput, and response time, each
//! with its interval as a band and in the colour of what bounds it there; published figures beside.

use cloud::figure::{Access, Value};
use predict::expect::Near;
use predict::{Curve, Interval, Point as Predicted, Stretch, Topology, measured};

use super::{BYTES_PER_MIB, axis};
use crate::chart::{Alternative, Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::expect::{Expectation, published};
use crate::number::{mib, plain};
use crate::predict::{Beside, MeasuredRun, whole};

/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;

/// Ten doublings: more do not fit along an axis.
const DOUBLINGS: f64 = 1024.0;

/// The charts of a prediction.
///
/// * `beside` - published figures are drawn where there is one workload, for the curve is of all of
///   them together
pub(crate) fn of_prediction(topology: &Topology, curve: &Curve, beside: &Beside) -> Vec<Chart> {
    let quantity = Quantity::of(topology);
    let amount = |point: &Predicted| Some(quantity.interval(point));
    let mut series = lines(curve, amount);
    let mut said = String::new();
    if let [only] = &beside.published[..] {
        for near in &only.near {
            let Some(point) = brought(near, only, quantity, curve) else { continue };
            let name = format!("{} brought here", near.figure.id);
            said.push_str(&format!(" {}", in_words(near, only, quantity)));
            series.push(alone(name, Stroke::Points, point));
        }
        if !said.is_empty() {
            said.insert_str(
                0,
                " Points: published figures, brought here by the model; one that says nothing of \
                 the operations outstanding stands at the end of the curve.",
            );
        }
    }
    let transfer = topology.workloads[0].transfer_bytes;
    series.extend(beside.measured.iter().map(|run| {
        let amount = |point: &measured::Beside| quantity.of_ops(point.ops_per_s, transfer);
        measurement(run, amount)
    }));
    series.extend(asked(curve, amount));
    // A response time without an upper end has no band.
    let time = |point: &Predicted| {
        Some(point.response_s.times(MS_PER_S)).filter(|time| time.high.is_finite())
    };
    let mut times = lines(curve, time);
    let milliseconds = |point: &measured::Beside| point.response_s * MS_PER_S;
    times.extend(beside.measured.iter().map(|run| measurement(run, milliseconds)));
    times.extend(asked(curve, time));
    let ended = curve.points.iter().any(|point| time(point).is_none());
    let left_out = match ended {
        true => " Left out: loads at which the interval has no upper end.",
        false => "",
    };
    let ring = if curve.asked.is_some() { " Ring: what the topology asks for." } else { "" };
    let how = "by the operations outstanding over all hosts; the band is the 90 % interval, \
               the colour what bounds the rate there.";
    vec![
        chart(
            "predicted-rate",
            format!("Predicted {} by operations outstanding", quantity.name()),
            format!("Predicted {} in {} {how}{ring}{said}", quantity.name(), quantity.unit()),
            panel(curve, quantity.axis(), series),
        ),
        chart(
            "predicted-response-time",
            "Predicted response time by operations outstanding".to_owned(),
            format!("Predicted mean response time in ms {how}{ring}{left_out}"),
            panel(curve, "mean response time, ms", times),
        ),
    ]
}

/// What is shown of a rate.
#[derive(Clone, Copy)]
enum Quantity {
    /// Where all operations are random.
    Rate,
    /// Elsewhere.
    Throughput,
}

impl Quantity {
    fn of(topology: &Topology) -> Quantity {
        match topology.workloads.iter().all(|workload| workload.access == Access::Random) {
            true => Quantity::Rate,
            false => Quantity::Throughput,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Quantity::Rate => "rate",
            Quantity::Throughput => "throughput",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Quantity::Rate => "ops/s",
            Quantity::Throughput => "MiB/s",
        }
    }

    const fn axis(self) -> &'static str {
        match self {
            Quantity::Rate => "rate, ops/s",
            Quantity::Throughput => "throughput, MiB/s",
        }
    }

    fn interval(self, point: &Predicted) -> Interval {
        match self {
            Quantity::Rate => point.ops_per_s,
            Quantity::Throughput => point.bytes_per_s.times(1.0 / BYTES_PER_MIB),
        }
    }

    /// Operations per second of so many bytes each, in what is shown.
    fn of_ops(self, ops_per_s: f64, transfer_bytes: u64) -> f64 {
        match self {
            Quantity::Rate => ops_per_s,
            Quantity::Throughput => ops_per_s * transfer_bytes as f64 / BYTES_PER_MIB,
        }
    }
}

fn chart(name: &str, title: String, caption: String, panel: Panel) -> Chart {
    Chart {
        name: name.to_owned(),
        title,
        caption,
        panels: vec![panel],
        // The section that follows has every point in a table.
        alternative: Alternative::Caption,
    }
}

fn panel(curve: &Curve, y: &str, series: Vec<Series>) -> Panel {
    // Where the next resource begins to bound; the first does from the beginning.
    let begins = curve.stretches.iter().skip(1);
    let mark = |stretch: &Stretch| Mark { name: stretch.bounded_by.short(), x: stretch.from };
    Panel {
        x: axis("operations outstanding", Scale::Log(base(curve))),
        y: axis(y, Scale::Linear),
        series,
        marks: begins.map(mark).collect(),
        ..Panel::default()
    }
}

/// Doublings are evenly spaced where there is room for each, else decades.
fn base(curve: &Curve) -> u32 {
    let ends = curve.points.first().zip(curve.points.last());
    match ends.is_some_and(|(first, last)| last.outstanding <= DOUBLINGS * first.outstanding) {
        true => 2,
        false => 10,
    }
}

/// A line for each stretch, which goes on to where the next begins, so that there is no gap.
fn lines(curve: &Curve, of: impl Fn(&Predicted) -> Option<Interval>) -> Vec<Series> {
    let points: Vec<Point> = curve.points.iter().filter_map(|point| drawn(point, &of)).collect();
    let mut series: Vec<Series> = Vec::new();
    for stretch in &curve.stretches {
        let first = points.iter().position(|point| point.x >= stretch.from);
        let last = points.iter().rposition(|point| point.x <= stretch.to);
        let (Some(first), Some(last)) = (first, last) else { continue };
        if first > last {
            continue;
        }
        let end = (last + 1).min(points.len() - 1);
        // One point alone has no line: the last stretch then begins where the one before it ends.
        let begin = if first == end { first.saturating_sub(1) } else { first };
        series.push(Series {
            name: format!("bounded by {}", stretch.bounded_by.short()),
            right: false,
            shape: Shape::Line { points: points[begin..=end].to_vec(), stroke: Stroke::Model },
        });
    }
    series
}

fn drawn(point: &Predicted, of: impl Fn(&Predicted) -> Option<Interval>) -> Option<Point> {
    let Interval { low, value, high } = of(point)?;
    Some(Point { x: point.outstanding, y: Some(value), interval: Some([low, high]) })
}

fn alone(name: String, stroke: Stroke, point: Point) -> Series {
    Series { name, right: false, shape: Shape::Line { points: vec![point], stroke } }
}

/// What was measured, as a line of its own.
fn measurement(run: &MeasuredRun, of: impl Fn(&measured::Beside) -> f64) -> Series {
    let points = run.points.iter().map(|point| Point::at(point.outstanding, Some(of(point))));
    Series {
        name: format!("measured: {}", run.id),
        right: false,
        shape: Shape::Line { points: points.collect(), stroke: Stroke::Solid },
    }
}

/// A ring around what the topology asks for.
fn asked(curve: &Curve, of: impl Fn(&Predicted) -> Option<Interval>) -> Option<Series> {
    let point = drawn(curve.asked.as_ref()?, of)?;
    let point = Point { interval: None, ..point };
    Some(alone("asked for".to_owned(), Stroke::Rings, point))
}

/// A figure as a point of the curve's chart.
fn brought(near: &Near, beside: &Expectation, quantity: Quantity, curve: &Curve) -> Option<Point> {
    let transfer = beside.configuration.transfer_bytes;
    let y = quantity.of_ops(near.here_ops_per_s?, transfer);
    let end = curve.points.last()?.outstanding;
    let x = near.figure.outstanding.map_or(end, |outstanding| outstanding as f64);
    Some(Point::at(x, Some(y)))
}

fn in_words(near: &Near, beside: &Expectation, quantity: Quantity) -> String {
    let ops = near.here_ops_per_s.unwrap_or(f64::NAN);
    let here = match (quantity, near.figure.value) {
        (Quantity::Rate, _) => format!("{} ops/s", whole(ops)),
        (Quantity::Throughput, Value::Seconds(_)) => format!("{} ops/s", plain(ops)),
        (Quantity::Throughput, _) => {
            format!("{} MiB/s", mib(ops * beside.configuration.transfer_bytes as f64))
        }
    };
    format!("{}: {} published, {here} here.", near.figure.id, published(&near.figure))
}

#[cfg(test)]
mod tests {
    use predict::{Parameters, curve, topology_file};

    use super::*;

    const KNOWN: &str = r#"
name = "known"
floor = "2ms"
floor_spread = 0
[[host]]
name = "h"
[[volume]]
name = "v"
throughput = "32MiB/s"
[[workload]]
transfer_size = "64KiB"
read = "100%"
pattern = "sequential"
outstanding = 16
"#;

    fn charts(text: &str) -> Vec<Chart> {
        let topology = topology_file::parse(text, "t.toml").unwrap();
        let parameters = Parameters::calibrated(&cloud::figure::all());
        let curve = curve(&topology, &parameters).unwrap();
        of_prediction(&topology, &curve, &Beside::default())
    }

    fn points(series: &Series) -> &[Point] {
        let Shape::Line { points, .. } = &series.shape else { panic!("a line") };
        points
    }

    #[test]
    fn each_stretch_is_a_line_of_its_own_that_joins_the_next_and_where_it_begins_is_marked() {
        let all = charts(KNOWN);
        let panel = &all[0].panels[0];
        let names: Vec<&str> = panel.series.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            ["bounded by few outstanding", "bounded by volume limit: v", "asked for"]
        );
        let [few, limit, asked] = &panel.series[..] else { panic!("three series") };
        assert_eq!(points(few).last().unwrap().x, points(limit)[0].x);
        assert_eq!(panel.marks[0].x, points(limit)[0].x);
        assert_eq!(panel.marks[0].name, "volume limit: v");
        // The limit is known exactly, and so are both ends of its interval.
        assert_eq!(points(asked)[0].y, Some(32.0));
        assert_eq!(points(limit).last().unwrap().interval, Some([32.0, 32.0]));
        assert!(all[0].caption.contains("throughput in MiB/s by the operations outstanding"));
        // 16 outstanding at 512 in a second.
        assert_eq!(points(all[1].panels[0].series.last().unwrap())[0].y, Some(31.25));
    }

    #[test]
    fn random_operations_are_shown_as_a_rate_with_the_interval_as_a_band() {
        let all = charts(&KNOWN.replace("sequential", "random").replace("64KiB", "8KiB"));
        let panel = &all[0].panels[0];
        assert_eq!(panel.y.name, "rate, ops/s");
        let first = &points(&panel.series[0])[1];
        let [low, high] = first.interval.unwrap();
        assert!(low <= first.y.unwrap() && first.y.unwrap() <= high && low < high, "{first:?}");
    }

    #[test]
    fn an_open_load_shows_no_response_time_whose_interval_has_no_upper_end() {
        let text = KNOWN
            .replace("outstanding = 16", "offered = \"50k/s\"")
            .replace("throughput = \"32MiB/s\"\n", "")
            .replace("64KiB", "8KiB")
            .replace("sequential", "random");
        let all = charts(&text);
        assert!(all[1].caption.contains("no upper end"), "{}", all[1].caption);
        for series in &all[1].panels[0].series {
            for point in points(series) {
                assert!(point.y.unwrap().is_finite());
                assert!(point.interval.is_none_or(|ends| ends[1].is_finite()));
            }
        }
    }
}
