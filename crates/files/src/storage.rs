//! The interface to durable storage. This crate performs no disk I/O itself.
//!
//! The tree stays in memory. For each change, a record is passed to the storage, which appends it
//! to a journal. Data of regular files is only in the storage; this crate remembers which blocks
//! are written. Nothing that was acknowledged as durable may be lost, so:
//!
//! 1. A procedure changes the tree in memory, and data through [`Storage::write`].
//! 2. [`FileSystem::sync`](crate::FileSystem::sync) passes on the records of everything that
//!    changed since its last call as one batch. It returns when everything that replies will
//!    acknowledge as durable is durable.
//! 3. Only then may the replies be sent.
//!
//! Order of durability: data comes before the records that mention it. A smaller size is durable in
//! the journal before data is truncated, and the data of a removed file is deleted only after the
//! record of its removal is durable. So no crash leaves a file without data that it should have.

use std::fmt;

use crate::Error;

/// Identifies the data of one regular file. An ID is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataId {
    /// Inode number.
    pub fileid: u64,
    /// Distinguishes the inodes that had this number.
    pub generation: u32,
}

/// What the tree knows about a file's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The file's size in bytes.
    pub size: u64,
    /// Some of its data was acknowledged as durable. A storage without any data has lost it.
    pub has_durable_data: bool,
}

/// Stores data and records for one file system. Its errors are returned to clients:
/// [`Error::NoSpc`], [`Error::Io`], and [`Error::Jukebox`] if nothing was done and a retry may
/// succeed.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Fills `into` with the bytes at `offset`, with zeros where nothing is written. Returns how
    /// many bytes are valid: fewer than requested, but at least one, if a damaged block follows.
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<usize, Error>;

    /// Stores bytes; a gap before them reads as zeros. If `stable`, they are durable when the next
    /// `durable` [`Storage::append`] returns.
    fn write(&self, data: DataId, offset: u64, bytes: &[u8], stable: bool) -> Result<(), Error>;

    /// Opens everything that a following [`Storage::truncate`] needs, so that the truncation does
    /// not fail for lack of a file descriptor.
    fn open(&self, data: DataId) -> Result<(), Error>;

    /// Removes everything from `size` on, durably.
    fn truncate(&self, data: DataId, size: u64) -> Result<(), Error>;

    /// Makes all written data of a file durable.
    fn commit(&self, data: DataId) -> Result<(), Error>;

    /// Deletes a file's data, as soon as the records that are appended next are durable.
    fn remove(&self, data: DataId);

    /// Appends a batch of records. After a crash, either all of them are present or none. If
    /// `durable`, they and all stable data are durable when this returns.
    fn append(&self, records: &[u8], durable: bool) -> Result<(), Error>;

    /// Replaces all records by these batches, which contain the whole tree. If that fails but the
    /// old records remain usable, it is not an error.
    fn rewrite(&self, batches: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error>;

    /// Whether the records have grown so much that [`Storage::rewrite`] pays off.
    fn is_rewrite_due(&self) -> bool;

    /// Whether the previous call failed because the storage is full, as opposed to a limit of the
    /// volume.
    fn is_full(&self) -> bool;

    /// Fails with [`Error::NoSpc`] if there may be no space for another record. Checked before
    /// something is created; removing files stays possible.
    fn check_space(&self) -> Result<(), Error>;
}
