//! What is wrong with a text that a user wrote, and where.
//!
//! For: telling all mistakes of a file of settings at once (a topology, the service's
//! configuration), each with line, column, what is allowed and what may have been meant. Not for:
//! drawing them; whoever has the text can, with the span. An experiment's mistakes have parts of
//! their own, in `workload`.

use std::fmt;
use std::ops::Range;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file as the user named it.
    pub file: String,
    /// The wrong part, in bytes from the start of the text.
    pub span: Range<usize>,
    /// Line of the wrong part, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What is allowed, what may have been meant, or what to do; may be empty.
    pub hint: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { file, line, column, message, hint, .. } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if hint.is_empty() { Ok(()) } else { write!(f, " ({hint})") }
    }
}

impl std::error::Error for Diagnostic {}

/// The mistakes of one text.
#[derive(Debug)]
pub struct Mistakes<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<Diagnostic>,
}

impl<'a> Mistakes<'a> {
    /// None yet, of the text of `file` as the user named it.
    pub const fn new(file: &'a str, text: &'a str) -> Mistakes<'a> {
        Mistakes { file, text, found: Vec::new() }
    }

    /// Adds a mistake; a span outside of the text is moved to its end.
    pub fn add(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        self.found.push(Diagnostic {
            file: self.file.to_owned(),
            span: start..span.end.min(self.text.len()).max(start),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            hint: hint.into(),
        });
    }

    /// Whether nothing was wrong so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether a mistake stands in this line already.
    pub fn has_line_of(&self, span: &Range<usize>) -> bool {
        let line = self.text[..span.start.min(self.text.len())].matches('\n').count() + 1;
        self.found.iter().any(|mistake| mistake.line == line)
    }

    /// All of them, in the order of the text.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|mistake| mistake.span.start);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_has_line_and_column_in_characters() {
        let mut mistakes = Mistakes::new("t.toml", "one\nzwö drei\n");
        mistakes.add(9..13, "second", "");
        mistakes.add(0..3, "first", "say two");
        mistakes.add(400..500, "beyond", "");
        let texts: Vec<String> = mistakes.into_sorted().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            ["t.toml:1:1: first (say two)", "t.toml:2:5: second", "t.toml:3:1: beyond"]
        );
    }
}
