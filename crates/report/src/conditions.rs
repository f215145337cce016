//! Judged conditions (`--fail-if`, and `require` of an experiment) in sentences, as a table and as JSON.

use analysis::Findings;
use analysis::condition::{Answer, Cause, Judged};
use analysis::metric::{Largest, MetricSeries};
use schemars::JsonSchema;
use serde::Serialize;
use units::{BytesPerSec, OpsPerSec, counted, fraction_percent};
use workload::condition::{Comparison, Condition, Metric};

use crate::drawing::ticks;
use crate::number::{NONE, TimeUnit, exported};
use crate::results::load_point_name;
use crate::table::{Column, Table};

/// What a condition comes to, in one sentence: the condition, the load point that decides, its value
/// with the confidence interval, and what to do about an inconclusive answer.
pub fn sentence(findings: &Findings, judged: &Judged) -> String {
    let text = &judged.condition.text;
    let Some(worst) = judged.worst else {
        return format!("`{text}`: {}", remedy(Cause::NothingMatches));
    };
    let name = load_point_name(&findings.load_points[worst.load_point]);
    if let Some(words) = of_metric(findings, judged) {
        return format!("`{text}`: {words}");
    }
    let observed = observed(judged);
    let all = counted(judged.load_points as u64, "load point");
    let end = match judged.answer {
        Answer::CannotTell(cause) => format!("; {}", remedy(cause)),
        _ if judged.load_points < 2 => margin(judged),
        Answer::Failed { load_points } => format!("{} ({load_points} of {all})", margin(judged)),
        Answer::Passed => format!("{}, the closest of {all}", margin(judged)),
    };
    format!("`{text}`: {observed} at {name}{end}")
}

/// A required number of units, the number that was reached, and by how much it passes or fails: `40 job
/// sets required, 36 reached: failed by 10 %`. `None` for other conditions.
pub(crate) fn of_metric(findings: &Findings, judged: &Judged) -> Option<String> {
    let Condition { metric: Metric::LargestPassing, comparison, bound, .. } = judged.condition
    else {
        return None;
    };
    let minimum = match comparison {
        Comparison::Below => "required",
        Comparison::AtMost => "or fewer not allowed",
        Comparison::Above | Comparison::AtLeast => return None,
    };
    let found = findings.metric.as_ref()?;
    let worst = judged.worst?;
    let (value, [_, high]) = (worst.value?, worst.interval?);
    let is_of = |series: &&MetricSeries| {
        series.points.iter().any(|point| point.load_point == worst.load_point)
    };
    let series = found.series.iter().find(is_of)?;
    let at = match found.series.len() {
        1 => String::new(),
        _ => format!(" by {}", series.name),
    };
    let name = &found.metric.name;
    let required = match ticks::label(bound) {
        // The name is a plural.
        one if one == "1" => format!("1 {minimum} ({name})"),
        many => format!("{many} {name} {minimum}"),
    };
    let distance = distance(judged).map_or(0.0, f64::abs);
    let distance = fraction_percent(distance, if distance < 0.1 { 1 } else { 0 });
    let reached = match series.largest {
        Largest::AtLeast { .. } => format!("at least {} reached", ticks::label(value)),
        _ if value <= 0.0 => "no load point passes".to_owned(),
        _ => format!("{} reached", ticks::label(value)),
    };
    let end = match judged.answer {
        Answer::Failed { .. } if value <= 0.0 => "failed".to_owned(),
        Answer::Failed { .. } => format!("failed by {distance}"),
        Answer::Passed => format!("passed by {distance}"),
        Answer::CannotTell(Cause::NoLargerValue) => remedy(Cause::NoLargerValue).to_owned(),
        Answer::CannotTell(cause) => {
            format!("up to {} undecided; {}", ticks::label(high), remedy(cause))
        }
    };
    Some(format!("{required}, {reached}{at}: {end}"))
}

/// By how much a requirement is met or not: `, 21 % above the required value`. Empty for other conditions.
fn margin(judged: &Judged) -> String {
    match of_required(judged) {
        Some(words) if judged.condition.is_requirement => format!(", {words} the required value"),
        _ => String::new(),
    }
}

/// The distance of the value from the bound: `21 % above`; `None` without a value or for a bound of 0.
pub(crate) fn of_required(judged: &Judged) -> Option<String> {
    let distance = distance(judged)?;
    let side = if distance < 0.0 { "below" } else { "above" };
    Some(format!("{} {side}", fraction_percent(distance.abs(), 1)))
}

/// The value over the bound, less one; `None` without a value or for a bound of 0.
fn distance(judged: &Judged) -> Option<f64> {
    let bound = judged.condition.bound;
    let value = judged.worst?.value?;
    (bound > 0.0).then(|| value / bound - 1.0)
}

/// `require read.p99 < 2ms` or `fail if read.p99 > 2ms`.
pub(crate) fn in_words(condition: &Condition) -> String {
    let what = if condition.is_requirement { "require" } else { "fail if" };
    format!("{what} {}", condition.text)
}

