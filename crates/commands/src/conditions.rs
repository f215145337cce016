//! `--fail-if`: reads conditions, and turns their answers into an exit code.
//!
//! `[WORKLOAD.][KIND.]METRIC OP VALUE`, where WORKLOAD is a workload variant or a stream, and KIND a kind
//! of operation: `read.p99 > 2ms`, `throughput < 900MiB/s`, `home.create.mean >= 1ms`.

use analysis::Findings;
use analysis::condition::{self, Answer, Comparison, Condition, Judged, Metric};
use anyhow::anyhow;
use units::{BytesPerSec, OpsPerSec, parse_duration, unknown};
use workload::op::OpKind;
use workload::plan::Plan;

use crate::outcome::{Exit, Failure};

const OPERATORS: [(&str, Comparison); 4] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

/// Reads a condition.
///
/// # Errors
/// What is wrong and what is allowed, with the condition and a mark below the wrong part.
pub fn parse(text: &str) -> Result<Condition, String> {
    let at = text.find(['<', '>']).ok_or_else(|| {
        let missing = "compare with `<`, `<=`, `>` or `>=`, as in `read.p99 > 2ms`".to_owned();
        marked(text, text.trim_end().len()..text.trim_end().len() + 1, &missing)
    })?;
    let (left, right) = text.split_at(at);
    let (operator, comparison) = OPERATORS
        .into_iter()
        .find(|(operator, _)| right.starts_with(operator))
        .expect("the text has `<` or `>` here");
    let (scope, kind, metric) = subject(text, left.trim_end())?;
    let value_at = at + operator.len();
    let value = &text[value_at..];
    let bound = bound(metric, value.trim()).map_err(|wrong| {
        let start = value_at + value.len() - value.trim_start().len();
        marked(text, start..start + value.trim().len().max(1), &wrong)
    })?;
    Ok(Condition { text: text.trim().to_owned(), scope, kind, metric, comparison, bound })
}

/// The part before the operator: `[WORKLOAD.][KIND.]METRIC`, the beginning of `text`.
fn subject(text: &str, subject: &str) -> Result<(Option<String>, Option<OpKind>, Metric), String> {
    let named = |metric: &Metric| without_last(subject, metric.name()).is_some();
    let Some(metric) = Metric::ALL.into_iter().find(named) else {
        let start = metric_start(subject);
        let found = &subject[start..];
        let wrong = format!(
            "`{found}` is not a metric; {}",
            unknown(found, &Metric::ALL.map(Metric::name))
        );
        return Err(marked(text, start..subject.len().max(start + 1), &wrong));
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
        return Err(marked(text, 0..1, "the name of a workload or stream is missing before `.`"));
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
        Metric::Errors => {
            let count: u32 = value.parse().map_err(|_| {
                format!("found `{value}`, expected a number of failed operations such as `0`")
            })?;
            Ok(f64::from(count))
        }
        _ => {
            let time = parse_duration(value).map_err(|error| error.to_string())?;
            Ok(time.as_nanos() as f64)
        }
    }
}

/// A message with the text, and marks below the bytes of `wrong`.
fn marked(text: &str, wrong: std::ops::Range<usize>, message: &str) -> String {
    let columns = |end: usize| text[..end.min(text.len())].chars().count();
    let start = columns(wrong.start);
    let marks = "^".repeat((columns(wrong.end) - start).max(1));
    format!("column {}: {message}\n  {text}\n  {}{marks}", start + 1, " ".repeat(start))
}

