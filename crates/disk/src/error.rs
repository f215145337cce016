//! Errors of a directory of volumes.

use std::io;
use std::path::PathBuf;

/// Why a directory or a volume in it cannot be used, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{what} {path}: {source}")]
    Host {
        /// The operation.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The directory contains a file that fourcorners did not create.
    #[error(
        "{path} contains {entry}, which does not belong to a volume: use an empty or new directory"
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The name of the file.
        entry: String,
    },
    /// Another service uses the directory.
    #[error(
        "{path} is used by another service: stop that service, or give each service a separate \
         directory"
    )]
    InUse {
        /// The locked file.
        path: PathBuf,
    },
    /// The volume is already open.
    #[error("volume {name} is already open: give each volume a different name")]
    Open {
        /// Its name.
        name: String,
    },
    /// The volume's name is not allowed as the name of a directory.
    #[error("a volume on disk cannot be named {name:?}: use letters, digits, - and _")]
    Name {
        /// The name.
        name: String,
    },
    /// The format is one of another version.
    #[error(
        "{path} has format {found:?}, and this version supports {known:?}: use the version that \
         wrote it"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The supported format.
        known: String,
    },
    /// Durable data is damaged.
    #[error(
        "{path} is damaged at byte {offset}: {what}; nothing was changed: restore the volume's \
         directory from a copy, or remove it to start with an empty volume"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Position of the damage in bytes.
        offset: u64,
        /// The damage.
        what: String,
    },
    /// The journal ends before changes that were acknowledged to clients.
    #[error(
        "{path} has lost changes that were acknowledged to clients: {extent}; nothing was changed. \
         Restore the volume's directory from a copy; or, to continue without the missing changes, \
         delete {mark} and start again: data that the journal does not mention is then moved to \
         {lost}"
    )]
    JournalCut {
        /// The file.
        path: PathBuf,
        /// What is missing.
        extent: String,
        /// The file that contains the acknowledged length.
        mark: PathBuf,
        /// The directory for data that no file refers to.
        lost: PathBuf,
    },
    /// The volume has data but no journal.
    #[error(
        "{path} is missing, and the volume has data: restore the volume's directory from a copy, \
         or remove it to start with an empty volume"
    )]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
    /// The volume's initial records could not be written.
    #[error("store the volume in {path}: {source}; see the previous messages for the cause")]
    Store {
        /// The volume's directory.
        path: PathBuf,
        /// The error.
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
