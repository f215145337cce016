//! Offered rates that change by plan: constant parts, ramps, sine waves and bursts, one after another.
//!
//! The expected number of arrivals N(t) since the run's start is known in closed form, and so is its
//! inverse, except for sine waves. Arrivals are placed on the axis of N and mapped to times by the
//! inverse (Çinlar, "Introduction to Stochastic Processes", 1975: a Poisson process with a changing rate
//! is one with rate 1 on that axis), so errors do not accumulate. Not for: reading schedules (`reader`).

use std::f64::consts::TAU;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::print_duration;

/// Nanoseconds per second.
const SECOND_NS: f64 = 1e9;
/// Distances on the axis of N that are rounding errors: absolute, in operations, and as a share. The end
/// of a burst and the start of the next are one point there, and which is meant must not depend on
/// rounding.
const ROUNDING: (f64, f64) = (1e-9, 1e-14);
/// Accuracy of times that have no closed form, in nanoseconds.
const TIME_TOLERANCE_NS: f64 = 0.25;
/// Parts that are printed; a schedule with more is identified by a checksum.
const PARTS_SHOWN: usize = 4;

/// An offered rate as a function of the time since the run's start, over all workers of a stream.
///
/// If every segment has a duration, the schedule repeats. Otherwise its last segment continues until
/// the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Segment>", into = "Vec<Segment>")]
pub struct RateSchedule {
    inner: Arc<Inner>,
}

#[derive(Debug, PartialEq)]
struct Inner {
    segments: Vec<Segment>,
    /// Where each segment starts.
    starts: Vec<Point>,
    /// The end of a schedule that repeats.
    period: Option<Point>,
}

/// A time and the arrivals expected before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    ns: f64,
    count: f64,
}

/// A part of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Its length; only the last segment may have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// The rate in it.
    pub rate: SegmentRate,
}

/// An offered rate over the time since the start of a segment. Rates are in operations per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentRate {
    /// The same all the time.
    Constant {
        /// The rate.
        rate: f64,
    },
    /// Changes linearly over the segment.
    Ramp {
        /// The rate at its start.
        from: f64,
        /// The rate at its end.
        to: f64,
    },
    /// `mean + amplitude * sin(2 pi t / period)`.
    Sine {
        /// The mean over a period.
        mean: f64,
        /// The largest distance from the mean, at most the mean.
        amplitude: f64,
        /// Length of a period.
        period_ns: u64,
    },
    /// A burst at the start of every period.
    Bursts {
        /// The rate between bursts.
        base: f64,
        /// The rate in a burst.
        burst: f64,
        /// Time from the start of a burst to that of the next.
        period_ns: u64,
        /// Length of a burst, below the period.
        burst_ns: u64,
    },
}

/// Why segments are not a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There are no segments.
    #[error("the schedule has no segment")]
    Empty,
    /// A segment before the last has no duration, or a ramp has none, or a duration is zero.
    #[error("segment {0} needs a duration above zero")]
    NoDuration(usize),
    /// A rate is negative or not finite, an amplitude exceeds the mean, or a burst fills its period.
    #[error("segment {0} has an impossible rate")]
    WrongRate(usize),
    /// All rates are zero.
    #[error("the schedule offers no operations")]
    NoOperations,
}

impl TryFrom<Vec<Segment>> for RateSchedule {
    type Error = ScheduleError;

    fn try_from(segments: Vec<Segment>) -> Result<RateSchedule, ScheduleError> {
        let mut starts = Vec::with_capacity(segments.len());
        let mut end = Some(Point { ns: 0.0, count: 0.0 });
        for (at, segment) in segments.iter().enumerate() {
            let start = end.ok_or_else(|| ScheduleError::NoDuration(at.saturating_sub(1)))?;
            starts.push(start);
            if !segment.rate.is_possible() {
                return Err(ScheduleError::WrongRate(at));
            }
            let is_ramp = matches!(segment.rate, SegmentRate::Ramp { .. });
            end = match segment.duration_ns {
                Some(0) => return Err(ScheduleError::NoDuration(at)),
                None if is_ramp => return Err(ScheduleError::NoDuration(at)),
                None => None,
                Some(ns) => Some(Point {
                    ns: start.ns + ns as f64,
                    count: start.count + segment.count(ns as f64),
                }),
            };
        }
        let (Some(last), Some(last_start)) = (segments.last(), starts.last()) else {
            return Err(ScheduleError::Empty);
        };
        let count = end.map_or_else(|| last_start.count + last.rate.mean(), |end| end.count);
        if count <= 0.0 {
            return Err(ScheduleError::NoOperations);
        }
        Ok(RateSchedule { inner: Arc::new(Inner { segments, starts, period: end }) })
    }
}

