//! Conditions under which a measurement fails, such as `read.p99 > 2ms`, judged with the uncertainty
//! of the measured values.
//!
//! A condition is met or not met only if the whole 95 % confidence interval is on one side of the
//! bound; otherwise the answer is "cannot tell". Counts and maxima are exact. Not for: parsing
//! (`workload`), sentences (`report`).

use metrics::histogram::{bucket_high_ns, bucket_low_ns, bucket_of};
use workload::condition::{Condition, Metric};
use workload::op::OpKind;

use crate::curve::Curve;
use crate::estimate::Estimate;
use crate::findings::Findings;
use crate::load_point::{LoadPoint, OpSummary, StreamSummary};
use crate::metric::{Largest, MetricSeries};
use crate::percentile::Percentile;
use crate::users;

/// A condition with the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The condition.
    pub condition: Condition,
    /// Whether the measurement fails.
    pub answer: Answer,
    /// Number of load points that the condition applies to.
    pub load_points: usize,
    /// Total length of their measured windows, in nanoseconds.
    pub window_ns: u64,
    /// The load point that decides the answer: the worst of those with this answer. `None` if the
    /// condition applies to none.
    pub worst: Option<Worst>,
}

/// The value of the load point that decides an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Index into `Findings::load_points`.
    pub load_point: usize,
    /// The value, in the metric's unit; `None` if it was not measured.
    pub value: Option<f64>,
    /// Ends of its 95 % confidence interval; the value twice if it is exact, `None` if unknown. Of an
    /// overload point the upper end may be infinite.
    pub interval: Option<[f64; 2]>,
}

/// Whether a measurement fails a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The condition is met, so the measurement fails.
    Failed {
        /// Number of load points that meet it.
        load_points: usize,
    },
    /// No load point meets the condition.
    Passed,
    /// Inconclusive.
    CannotTell(Cause),
}

/// Why a condition is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The condition applies to no load point.
    NothingMatches,
    /// No interval was measured, or no operation completed.
    NotMeasured,
    /// Too few operations are above the percentile.
    TooFewSamples,
    /// Too few intervals for a confidence interval.
    NoInterval,
    /// The confidence interval includes the bound.
    IncludesBound,
    /// Hosts were lost, so the value is that of fewer hosts.
    HostsLost,
    /// The load has no offered rate, so it achieves no share of one.
    NoOfferedRate,
    /// The load has no users.
    NoUsers,
    /// The second start of no user was due, so none could be late.
    NoSecondStart,
    /// The overload point is between two numbers of users, and the bound as well.
    BracketIncludesBound,
    /// Every load point of a business metric passes, and none as large as the bound was measured.
    NoLargerValue,
}

impl Answer {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Answer::Failed { .. } => "failed",
            Answer::Passed => "passed",
            Answer::CannotTell(_) => "cannot tell",
        }
    }
}

impl Cause {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::NothingMatches => "nothing_matches",
            Cause::NotMeasured => "not_measured",
            Cause::TooFewSamples => "too_few_samples",
            Cause::NoInterval => "no_interval",
            Cause::IncludesBound => "includes_bound",
            Cause::HostsLost => "hosts_lost",
            Cause::NoOfferedRate => "no_offered_rate",
            Cause::NoUsers => "no_users",
            Cause::NoSecondStart => "no_second_start",
            Cause::BracketIncludesBound => "bracket_includes_bound",
            Cause::NoLargerValue => "no_larger_value",
        }
    }
}