/// The deciding value with its confidence interval: `2.15 ms (95 % CI 2.09 to 2.21 ms)`.
pub(crate) fn observed(judged: &Judged) -> String {
    let Some((value, interval)) =
        judged.worst.and_then(|worst| Some((worst.value?, worst.interval)))
    else {
        return "not measured".to_owned();
    };
    let metric = judged.condition.metric;
    match interval {
        Some([low, high]) if metric == Metric::OverloadPoint => match (low, high) {
            (0.0, f64::INFINITY) => format!("likely {}", quantity(metric, value)),
            (low, f64::INFINITY) => format!("at least {}", quantity(metric, low)),
            (0.0, high) => format!("less than {}", quantity(metric, high)),
            (low, high) => format!("{} to {}", ticks::label(low), quantity(metric, high)),
        },
        Some([low, high]) if low < high && metric == Metric::LargestPassing => {
            format!("{} (up to {} undecided)", quantity(metric, low), quantity(metric, high))
        }
        Some([low, high]) if low < high => format!(
            "{} (95 % CI {} to {})",
            quantity(metric, value),
            quantity(metric, low),
            quantity(metric, high)
        ),
        Some(_) => quantity(metric, value),
        None => format!("{} (95 % CI unknown)", quantity(metric, value)),
    }
}

fn quantity(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => BytesPerSec::new(value).to_string(),
        Metric::Iops => OpsPerSec::new(value).to_string(),
        Metric::Errors => counted(value as u64, "failed operation"),
        Metric::Achieved | Metric::Overload => fraction_percent(value, 1),
        Metric::OverloadPoint => counted(value as u64, "user"),
        Metric::LargestPassing => ticks::label(value),
        _ => TimeUnit::of([value]).with_symbol(value),
    }
}

/// Why an answer is inconclusive, and what to do.
const fn remedy(cause: Cause) -> &'static str {
    match cause {
        Cause::NothingMatches => "no load point with these operations was measured",
        Cause::NotMeasured => "the run ended before its measured window",
        Cause::TooFewSamples => {
            "fewer than ten operations are above this percentile: measure longer (--measure)"
        }
        Cause::NoInterval => {
            "too few intervals: measure longer (--measure) or more often (--repeats)"
        }
        Cause::IncludesBound => {
            "the interval includes the bound: measure longer (--measure) or more often (--repeats)"
        }
        Cause::NoOfferedRate => "the load has no offered rate: give it an `arrival`",
        Cause::NoUsers => "the load has no users: choose the workload or stream that has",
        Cause::NoSecondStart => {
            "no user's second start was due: make `warm_up` and `measure` together longer than `cycle`"
        }
        Cause::BracketIncludesBound => {
            "the bound is between two numbers of users: measure it as well (`users`)"
        }
        Cause::HostsLost => "hosts were lost: measure again with all of them",
        Cause::NoLargerValue => {
            "every load point passes: measure as many as required (--set metric.values=)"
        }
    }
}

/// A table with a row for each condition.
pub(crate) fn table(findings: &Findings, judged: &[Judged]) -> Table {
    let row = |one: &Judged| {
        let at = one.worst.map(|worst| load_point_name(&findings.load_points[worst.load_point]));
        let at = at.unwrap_or_else(|| NONE.to_owned());
        vec![one.answer.name().to_owned(), in_words(&one.condition), observed(one), at]
    };
    Table {
        columns: vec![
            Column::words("result"),
            Column::words("condition"),
            Column::words("measured"),
            Column::words("load point"),
        ],
        rows: judged.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A judged condition as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConditionJson<'a> {
    /// The condition, as the user wrote it.
    condition: &'a str,
    /// It is a requirement of the experiment, which must be true; only if it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    /// `passed`, `failed` or `cannot tell`.
    result: &'static str,
    /// Why it is inconclusive; only if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// The metric that it bounds.
    metric: &'static str,
    /// The unit of the bound and the value.
    unit: &'static str,
    /// The bound.
    bound: f64,
    /// How far the value is from the bound, as a share of it: 0.1 above, -0.1 below; only with a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_fraction: Option<f64>,
    /// Load points that it applies to.
    load_points: usize,
    /// Those of them that fail.
    load_points_failed: usize,
    /// The load point that decides; only if one was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<WorstJson>,
}

/// The load point that decides a condition.
#[derive(Debug, Serialize, JsonSchema)]
struct WorstJson {
    /// Its name.
    load_point: String,
    /// Its value.
    value: Option<f64>,
    /// The 95 % confidence interval of the value.
    interval: Option<[f64; 2]>,
}

/// Judged conditions as JSON, in their order.
pub fn json<'a>(findings: &Findings, judged: &'a [Judged]) -> Vec<ConditionJson<'a>> {
    // JSON has no infinity: the end of an overload point that was not reached.
    let finite = |ends: &[f64; 2]| ends.iter().all(|end| end.is_finite());
    let one = |judged: &'a Judged| ConditionJson {
        condition: &judged.condition.text,
        required: judged.condition.is_requirement,
        result: judged.answer.name(),
        cause: match judged.answer {
            Answer::CannotTell(cause) => Some(cause.name()),
            _ => None,
        },
        metric: judged.condition.metric.name(),
        unit: judged.condition.metric.unit(),
        bound: exported(judged.condition.bound),
        distance_fraction: distance(judged).map(exported),
        load_points: judged.load_points,
        load_points_failed: match judged.answer {
            Answer::Failed { load_points } => load_points,
            _ => 0,
        },
        worst: judged.worst.map(|worst| WorstJson {
            load_point: load_point_name(&findings.load_points[worst.load_point]),
            value: worst.value.map(exported),
            interval: worst.interval.filter(finite).map(|ends| ends.map(exported)),
        }),
    };
    judged.iter().map(one).collect()
}
