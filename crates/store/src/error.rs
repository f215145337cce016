//! What can go wrong with the store, each with its subject and, where there is one, the remedy.

use std::io;
use std::path::PathBuf;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's directory could not be made or written.
    #[error("create the store's directory {}: {source}", path.display())]
    CreateStore {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A run directory or a file in it could not be made.
    #[error("create {}: {source}", path.display())]
    CreateRunDirectory {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The journal could not be locked, so that nobody could tell whether its run is alive.
    #[error(
        "lock {}: {source}; choose a store on a file system with file locks (FOURCORNERS_STORE)",
        path.display()
    )]
    LockJournal {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something that was measured could not be written.
    #[error("append to {}: {source}", path.display())]
    AppendJournal {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An earlier append failed half way and could not be taken back.
    #[error("append to {}: an earlier write failed half way; what came before it is \
             kept", path.display())]
    JournalClosed {
        /// The journal.
        path: PathBuf,
    },
    /// The run directories could not be listed.
    #[error("list {}: {source}", path.display())]
    ListRuns {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of a run directory could not be read.
    #[error("read {}: {source}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A manifest is not what was written.
    #[error("{} is damaged: {reason}; restore it from a copy, or remove its \
             directory", path.display())]
    DamagedManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A journal is not what was written, before its end.
    #[error(
        "{path} is damaged at byte {offset_bytes}: {reason}; restore it from a copy, or keep what \
         was stored before the damage with `truncate -s {offset_bytes} {path}`",
        path = path.display()
    )]
    DamagedJournal {
        /// The journal.
        path: PathBuf,
        /// Where the damage begins.
        offset_bytes: u64,
        /// What is wrong.
        reason: String,
    },
    /// The file was written by a newer fourcorners.
    #[error(
        "{} has format version {found}, this fourcorners reads up to {known}; read it with a newer \
         fourcorners",
        path.display()
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that can be read.
        known: u32,
    },
    /// No record has this name.
    #[error("no record `{wanted}` in {}; `fourcorners list` shows what is there", runs.display())]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        runs: PathBuf,
    },
    /// Several records begin so.
    #[error("`{wanted}` is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The records that begin so.
        candidates: Vec<String>,
    },
    /// The index could not be rebuilt.
    #[error("rebuild {}: {source}", path.display())]
    RebuildIndex {
        /// The index.
        path: PathBuf,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// The old index could not be removed.
    #[error("remove {}: {source}", path.display())]
    RemoveIndex {
        /// The index.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