/// Judges a condition by all load points that it applies to: it fails if any of them meets it, and
/// passes only if none can.
pub fn judge(findings: &Findings, condition: &Condition) -> Judged {
    let mut window_ns = 0;
    let mut judged: Vec<(Worst, Result<bool, Cause>)> = Vec::new();
    if condition.metric.is_of_series() {
        let series = findings.metric.iter().flat_map(|found| &found.series);
        judged.extend(series.filter_map(|series| judge_series(findings, series, condition)));
        let windows = judged.iter().map(|(one, _)| &findings.load_points[one.load_point]);
        window_ns = windows.map(|point| point.merged.window_ns).sum();
        return decided(judged, window_ns, condition);
    }
    if condition.metric == Metric::OverloadPoint {
        for curve in &findings.curves {
            let Some(one) = judge_overload_point(findings, curve, condition) else { continue };
            let of_curve = curve.points.iter().map(|point| &findings.load_points[point.load_point]);
            window_ns += of_curve.map(|point| point.merged.window_ns).sum::<u64>();
            judged.push(one);
        }
        return decided(judged, window_ns, condition);
    }
    for (load_point, point) in findings.load_points.iter().enumerate() {
        let Some((stream, ops)) = operations(point, condition) else { continue };
        window_ns += point.merged.window_ns;
        judged.push(judge_operations(load_point, point, stream, ops, condition));
    }
    decided(judged, window_ns, condition)
}

/// The answer of several load points, or of several series of them.
fn decided(
    judged: Vec<(Worst, Result<bool, Cause>)>,
    window_ns: u64,
    condition: &Condition,
) -> Judged {
    let worst_of = |is: fn(&Result<bool, Cause>) -> bool| {
        let of_answer = judged.iter().filter(|(_, answer)| is(answer));
        of_answer.copied().reduce(|a, b| if is_worse(&b.0, &a.0, condition) { b } else { a })
    };
    let failed = judged.iter().filter(|(_, answer)| *answer == Ok(true)).count();
    let decisive = worst_of(|answer| *answer == Ok(true))
        .or_else(|| worst_of(Result::is_err))
        .or_else(|| worst_of(|answer| *answer == Ok(false)));
    let answer = match decisive {
        None => Answer::CannotTell(Cause::NothingMatches),
        Some((_, Ok(true))) => Answer::Failed { load_points: failed },
        Some((_, Ok(false))) => Answer::Passed,
        Some((_, Err(cause))) => Answer::CannotTell(cause),
    };
    Judged {
        condition: condition.clone(),
        answer,
        load_points: judged.len(),
        window_ns,
        worst: decisive.map(|(worst, _)| worst),
    }
}

/// The operations of a load point that a condition applies to, and their stream.
fn operations<'a>(
    point: &'a LoadPoint,
    condition: &Condition,
) -> Option<(&'a StreamSummary, &'a OpSummary)> {
    let total = &point.merged.total;
    let stream = match condition.scope.as_deref() {
        None => total,
        Some(scope) if scope == point.variant => total,
        Some(scope) => point.merged.streams.iter().find(|stream| stream.name == scope)?,
    };
    match condition.kind {
        None => Some((stream, &stream.data)),
        Some(kind) => {
            let ops = stream.kinds.iter().find(|ops| ops.name == kind.name())?;
            Some((stream, ops))
        }
    }
}

/// The largest passing value of a series, or the overall response time up to it. The value is among
/// those that were measured, so it is between the largest that passes and the largest that does not fail.
fn judge_series(
    findings: &Findings,
    series: &MetricSeries,
    condition: &Condition,
) -> Option<(Worst, Result<bool, Cause>)> {
    let passes = series.largest.passes();
    let decisive = series.points.get(passes.unwrap_or(0))?;
    let variant = &findings.load_points[decisive.load_point].variant;
    if condition.scope.as_ref().is_some_and(|scope| scope != variant && *scope != series.name) {
        return None;
    }
    let worst = |value, interval| Worst { load_point: decisive.load_point, value, interval };
    if condition.metric == Metric::OverallResponse {
        let value = series.overall_response_ns;
        let is_known = matches!(series.largest, Largest::Between { .. } | Largest::AtLeast { .. });
        let interval = value.filter(|_| is_known).map(|ns| [ns, ns]);
        let met = interval.and_then(|ends| condition.comparison.is_met_by(ends, condition.bound));
        let cause = if value.is_some() { Cause::NoInterval } else { Cause::NotMeasured };
        return Some((worst(value, interval), met.ok_or(cause)));
    }
    let low = series.value().unwrap_or(0.0);
    let below = series.largest.fails().unwrap_or(series.points.len());
    let high = below.checked_sub(1).map_or(0.0, |last| series.points[last].value);
    let interval = [low, high.max(low)];
    // If every load point passes, a larger value may pass as well.
    let (most, cause) = match series.largest {
        Largest::AtLeast { .. } => (f64::INFINITY, Cause::NoLargerValue),
        _ => (interval[1], Cause::IncludesBound),
    };
    let met = condition.comparison.is_met_by([low, most], condition.bound);
    Some((worst(Some(low), Some(interval)), met.ok_or(cause)))
}

