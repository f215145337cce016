//! A predicted curve by outstanding operations: rate or throughput, and response time, each with its
//! prediction interval as a band and in the colour of its bottleneck; with published figures and
//! measurements.

use predict::expect::Near;
use predict::measured::MeasuredPoint;
use predict::{Curve, Interval, Point as Predicted, Stretch, Topology};

use super::{Comparison, MeasuredRun};
use crate::charts::axis;
use crate::drawing::{Alternative, Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::expect::{Expectation, published_value};
use crate::model::quantity::Quantity;
use crate::model::words::resource_label;

/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;

/// Ten doublings, as many as fit along an axis.
const DOUBLINGS: f64 = 1024.0;

/// The charts of a prediction.
///
/// * `comparison` - published figures are drawn only if there is one workload, because the curve is that
///   of all workloads together
pub(crate) fn of_prediction(
    topology: &Topology,
    curve: &Curve,
    comparison: &Comparison,
) -> Vec<Chart> {
    let quantity = Quantity::of_topology(topology);
    let amount = |point: &Predicted| Some(quantity.interval(point));
    let mut series = lines(curve, amount);
    let mut notes = String::new();
    if let [only] = &comparison.published[..] {
        for near in &only.near {
            let Some(point) = converted(near, only, quantity, curve) else { continue };
            let name = format!("{} converted", near.figure.id);
            notes.push_str(&format!(" {}", sentence(near, only, quantity)));
            series.push(single(name, Stroke::Points, point));
        }
        if !notes.is_empty() {
            notes.insert_str(
                0,
                " Points: published figures, converted to this configuration by the model; those \
                 without a number of outstanding operations are at the end of the curve.",
            );
        }
    }
    let transfer = topology.workloads[0].transfer_bytes;
    series.extend(comparison.measured.iter().map(|run| {
        let amount = |point: &MeasuredPoint| quantity.of_ops(point.rate.get(), transfer);
        measurement(run, amount)
    }));
    series.extend(requested(curve, amount));
    // A response time without an upper bound has no band.
    let time = |point: &Predicted| {
        Some(point.response_s.times(MS_PER_S)).filter(|time| time.high.is_finite())
    };
    let mut times = lines(curve, time);
    let milliseconds = |point: &MeasuredPoint| point.response_s * MS_PER_S;
    times.extend(comparison.measured.iter().map(|run| measurement(run, milliseconds)));
    times.extend(requested(curve, time));
    let ended = curve.points.iter().any(|point| time(point).is_none());
    let left_out = match ended {
        true => " Left out: loads at which the interval has no upper bound.",
        false => "",
    };
    let ring = if curve.requested.is_some() { " Ring: the load of the topology." } else { "" };
    let how = "by outstanding operations of all hosts. Band: 90 % prediction interval; colour: \
               what limits the rate there.";
    vec![
        chart(
            "predicted-rate",
            format!("Predicted {} by outstanding operations", quantity.name()),
            format!("Predicted {} {how}{ring}{notes}", quantity.in_words()),
            panel(curve, quantity.axis(), series),
        ),
        chart(
            "predicted-response-time",
            "Predicted response time by outstanding operations".to_owned(),
            format!("Predicted mean response time in ms {how}{ring}{left_out}"),
            panel(curve, "mean response time, ms", times),
        ),
    ]
}

fn chart(name: &str, title: String, caption: String, panel: Panel) -> Chart {
    Chart {
        name: name.to_owned(),
        title,
        caption,
        panels: vec![panel],
        // The next section has every point in a table.
        alternative: Alternative::Caption,
        ..Chart::default()
    }
}

fn panel(curve: &Curve, y: &str, series: Vec<Series>) -> Panel {
    // Where another resource becomes the bottleneck.
    let changes = curve.stretches.iter().skip(1);
    let mark =
        |stretch: &Stretch| Mark { name: resource_label(&stretch.bounded_by), x: stretch.from };
    Panel {
        x: axis("outstanding operations", Scale::Log(base(curve))),
        y: axis(y, Scale::Linear),
        series,
        marks: changes.map(mark).collect(),
        ..Panel::default()
    }
}

/// The base of the axis: 2 if there is room for every doubling, else 10.
fn base(curve: &Curve) -> u32 {
    let ends = curve.points.first().zip(curve.points.last());
    match ends.is_some_and(|(first, last)| last.outstanding <= DOUBLINGS * first.outstanding) {
        true => 2,
        false => 10,
    }
}

/// A line for each stretch up to the first point of the next, so that there is no gap.
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
        // A last stretch of a single point begins with the last point of the one before it.
        let begin = if first == end { first.saturating_sub(1) } else { first };
        series.push(Series {
            name: format!("limited by {}", resource_label(&stretch.bounded_by)),
            right: false,
            shape: Shape::Line { points: points[begin..=end].to_vec(), stroke: Stroke::Model },
        });
    }
    series
}

