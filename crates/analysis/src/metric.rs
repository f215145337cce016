//! A business metric against the load: which of its values pass, the largest that does, and the
//! overall response time up to it.
//!
//! A load point passes or fails only if the whole 95 % confidence interval is on one side of the
//! criterion; otherwise it is undecided. `docs/method.md` has the definitions.

use metrics::run_record::ExperimentRecord;
use workload::metric::{Metric, ResponseTime};

use crate::estimate::Estimate;
use crate::load_point::{self, Generator, LoadPoint, StreamSummary};

/// The response of one load point is not one over a range of loads.
const OVERALL_POINTS_MIN: usize = 2;

/// A metric's load points, by workload.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFindings {
    /// The metric and its criterion.
    pub metric: Metric,
    /// Each workload, in the order of the plan.
    pub series: Vec<MetricSeries>,
}

/// The load points of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSeries {
    /// The workload variant with the parameters other than the metric.
    pub name: String,
    /// Its load points, by rising value.
    pub points: Vec<MetricPoint>,
    /// The largest value that passes.
    pub largest: Largest,
    /// The overall response time up to that value, in nanoseconds; `None` without two load points up to
    /// it, or if one of them was not measured.
    pub overall_response_ns: Option<f64>,
}

/// A load point of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricPoint {
    /// Index into `Findings::load_points`.
    pub load_point: usize,
    /// The value of the metric.
    pub value: f64,
    /// Operations per second that all streams offer.
    pub offered_rate: Option<f64>,
    /// Operations per second of all streams.
    pub achieved_rate: Option<Estimate>,
    /// The lowest achieved over offered rate of any stream.
    pub rate_share: Option<Estimate>,
    /// The response time that the criterion is about, in nanoseconds.
    pub response_ns: Option<f64>,
    /// Ends of its 95 % confidence interval.
    pub response_interval_ns: Option<[f64; 2]>,
    /// Mean response time, in nanoseconds.
    pub response_mean_ns: Option<f64>,
    /// Whether it passes.
    pub judgement: Judgement,
}

/// Whether a load point passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Every part of the criterion is met.
    Passed,
    /// A part is not met.
    Failed(Criterion),
    /// Not enough data.
    Undecided(Doubt),
}

/// A part of the criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The achieved rate.
    Rate,
    /// The response time.
    ResponseTime,
}

/// Why a load point is neither passed nor failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// No interval was measured, or no operation completed.
    NotMeasured,
    /// Too few intervals or operations for a confidence interval of this part.
    NoInterval(Criterion),
    /// The confidence interval of this part includes its bound.
    IncludesBound(Criterion),
    /// Hosts were lost.
    HostsLost,
}

/// The largest value that passes, below every value that does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Largest {
    /// Between a value that passes and the first that fails.
    Between {
        /// Index of the point that passes.
        passes: usize,
        /// Index of the point that fails.
        fails: usize,
    },
    /// All values pass: the largest is at least that of this point, the last.
    AtLeast {
        /// Index of the point.
        passes: usize,
    },
    /// Some pass, but a value above them is undecided, and none above fails.
    Unbounded {
        /// Index of the point that passes.
        passes: usize,
    },
    /// The smallest value fails.
    BelowAll,
    /// The smallest value is undecided.
    NotEnoughData,
}

impl Largest {
    /// Index of the largest point that passes.
    pub const fn passes(self) -> Option<usize> {
        match self {
            Largest::Between { passes, .. }
            | Largest::AtLeast { passes }
            | Largest::Unbounded { passes } => Some(passes),
            Largest::BelowAll | Largest::NotEnoughData => None,
        }
    }

    /// Index of the first point that fails.
    pub const fn fails(self) -> Option<usize> {
        match self {
            Largest::Between { fails, .. } => Some(fails),
            Largest::BelowAll => Some(0),
            _ => None,
        }
    }
}

impl MetricSeries {
    /// The largest value that passes; `None` if none is known to pass.
    pub fn value(&self) -> Option<f64> {
        Some(self.points.get(self.largest.passes()?)?.value)
    }

    /// The smallest value above it that is known to fail.
    pub fn fails_at(&self) -> Option<f64> {
        Some(self.points.get(self.largest.fails()?)?.value)
    }
}

/// The metric of a record with its load points; `None` without one.
pub(crate) fn of_record(record: &ExperimentRecord) -> Option<MetricFindings> {
    let metric = record.plan.metric.as_ref()?;
    let processors = record.environment.prior.processors.map(u32::from);
    let generator = Generator::of(&record.plan, record.io_method.io_method, processors);
    findings(Some(metric), &load_point::load_points(&record.runs, generator))
}

