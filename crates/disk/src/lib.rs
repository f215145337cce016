//! Volumes that are kept in a directory of this host: they survive a restart, and what COMMIT,
//! FILE_SYNC or DATA_SYNC acknowledged survives a kill of the process and a loss of power.
//!
//! For: `files::FileSystem`, which keeps its tree in memory and hands over records of each change;
//! this crate is the `files::Storage` under it. Not for: what a tree means (`files`), who is
//! served, or when to answer.
//!
//! ```no_run
//! fn serve(options: files::Options, log: fn(&str)) -> Result<(), Box<dyn std::error::Error>> {
//!     let path = std::path::Path::new("/var/lib/volumes");
//!     let directory = disk::Directory::open(path, log)?;
//!     let mut volume = directory.volume("alpha", options)?;
//!     // … procedures of all requests that have arrived …
//!     if let Err(error) = volume.sync() {
//!         return Err(format!("close the connections, send nothing: {error:?}").into());
//!     }
//!     // … now their replies may be sent
//!     Ok(())
//! }
//! ```
//!
//! # On disk
//!
//! ```text
//! DIR/.fourcorners-volumes      says that DIR is ours, and is locked while a service uses it
//! DIR/NAME/journal              the tree, in checksummed units that are there whole or not at all
//! DIR/NAME/journal.new          the next journal while it is being written
//! DIR/NAME/acknowledged         up to where the journal was acknowledged
//! DIR/NAME/data/FILEID-GENERATION   the bytes of one file, sparse; numbers in hexadecimal
//! DIR/NAME/sums/FILEID-GENERATION   a checksum of each of its blocks
//! DIR/NAME/lost/                data that the journal does not mention, where that is a loss
//! ```
//!
//! Directories and files are for their owner alone, and no symbolic link inside DIR is followed.
//!
//! The journal begins with the whole tree and goes on with what changed; at each start, and when it
//! has grown, a new one takes its place by a rename. Bytes of files are written to their host file
//! at once, without a record; a hole is a hole of the host's file. `used` is counted from what the
//! host says has data, so its file system should keep holes in units of 4 KiB (ext4, XFS, tmpfs).

mod acknowledged;
mod bodies;
mod checked;
mod directory;
mod error;
mod folder;
mod host;
mod journal;
mod pool;
mod recover;
mod storage;

pub use directory::{DESCRIPTORS_PER_VOLUME, Directory};
pub use error::Error;
