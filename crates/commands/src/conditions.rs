//! `--fail-if`: reads conditions, judges them next to the requirements of the experiment, and turns the
//! answers into an exit code.

use analysis::Findings;
use analysis::condition::{self, Answer, Judged};
use anyhow::anyhow;
use units::unknown;
use workload::condition::{Condition, Metric};
use workload::plan::Plan;

use crate::outcome::{Exit, Failure};

/// Reads a condition.
///
/// # Errors
/// What is wrong and what is allowed, with the condition and a mark below the wrong part.
pub fn parse(text: &str) -> Result<Condition, String> {
    workload::condition::parse(text).map_err(|wrong| marked(text, wrong.at, &wrong.message))
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
        if condition.metric.is_of_series() && plan.metric.is_none() {
            return Err(Failure::input(anyhow!(
                "--fail-if '{}': the experiment has no business metric; add [metric], or use \
                 another of {}",
                condition.text,
                Metric::ALL.map(Metric::name).join(", ")
            )));
        }
        if condition.metric.is_of_users()
            && !plan.model_streams().any(|stream| stream.arrival.users().is_some())
        {
            return Err(Failure::input(anyhow!(
                "--fail-if '{}': the experiment has no users; set `users` in a stream, or use \
                 another of {}",
                condition.text,
                Metric::ALL.map(Metric::name).join(", ")
            )));
        }
        if condition.metric.is_of_all_kinds() && condition.kind.is_some() {
            return Err(Failure::input(anyhow!(
                "--fail-if '{}': `{}` is one of all operations; omit the kind",
                condition.text,
                condition.metric.name()
            )));
        }
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

/// Judges the requirements of the experiment, then the conditions.
pub fn judge(findings: &Findings, conditions: &[Condition]) -> Vec<Judged> {
    let all = findings.requirements.iter().chain(conditions);
    all.map(|condition| condition::judge(findings, condition)).collect()
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
    use workload::condition::{Comparison, Metric};
    use workload::op::OpKind;

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
            ("achieved < 95%", None, None, Metric::Achieved, Below, 0.95),
            ("overload > 1%", None, None, Metric::Overload, Above, 0.01),
            ("home.overload >= 0.5%", Some("home"), None, Metric::Overload, AtLeast, 0.005),
            ("overload_point < 800", None, None, Metric::OverloadPoint, Below, 800.0),
            ("oltp.errors > 0", Some("oltp"), None, Metric::Errors, Above, 0.0),
            ("create.p99 > 5ms", None, Some(Create), Metric::P99, Above, 5e6),
            ("log.fsync.p99 > 5ms", Some("log"), Some(Fsync), Metric::P99, Above, 5e6),
            ("lookup_missing.iops < 10", None, Some(LookupMissing), Metric::Iops, Below, 10.0),
            (" max > 1s ", None, None, Metric::Max, Above, 1e9),
            ("read.read.p50 > 1ms", Some("read"), Some(Read), Metric::P50, Above, 1e6),
        ] {
            let scope = scope.map(str::to_owned);
            let text_kept = text.trim().to_owned();
            let condition = Condition {
                text: text_kept,
                is_requirement: false,
                scope,
                kind,
                metric,
                comparison,
                bound,
            };
            assert_eq!(parse(text), Ok(condition));
        }
    }

    #[test]
    fn a_wrong_condition_is_reported_with_its_column() {
        for (text, message) in [
            (
                "read.p98 > 2ms",
                "column 6: `p98` is not a metric; there are throughput, iops, mean, p50, p90, p99, p99.9, max, errors, achieved, overload, overload_point, metric, ort; did you mean `p90`?\n  read.p98 > 2ms\n       ^^^",
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
                "overload_point < 1%",
                "column 18: found `1%`, expected a number of users such as `800`\n  overload_point < 1%\n                   ^^",
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
