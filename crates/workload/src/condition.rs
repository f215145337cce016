//! Conditions on the results of a measurement, such as `read.p99 > 2ms`, and how they are written:
//! `[WORKLOAD.][KIND.]METRIC OP VALUE`, where WORKLOAD is a workload variant or a stream, and KIND a kind
//! of operation.
//!
//! Not for: judging them (`analysis`), sentences (`report`).

use std::ops::Range;

use units::{BytesPerSec, OpsPerSec, Percent, parse_duration, unknown};

use crate::op::OpKind;

/// A value that a condition bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bytes per second.
    Throughput,
    /// Operations completed per second.
    Iops,
    /// Mean response time, in nanoseconds.
    Mean,
    /// Median response time, in nanoseconds.
    P50,
    /// The 90th percentile of the response times, in nanoseconds.
    P90,
    /// The 99th percentile of the response times, in nanoseconds.
    P99,
    /// The 99.9th percentile of the response times, in nanoseconds.
    P999,
    /// Maximum response time, in nanoseconds.
    Max,
    /// Number of failed operations.
    Errors,
    /// Achieved share of the offered rate.
    Achieved,
    /// Share of the starts of users' scenarios that were late.
    Overload,
    /// The largest number of users whose overload is tolerated.
    OverloadPoint,
    /// The largest value of the business metric that passes.
    LargestPassing,
    /// The overall response time up to that value, in nanoseconds.
    OverallResponse,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 14] = [
        Metric::Throughput,
        Metric::Iops,
        Metric::Mean,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::Max,
        Metric::Errors,
        Metric::Achieved,
        Metric::Overload,
        Metric::OverloadPoint,
        Metric::LargestPassing,
        Metric::OverallResponse,
    ];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Iops => "iops",
            Metric::Mean => "mean",
            Metric::P50 => "p50",
            Metric::P90 => "p90",
            Metric::P99 => "p99",
            Metric::P999 => "p99.9",
            Metric::Max => "max",
            Metric::Errors => "errors",
            Metric::Achieved => "achieved",
            Metric::Overload => "overload",
            Metric::OverloadPoint => "overload_point",
            Metric::LargestPassing => "metric",
            Metric::OverallResponse => "ort",
        }
    }

    /// The unit of its values in files.
    pub const fn unit(self) -> &'static str {
        match self {
            Metric::Throughput => "bytes/s",
            Metric::Iops => "ops/s",
            Metric::Errors => "operations",
            Metric::Achieved | Metric::Overload => "share",
            Metric::OverloadPoint => "users",
            Metric::LargestPassing => "units of the metric",
            _ => "ns",
        }
    }

    /// Whether it belongs to a series of load points of a business metric, not to one load point.
    pub const fn is_of_series(self) -> bool {
        matches!(self, Metric::LargestPassing | Metric::OverallResponse)
    }

    /// Whether only a load of users has it.
    pub const fn is_of_users(self) -> bool {
        matches!(self, Metric::Overload | Metric::OverloadPoint)
    }

    /// Whether it is one of all operations together, so that a kind of operation has none.
    pub const fn is_of_all_kinds(self) -> bool {
        self.is_of_series() || self.is_of_users()
    }

    /// The share of operations below a percentile; `None` for other metrics.
    pub const fn fraction(self) -> Option<f64> {
        match self {
            Metric::P50 => Some(0.5),
            Metric::P90 => Some(0.9),
            Metric::P99 => Some(0.99),
            Metric::P999 => Some(0.999),
            _ => None,
        }
    }
}

/// The side of the bound on which a measurement fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// Whether larger values are closer to meeting the condition.
    pub const fn is_upward(self) -> bool {
        matches!(self, Comparison::Above | Comparison::AtLeast)
    }

    /// What is true where this is not.
    pub const fn opposite(self) -> Comparison {
        match self {
            Comparison::Above => Comparison::AtMost,
            Comparison::AtLeast => Comparison::Below,
            Comparison::Below => Comparison::AtLeast,
            Comparison::AtMost => Comparison::Above,
        }
    }

    /// Whether every value of the interval meets the condition, or none; `None` if the interval has
    /// both.
    pub fn is_met_by(self, [low, high]: [f64; 2], bound: f64) -> Option<bool> {
        let meets = |value: f64| match self {
            Comparison::Above => value > bound,
            Comparison::AtLeast => value >= bound,
            Comparison::Below => value < bound,
            Comparison::AtMost => value <= bound,
        };
        (meets(low) == meets(high)).then(|| meets(low))
    }
}

/// A condition under which a measurement fails, also as the opposite of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The text is what the measurement must meet, and the rest is its opposite.
    pub is_requirement: bool,
    /// As the user wrote it.
    pub text: String,
    /// The workload variant or the stream; `None` for every load point.
    pub scope: Option<String>,
    /// The kind of operation; `None` for reads and writes together.
    pub kind: Option<OpKind>,
    /// The bounded value.
    pub metric: Metric,
    /// The side of the bound on which the measurement fails.
    pub comparison: Comparison,
    /// The bound, in the metric's unit.
    pub bound: f64,
}

const OPERATORS: [(&str, Comparison); 4] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