/// The overload point of a curve. It is between two numbers of users that were measured, and at least the
/// highest if its overload is tolerated as well.
fn judge_overload_point(
    findings: &Findings,
    curve: &Curve,
    condition: &Condition,
) -> Option<(Worst, Result<bool, Cause>)> {
    let found = curve.overload_point?;
    let points: Vec<&LoadPoint> =
        curve.points.iter().map(|point| &findings.load_points[point.load_point]).collect();
    let decisive = found.passes.or(found.fails)?;
    let variant = &points[decisive].variant;
    if condition.scope.as_ref().is_some_and(|scope| scope != variant && *scope != curve.name) {
        return None;
    }
    let users =
        |point: usize| points[point].merged.total.users.as_ref().map(|all| all.users as f64);
    let value = found.passes.map_or(Some(0.0), users);
    let interval = users::overload_point_interval(&points, found);
    let met = condition.comparison.is_met_by(interval, condition.bound);
    let cause = match found.is_certain {
        true => Cause::BracketIncludesBound,
        false => Cause::IncludesBound,
    };
    let load_point = curve.points[decisive].load_point;
    Some((Worst { load_point, value, interval: Some(interval) }, met.ok_or(cause)))
}

fn judge_operations(
    load_point: usize,
    point: &LoadPoint,
    stream: &StreamSummary,
    ops: &OpSummary,
    condition: &Condition,
) -> (Worst, Result<bool, Cause>) {
    let exact = |value: f64| (Some(value), Some([value, value]));
    let (value, interval) = match condition.metric {
        _ if stream.intervals == 0 => (None, None),
        Metric::Throughput => of_estimate(ops.throughput),
        Metric::Iops => of_estimate(ops.achieved_rate),
        Metric::Mean => of_estimate(ops.response.mean_ns),
        Metric::Achieved => of_estimate(achieved_share(stream, condition.kind)),
        Metric::Overload => {
            let users = stream.users.as_ref().filter(|_| condition.kind.is_none());
            let overload = users.and_then(|users| users.overload);
            (overload.map(|one| one.value), users.and_then(users::overload_interval))
        }
        Metric::Max => ops.response.max_ns.map_or((None, None), |ns| exact(ns as f64)),
        Metric::Errors => exact(failed(stream, condition.kind) as f64),
        Metric::P50 | Metric::P90 | Metric::P99 | Metric::P999 => {
            let fraction = condition.metric.fraction();
            of_percentile(fraction.and_then(|fraction| ops.response.percentile(fraction)))
        }
        // Of several load points, see above.
        Metric::OverloadPoint | Metric::LargestPassing | Metric::OverallResponse => (None, None),
    };
    let cause = match (value, condition.metric.fraction()) {
        (Some(_), _) => Cause::NoInterval,
        (None, _) if condition.metric == Metric::Achieved && ops.completed > 0 => {
            Cause::NoOfferedRate
        }
        (None, _) if condition.metric == Metric::Overload && ops.completed > 0 => {
            if stream.users.is_some() { Cause::NoSecondStart } else { Cause::NoUsers }
        }
        (None, Some(_)) if ops.response.samples > 0 => Cause::TooFewSamples,
        (None, _) => Cause::NotMeasured,
    };
    let answer = match interval {
        _ if !point.is_whole() => Err(Cause::HostsLost),
        None => Err(cause),
        Some(ends) => {
            let met = condition.comparison.is_met_by(ends, condition.bound);
            met.ok_or(Cause::IncludesBound)
        }
    };
    (Worst { load_point, value, interval }, answer)
}

