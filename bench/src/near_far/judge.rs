//! Judges the two curves: same maximum throughput, concurrency in the ratio of the latencies.

use statistics::average::median;

use super::{LIMIT_BYTES_PER_S, OUTSTANDING, Point, VOLUMES};

/// A curve has reached its limit at this share of it.
const REACHED: f64 = 0.9;
/// Tolerance for the throughput at the highest queue depth, as a share of the limit.
const LIMIT_OFF_MAX: f64 = 0.02;
/// Tolerance for the ratio of the required concurrency, as a share of the ratio of latencies. The
/// points near the bend of a curve are up to 50 % apart, and the curve is interpolated linearly.
const RATIO_OFF_MAX: f64 = 0.25;
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Medians of the rounds, and the checks.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// Throughput by volume, then by [`OUTSTANDING`].
    pub(crate) bytes_per_s: Vec<Vec<f64>>,
    /// By volume: latency at queue depth 1.
    pub(crate) unloaded_s: Vec<f64>,
    /// By volume: outstanding operations at which the limit is reached.
    pub(crate) required: Vec<f64>,
    pub(crate) checks: Vec<Check>,
}

/// A number and its required range.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Check {
    pub(crate) fn passes(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }

    pub(crate) fn verdict(&self) -> &'static str {
        if self.passes() { "met" } else { "MISSED" }
    }
}

impl Judged {
    /// Judges all rounds; `None` if a load point is missing.
    pub(crate) fn of(points: &[Point]) -> Option<Judged> {
        let figure = |volume: usize, outstanding: u64, of: fn(&Point) -> f64| {
            let these = |p: &&Point| p.volume == volume && p.outstanding == outstanding;
            median(&points.iter().filter(these).map(of).collect::<Vec<f64>>())
        };
        let volumes = 0..VOLUMES.len();
        let curve = |volume: usize| {
            let each = OUTSTANDING.iter();
            each.map(|outstanding| figure(volume, *outstanding, |p| p.bytes_per_s)).collect()
        };
        let bytes_per_s: Vec<Vec<f64>> = volumes.clone().map(curve).collect::<Option<_>>()?;
        let unloaded = volumes.map(|volume| figure(volume, OUTSTANDING[0], |p| p.response_s));
        let unloaded_s: Vec<f64> = unloaded.collect::<Option<_>>()?;
        let required: Option<Vec<f64>> =
            bytes_per_s.iter().map(|curve| outstanding_at_limit(curve)).collect();
        let mut checks = Vec::new();
        for (volume, curve) in VOLUMES.iter().zip(&bytes_per_s) {
            checks.push(Check {
                name: format!("{}: throughput / limit", volume.name),
                value: curve[curve.len() - 1] / LIMIT_BYTES_PER_S,
                low: 1.0 - LIMIT_OFF_MAX,
                high: 1.0 + LIMIT_OFF_MAX,
            });
        }
        // A curve that does not reach its limit fails the check of its throughput.
        let required = required.unwrap_or_default();
        if let [near, far] = required.as_slice() {
            checks.push(Check {
                name: "required concurrency far / near, divided by latency far / near".to_owned(),
                value: (far / near) / (unloaded_s[1] / unloaded_s[0]),
                low: 1.0 - RATIO_OFF_MAX,
                high: 1.0 + RATIO_OFF_MAX,
            });
        }
        Some(Judged { bytes_per_s, unloaded_s, required, checks })
    }