/// What is wrong with the text of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The wrong bytes of the text, which may begin at its end.
    pub at: Range<usize>,
    /// What was found and what is allowed.
    pub message: String,
}

/// Reads a condition under which a measurement fails.
///
/// # Errors
/// What is wrong and what is allowed.
pub fn parse(text: &str) -> Result<Condition, ConditionError> {
    let at = text.find(['<', '>']).ok_or_else(|| {
        let missing = "compare with `<`, `<=`, `>` or `>=`, as in `read.p99 > 2ms`".to_owned();
        wrong(text.trim_end().len()..text.trim_end().len() + 1, missing)
    })?;
    let (left, right) = text.split_at(at);
    let (operator, comparison) = OPERATORS
        .into_iter()
        .find(|(operator, _)| right.starts_with(operator))
        .expect("the text has `<` or `>` here");
    let (scope, kind, metric) = subject(left.trim_end())?;
    let value_at = at + operator.len();
    let value = &text[value_at..];
    let bound = bound(metric, value.trim()).map_err(|message| {
        let start = value_at + value.len() - value.trim_start().len();
        wrong(start..start + value.trim().len().max(1), message)
    })?;
    let text = text.trim().to_owned();
    Ok(Condition { text, is_requirement: false, scope, kind, metric, comparison, bound })
}

/// Reads a requirement: what a measurement must meet.
///
/// # Errors
/// As [`parse`].
pub fn parse_requirement(text: &str) -> Result<Condition, ConditionError> {
    let condition = parse(text)?;
    let comparison = condition.comparison.opposite();
    Ok(Condition { comparison, is_requirement: true, ..condition })
}

fn wrong(at: Range<usize>, message: String) -> ConditionError {
    ConditionError { at, message }
}

/// The part before the operator: `[WORKLOAD.][KIND.]METRIC`, the beginning of `text`.
fn subject(subject: &str) -> Result<(Option<String>, Option<OpKind>, Metric), ConditionError> {
    let named = |metric: &Metric| without_last(subject, metric.name()).is_some();
    let Some(metric) = Metric::ALL.into_iter().find(named) else {
        let start = metric_start(subject);
        let found = &subject[start..];
        let message = format!(
            "`{found}` is not a metric; {}",
            unknown(found, &Metric::ALL.map(Metric::name))
        );
        return Err(wrong(start..subject.len().max(start + 1), message));
    };
    let mut rest = without_last(subject, metric.name()).unwrap_or_default();
    let mut kind = None;
    for one in OpKind::ALL {
        if let Some(before) = without_last(rest, one.name()).filter(|_| kind.is_none()) {
            (rest, kind) = (before, Some(one));
        }
    }
    let scope = rest.trim();
    if scope.is_empty() && rest.len() < subject.len() && subject.trim_start().starts_with('.') {
        let message = "the name of a workload or stream is missing before `.`".to_owned();
        return Err(wrong(0..1, message));
    }
    Ok(((!scope.is_empty()).then(|| scope.to_owned()), kind, metric))
}

/// `text` without its last part, which must be `last`: the whole text, or what follows a dot.
fn without_last<'t>(text: &'t str, last: &str) -> Option<&'t str> {
    let before = text.strip_suffix(last)?;
    match before.trim().is_empty() {
        true => Some(""),
        false => before.strip_suffix('.'),
    }
}

/// Where a wrong metric begins: after the last dot that is not a decimal point, as in `p99.8`.
fn metric_start(subject: &str) -> usize {
    let is_separator = |at: &usize| {
        let after = subject[at + 1..].chars().next();
        !after.is_some_and(|c| c.is_ascii_digit())
    };
    let mut dots = subject.match_indices('.').map(|(at, _)| at).filter(is_separator);
    dots.next_back().map_or(subject.len() - subject.trim_start().len(), |at| at + 1)
}

/// The bound in the metric's unit.
fn bound(metric: Metric, value: &str) -> Result<f64, String> {
    match metric {
        Metric::Throughput => {
            let rate: BytesPerSec = value.parse().map_err(|error| format!("{error}"))?;
            Ok(rate.get())
        }
        Metric::Iops => {
            let rate: OpsPerSec = value.parse().map_err(|error| format!("{error}"))?;
            Ok(rate.get())
        }
        Metric::Achieved | Metric::Overload => {
            let share: Percent = value.parse().map_err(|error| format!("{error}"))?;
            Ok(share.fraction())
        }
        Metric::Errors => {
            let count: u32 = value.parse().map_err(|_| {
                format!("found `{value}`, expected a number of failed operations such as `0`")
            })?;
            Ok(f64::from(count))
        }
        Metric::OverloadPoint => {
            let count: u32 = value.parse().map_err(|_| {
                format!("found `{value}`, expected a number of users such as `800`")
            })?;
            Ok(f64::from(count))
        }
        Metric::LargestPassing => {
            let count: u32 = value.parse().map_err(|_| {
                format!("found `{value}`, expected a value of the business metric such as `40`")
            })?;
            Ok(f64::from(count))
        }
        _ => {
            let time = parse_duration(value).map_err(|error| error.to_string())?;
            Ok(time.as_nanos() as f64)
        }
    }
}
