//! A text that is not a quantity.

/// A text that is not a quantity of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The text as the user wrote it.
    pub found: String,
    /// What is allowed, with an example.
    pub allowed: &'static str,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "found `{}`, expected {}", self.found, self.allowed)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    pub(crate) fn new(found: &str, allowed: &'static str) -> ParseError {
        ParseError { found: found.trim().to_owned(), allowed }
    }
}
