//! Messages on stderr, and the width and colour of results, which go to stdout.

use std::io::{Error, IsTerminal};
use std::ops::RangeInclusive;

use analysis::condition::Answer;
use commands::outcome::{Failure, Reason, with_causes};
use report::look::Look;

use crate::args::ColorWhen;
use crate::diagnostics;
use crate::live::painter;

/// How to write to stdout and stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Results on stdout are coloured.
    pub(crate) color_stdout: bool,
    /// Messages on stderr are coloured.
    pub(crate) color_stderr: bool,
    /// stderr is a terminal.
    pub(crate) is_interactive: bool,
    /// The width of --width.
    width: Option<usize>,
}

/// Columns of reports that do not go to a terminal.
const COLUMNS_DEFAULT: usize = 80;
/// The widths that reports are laid out for.
pub(crate) const COLUMNS: RangeInclusive<usize> = commands::config::WIDTHS;

/// Columns of the terminal that stdout is, if it is one.
fn columns_of_stdout() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// The value of the variable COLUMNS, if it is a number.
fn columns_of_environment() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// A file would exceed the size limit of the process or the file system: errno(3).
const EFBIG: i32 = 27;

const RED_BOLD: &str = "\x1b[1;31m";
const YELLOW_BOLD: &str = "\x1b[1;33m";
const RESET: &str = "\x1b[0m";

impl Terminal {
    /// With `auto`, an output is coloured if it is a terminal and NO_COLOR is unset or empty
    /// (<https://no-color.org>).
    pub(crate) fn new(color: ColorWhen, width: Option<usize>) -> Terminal {
        let is_interactive = std::io::stderr().is_terminal();
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_colored = |is_terminal: bool| match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && !forbidden,
        };
        Terminal {
            color_stdout: is_colored(std::io::stdout().is_terminal()),
            color_stderr: is_colored(is_interactive),
            is_interactive,
            width,
        }
    }

    /// Columns of a report on stdout: --width, the variable COLUMNS, those of the terminal, or 80 in
    /// a pipe, a log or a mail.
    pub(crate) fn report_columns(&self) -> usize {
        self.width
            .or_else(columns_of_environment)
            .or_else(columns_of_stdout)
            .unwrap_or(COLUMNS_DEFAULT)
            .clamp(*COLUMNS.start(), *COLUMNS.end())
    }

    /// Columns of a listing on stdout. In a pipe its lines are not broken unless --width is given, so
    /// that other programs can read them.
    pub(crate) fn listing_columns(&self) -> usize {
        match (self.width, columns_of_stdout()) {
            (Some(width), _) => width,
            (None, Some(_)) => self.report_columns(),
            (None, None) => usize::MAX,
        }
    }

    /// The colours of results on stdout.
    pub(crate) const fn look(&self) -> Look {
        Look { color: self.color_stdout }
    }

    /// Prints the failure of a command and what the user can do about it.
    pub(crate) fn failure(&self, failure: &Failure) {
        match &failure.reason {
            Reason::Error(error) => self.error(error, failure.remedy.as_deref()),
            Reason::Problems { text, problems } => {
                write_stderr(&diagnostics::render(problems, text, self.color_stderr));
                if problems.len() > 1 {
                    self.note(&format!("{} problems; nothing was done", problems.len()));
                }
            }
        }
    }

    /// Prints `error: what was being done: why`, and a remedy.
    pub(crate) fn error(&self, error: &anyhow::Error, remedy: Option<&str>) {
        let words = with_causes(error);
        let remedy = remedy.or_else(|| general_remedy(&words)).map(remedy_lines);
        self.print(RED_BOLD, "error", &format!("{words}{}", remedy.unwrap_or_default()));
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        self.print(YELLOW_BOLD, "warning", text);
    }

    /// Prints the answer to a condition, with its reason.
    pub(crate) fn answer(&self, answer: Answer, reason: &str) {
        let reason = wrapped(reason, 66).join("\n  ");
        match answer {
            Answer::Failed { .. } => self.print(RED_BOLD, answer.name(), &reason),
            Answer::CannotTell(_) => self.print(YELLOW_BOLD, answer.name(), &reason),
            Answer::Passed => self.note(&format!("{}: {reason}", answer.name())),
        }
    }

    /// Prints a note, broken into lines of 78 columns.
    pub(crate) fn note_wrapped(&self, text: &str) {
        self.note(&wrapped(text, 78).join("\n  "));
    }

    /// Prints a line without a label.
    pub(crate) fn note(&self, text: &str) {
        write_stderr(&format!("{text}\n"));
    }

    fn print(&self, color: &str, label: &str, text: &str) {
        if self.color_stderr {
            write_stderr(&format!("{color}{label}{RESET}: {text}\n"));
        } else {
            write_stderr(&format!("{label}: {text}\n"));
        }
    }
}

/// A remedy for kernel errors that any command may report. They are recognised by their text,
/// because a cause may come from a record.
fn general_remedy(words: &str) -> Option<&'static str> {
    let too_large = Error::from_raw_os_error(EFBIG).to_string();
    words.contains(&too_large).then_some(
        "raise the file size limit (`ulimit -f unlimited`), or use a file system that allows files \
         of this size",
    )
}

/// A remedy on separate lines after an error.
fn remedy_lines(remedy: &str) -> String {
    format!("\n  what to do: {}", wrapped(remedy, 66).join("\n              "))
}

/// Writes whole lines to stderr, above the live screen if there is one.
pub(crate) fn write_stderr(text: &str) {
    painter::write_above(text);
}

/// Breaks `text` between words into lines of at most `width` characters; a longer word gets a
/// separate line.
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
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensibilities are", 7), ["incomprehensibilities", "are"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
