//! Mistakes in a text that the user wrote, drawn under the line they stand in, all at once.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use workload::diagnostic::Diagnostic;

use crate::terminal::{self, Terminal};

/// Prints every mistake. `text` is the experiment file's content.
pub(crate) fn print(mistakes: &[Diagnostic], text: &str, terminal: &Terminal) {
    terminal::last_words(&render(mistakes, text, terminal.color_stderr));
    if mistakes.len() > 1 {
        terminal.note(&format!("{} mistakes; nothing was done", mistakes.len()));
    }
}

/// A mistake in another text than an experiment, to be drawn as an experiment's are.
pub(crate) fn drawable(mistake: units::diagnostic::Diagnostic) -> Diagnostic {
    let units::diagnostic::Diagnostic { file, span, line, column, message, hint } = mistake;
    let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Diagnostic {
        message,
        file,
        span,
        line: short(line),
        column: short(column),
        found: String::new(),
        allowed: String::new(),
        hint: (!hint.is_empty()).then_some(hint),
        source: None,
    }
}

fn render(mistakes: &[Diagnostic], text: &str, colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(100);
    let mut out = String::new();
    for mistake in mistakes {
        out.push_str(&renderer.render(&[drawn(mistake, text)]));
        out.push_str("\n\n");
    }
    out
}

fn drawn<'a>(mistake: &'a Diagnostic, text: &'a str) -> Group<'a> {
    let source = mistake.source.as_deref().unwrap_or(text);
    let end = mistake.span.end.min(source.len());
    let mut mark = AnnotationKind::Primary.span(mistake.span.start.min(end)..end);
    if !mistake.found.is_empty() {
        mark = mark.label(format!("found {}", mistake.found));
    }
    let snippet = Snippet::source(source).path(mistake.file.as_str()).annotation(mark);
    let mut group = Level::ERROR.primary_title(mistake.message.as_str()).element(snippet);
    if !mistake.allowed.is_empty() {
        group =
            group.element(Level::NOTE.with_name(Some("allowed")).message(mistake.allowed.as_str()));
    }
    if let Some(hint) = &mistake.hint {
        group = group.element(Level::HELP.with_name(Some("hint")).message(hint.as_str()));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(span: std::ops::Range<usize>, hint: Option<&str>) -> Diagnostic {
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
    fn a_mistake_is_marked_in_its_line_with_what_is_allowed() {
        let text = "[run]\nmeasure = 30\n";
        let shown = render(&[mistake(16..18, Some("did you mean `30s`?"))], text, false);
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
    fn a_place_beyond_the_text_is_drawn_at_its_end() {
        assert!(render(&[mistake(400..500, None)], "[run]\n", false).contains("oltp.toml"));
        assert!(render(&[mistake(0..0, None)], "", false).contains("wrong value"));
    }
}
