//! Parses one text and collects its problems.

use std::ops::Range;

use toml::de::DeTable;

use crate::diagnostic::{Diagnostic, Source, SourceSpan, did_you_mean};

/// Parses `text` as TOML and reads its top-level table.
///
/// * `file` — the file as the user named it
/// * `read` — returns the value; where something is wrong it reports that and uses a placeholder
///
/// # Errors
/// Every problem, in the order of the text. Lines that are not TOML are reported as such only:
/// what the parser recovers from a broken line is not what the user meant.
pub fn parse<T>(
    text: &str,
    file: &str,
    read: impl FnOnce(&DeTable<'_>, &mut Problems<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    let source = Source::file(file, text);
    let syntax_errors = errors.iter().map(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        let span = source.span(error.span().unwrap_or(0..0));
        span.diagnostic(format!("this is not TOML: {message}"), "")
    });
    let syntax_errors: Vec<Diagnostic> = syntax_errors.collect();
    let is_toml = syntax_errors.is_empty();
    let mut problems = Problems { source, is_toml, found: Vec::new() };
    let value = read(tree.get_ref(), &mut problems);
    let mut found = problems.found;
    found.retain(|problem| {
        problem.source.is_some() || syntax_errors.iter().all(|error| error.line != problem.line)
    });
    found.extend(syntax_errors);
    if found.is_empty() { Ok(value) } else { Err(in_order(found)) }
}

/// The problems found so far in one text.
#[derive(Debug)]
pub struct Problems<'a> {
    source: Source<'a>,
    is_toml: bool,
    found: Vec<Diagnostic>,
}

impl<'a> Problems<'a> {
    /// Reports a problem that is neither a wrong value nor an unknown key.
    ///
    /// * `hint` — what to do about it; may be empty
    pub fn add(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let hint = hint.into();
        let problem = self.source.span(span).diagnostic(message, "").with_found("");
        self.found.push(Diagnostic { hint: (!hint.is_empty()).then_some(hint), ..problem });
    }

    /// Reports a value that is not allowed for `key`.
    pub fn wrong_value(&mut self, span: Range<usize>, key: &str, allowed: &str) {
        let span = self.source.span(span);
        self.found.push(span.diagnostic(format!("wrong value for `{key}`"), allowed));
    }

    /// Whether nothing was reported so far; syntax errors do not count.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether the whole text is TOML.
    pub fn is_toml(&self) -> bool {
        self.is_toml
    }

    /// Whether a problem was reported in the line where `span` starts.
    pub fn has_line_of(&self, span: &Range<usize>) -> bool {
        let line = self.source.span(span.clone()).line;
        self.found.iter().any(|problem| problem.line == line)
    }

    /// The text, and the list to add to, for readers that make their own diagnostics.
    pub fn parts(&mut self) -> (&Source<'a>, &mut Vec<Diagnostic>) {
        (&self.source, &mut self.found)
    }
}

/// A key that is not among the `known` ones.
///
/// * `title` — the table that it is in: `[run]`, `[[volume]]`, `the top level`
pub fn unknown_key(span: &SourceSpan, name: &str, title: &str, known: &[&str]) -> Diagnostic {
    let problem = span
        .diagnostic(format!("unknown key in {title}"), known.join(", "))
        .with_found(format!("`{name}`"));
    Diagnostic { hint: did_you_mean(name, known.iter().copied()), ..problem }
}

/// Sorts diagnostics by their position in the file, those of options last, and drops repeated ones.
pub fn in_order(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // Stable, so that options keep the order in which they were given.
    problems.sort_by_key(|problem| match problem.source {
        None => (false, problem.span.start),
        Some(_) => (true, 0),
    });
    let mut once: Vec<Diagnostic> = Vec::with_capacity(problems.len());
    for problem in problems {
        if !once.contains(&problem) {
            once.push(problem);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableReader;

    fn problems(text: &str) -> Vec<String> {
        let read = |tree: &DeTable<'_>, problems: &mut Problems<'_>| {
            let mut top = TableReader::root(tree);
            top.text("name", problems);
            for mut host in top.tables("host", problems) {
                host.count("count", problems, 9);
                host.finish(problems);
            }
            top.finish(problems);
        };
        let problems = parse(text, "t.toml", read).err().unwrap_or_default();
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_problem_is_reported_with_line_column_and_the_nearest_key() {
        assert_eq!(
            problems("nam = 'a'\n[[host]]\ncount = 10\n"),
            [
                "t.toml:1:1: unknown key in the top level, found `nam`, allowed: name, host \
                 (did you mean `name`?)",
                "t.toml:3:9: wrong value for `count`, found `10`, allowed: a whole number from 1 \
                 to 9",
            ]
        );
        assert_eq!(
            problems("host = 1\n"),
            ["t.toml:1:8: `host` is a list of tables (write `[[host]]`)"]
        );
        assert!(problems("name = 'a'\n").is_empty());
    }

    #[test]
    fn a_broken_line_is_one_problem_and_the_other_lines_are_still_read() {
        let found = problems("name = a b\nnmae = 'a'\n");
        assert!(found[0].starts_with("t.toml:1:8: this is not TOML"), "{found:#?}");
        assert!(
            found.iter().all(|one| one.starts_with("t.toml:1:8: this")
                || one.starts_with("t.toml:2:1: unknown key")),
            "{found:#?}"
        );
    }
}
