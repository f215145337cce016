//! Prints the problems of a file, each below the line it is in.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use settings::Diagnostic;

/// Every problem, below its line. `text` is the file's content.
pub(crate) fn render(problems: &[Diagnostic], text: &str, colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(100);
    let mut out = String::new();
    for problem in problems {
        out.push_str(&renderer.render(&[drawn(problem, text)]));
        out.push_str("\n\n");
    }
    out
}

fn drawn<'a>(problem: &'a Diagnostic, text: &'a str) -> Group<'a> {
    let source = problem.source.as_deref().unwrap_or(text);
    let end = problem.span.end.min(source.len());
    let mut mark = AnnotationKind::Primary.span(problem.span.start.min(end)..end);
    if !problem.found.is_empty() {
        mark = mark.label(format!("found {}", problem.found));
    }
    // The text of a long list is that of the wrong line alone.
    let before = source.get(..problem.span.start.min(end)).unwrap_or_default();
    let first_line = (problem.line as usize).saturating_sub(before.matches('\n').count()).max(1);
    let snippet =
        Snippet::source(source).path(problem.file.as_str()).line_start(first_line).annotation(mark);
    let mut group = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
    if !problem.allowed.is_empty() {
        group =
            group.element(Level::NOTE.with_name(Some("allowed")).message(problem.allowed.as_str()));
    }
    if let Some(hint) = &problem.hint {
        group = group.element(Level::HELP.with_name(Some("hint")).message(hint.as_str()));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(span: std::ops::Range<usize>, hint: Option<&str>) -> Diagnostic {
        Diagnostic {
            message: "wrong value for `measure`".to_owned(),
            file: "oltp.toml".to_owned(),
            span,
            line: 2,
            column: 11,
            found: "`30`".to_owned(),
            allowed: "a duration such as `30s`".to_owned(),
            hint: hint.map(str::to_owned),
            source: None,
        }
    }

    #[test]
    fn a_line_of_a_long_list_has_its_number() {
        let line = Some("5 erase 0 0 512".to_owned());
        let wrong = Diagnostic { line: 4, column: 1, source: line, ..problem(0..15, None) };
        let shown = render(&[wrong], "", false);
        assert!(shown.contains("oltp.toml:4:1") && shown.contains("4 | 5 erase"), "{shown}");
    }

    #[test]
    fn a_problem_is_marked_in_its_line_with_the_allowed_values() {
        let text = "[run]\nmeasure = 30\n";
        let shown = render(&[problem(16..18, Some("did you mean `30s`?"))], text, false);
        expect_test::expect![[r#"
            error: wrong value for `measure`
             --> oltp.toml:2:11
              |
            2 | measure = 30
              |           ^^ found `30`
              |
              = allowed: a duration such as `30s`
              = hint: did you mean `30s`?

        "#]]
        .assert_eq(&shown);
    }

    #[test]
    fn a_span_beyond_the_text_is_marked_at_its_end() {
        assert!(render(&[problem(400..500, None)], "[run]\n", false).contains("oltp.toml"));
        assert!(render(&[problem(0..0, None)], "", false).contains("wrong value"));
    }
}