impl From<RateSchedule> for Vec<Segment> {
    fn from(schedule: RateSchedule) -> Vec<Segment> {
        schedule.inner.segments.clone()
    }
}

impl RateSchedule {
    /// The segments, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.inner.segments
    }

    /// N(t): the expected number of arrivals before `ns` nanoseconds from the run's start.
    pub fn count(&self, ns: f64) -> f64 {
        let inner = &*self.inner;
        let (before, ns) = match inner.period {
            Some(period) => {
                let cycles = (ns / period.ns).floor();
                (cycles * period.count, ns - cycles * period.ns)
            }
            None => (0.0, ns),
        };
        let at = inner.starts.partition_point(|start| start.ns <= ns).saturating_sub(1);
        let start = inner.starts[at];
        before + start.count + inner.segments[at].count((ns - start.ns).max(0.0))
    }

    /// The inverse of N: the latest time, in nanoseconds, before which at most `count` arrivals are
    /// expected. Arrivals that fall on a pause come at its end. `None` if the schedule never offers
    /// more.
    pub fn time_ns(&self, count: f64) -> Option<f64> {
        let inner = &*self.inner;
        let rounding = ROUNDING.0 + count * ROUNDING.1;
        let (before_ns, count) = match inner.period {
            Some(period) => {
                let cycles = ((count + rounding) / period.count).floor();
                (cycles * period.ns, (count - cycles * period.count).max(0.0))
            }
            None => (0.0, count),
        };
        let at = inner.starts.partition_point(|start| start.count <= count + rounding);
        let at = at.saturating_sub(1);
        let (start, segment) = (inner.starts[at], &inner.segments[at]);
        let within_ns = segment.rate.time_ns(
            (count - start.count).max(0.0),
            rounding,
            segment.duration_ns.map(|ns| ns as f64),
        )?;
        let length_ns = segment.duration_ns.map_or(f64::INFINITY, |ns| ns as f64);
        Some(before_ns + start.ns + within_ns.min(length_ns))
    }

    /// The mean rate between two times from the run's start, in operations per second.
    pub fn mean_rate(&self, from_ns: u64, to_ns: u64) -> f64 {
        let (from, to) = (from_ns as f64, to_ns as f64);
        if to <= from {
            return 0.0;
        }
        (self.count(to) - self.count(from)) * SECOND_NS / (to - from)
    }

    /// Whether the rate is the same all the time.
    pub fn is_constant(&self) -> bool {
        let rate_of = |segment: &Segment| match segment.rate {
            SegmentRate::Constant { rate } => Some(rate),
            _ => None,
        };
        let first = self.segments().first().and_then(rate_of);
        first.is_some() && self.segments().iter().all(|segment| rate_of(segment) == first)
    }
}

impl Segment {
    /// The expected number of arrivals in its first `ns` nanoseconds.
    fn count(&self, ns: f64) -> f64 {
        let seconds = ns / SECOND_NS;
        match self.rate {
            SegmentRate::Constant { rate } => rate * seconds,
            SegmentRate::Ramp { from, to } => {
                let length_ns = self.duration_ns.map_or(ns, |ns| ns as f64).max(ns);
                let mean = from + (to - from) * ns / length_ns / 2.0;
                mean * seconds
            }
            SegmentRate::Sine { mean, amplitude, period_ns } => {
                let period_ns = period_ns as f64;
                let swing = amplitude * period_ns / SECOND_NS / TAU;
                mean * seconds + swing * (1.0 - (TAU * (ns % period_ns) / period_ns).cos())
            }
            SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
                let (period_ns, burst_ns) = (period_ns as f64, burst_ns as f64);
                let (periods, within) = ((ns / period_ns).floor(), ns % period_ns);
                let of = |ns: f64| burst * ns.min(burst_ns) + base * (ns - burst_ns).max(0.0);
                (periods * of(period_ns) + of(within)) / SECOND_NS
            }
        }
    }
}

