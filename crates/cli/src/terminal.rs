//! Where words go: results to stdout, everything else to stderr, coloured where that is wanted.

use std::io::{Error, IsTerminal, Write};

use crate::args::ColorWhen;

/// What is known about the two output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Messages on stderr are coloured.
    pub(crate) color_stderr: bool,
    /// Someone watches stderr.
    pub(crate) watched: bool,
}

/// A file would become larger than the process or the file system allows: errno(3) of Linux.
const EFBIG: i32 = 27;

const RED_BOLD: &str = "\x1b[1;31m";
const YELLOW_BOLD: &str = "\x1b[1;33m";
const RESET: &str = "\x1b[0m";

impl Terminal {
    /// Looks at stderr and at NO_COLOR (<https://no-color.org>: any value that is not empty
    /// counts).
    pub(crate) fn new(color: ColorWhen) -> Terminal {
        let watched = std::io::stderr().is_terminal();
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color_stderr = match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => watched && !forbidden,
        };
        Terminal { color_stderr, watched }
    }

    /// Prints `error: what was being done: why`.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        let words = with_causes(error);
        let remedy = remedy(&words).map(what_to_do).unwrap_or_default();
        self.say(RED_BOLD, "error", &format!("{words}{remedy}"));
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        self.say(YELLOW_BOLD, "warning", text);
    }

    /// Prints words for the user's information, broken into lines of 78 columns.
    pub(crate) fn note_wrapped(&self, text: &str) {
        self.note(&wrapped(text, 78).join("\n  "));
    }

    /// Prints a line for the user's information.
    pub(crate) fn note(&self, text: &str) {
        last_words(&format!("{text}\n"));
    }

    fn say(&self, color: &str, label: &str, text: &str) {
        if self.color_stderr {
            last_words(&format!("{color}{label}{RESET}: {text}\n"));
        } else {
            last_words(&format!("{label}: {text}\n"));
        }
    }
}

/// An error and its causes, each said once: many of our messages end with their cause already.
fn with_causes(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words.push_str(": ");
            words.push_str(&cause);
        }
    }
    words
}

/// What to do about errors of the kernel that can meet any command. They are known by their words,
/// because a cause may have come through a record.
fn remedy(words: &str) -> Option<&'static str> {
    let too_large = Error::from_raw_os_error(EFBIG).to_string();
    words.contains(&too_large).then_some(
        "raise the limit on the size of files (`ulimit -f unlimited`), or use a file system that \
         holds files of this size",
    )
}

/// A remedy as it follows an error: on lines of its own.
pub(crate) fn what_to_do(remedy: &str) -> String {
    format!("\n  what to do: {}", wrapped(remedy, 66).join("\n              "))
}

/// Writes to stderr. If that fails there is nobody left to tell, so the failure is dropped on
/// purpose.
pub(crate) fn last_words(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Breaks `text` between words into lines of at most `width` characters; a longer word has a line
/// of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_the_message_says_is_not_said_again() {
        let cause = || std::io::Error::from_raw_os_error(2);
        let path = "/proc/nowhere".into();
        let said = store::Error::CreateStore { path, source: cause() };
        let said = with_causes(&anyhow::Error::new(said));
        assert_eq!(said.matches("os error 2").count(), 1, "{said}");
        let context = anyhow::Error::new(cause()).context("open the door");
        assert_eq!(with_causes(&context), format!("open the door: {}", cause()));
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensibilities are", 7), ["incomprehensibilities", "are"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
