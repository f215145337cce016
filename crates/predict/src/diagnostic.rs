//! What is wrong with a topology's text, and where.
//!
//! For: telling all mistakes of a file at once, each with line, column, what is allowed and what
//! may have been meant. Not for: drawing them; whoever has the text can, with the span.

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
pub(crate) struct Mistakes<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<Diagnostic>,
}

impl<'a> Mistakes<'a> {
    pub(crate) const fn new(file: &'a str, text: &'a str) -> Mistakes<'a> {
        Mistakes { file, text, found: Vec::new() }
    }

    /// Adds a mistake; a span outside of the text is moved to its end.
    pub(crate) fn add(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
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

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them, in the order of the text.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|mistake| mistake.span.start);
        self.found
    }
}

/// The word of `known` that is nearest to `word`, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_ascii_lowercase().replace('-', "_");
    let wanted = plain(word);
    known
        .into_iter()
        .map(|other| (distance(&wanted, &plain(other)), other))
        .min()
        .filter(|(distance, other)| *distance <= other.chars().count().max(3) / 3)
        .map(|(_, other)| other)
}

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // What is longer than any name is no slip; no time is spent on it.
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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

    #[test]
    fn a_slip_of_the_keyboard_is_recognised_and_a_stranger_is_not() {
        let known = ["nconnect", "transfer_size", "Standard_D32s_v3"];
        assert_eq!(nearest("nconect", known), Some("nconnect"));
        assert_eq!(nearest("transfer-size", known), Some("transfer_size"));
        assert_eq!(nearest("standard_d32_v3", known), Some("Standard_D32s_v3"));
        assert_eq!(nearest("elephant", known), None);
    }
}
