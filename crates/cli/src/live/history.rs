//! Throughput (or rate, if no operation moves data) and p99 of the last intervals, as sparklines.

use std::collections::VecDeque;
use std::time::Duration;

use analysis::fleet::MissingHosts;
use analysis::series::SeriesPoint;
use report::number::{TimeUnit, plain};
use report::sparkline;
use units::print_whole_seconds;

use super::quantities::Quantities;

/// More intervals than a terminal has columns.
const INTERVALS_MAX: usize = 400;
/// Columns of a sparkline's name and of its scale.
const NAME_COLUMNS: usize = 8;
const SCALE_COLUMNS: usize = 20;

/// The last intervals of all runs, over all streams.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Each with the hosts that are missing from it.
    points: VecDeque<(SeriesPoint, Option<MissingHosts>)>,
}

impl History {
    pub(super) fn add(&mut self, point: SeriesPoint, missing: Option<MissingHosts>) {
        if self.points.len() == INTERVALS_MAX {
            self.points.pop_front();
        }
        self.points.push_back((point, missing));
    }

    /// The sparkline of the throughput, or of the rate if the operations of the plan move no data, and
    /// that of the p99 in `unit`, with the fewest hosts that are in them if some were lost; empty before
    /// the first interval.
    pub(super) fn lines(
        &self,
        quantities: Quantities,
        unit: TimeUnit,
        width: usize,
    ) -> Vec<String> {
        let of_missing = |missing: MissingHosts| format!(", down to {missing}");
        let fewest = |columns: usize| {
            let shown = self.points.iter().rev().take(columns);
            let missing = shown.filter_map(|(_, missing)| *missing);
            missing.min_by_key(|one| one.remaining).map_or(String::new(), of_missing)
        };
        let columns = width.saturating_sub(NAME_COLUMNS + SCALE_COLUMNS);
        let hosts = fewest(columns);
        let columns = columns.saturating_sub(hosts.chars().count());
        let skipped = self.points.len().saturating_sub(columns);
        let shown: Vec<&SeriesPoint> =
            self.points.iter().skip(skipped).map(|(point, _)| point).collect();
        if shown.is_empty() {
            return Vec::new();
        }
        let time: u64 = shown.iter().map(|point| point.end_ns - point.start_ns).sum();
        let time = print_whole_seconds(Duration::from_nanos(time));
        let (name, load): (&str, fn(&SeriesPoint) -> f64) = match quantities.move_data {
            true => ("MiB/s", |point| point.throughput.as_mib()),
            false => (quantities.rate_unit(), |point| point.achieved_rate.get()),
        };
        let load: Vec<f64> = shown.iter().map(|point| load(point)).collect();
        let p99 = |point: &&SeriesPoint| {
            point.response_p99_ns.map_or(f64::NAN, |ns| unit.scale(ns as f64))
        };
        let p99: Vec<f64> = shown.iter().map(p99).collect();
        vec![
            format!("{}, last {time}{hosts}", line(name, &load, columns)),
            format!("{}{hosts}", line(&format!("p99, {}", unit.symbol()), &p99, columns)),
        ]
    }
}

/// A sparkline from zero to its highest value.
fn line(name: &str, values: &[f64], columns: usize) -> String {
    let highest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let bars = sparkline::text(values, columns);
    format!("{name:<NAME_COLUMNS$}{bars} 0 to {}", plain(highest))
}
