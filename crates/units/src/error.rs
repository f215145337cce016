//! What is wrong with a quantity that a user wrote.

/// A text that is not a quantity of the wanted kind: what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The text as the user wrote it.
    pub found: String,
    /// What is allowed there, with an example.
    pub wanted: &'static str,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "found `{}`, wanted {}", self.found, self.wanted)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    pub(crate) fn new(found: &str, wanted: &'static str) -> ParseError {
        ParseError { found: found.trim().to_owned(), wanted }
    }
}

/// Splits `12.5 MiB/s` into the number's text and the unit's text (trimmed).
pub(crate) fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Parses a non-negative decimal number such as `1_024` or `1.5`.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return None;
    }
    digits.parse::<f64>().ok().filter(|n| n.is_finite())
}