/// The metric of a plan with its load points; `None` without one.
pub(crate) fn findings(
    metric: Option<&Metric>,
    load_points: &[LoadPoint],
) -> Option<MetricFindings> {
    let metric = metric?;
    let mut series: Vec<(String, Vec<MetricPoint>)> = Vec::new();
    for (index, load_point) in load_points.iter().enumerate() {
        let is_metric = |(key, _): &&(String, String)| *key == metric.name;
        let Some((_, value)) = load_point.parameters.iter().find(is_metric) else { continue };
        let Ok(value) = value.parse::<f64>() else { continue };
        let mut name = load_point.variant.clone();
        for (key, value) in load_point.parameters.iter().filter(|one| !is_metric(one)) {
            name.push_str(&format!(", {}={value}", key.replace('_', " ")));
        }
        let point = point(metric, index, value, load_point);
        match series.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name, vec![point])),
        }
    }
    let series = series.into_iter().map(|(name, mut points)| {
        points.sort_by(|a, b| a.value.total_cmp(&b.value));
        let largest = largest(&points);
        let overall_response_ns = largest.passes().and_then(|last| overall(&points[..=last]));
        MetricSeries { name, points, largest, overall_response_ns }
    });
    Some(MetricFindings { metric: metric.clone(), series: series.collect() })
}

fn point(metric: &Metric, index: usize, value: f64, load_point: &LoadPoint) -> MetricPoint {
    let total = &load_point.merged.total;
    let response = &total.data.response;
    let (response_ns, response_interval_ns) = match metric.response_time {
        ResponseTime::Mean => {
            let mean = response.mean_ns;
            let ends = mean.and_then(|mean| Some((mean.value, mean.uncertainty?)));
            (mean.map(|mean| mean.value), ends.map(|(ns, half)| [ns - half, ns + half]))
        }
        of => {
            let percentile = of.fraction().and_then(|fraction| response.percentile(fraction));
            let value = percentile.and_then(|one| one.value_ns);
            (value.map(|ns| ns as f64), percentile.and_then(|one| one.interval_ns))
        }
    };
    let mut point = MetricPoint {
        load_point: index,
        value,
        offered_rate: total.offered_rate.map(|rate| rate.get()),
        achieved_rate: total.achieved_rate_all_kinds(),
        rate_share: rate_share(&load_point.merged.streams),
        response_ns,
        response_interval_ns,
        response_mean_ns: response.mean_ns.map(|mean| mean.value),
        judgement: Judgement::Undecided(Doubt::HostsLost),
    };
    if load_point.is_whole() {
        point.judgement = judge(metric, &point);
    }
    point
}

/// The lowest share of the offered rate that a stream achieved; `None` if one was not measured.
fn rate_share(streams: &[StreamSummary]) -> Option<Estimate> {
    let share = |stream: &StreamSummary| {
        let offered = stream.offered_rate?.get();
        Some(stream.achieved_rate_all_kinds()?.scaled(1.0 / offered))
    };
    let shares: Option<Vec<Estimate>> = streams.iter().map(share).collect();
    let low = |share: &Estimate| share.value - share.uncertainty.unwrap_or(0.0);
    shares?.into_iter().min_by(|a, b| low(a).total_cmp(&low(b)))
}

fn judge(metric: &Metric, point: &MetricPoint) -> Judgement {
    let Some(share) = point.rate_share else { return Judgement::Undecided(Doubt::NotMeasured) };
    let least = f64::from(metric.rate_min_permille) / 1000.0;
    let rate = match share.uncertainty {
        None => Err(Doubt::NoInterval(Criterion::Rate)),
        Some(half) if share.value - half >= least => Ok(true),
        Some(half) if share.value + half < least => Ok(false),
        Some(_) => Err(Doubt::IncludesBound(Criterion::Rate)),
    };
    let response = match (metric.response_time_max_ns, point.response_interval_ns) {
        (None, _) => Ok(true),
        (Some(_), None) => Err(Doubt::NoInterval(Criterion::ResponseTime)),
        (Some(most), Some([_, high])) if high <= most as f64 => Ok(true),
        (Some(most), Some([low, _])) if low > most as f64 => Ok(false),
        (Some(_), Some(_)) => Err(Doubt::IncludesBound(Criterion::ResponseTime)),
    };
    match (rate, response) {
        (Ok(false), _) => Judgement::Failed(Criterion::Rate),
        (_, Ok(false)) => Judgement::Failed(Criterion::ResponseTime),
        (Err(doubt), _) | (_, Err(doubt)) => Judgement::Undecided(doubt),
        (Ok(true), Ok(true)) => Judgement::Passed,
    }
}

/// The largest value that passes, up to the first that fails.
fn largest(points: &[MetricPoint]) -> Largest {
    let is =
        |wanted: fn(&Judgement) -> bool| points.iter().position(|point| wanted(&point.judgement));
    let fails = is(|judgement| matches!(judgement, Judgement::Failed(_)));
    let below = &points[..fails.unwrap_or(points.len())];
    let passes = below.iter().rposition(|point| point.judgement == Judgement::Passed);
    let last = points.len().saturating_sub(1);
    match (passes, fails) {
        (Some(passes), Some(fails)) => Largest::Between { passes, fails },
        (Some(passes), None) if passes == last => Largest::AtLeast { passes },
        (Some(passes), None) => Largest::Unbounded { passes },
        (None, Some(0)) => Largest::BelowAll,
        (None, _) => Largest::NotEnoughData,
    }
}

