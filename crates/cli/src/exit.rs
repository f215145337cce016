//! How the program ends: exit codes, and failures that know theirs.

use serde::Serialize;

/// The exit codes. Scripts depend on them; they stand in the long help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Done, but the verdict is negative; the long help says for each command when.
    Negative = 1,
    /// The arguments, the experiment file or the chosen target cannot be used.
    BadInput = 2,
    /// The target failed, or the results could not be kept.
    TargetFailed = 3,
    /// A mistake of ours.
    OwnBug = 4,
}

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// For the user; without it everything has been said already.
    pub(crate) error: Option<anyhow::Error>,
    /// Where a target was refused: the parts of it, for other programs.
    pub(crate) refused: Option<Box<Refused>>,
    /// The user ended it while a server did not answer.
    pub(crate) is_interrupted: bool,
}

/// A refusal in its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Refused {
    /// What was found.
    pub(crate) reason: String,
    /// What to do about it.
    pub(crate) remedy: String,
    /// The flag that overrides it; null where none does.
    pub(crate) overridden_by: Option<&'static str>,
    /// The exit code that follows.
    pub(crate) exit_code: u8,
}

/// What a command comes to.
pub(crate) type Outcome = Result<Exit, Failure>;

impl Failure {
    /// The user must change something.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            exit: Exit::BadInput,
            error: Some(error.into()),
            refused: None,
            is_interrupted: false,
        }
    }

    /// The target or the store failed.
    pub(crate) fn target(error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            exit: Exit::TargetFailed,
            error: Some(error.into()),
            refused: None,
            is_interrupted: false,
        }
    }

    /// A mistake of ours.
    pub(crate) fn bug(error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            exit: Exit::OwnBug,
            error: Some(error.into()),
            refused: None,
            is_interrupted: false,
        }
    }

    /// The mistakes have been shown already.
    pub(crate) fn said(exit: Exit) -> Failure {
        Failure { exit, error: None, refused: None, is_interrupted: false }
    }

    /// Whether the reader of our output went away, which is no failure: `fourcorners list | head
    /// -1`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error.iter().flat_map(|error| error.chain()).any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

/// What goes wrong with our own output: a full disk behind `> file`, or a reader that went away.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::target(anyhow::Error::new(error).context("write output"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_away_is_recognised_below_its_context() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(Failure::from(broken).is_broken_pipe());
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(!Failure::from(full).is_broken_pipe());
        assert!(!Failure::said(Exit::BadInput).is_broken_pipe());
    }
}
