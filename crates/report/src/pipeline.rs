//! Results for a pipeline: a short Markdown for a comment on a pull request, and JUnit test cases.

use analysis::compare::Comparison;
use analysis::condition::{Answer, Judged};

use crate::document::markdown;
use crate::glance::Glance;
use crate::junit::{Case, CaseResult, Suite};
use crate::number::date;
use crate::prose;
use crate::record::Record;
use crate::{compare, conditions, results, table};

/// A record in Markdown: the verdict, the judged conditions, and the results.
pub fn record_markdown<'a>(record: impl Into<Record<'a>>, judged: &[Judged]) -> String {
    let record: Record<'a> = record.into();
    let findings = record.findings;
    let mut out = format!(
        "### {} on {}\n\n",
        prose::markdown_text(&findings.name),
        prose::markdown_text(&findings.target)
    );
    if let Some(glance) = Glance::of(record) {
        let sentences = glance.notes.iter().chain(&glance.verdict);
        let sentences: Vec<String> = sentences.map(|one| prose::markdown(one)).collect();
        out.push_str(&format!("{}\n\n", sentences.join(" ")));
    }
    if !judged.is_empty() {
        table::markdown::write(&conditions::table(findings, judged), &mut out);
    }
    for table in results::tables(findings) {
        table::markdown::write(&table, &mut out);
    }
    out.push_str(&format!(
        "Record `{}`, started {}\n",
        findings.id,
        date(findings.started_unix_ms)
    ));
    out
}

/// A comparison in Markdown: for each pair the verdict and one table.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for section in compare::summaries(comparison) {
        markdown::write(&section, 3, &mut out);
    }
    out
}

/// A test case for how an experiment ended, and one for each condition.
///
/// * `strict` - an inconclusive condition is a failure
pub fn record_suite<'a>(record: impl Into<Record<'a>>, judged: &[Judged], strict: bool) -> Suite {
    let record: Record<'a> = record.into();
    let findings = record.findings;
    let ended = match Glance::of(record) {
        None => CaseResult::Failed("nothing was measured".to_owned()),
        Some(glance) if glance.notes.is_empty() => CaseResult::Passed,
        Some(glance) => CaseResult::Failed(glance.notes.join(" ")),
    };
    let case = |name: &str, window_ns, result| Case {
        class: findings.name.clone(),
        name: name.to_owned(),
        window_ns,
        result,
    };
    let of_condition = |one: &Judged| {
        let sentence = || conditions::sentence(findings, one);
        let result = match one.answer {
            Answer::Passed => CaseResult::Passed,
            Answer::Failed { .. } => CaseResult::Failed(sentence()),
            Answer::CannotTell(_) => CaseResult::inconclusive(sentence(), strict),
        };
        case(&conditions::in_words(&one.condition), one.window_ns, result)
    };
    Suite {
        name: format!("{} on {}", findings.name, findings.target),
        started_unix_ms: findings.started_unix_ms,
        cases: std::iter::once(case("measured as planned", 0, ended))
            .chain(judged.iter().map(of_condition))
            .collect(),
    }
}

/// A test case for each compared load point.
///
/// * `strict` - an inconclusive load point is a failure
pub fn comparison_suite(comparison: &Comparison, strict: bool) -> Suite {
    let last = comparison.sides.last().expect("a comparison has two sides");
    Suite {
        name: format!("comparison of {}", last.name),
        started_unix_ms: last.started_unix_ms,
        cases: compare::cases(comparison, strict),
    }
}
