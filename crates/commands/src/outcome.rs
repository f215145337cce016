//! How a command ends: exit codes, and failures with the exit code they lead to.
//!
//! Exit codes are part of the JSON and event output, so they are defined here and not in `cli`.

use serde::Serialize;
use settings::Diagnostic;

/// The exit codes of the program. Scripts depend on them; the long help lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Done, but the verdict is negative; the long help says when, for each command.
    Negative = 1,
    /// The arguments, an input file or the target cannot be used.
    BadInput = 2,
    /// The target failed, or the results could not be stored or written.
    TargetFailed = 3,
    /// An internal error of fourcorners.
    InternalError = 4,
}

/// The result of a command.
pub type Outcome = Result<Exit, Failure>;

/// Why a command did not succeed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code it leads to.
    pub exit: Exit,
    /// The error, or the problems of an input file.
    pub reason: Reason,
    /// What the user can do about it.
    pub remedy: Option<String>,
    /// The refusal of a target in its parts, for other programs.
    pub refused: Option<Box<Refused>>,
    /// The user interrupted the command while it waited for a server.
    pub is_interrupted: bool,
}

/// What a [`Failure`] reports.
#[derive(Debug)]
pub enum Reason {
    /// One error with its causes.
    Error(anyhow::Error),
    /// Every problem of a file that the user wrote.
    Problems {
        /// The file's text, to quote the lines from.
        text: String,
        /// The problems, in the order of the text.
        problems: Vec<Diagnostic>,
    },
}

/// The refusal of a target in its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// What was found.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
    /// The flag that overrides the refusal; null if there is none.
    pub overridden_by: Option<&'static str>,
    /// The exit code that follows.
    pub exit_code: u8,
}

impl Failure {
    fn of(exit: Exit, reason: Reason) -> Failure {
        Failure { exit, reason, remedy: None, refused: None, is_interrupted: false }
    }

    /// The user must change something.
    pub fn input(error: impl Into<anyhow::Error>) -> Failure {
        Failure::of(Exit::BadInput, Reason::Error(error.into()))
    }

    /// The target or the store failed.
    pub fn target(error: impl Into<anyhow::Error>) -> Failure {
        Failure::of(Exit::TargetFailed, Reason::Error(error.into()))
    }

    /// An internal error.
    pub fn internal(error: impl Into<anyhow::Error>) -> Failure {
        Failure::of(Exit::InternalError, Reason::Error(error.into()))
    }

    /// A file with this text has these problems.
    pub fn problems(text: &str, problems: Vec<Diagnostic>) -> Failure {
        Failure::of(Exit::BadInput, Reason::Problems { text: text.to_owned(), problems })
    }

    /// The same failure with what the user can do about it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Failure {
        Failure { remedy: Some(remedy.into()), ..self }
    }

    /// The same failure with what was being done, before the error.
    #[must_use]
    pub fn context(self, doing: String) -> Failure {
        match self.reason {
            Reason::Error(error) => Failure { reason: Reason::Error(error.context(doing)), ..self },
            Reason::Problems { .. } => self,
        }
    }

    /// The error with its causes, or the first problem of a file.
    pub fn reason_in_words(&self) -> String {
        match &self.reason {
            Reason::Error(error) => with_causes(error),
            Reason::Problems { problems, .. } => {
                problems.first().map_or_else(String::new, |problem| problem.message.clone())
            }
        }
    }

    /// Whether the reader of stdout closed it, which is not an error: `fourcorners list | head -1`.
    pub fn is_broken_pipe(&self) -> bool {
        let Reason::Error(error) = &self.reason else { return false };
        error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

/// An error and its causes, each once: many messages include their cause.
pub fn with_causes(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words.push_str(": ");
            words.push_str(&cause);
        }
    }
    words
}

/// Writing the program's output failed: a full disk behind `> file`, or a closed pipe.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::target(anyhow::Error::new(error).context("write output"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_the_message_includes_is_not_repeated() {
        let cause = || std::io::Error::from_raw_os_error(2);
        let path = "/proc/nowhere".into();
        let error = store::Error::CreateStore { path, source: cause() };
        let message = with_causes(&anyhow::Error::new(error));
        assert_eq!(message.matches("os error 2").count(), 1, "{message}");
        let context = anyhow::Error::new(cause()).context("open the door");
        assert_eq!(with_causes(&context), format!("open the door: {}", cause()));
        assert_eq!(
            Failure::target(context).reason_in_words(),
            format!("open the door: {}", cause())
        );
    }

    #[test]
    fn a_closed_pipe_is_recognised_below_its_context() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(Failure::from(broken).is_broken_pipe());
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(!Failure::from(full).is_broken_pipe());
        assert!(!Failure::problems("", Vec::new()).is_broken_pipe());
    }
}