    /// Names of failed checks.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.checks.iter().filter(|check| !check.passes());
        missed.map(|check| check.name.clone()).collect()
    }

    /// The table of both curves, and the checks.
    pub(crate) fn text(&self) -> String {
        let mut lines =
            vec![format!("{:>11} {:>10} {:>10}", "outstanding", "near MiB/s", "far MiB/s")];
        for (index, outstanding) in OUTSTANDING.iter().enumerate() {
            let [near, far] = [0, 1].map(|volume| self.bytes_per_s[volume][index] / MIB);
            lines.push(format!("{outstanding:>11} {near:>10.2} {far:>10.2}"));
        }
        lines.extend(self.sentences());
        for check in &self.checks {
            lines.push(format!(
                "{}: {:.3}, required {:.2} to {:.2}: {}",
                check.name,
                check.value,
                check.low,
                check.high,
                check.verdict()
            ));
        }
        lines.join("\n")
    }

    /// Sentences about the latency at queue depth 1 and the required concurrency.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let [near, far] = [self.unloaded_s[0] * 1e3, self.unloaded_s[1] * 1e3];
        let mut sentences = vec![format!(
            "Latency at queue depth 1: {near:.3} ms near, {far:.3} ms far (ratio {:.2}).",
            far / near
        )];
        if let [near, far] = self.required.as_slice() {
            sentences.push(format!(
                "Outstanding operations at {:.0} % of the limit: {near:.1} near, {far:.1} far (ratio \
                 {:.2}).",
                100.0 * REACHED,
                far / near
            ));
        }
        sentences
    }
}

/// Outstanding operations at which a curve reaches its limit, interpolated linearly between load
/// points; `None` if it does not.
fn outstanding_at_limit(curve: &[f64]) -> Option<f64> {
    let threshold = REACHED * LIMIT_BYTES_PER_S;
    let index = curve.iter().position(|rate| *rate >= threshold)?;
    let at = OUTSTANDING[index] as f64;
    let Some(before) = index.checked_sub(1) else { return Some(at) };
    let (low, high) = (curve[before], curve[index]);
    let share = (threshold - low) / (high - low);
    let from = OUTSTANDING[before] as f64;
    Some(from + share * (at - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds of ideal curves: `min(n x 8 KiB / latency, limit)`.
    fn ideal(unloaded_s: [f64; 2]) -> Vec<Point> {
        let mut points = Vec::new();
        for round in 0..2 {
            for (volume, unloaded_s) in unloaded_s.into_iter().enumerate() {
                for outstanding in OUTSTANDING {
                    let free = outstanding as f64 * 8192.0 / unloaded_s;
                    let bytes_per_s = free.min(LIMIT_BYTES_PER_S);
                    let response_s = outstanding as f64 * 8192.0 / bytes_per_s;
                    points.push(Point { volume, round, outstanding, bytes_per_s, response_s });
                }
            }
        }
        points
    }

    #[test]
    fn ideal_curves_need_concurrency_in_the_ratio_of_their_latencies() {
        let judged = Judged::of(&ideal([0.4e-3, 2.1e-3])).expect("no load point is missing");
        assert!(judged.missed().is_empty(), "{}", judged.text());
        // 0.9 x 8,192 ops/s x 2.1 ms = 15.5.
        assert!((judged.required[1] - 15.5).abs() < 0.1, "{:?}", judged.required);
        assert!((judged.unloaded_s[1] - 2.1e-3).abs() < 1e-9);
    }

    #[test]
    fn a_volume_below_its_limit_fails() {
        let mut points = ideal([0.4e-3, 2.1e-3]);
        for point in points.iter_mut().filter(|point| point.volume == 1) {
            point.bytes_per_s *= 0.8;
        }
        let judged = Judged::of(&points).expect("no load point is missing");
        assert_eq!(judged.missed(), ["far: throughput / limit"]);
        assert!(judged.required.is_empty() && judged.text().contains("MISSED"));
    }

    #[test]
    fn equal_concurrency_at_different_latencies_fails() {
        let mut points = ideal([0.4e-3, 0.4e-3]);
        for point in points.iter_mut().filter(|point| point.volume == 1) {
            point.response_s = 2.1e-3;
        }
        let judged = Judged::of(&points).expect("no load point is missing");
        assert_eq!(judged.missed().len(), 1, "{}", judged.text());
    }

    #[test]
    fn a_missing_load_point_is_not_zero() {
        let points: Vec<Point> =
            ideal([0.4e-3, 2.1e-3]).into_iter().filter(|p| p.outstanding != 8).collect();
        assert!(Judged::of(&points).is_none());
    }
}
