//! What the two curves must have in common, and in what they must differ.

use super::{LIMIT_BYTES_PER_S, OUTSTANDING, Point, VOLUMES};
use crate::bench::median::median;

/// A curve has reached its limit where it has this share of it.
const REACHED: f64 = 0.9;
/// At the most outstanding, the throughput is the limit to within this share.
const LIMIT_OFF_MAX: f64 = 0.02;
/// The ratio of the concurrency that is needed is that of response times to within this share: the
/// points of a curve near its bend lie up to a half apart, and lines are drawn between them.
const RATIO_OFF_MAX: f64 = 0.25;
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Medians of the rounds, and what they are held to.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// By volume, then by [`OUTSTANDING`]: bytes per second.
    pub(crate) bytes_per_s: Vec<Vec<f64>>,
    /// By volume: the response time of one operation at a time, in seconds.
    pub(crate) alone_s: Vec<f64>,
    /// By volume: operations outstanding with which it reaches its limit.
    pub(crate) needed: Vec<f64>,
    pub(crate) checks: Vec<Check>,
}

/// One number and what it must be.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Check {
    pub(crate) fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }

    pub(crate) fn verdict(&self) -> &'static str {
        if self.holds() { "holds" } else { "MISSED" }
    }
}

impl Judged {
    /// Of all rounds; none where a load point is missing.
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
        let alone = volumes.map(|volume| figure(volume, OUTSTANDING[0], |p| p.response_s));
        let alone_s: Vec<f64> = alone.collect::<Option<_>>()?;
        let needed: Option<Vec<f64>> = bytes_per_s.iter().map(|curve| needed(curve)).collect();
        let mut checks = Vec::new();
        for (volume, curve) in VOLUMES.iter().zip(&bytes_per_s) {
            checks.push(Check {
                what: format!("{}: throughput over the limit", volume.name),
                value: curve[curve.len() - 1] / LIMIT_BYTES_PER_S,
                low: 1.0 - LIMIT_OFF_MAX,
                high: 1.0 + LIMIT_OFF_MAX,
            });
        }
        // Where one never reaches its limit, that is what is missed.
        let needed = needed.unwrap_or_default();
        if let [near, far] = needed.as_slice() {
            checks.push(Check {
                what: "concurrency far over near, over the same of response times alone".to_owned(),
                value: (far / near) / (alone_s[1] / alone_s[0]),
                low: 1.0 - RATIO_OFF_MAX,
                high: 1.0 + RATIO_OFF_MAX,
            });
        }
        Some(Judged { bytes_per_s, alone_s, needed, checks })
    }

    /// What does not hold.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.checks.iter().filter(|check| !check.holds());
        missed.map(|check| check.what.clone()).collect()
    }

    /// The table of both curves, and the checks.
    pub(crate) fn text(&self) -> String {
        let mut lines =
            vec![format!("{:>11} {:>10} {:>10}", "outstanding", "near MiB/s", "far MiB/s")];
        for (place, outstanding) in OUTSTANDING.iter().enumerate() {
            let [near, far] = [0, 1].map(|volume| self.bytes_per_s[volume][place] / MIB);
            lines.push(format!("{outstanding:>11} {near:>10.2} {far:>10.2}"));
        }
        lines.extend(self.said());
        for check in &self.checks {
            lines.push(format!(
                "{}: {:.3}, must be {:.2} to {:.2}: {}",
                check.what,
                check.value,
                check.low,
                check.high,
                check.verdict()
            ));
        }
        lines.join("\n")
    }

    /// Response times alone and the concurrency that is needed, in whole sentences.
    pub(crate) fn said(&self) -> Vec<String> {
        let mut said = vec![format!(
            "One operation at a time takes {:.3} ms near and {:.3} ms far: {:.2} times.",
            self.alone_s[0] * 1e3,
            self.alone_s[1] * 1e3,
            self.alone_s[1] / self.alone_s[0]
        )];
        if let [near, far] = self.needed.as_slice() {
            said.push(format!(
                "{:.0} % of the limit is reached with {near:.1} outstanding near and {far:.1} far: \
                 {:.2} times.",
                100.0 * REACHED,
                far / near
            ));
        }
        said
    }
}

/// Operations outstanding at which a curve has reached its limit, on the line between the two
/// points beside it; none where it does not.
fn needed(curve: &[f64]) -> Option<f64> {
    let wanted = REACHED * LIMIT_BYTES_PER_S;
    let place = curve.iter().position(|rate| *rate >= wanted)?;
    let at = OUTSTANDING[place] as f64;
    let Some(before) = place.checked_sub(1) else { return Some(at) };
    let (low, high) = (curve[before], curve[place]);
    let share = (wanted - low) / (high - low);
    let from = OUTSTANDING[before] as f64;
    Some(from + share * (at - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds of ideal curves: `min(n x 8 KiB / response time, limit)`.
    fn ideal(alone_s: [f64; 2]) -> Vec<Point> {
        let mut points = Vec::new();
        for round in 0..2 {
            for (volume, alone_s) in alone_s.into_iter().enumerate() {
                for outstanding in OUTSTANDING {
                    let free = outstanding as f64 * 8192.0 / alone_s;
                    let bytes_per_s = free.min(LIMIT_BYTES_PER_S);
                    let response_s = outstanding as f64 * 8192.0 / bytes_per_s;
                    points.push(Point { volume, round, outstanding, bytes_per_s, response_s });
                }
            }
        }
        points
    }

    #[test]
    fn ideal_curves_hold_and_need_concurrency_as_their_response_times_say() {
        let judged = Judged::of(&ideal([0.4e-3, 2.1e-3])).expect("all is there");
        assert!(judged.missed().is_empty(), "{}", judged.text());
        // 0.9 x 8,192 ops/s x 2.1 ms = 15.5.
        assert!((judged.needed[1] - 15.5).abs() < 0.1, "{:?}", judged.needed);
        assert!((judged.alone_s[1] - 2.1e-3).abs() < 1e-9);
    }

    #[test]
    fn a_volume_that_does_not_reach_its_limit_misses() {
        let mut points = ideal([0.4e-3, 2.1e-3]);
        for point in points.iter_mut().filter(|point| point.volume == 1) {
            point.bytes_per_s *= 0.8;
        }
        let judged = Judged::of(&points).expect("all is there");
        assert_eq!(judged.missed(), ["far: throughput over the limit"]);
        assert!(judged.needed.is_empty() && judged.text().contains("MISSED"));
    }

    #[test]
    fn a_far_volume_that_is_as_near_as_the_other_in_concurrency_misses() {
        let mut points = ideal([0.4e-3, 0.4e-3]);
        for point in points.iter_mut().filter(|point| point.volume == 1) {
            point.response_s = 2.1e-3;
        }
        let judged = Judged::of(&points).expect("all is there");
        assert_eq!(judged.missed().len(), 1, "{}", judged.text());
    }

    #[test]
    fn a_load_point_that_is_missing_is_no_zero() {
        let points: Vec<Point> =
            ideal([0.4e-3, 2.1e-3]).into_iter().filter(|p| p.outstanding != 8).collect();
        assert!(Judged::of(&points).is_none());
    }
}
