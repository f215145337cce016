//! Why a directory or a volume in it cannot be used.

use std::io;
use std::path::PathBuf;

/// What is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call to this host failed.
    #[error("{what} {path}: {source}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something is there that we did not make.
    #[error(
        "{path} holds {entry}, which is not of a volume: give a directory that is empty or new"
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// What was found in it.
        entry: String,
    },
    /// Another service has it.
    #[error(
        "{path} is used by another service: end that one, or give each service a directory of its \
         own"
    )]
    InUse {
        /// The file that is locked.
        path: PathBuf,
    },
    /// This volume was opened already.
    #[error("volume {name} is open already: give each volume a name of its own")]
    Open {
        /// Its name.
        name: String,
    },
    /// No directory can have this name.
    #[error("a volume that is kept on disk cannot be named {name:?}: use letters, digits, - and _")]
    Name {
        /// The name.
        name: String,
    },
    /// Written by another version of this program.
    #[error(
        "{path} has the format {found:?}, and this program knows {known:?}: use the program that \
         wrote it"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says of itself.
        found: String,
        /// What it should say.
        known: String,
    },
    /// What was safe is no longer as it was written.
    #[error(
        "{path} is damaged at byte {offset}: {what}; nothing was changed: put back a copy of the \
         volume's directory, or remove it to begin with an empty volume"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where, in bytes from its beginning.
        offset: u64,
        /// How that is known.
        what: String,
    },
    /// The journal ends before what clients were promised.
    #[error(
        "{path} has lost changes that were acknowledged to clients: {extent}; nothing was changed. \
         Put back a copy of the volume's directory; or, to continue without the missing changes, \
         delete {mark} and start again: data that the journal does not mention is then moved to \
         {lost}"
    )]
    JournalCut {
        /// The file.
        path: PathBuf,
        /// What is missing, as far as that is known.
        extent: String,
        /// What says that it is missing.
        mark: PathBuf,
        /// Where data without a file would go.
        lost: PathBuf,
    },
    /// There is data and nothing that says whose.
    #[error(
        "{path} is missing, and the volume has data: put back a copy of the volume's directory, \
         or remove it to begin with an empty volume"
    )]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
    /// The volume's first records could not be kept.
    #[error("keep the volume in {path}: {source}; the messages before this one say why")]
    Keep {
        /// The volume's directory.
        path: PathBuf,
        /// What it came to.
        source: files::Error,
    },
}

impl Error {
    pub(crate) fn host(
        what: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::Host { what, path, source }
    }
}
