//! A problem in a user's text: its position, what was found, what is allowed, and a hint.
//!
//! A [`Diagnostic`] has its position as byte offsets, for marking it in the source line, and as line
//! and column, for one-line messages. Nothing here prints.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One problem in a text, or in an option that overrides the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A short description.
    pub message: String,
    /// The file as the user named it, or the option (`--set`) that carried the text.
    pub file: String,
    /// The wrong part, in bytes from the start of the text.
    pub span: Range<usize>,
    /// Line of the wrong part, from 1.
    pub line: u32,
    /// Column of the wrong part in characters, from 1.
    pub column: u32,
    /// What was found; may be empty.
    pub found: String,
    /// What is allowed; may be empty.
    pub allowed: String,
    /// A suggestion, or how to correct it.
    pub hint: Option<String>,
    /// The text that `span` refers to if it is an option's and not the file's.
    pub source: Option<String>,
}

impl fmt::Display for Diagnostic {
    /// One line:
    /// `oltp.toml:7:11: wrong value for `measure`, found `30`, allowed: a duration such as `30s``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if !self.found.is_empty() {
            write!(f, ", found {}", self.found)?;
        }
        if !self.allowed.is_empty() {
            write!(f, ", allowed: {}", self.allowed)?;
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A part of a text that a user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// The file as the user named it, or the option that carried the text.
    pub file: Arc<str>,
    /// The part, in bytes from the start of the text.
    pub span: Range<usize>,
    /// Line from 1.
    pub line: u32,
    /// Column in characters from 1.
    pub column: u32,
    /// The part's first line.
    pub written: String,
    /// The whole text if it is an option's and not the file's.
    pub source: Option<Arc<str>>,
}

impl SourceSpan {
    /// A problem with this part of the text, which is reported as what was found.
    pub fn diagnostic(&self, message: impl Into<String>, allowed: impl Into<String>) -> Diagnostic {
        let found =
            if self.written.is_empty() { String::new() } else { format!("`{}`", self.written) };
        Diagnostic {
            message: message.into(),
            file: self.file.to_string(),
            span: self.span.clone(),
            line: self.line,
            column: self.column,
            found,
            allowed: allowed.into(),
            hint: None,
            source: self.source.as_deref().map(str::to_owned),
        }
    }
}

impl Diagnostic {
    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another text for what was found.
    #[must_use]
    pub fn with_found(mut self, found: impl Into<String>) -> Diagnostic {
        self.found = found.into();
        self
    }
}

/// A text and its name, to turn byte offsets into lines and columns.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    file: Arc<str>,
    text: &'a str,
    is_option: bool,
}

impl<'a> Source<'a> {
    /// The text of a file.
    pub fn file(name: &str, text: &'a str) -> Source<'a> {
        Source { file: name.into(), text, is_option: false }
    }

    /// The text given to an option such as `--set`.
    pub fn option(flag: &str, text: &'a str) -> Source<'a> {
        Source { file: flag.into(), text, is_option: true }
    }

    /// A part of the text. Offsets past its end or inside a character move back to the nearest
    /// character boundary.
    pub fn span(&self, span: Range<usize>) -> SourceSpan {
        let start = floor_char(self.text, span.start);
        let end = floor_char(self.text, span.end).max(start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SourceSpan {
            file: self.file.clone(),
            span: start..end,
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
            written: first_line(&self.text[start..end]),
            source: self.is_option.then(|| self.text.into()),
        }
    }
}

fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first line of a part, shortened to fit into a terminal.
fn first_line(part: &str) -> String {
    const LONGEST: usize = 60;
    let line = part.lines().next().unwrap_or("").trim_end();
    if line.chars().count() <= LONGEST && line.len() == part.trim_end().len() {
        return line.to_owned();
    }
    format!("{}…", line.chars().take(LONGEST).collect::<String>())
}

/// `did you mean` for the word of `known` that is nearest to `word`, if one is near enough.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    units::nearest(word, known).map(|other| format!("did you mean `{other}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_key_is_recognised_and_an_unrelated_word_is_not() {
        let known = ["queue_depth", "read", "pattern"];
        assert_eq!(did_you_mean("queue-dept", known).unwrap(), "did you mean `queue_depth`?");
        assert_eq!(did_you_mean("raed", known), None);
        assert_eq!(did_you_mean("reed", known).unwrap(), "did you mean `read`?");
        assert_eq!(did_you_mean("elephant", known), None);
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let source = Source::file("x.toml", "one\nzwö drei\n");
        let span = source.span(9..13);
        assert_eq!((span.line, span.column, span.written.as_str()), (2, 5, "drei"));
        let inside_a_character = source.span(7..8);
        assert_eq!((inside_a_character.line, inside_a_character.column), (2, 3));
        assert_eq!(source.span(400..500).line, 3);
    }
}