/// The achieved share of a stream's offered rate, which counts all kinds of operations. `None` without an
/// offered rate, or for one of several kinds, whose part of the rate is not planned alone.
fn achieved_share(stream: &StreamSummary, kind: Option<OpKind>) -> Option<Estimate> {
    let offered = stream.offered_rate.filter(|_| kind.is_none())?.get();
    let achieved = stream.all_kinds.as_ref().unwrap_or(&stream.data).achieved_rate?;
    (offered > 0.0).then(|| Estimate {
        value: achieved.value / offered,
        uncertainty: achieved.uncertainty.map(|half| half / offered),
        ..achieved
    })
}

fn of_estimate(estimate: Option<Estimate>) -> (Option<f64>, Option<[f64; 2]>) {
    let Some(estimate) = estimate else { return (None, None) };
    let ends = |half: f64| [(estimate.value - half).max(0.0), estimate.value + half];
    (Some(estimate.value), estimate.uncertainty.map(ends))
}

/// A percentile is known only to its bucket of the histogram, so the interval includes the bucket.
fn of_percentile(percentile: Option<&Percentile>) -> (Option<f64>, Option<[f64; 2]>) {
    let Some((percentile, ns)) = percentile.and_then(|one| Some((one, one.value_ns?))) else {
        return (None, None);
    };
    let bucket = bucket_of(ns);
    let ends = |[low, high]: [f64; 2]| {
        [low.min(bucket_low_ns(bucket) as f64), high.max(bucket_high_ns(bucket) as f64)]
    };
    (Some(ns as f64), percentile.interval_ns.map(ends))
}

/// Failed operations of one kind, or of all kinds.
fn failed(stream: &StreamSummary, kind: Option<OpKind>) -> u64 {
    let of_kind =
        stream.errors.iter().filter(|(failed, _, _)| kind.is_none_or(|kind| kind == *failed));
    of_kind.map(|(_, _, count)| count).sum()
}

/// Whether `a` is closer to meeting the condition than `b`, or further beyond the bound. A value is
/// worse than none, so that evidence is named if there is any.
fn is_worse(a: &Worst, b: &Worst, condition: &Condition) -> bool {
    match (a.value, b.value) {
        (Some(a), Some(b)) if condition.comparison.is_upward() => a > b,
        (Some(a), Some(b)) => a < b,
        (a, b) => a.is_some() && b.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use workload::condition::Comparison;

    #[test]
    fn an_interval_on_one_side_of_the_bound_decides_and_one_across_it_does_not() {
        for (comparison, interval, met) in [
            (Comparison::Above, [2.1, 2.3], Some(true)),
            (Comparison::Above, [1.7, 2.0], Some(false)),
            (Comparison::Above, [1.9, 2.1], None),
            (Comparison::AtLeast, [2.0, 2.3], Some(true)),
            (Comparison::AtLeast, [1.7, 2.0], None),
            (Comparison::Below, [1.7, 1.9], Some(true)),
            (Comparison::Below, [2.0, 2.1], Some(false)),
            (Comparison::Below, [1.9, 2.0], None),
            (Comparison::AtMost, [1.7, 2.0], Some(true)),
            (Comparison::AtMost, [2.1, 2.2], Some(false)),
        ] {
            assert_eq!(comparison.is_met_by(interval, 2.0), met, "{comparison:?} {interval:?}");
        }
    }
}