impl SegmentRate {
    /// The mean rate of a segment without an end.
    fn mean(&self) -> f64 {
        match *self {
            SegmentRate::Constant { rate } => rate,
            SegmentRate::Ramp { from, to } => (from + to) / 2.0,
            SegmentRate::Sine { mean, .. } => mean,
            SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
                let share = burst_ns as f64 / period_ns as f64;
                burst * share + base * (1.0 - share)
            }
        }
    }

    fn is_possible(&self) -> bool {
        let is_rate = |rate: &f64| rate.is_finite() && *rate >= 0.0;
        match self {
            SegmentRate::Constant { rate } => is_rate(rate),
            SegmentRate::Ramp { from, to } => is_rate(from) && is_rate(to),
            SegmentRate::Sine { mean, amplitude, period_ns } => {
                is_rate(mean) && is_rate(amplitude) && amplitude <= mean && *period_ns > 0
            }
            SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
                is_rate(base) && is_rate(burst) && *burst_ns > 0 && burst_ns < period_ns
            }
        }
    }

    /// The inverse within a segment: see [`RateSchedule::time_ns`].
    fn time_ns(&self, count: f64, rounding: f64, duration_ns: Option<f64>) -> Option<f64> {
        match *self {
            SegmentRate::Constant { rate } => (rate > 0.0).then(|| count / rate * SECOND_NS),
            SegmentRate::Ramp { from, to } => {
                let length_s = duration_ns? / SECOND_NS;
                // The root of the quadratic equation in the form that does not cancel.
                let root = (from * from + 2.0 * (to - from) / length_s * count).max(0.0).sqrt();
                let sum = from + root;
                Some(if sum > 0.0 { 2.0 * count / sum * SECOND_NS } else { 0.0 })
            }
            SegmentRate::Sine { mean, amplitude, period_ns } => {
                if mean <= 0.0 {
                    return None;
                }
                let period_ns = period_ns as f64;
                let of_period = mean * period_ns / SECOND_NS;
                let periods = ((count + rounding) / of_period).floor();
                let rest = (count - periods * of_period).max(0.0);
                let wave = Wave { mean, amplitude, period_ns };
                Some(periods * period_ns + wave.time_ns(rest))
            }
            SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
                let of_burst = burst * burst_ns as f64 / SECOND_NS;
                let of_period = of_burst + base * (period_ns - burst_ns) as f64 / SECOND_NS;
                if of_period <= 0.0 {
                    return None;
                }
                let periods = ((count + rounding) / of_period).floor();
                let rest = (count - periods * of_period).max(0.0);
                let within_ns = match rest + rounding < of_burst {
                    true => rest / burst * SECOND_NS,
                    false if base > 0.0 => {
                        burst_ns as f64 + (rest - of_burst).max(0.0) / base * SECOND_NS
                    }
                    false => period_ns as f64,
                };
                Some(periods * period_ns as f64 + within_ns)
            }
        }
    }
}

/// One period of a sine wave.
struct Wave {
    mean: f64,
    amplitude: f64,
    period_ns: f64,
}

impl Wave {
    /// The time before which `count` arrivals of the period are expected: Newton's method, kept
    /// within a shrinking bracket because the rate can be zero.
    fn time_ns(&self, count: f64) -> f64 {
        let Wave { mean, amplitude, period_ns } = *self;
        let swing = amplitude * period_ns / SECOND_NS / TAU;
        let (mut low, mut high) = (0.0, period_ns);
        let mut ns = (count / mean * SECOND_NS).min(period_ns);
        for _ in 0..200 {
            let angle = TAU * ns / period_ns;
            let error = mean * ns / SECOND_NS + swing * (1.0 - angle.cos()) - count;
            if error > 0.0 {
                high = ns;
            } else {
                low = ns;
            }
            if high - low <= TIME_TOLERANCE_NS {
                break;
            }
            let rate_ns = (mean + amplitude * angle.sin()) / SECOND_NS;
            let newton = ns - error / rate_ns;
            let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
            if (next - ns).abs() <= TIME_TOLERANCE_NS * 1e-3 {
                ns = next;
                break;
            }
            ns = next;
        }
        ns
    }
}

impl fmt::Display for RateSchedule {
    /// `100/s for 10s, then 100/s to 1000/s for 30s, repeated`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.segments().iter().take(PARTS_SHOWN).enumerate() {
            write!(f, "{}{segment}", if at == 0 { "" } else { ", then " })?;
        }
        let more = self.segments().len().saturating_sub(PARTS_SHOWN);
        if more > 0 {
            write!(f, ", then {more} more segments (checksum {:08x})", self.checksum())?;
        }
        if self.inner.period.is_some() { f.write_str(", repeated") } else { Ok(()) }
    }
}

impl RateSchedule {
    /// FNV-1a over all segments, so that long schedules that differ are printed differently.
    fn checksum(&self) -> u32 {
        let text = self.segments().iter().map(Segment::to_string);
        text.flat_map(String::into_bytes)
            .fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ns: u64| print_duration(Duration::from_nanos(ns));
        match self.rate {
            SegmentRate::Constant { rate } => write!(f, "{rate}/s")?,
            SegmentRate::Ramp { from, to } => write!(f, "{from}/s to {to}/s")?,
            SegmentRate::Sine { mean, amplitude, period_ns } => {
                write!(f, "sine {mean}/s ± {amplitude}/s every {}", time(period_ns))?;
            }
            SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
                let (burst_time, period) = (time(burst_ns), time(period_ns));
                write!(f, "bursts of {burst}/s for {burst_time} every {period}, else {base}/s")?;
            }
        }
        self.duration_ns.map_or(Ok(()), |ns| write!(f, " for {}", time(ns)))
    }
}

#[cfg(test)]
mod tests;
