//! A business metric as the load: users, job sets, builds. Each value of it is a load point, at which
//! every stream offers that many times its rate.
//!
//! For: the settings of `[metric]`, resolved. Not for: whether a load point passes (`analysis`).

use serde::{Deserialize, Serialize};
use settings::{Diagnostic, SourceSpan};

use crate::arrival::Arrival;
use crate::keys::{self, Section};
use crate::layer::{DEFAULTS_FILE, Layer};
use crate::problem::missing_key;
use crate::run::Stream;
use crate::value::{Choice, Value};
use crate::written::{Experiment, Setting};

/// The one key that may be the name of a metric: a load of a metric has no population of users that could
/// be swept as well.
const USERS: &str = "users";
/// The largest rate of a stream, as in the table of keys.
const RATE_MAX: f64 = 1e9;

/// A business metric and the criterion by which a load point passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, in the plural: `job sets`. A parameter of this name has the value of each run.
    pub name: String,
    /// The achieved rate of every stream is at least this many thousandths of the offered one.
    pub rate_min_permille: u16,
    /// The response time is at most this, in nanoseconds; `None` for any.
    pub response_time_max_ns: Option<u64>,
    /// Which response time.
    pub response_time: ResponseTime,
    /// What one unit stores, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Files and directories of one unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inodes: Option<u64>,
}

/// A response time with a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResponseTime {
    /// The mean.
    #[serde(rename = "mean")]
    Mean,
    /// The median.
    #[serde(rename = "p50")]
    P50,
    /// The 90th percentile.
    #[serde(rename = "p90")]
    P90,
    /// The 99th percentile.
    #[serde(rename = "p99")]
    P99,
    /// The 99.9th percentile.
    #[serde(rename = "p99.9")]
    P999,
}

impl ResponseTime {
    const ALL: [ResponseTime; 5] = [
        ResponseTime::Mean,
        ResponseTime::P50,
        ResponseTime::P90,
        ResponseTime::P99,
        ResponseTime::P999,
    ];
    /// The names in an experiment.
    pub const NAMES: [&'static str; 5] = ["mean", "p50", "p90", "p99", "p99.9"];

    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The percentile as a fraction; `None` for the mean.
    pub const fn fraction(self) -> Option<f64> {
        match self {
            ResponseTime::Mean => None,
            ResponseTime::P50 => Some(0.5),
            ResponseTime::P90 => Some(0.9),
            ResponseTime::P99 => Some(0.99),
            ResponseTime::P999 => Some(0.999),
        }
    }
}

/// The metric of an experiment; `None` without one, or if it is wrong.
pub(crate) fn of(experiment: &Experiment) -> Option<Metric> {
    experiment.metric.first()?;
    let layer = Layer::over(&[&experiment.metric], Section::Metric);
    let name = match layer.value("name", &[])? {
        Value::Text(name) => name.clone(),
        _ => return None,
    };
    let rate_min_permille = match layer.value("rate_min", &[])? {
        Value::Share(permille) => *permille,
        _ => return None,
    };
    let response_time_max_ns = match layer.value("response_time_max", &[]) {
        Some(Value::Duration(ns)) => Some(*ns),
        _ => None,
    };
    let response_time = match layer.value("response_time", &[])? {
        Value::Text(word) => ResponseTime::ALL.into_iter().find(|one| one.name() == word)?,
        _ => return None,
    };
    let capacity_bytes = match layer.value("capacity", &[]) {
        Some(Value::Bytes(bytes)) => Some(*bytes),
        _ => None,
    };
    let inodes = match layer.value("inodes", &[]) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    };
    Some(Metric {
        name,
        rate_min_permille,
        response_time_max_ns,
        response_time,
        capacity_bytes,
        inodes,
    })
}

/// Keys of the file that a key of the command line replaces: load points are listed or divided.
pub(crate) const fn replaced_by(key: &str) -> &'static [&'static str] {
    match key.as_bytes() {
        b"values" => &["maximum", "load_points"],
        b"maximum" => &["values"],
        _ => &[],
    }
}

/// The setting with the values of the metric, which are the load points.
pub(crate) fn values(experiment: &Experiment) -> Option<&Setting> {
    experiment.metric.iter().find(|setting| setting.key.name == "values")
}

