//! Stores volumes in a directory of this host. They survive a restart, and data acknowledged by
//! COMMIT, FILE_SYNC or DATA_SYNC survives a kill of the process and a loss of power.
//!
//! For: `files::FileSystem`, which keeps its tree in memory and passes records of each change to a
//! `files::Storage`, which this crate implements. Not for: the semantics of the tree (`files`),
//! permissions, or timing.
//!
//! ```no_run
//! fn serve(options: files::Options, log: fn(&str)) -> Result<(), Box<dyn std::error::Error>> {
//!     let path = std::path::Path::new("/var/lib/volumes");
//!     let directory = disk::Directory::open(path, log)?;
//!     let mut volume = directory.volume("alpha", options)?;
//!     // … perform all requests that have arrived …
//!     if let Err(error) = volume.sync() {
//!         return Err(format!("close the connections without replies: {error:?}").into());
//!     }
//!     // … send their replies …
//!     Ok(())
//! }
//! ```
//!
//! # On disk
//!
//! ```text
//! DIR/.fourcorners-volumes      marks DIR as one of fourcorners; locked while a service uses it
//! DIR/NAME/journal              the tree, in checksummed batches of records
//! DIR/NAME/journal.new          the next journal while it is being written
//! DIR/NAME/acknowledged         the length of the journal that was acknowledged
//! DIR/NAME/data/FILEID-GENERATION   the data of one file, sparse; numbers in hexadecimal
//! DIR/NAME/sums/FILEID-GENERATION   a checksum of each of its blocks
//! DIR/NAME/lost/                data that the journal does not mention and that may be needed
//! ```
//!
//! Only the owner may access directories and files, and no symbolic link inside DIR is followed.
//!
//! The journal begins with the whole tree, followed by changes. At each start, and when it has
//! grown, a new journal replaces it by a rename. Data is written to its host file immediately,
//! without a record. A hole is a hole in the host file. `used` is computed from the host's extents,
//! so the host's file system should support holes of 4 KiB (ext4, XFS, tmpfs).

mod acknowledged;
mod checked;
mod data_files;
mod directory;
mod error;
mod folder;
mod host;
mod journal;
mod lock;
mod pool;
mod recover;
mod storage;

pub use directory::{DESCRIPTORS_PER_VOLUME, Directory};
pub use error::Error;

/// Receives lines for the operator.
type Log = dyn Fn(&str) + Send + Sync;