fn drawn(point: &Predicted, of: impl Fn(&Predicted) -> Option<Interval>) -> Option<Point> {
    let Interval { low, value, high } = of(point)?;
    let interval = Some([low, high]);
    Some(Point { interval, ..Point::at(point.outstanding, Some(value)) })
}

fn single(name: String, stroke: Stroke, point: Point) -> Series {
    Series { name, right: false, shape: Shape::Line { points: vec![point], stroke } }
}

/// A measured run as a line.
fn measurement(run: &MeasuredRun, of: impl Fn(&MeasuredPoint) -> f64) -> Series {
    let points = run.points.iter().map(|point| Point::at(point.outstanding, Some(of(point))));
    Series {
        name: format!("measured: {}", run.id),
        right: false,
        shape: Shape::Line { points: points.collect(), stroke: Stroke::Solid },
    }
}

/// A ring around the load of the topology.
fn requested(curve: &Curve, of: impl Fn(&Predicted) -> Option<Interval>) -> Option<Series> {
    let point = drawn(curve.requested.as_ref()?, of)?;
    let point = Point { interval: None, ..point };
    Some(single("topology's load".to_owned(), Stroke::Rings, point))
}

/// A published figure, converted to the predicted configuration.
fn converted(
    near: &Near,
    expectation: &Expectation,
    quantity: Quantity,
    curve: &Curve,
) -> Option<Point> {
    let transfer = expectation.configuration.transfer_bytes;
    let y = quantity.of_ops(near.here?.get(), transfer);
    let end = curve.points.last()?.outstanding;
    let x = near.figure.outstanding.map_or(end, |outstanding| outstanding as f64);
    Some(Point::at(x, Some(y)))
}

fn sentence(near: &Near, expectation: &Expectation, quantity: Quantity) -> String {
    let ops = near.here.map_or(f64::NAN, |rate| rate.get());
    let here = quantity.of_ops(ops, expectation.configuration.transfer_bytes);
    format!(
        "{}: {} published, {} {} here.",
        near.figure.id,
        published_value(&near.figure),
        quantity.print(here),
        quantity.unit()
    )
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
        of_prediction(&topology, &curve, &Comparison::default())
    }

    fn points(series: &Series) -> &[Point] {
        let Shape::Line { points, .. } = &series.shape else { panic!("a line") };
        points
    }

    #[test]
    fn each_stretch_is_a_line_that_joins_the_next_and_its_beginning_is_marked() {
        let all = charts(KNOWN);
        let panel = &all[0].panels[0];
        let names: Vec<&str> = panel.series.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            ["limited by few outstanding", "limited by volume limit: v", "topology's load"]
        );
        let [few, limit, requested] = &panel.series[..] else { panic!("three series") };
        assert_eq!(points(few).last().unwrap().x, points(limit)[0].x);
        assert_eq!(panel.marks[0].x, points(limit)[0].x);
        assert_eq!(panel.marks[0].name, "volume limit: v");
        // The limit is exact, so its interval has no width.
        assert_eq!(points(requested)[0].y, Some(32.0));
        assert_eq!(points(limit).last().unwrap().interval, Some([32.0, 32.0]));
        assert!(all[0].caption.contains("throughput in MiB/s by outstanding operations"));
        // 16 outstanding at 512 ops/s.
        assert_eq!(points(all[1].panels[0].series.last().unwrap())[0].y, Some(31.25));
    }

    #[test]
    fn random_operations_are_shown_as_a_rate_with_its_interval_as_a_band() {
        let all = charts(&KNOWN.replace("sequential", "random").replace("64KiB", "8KiB"));
        let panel = &all[0].panels[0];
        assert_eq!(panel.y.name, "IOPS");
        let first = &points(&panel.series[0])[1];
        let [low, high] = first.interval.unwrap();
        assert!(low <= first.y.unwrap() && first.y.unwrap() <= high && low < high, "{first:?}");
    }

    #[test]
    fn a_response_time_without_an_upper_bound_is_not_drawn() {
        let text = KNOWN
            .replace("outstanding = 16", "offered = \"50k/s\"")
            .replace("throughput = \"32MiB/s\"\n", "")
            .replace("64KiB", "8KiB")
            .replace("sequential", "random");
        let all = charts(&text);
        assert!(all[1].caption.contains("no upper bound"), "{}", all[1].caption);
        for series in &all[1].panels[0].series {
            for point in points(series) {
                assert!(point.y.unwrap().is_finite());
                assert!(point.interval.is_none_or(|ends| ends[1].is_finite()));
            }
        }
    }
}