/// Refuses a condition on a workload or stream that the plan does not have, before it is measured.
///
/// # Errors
/// The names that the plan has.
pub fn refuse_unknown_scope(conditions: &[Condition], plan: &Plan) -> Result<(), Failure> {
    let mut known: Vec<&str> = Vec::new();
    for run in plan.model_runs() {
        let names = std::iter::once(&run.variant).chain(run.streams.iter().map(|one| &one.name));
        for name in names.map(String::as_str) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    for condition in conditions {
        if let Some(scope) = condition.scope.as_deref()
            && !known.contains(&scope)
        {
            return Err(Failure::input(anyhow!(
                "--fail-if '{}': the experiment has no workload or stream `{scope}`; {}",
                condition.text,
                unknown(scope, &known)
            )));
        }
    }
    Ok(())
}

/// Judges the conditions.
pub fn judge(findings: &Findings, conditions: &[Condition]) -> Vec<Judged> {
    conditions.iter().map(|condition| condition::judge(findings, condition)).collect()
}

/// The exit code that judged conditions lead to.
///
/// * `strict` - an inconclusive condition is a failure
pub fn exit(judged: &[Judged], strict: bool) -> Exit {
    let is_negative = |one: &Judged| match one.answer {
        Answer::Failed { .. } => true,
        Answer::CannotTell(_) => strict,
        Answer::Passed => false,
    };
    if judged.iter().any(is_negative) { Exit::Negative } else { Exit::Done }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_an_optional_workload_an_optional_kind_and_a_bound_with_a_unit() {
        use Comparison::{Above, AtLeast, AtMost, Below};
        use OpKind::{Create, Fsync, LookupMissing, Read, Write};
        for (text, scope, kind, metric, comparison, bound) in [
            ("read.p99 > 2ms", None, Some(Read), Metric::P99, Above, 2e6),
            ("p99.9>=500us", None, None, Metric::P999, AtLeast, 5e5),
            ("throughput < 900MiB/s", None, None, Metric::Throughput, Below, 943_718_400.0),
            ("log.write.mean <= 1ms", Some("log"), Some(Write), Metric::Mean, AtMost, 1e6),
            (
                "random read 8 KiB.iops < 10k",
                Some("random read 8 KiB"),
                None,
                Metric::Iops,
                Below,
                1e4,
            ),
            ("oltp.errors > 0", Some("oltp"), None, Metric::Errors, Above, 0.0),
            ("create.p99 > 5ms", None, Some(Create), Metric::P99, Above, 5e6),
            ("log.fsync.p99 > 5ms", Some("log"), Some(Fsync), Metric::P99, Above, 5e6),
            ("lookup_missing.iops < 10", None, Some(LookupMissing), Metric::Iops, Below, 10.0),
            (" max > 1s ", None, None, Metric::Max, Above, 1e9),
            ("read.read.p50 > 1ms", Some("read"), Some(Read), Metric::P50, Above, 1e6),
        ] {
            let scope = scope.map(str::to_owned);
            let text_kept = text.trim().to_owned();
            let condition = Condition { text: text_kept, scope, kind, metric, comparison, bound };
            assert_eq!(parse(text), Ok(condition));
        }
    }

    #[test]
    fn a_wrong_condition_is_reported_with_its_column() {
        for (text, message) in [
            (
                "read.p98 > 2ms",
                "column 6: `p98` is not a metric; there are throughput, iops, mean, p50, p90, p99, p99.9, max, errors; did you mean `p90`?\n  read.p98 > 2ms\n       ^^^",
            ),
            (
                "p99",
                "column 4: compare with `<`, `<=`, `>` or `>=`, as in `read.p99 > 2ms`\n  p99\n     ^",
            ),
            (
                "p99 > fast",
                "column 7: found `fast`, expected a duration such as `30s`, `2m`, `500ms` or `10us`\n  p99 > fast\n        ^^^^",
            ),
            (
                "throughput <",
                "column 13: found ``, expected a throughput such as `64MiB/s`, `1GB/s` (decimal) or `10Gbit/s`\n  throughput <\n              ^",
            ),
            (
                ".p99 > 2ms",
                "column 1: the name of a workload or stream is missing before `.`\n  .p99 > 2ms\n  ^",
            ),
            (
                "errors > 1%",
                "column 10: found `1%`, expected a number of failed operations such as `0`\n  errors > 1%\n           ^^",
            ),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()));
        }
    }
}