/// The overall response time as SPEC SFS defines it (SPEC SFS 2014 SP2 Run and Reporting Rules 1.1,
/// section 5.4): the area below the mean response time over the achieved rate, by trapezoids from the
/// origin, divided by the highest rate.
fn overall(points: &[MetricPoint]) -> Option<f64> {
    if points.len() < OVERALL_POINTS_MIN {
        return None;
    }
    let (mut area, mut before, mut highest) = (0.0, (0.0, 0.0), 0.0f64);
    for point in points {
        let (rate, response_ns) = (point.achieved_rate?.value, point.response_mean_ns?);
        area += (rate - before.0) * (response_ns + before.1) / 2.0;
        highest = highest.max(rate);
        before = (rate, response_ns);
    }
    (highest > 0.0).then(|| area / highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn metric() -> Metric {
        Metric {
            name: "builds".to_owned(),
            rate_min_permille: 950,
            response_time_max_ns: Some(20_000_000),
            response_time: ResponseTime::Mean,
            capacity_bytes: None,
            inodes: None,
        }
    }

    fn known(value: f64, half: f64) -> Estimate {
        Estimate { uncertainty: Some(half), ..Estimate::bare(value) }
    }

    /// A point that achieved this share ± 1 % of 100 operations per unit in this time ± 1 ms.
    fn at(value: f64, share: f64, response_ms: f64) -> MetricPoint {
        let mut point = MetricPoint {
            load_point: 0,
            value,
            offered_rate: Some(100.0 * value),
            achieved_rate: Some(known(100.0 * value * share, 1.0)),
            rate_share: Some(known(share, 0.01)),
            response_ns: Some(response_ms * MS),
            response_interval_ns: Some([(response_ms - 1.0) * MS, (response_ms + 1.0) * MS]),
            response_mean_ns: Some(response_ms * MS),
            judgement: Judgement::Passed,
        };
        point.judgement = judge(&metric(), &point);
        point
    }

    #[test]
    fn a_point_passes_or_fails_only_with_its_whole_confidence_interval() {
        use Criterion::{Rate, ResponseTime};
        for (share, response_ms, expected) in [
            (1.0, 5.0, Judgement::Passed),
            (0.961, 19.0, Judgement::Passed),
            (0.955, 5.0, Judgement::Undecided(Doubt::IncludesBound(Rate))),
            (0.92, 5.0, Judgement::Failed(Rate)),
            (1.0, 19.5, Judgement::Undecided(Doubt::IncludesBound(ResponseTime))),
            (1.0, 21.5, Judgement::Failed(ResponseTime)),
            (0.955, 21.5, Judgement::Failed(ResponseTime)),
        ] {
            assert_eq!(at(1.0, share, response_ms).judgement, expected, "{share} {response_ms}");
        }
        let mut unknown = at(1.0, 1.0, 5.0);
        unknown.rate_share = Some(Estimate::bare(1.0));
        let expected = Judgement::Undecided(Doubt::NoInterval(Rate));
        assert_eq!(judge(&metric(), &unknown), expected);
    }

    #[test]
    fn the_largest_value_is_bracketed_by_the_first_that_fails() {
        let of = |shares: &[f64]| {
            let points: Vec<MetricPoint> = shares
                .iter()
                .enumerate()
                .map(|(n, share)| at(n as f64 + 1.0, *share, 5.0))
                .collect();
            largest(&points)
        };
        assert_eq!(of(&[1.0, 1.0, 0.8, 0.7]), Largest::Between { passes: 1, fails: 2 });
        assert_eq!(of(&[1.0, 0.955, 0.8]), Largest::Between { passes: 0, fails: 2 });
        assert_eq!(of(&[1.0, 1.0]), Largest::AtLeast { passes: 1 });
        assert_eq!(of(&[1.0, 0.955]), Largest::Unbounded { passes: 0 });
        // A value above one that fails does not count.
        assert_eq!(of(&[1.0, 0.8, 1.0]), Largest::Between { passes: 0, fails: 1 });
        assert_eq!(of(&[0.8, 0.7]), Largest::BelowAll);
        assert_eq!(of(&[0.955, 0.7]), Largest::NotEnoughData);
    }

    /// SPECsfs97.v2 result of Network Appliance F840, August 2000 (sfs97-20000905-00194), published
    /// with an overall response time of 1.56 ms.
    #[test]
    fn the_overall_response_time_is_that_of_a_published_result() {
        let published = [
            (3037.0, 1.1),
            (6071.0, 1.3),
            (9135.0, 1.4),
            (13_147.0, 1.2),
            (16_242.0, 1.3),
            (18_983.0, 1.4),
            (21_771.0, 1.9),
            (24_532.0, 2.0),
            (27_650.0, 2.4),
            (30_555.0, 3.5),
        ];
        let points: Vec<MetricPoint> =
            published.iter().map(|(rate, ms)| at(rate / 100.0, 1.0, *ms)).collect();
        let overall_ms = overall(&points).unwrap() / MS;
        assert!((overall_ms - 1.56).abs() < 0.005, "{overall_ms}");
    }
}
