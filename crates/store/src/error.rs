//! Errors of the store, with their subject and, if there is one, the remedy.

use std::io;
use std::path::PathBuf;

use crate::annotation::Label;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's directory could not be created or written.
    #[error("create the store's directory {}: {source}", path.display())]
    CreateStore {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A run directory or a file in it could not be created.
    #[error("create {}: {source}", path.display())]
    CreateRunDirectory {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The journal could not be locked. Without the lock, a running experiment looks aborted.
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
    /// An event could not be written.
    #[error("append to {}: {source}", path.display())]
    AppendJournal {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An earlier append failed and left an incomplete frame that could not be truncated.
    #[error("append to {}: an earlier write failed and could not be undone; everything written \
             before it is kept", path.display())]
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
    /// A manifest is damaged.
    #[error("{} is damaged: {reason}; restore it from a copy, or remove its \
             directory", path.display())]
    DamagedManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A journal is damaged before its end.
    #[error(
        "{path} is damaged at byte {offset_bytes}: {reason}; restore it from a copy, or keep \
         only what was stored before the damage with `truncate -s {offset_bytes} {path}`",
        path = path.display()
    )]
    DamagedJournal {
        /// The journal.
        path: PathBuf,
        /// Position of the first damaged byte.
        offset_bytes: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a newer version of fourcorners.
    #[error(
        "{} has format version {found}, and this version of fourcorners reads up to {known}; use a \
         newer fourcorners",
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
    /// The file with a record's label and note is damaged.
    #[error("{} is damaged: {reason}; remove it, and label the experiment again", path.display())]
    DamagedAnnotation {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A label or a note could not be written.
    #[error("write {}: {source}", path.display())]
    WriteAnnotation {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another record has this label.
    #[error(
        "label `{label}` belongs to {owner}; choose another one, or remove that one with \
         `fourcorners label {owner} --remove`"
    )]
    LabelTaken {
        /// The label.
        label: Label,
        /// The ID of the record that has it.
        owner: String,
    },
    /// A record that is being written cannot be removed.
    #[error("remove {id}: it is running; end it first (Ctrl-C)")]
    Running {
        /// The record.
        id: String,
    },
    /// The journal is locked by the process that writes it.
    #[error("{} is being written by another process; wait until it has ended", path.display())]
    BeingWritten {
        /// The journal.
        path: PathBuf,
    },
    /// A spool is damaged before its end, or has no owner.
    #[error("the spool {} is damaged: {reason}", path.display())]
    DamagedSpool {
        /// Its directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A spool could not be removed.
    #[error("remove the spool {}: {source}", path.display())]
    RemoveSpool {
        /// Its directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A record could not be removed.
    #[error("remove {}: {source}", path.display())]
    RemoveRecord {
        /// The run directory, or its hidden name if it is no longer listed.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No record has this ID, prefix or label.
    #[error("no record `{requested}` in {}; `fourcorners list` lists all records", runs.display())]
    NotFound {
        /// The requested ID, prefix or label.
        requested: String,
        /// The directory that was searched.
        runs: PathBuf,
    },
    /// Several records have this prefix.
    #[error("`{requested}` is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// The requested id or prefix.
        requested: String,
        /// Their IDs.
        candidates: Vec<String>,
    },
}
