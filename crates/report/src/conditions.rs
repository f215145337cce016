//! Judged conditions (`--fail-if`, and `require` of an experiment) in sentences, as a table and as JSON.

use analysis::Findings;
use analysis::condition::{Answer, Cause, Judged};
use schemars::JsonSchema;
use serde::Serialize;
use units::{BytesPerSec, OpsPerSec, counted, fraction_percent};
use workload::condition::{Condition, Metric};

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

/// By how much a requirement is met or not: `, 21 % above the required value`. Empty for other conditions.
fn margin(judged: &Judged) -> String {
    match of_required(judged) {
        Some(words) if judged.condition.is_requirement => format!(", {words} the required value"),
        _ => String::new(),
    }
}

/// The distance of the value from the bound: `21 % above`; `None` without a value or for a bound of 0.
pub(crate) fn of_required(judged: &Judged) -> Option<String> {
    let bound = judged.condition.bound;
    let value = judged.worst?.value?;
    let distance = (bound > 0.0).then(|| value / bound - 1.0)?;
    let side = if distance < 0.0 { "below" } else { "above" };
    Some(format!("{} {side}", fraction_percent(distance.abs(), 1)))
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