/// Checks `[metric]`, and turns `maximum` and `load_points` into `values`.
pub(crate) fn complete(experiment: &mut Experiment, problems: &mut Vec<Diagnostic>) {
    let Some(first) = experiment.metric.first() else { return };
    let span = first.span.clone();
    let layer = Layer::over(&[&experiment.metric], Section::Metric);
    match layer.at("name", &[]) {
        None if layer.is_written("name") => {}
        None => problems.extend(missing(&span, "name")),
        Some((Value::Text(name), span)) => refuse_name(name, span, problems),
        Some(_) => {}
    }
    if let Some(number) = layer.setting("load_points")
        && number.span.file.as_ref() != DEFAULTS_FILE
        && !layer.is_written("maximum")
    {
        let wrong = "`load_points` divides a `maximum`, and there is none";
        problems.push(number.span.diagnostic(wrong, "`maximum`").with_hint("add `maximum`"));
    }
    let count = |name| match layer.value(name, &[]) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    };
    match (layer.setting("values"), layer.setting("maximum")) {
        (None, None) => problems.extend(missing(&span, "values")),
        (Some(_), Some(maximum)) => {
            let wrong = "the metric has `values` and a `maximum`";
            let wrong = maximum.span.diagnostic(wrong, "`values` or `maximum`");
            problems.push(wrong.with_hint("omit one of them"));
        }
        (Some(values), None) => refuse_repeated(values, problems),
        (None, Some(setting)) => {
            let (Some(maximum), Some(points)) = (count("maximum"), count("load_points")) else {
                return;
            };
            if maximum < points {
                let wrong = format!("{points} load points of a maximum of {maximum} are not whole");
                let wrong = setting.span.diagnostic(wrong, format!("at least {points}"));
                let hint = format!("lower `load_points` to {maximum}, or list `values`");
                problems.push(wrong.with_hint(hint));
                return;
            }
            let key = keys::key(Section::Metric, "values").expect("a key of the table");
            let choice = |point: u64| Choice {
                value: Value::Count(rounded_part(maximum, point, points)),
                span: setting.span.clone(),
            };
            let choices = (1..=points).map(choice).collect();
            let values = Setting { key, choices, span: setting.span.clone() };
            experiment.metric.push(values);
        }
    }
}

/// `point / points` of `maximum`, rounded.
fn rounded_part(maximum: u64, point: u64, points: u64) -> u64 {
    let (maximum, point, points) = (u128::from(maximum), u128::from(point), u128::from(points));
    ((2 * maximum * point + points) / (2 * points)) as u64
}

fn missing(span: &SourceSpan, name: &str) -> Option<Diagnostic> {
    Some(missing_key(span, keys::key(Section::Metric, name)?, "[metric]"))
}

/// A name is that of a parameter, next to the swept keys.
fn refuse_name(name: &str, span: &SourceSpan, problems: &mut Vec<Diagnostic>) {
    const ALLOWED: &str = "up to 40 letters, digits, spaces, `-` and `_`, such as \"job sets\"";
    let is_plain = name.chars().count() <= 40
        && name.chars().all(|c| c.is_alphanumeric() || " -_".contains(c))
        && name.trim() == name;
    if !is_plain {
        problems.push(span.diagnostic("not a valid name of a metric", ALLOWED));
    } else if name != USERS && keys::KEYS.iter().any(|key| key.name == name) {
        let wrong = format!("the metric has the name of the key `{name}`");
        let hint = format!("qualify it, such as \"active {name}\"");
        problems.push(span.diagnostic(wrong, ALLOWED).with_hint(hint));
    }
}

fn refuse_repeated(values: &Setting, problems: &mut Vec<Diagnostic>) {
    for (at, choice) in values.choices.iter().enumerate() {
        if values.choices[..at].iter().any(|earlier| earlier.value == choice.value) {
            let wrong = format!("the metric has the value {} twice", choice.value);
            problems.push(choice.span.diagnostic(wrong, "each value once"));
        }
    }
}

/// Raises the rate of each stream to that of a value of the metric.
///
/// * `arrivals` - the position of each stream's arrival process, or of the stream
pub(crate) fn scale(
    streams: &mut [Stream],
    value: u64,
    arrivals: &[&SourceSpan],
    problems: &mut Vec<Diagnostic>,
) {
    for (stream, span) in streams.iter_mut().zip(arrivals) {
        if stream.replay.is_some() {
            let wrong =
                format!("stream `{}` replays a list, whose rate [metric] cannot set", stream.name);
            let wrong = span.diagnostic(wrong, "streams with `arrival` and without `replay`");
            problems.push(wrong.with_hint("run the replay without [metric]"));
            continue;
        }
        if stream.arrival.users().is_some() {
            let wrong = format!("stream `{}` has users, whose pauses set its rate", stream.name);
            let wrong = span.diagnostic(wrong, "[metric] with streams that have an `arrival`");
            problems.push(wrong.with_hint("omit [metric] and give several `users`"));
            continue;
        }
        if !stream.arrival.is_open() {
            let wrong = format!(
                "stream `{}` is a closed loop, whose rate [metric] cannot set",
                stream.name
            );
            let wrong = span.diagnostic(wrong, "the rate that the stream offers for one unit");
            let hint = "for example arrival = { constant = \"450/s\" }; `poisson` and `schedule` \
                        work as well";
            problems.push(wrong.with_hint(hint));
            continue;
        }
        stream.arrival = stream.arrival.scaled(value as f64);
        let rate = match &stream.arrival {
            Arrival::Constant { offered_rate } | Arrival::Poisson { offered_rate } => *offered_rate,
            _ => 0.0,
        };
        if rate > RATE_MAX {
            let wrong = format!("{value} times the rate of stream `{}` is too much", stream.name);
            problems
                .push(span.diagnostic(wrong, "up to 1000000000/s").with_found(format!("{rate}/s")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_points_divide_a_maximum_into_equal_parts_rounded_to_whole_units() {
        let parts = |maximum, points| -> Vec<u64> {
            (1..=points).map(|point| rounded_part(maximum, point, points)).collect()
        };
        assert_eq!(parts(100, 10), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(parts(10, 4), [3, 5, 8, 10]);
        assert_eq!(parts(3, 3), [1, 2, 3]);
    }
}
