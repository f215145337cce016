//! The file system of an emulated volume: a tree of inodes with sparse data, and the procedures of
//! RFC 1813 (NFS version 3) on it.
//!
//! For: a service that answers NFS requests, and a simulator that needs the same answers under
//! virtual time. Every method takes the caller's identity and, if it changes something, `now`. The
//! same calls give the same tree, so a failure can be replayed. Not for: bytes on the wire
//! (`nfs3`), throughput limits and delays, export rules by address, or disk I/O: a [`Storage`]
//! receives every change and makes it durable.
//!
//! Start with [`FileSystem`]. Semantics are those of RFC 1813. Where it leaves a choice, this crate
//! does what UNIX servers do; each choice is documented at its method.

mod attributes;
mod caller;
mod change;
mod create;
mod data;
mod directory;
mod error;
mod extents;
mod figures;
mod file;
mod file_system;
mod handle;
mod inode;
mod listing;
mod piece;
mod record;
mod recovery;
mod relink;
mod remove;
mod space;
mod sparse;
mod storage;
mod sync;
mod write_buffer;

pub use attributes::{
    Attributes, Changed, Created, Kind, SetAttributes, SetTime, Time, Wcc, WccAttributes,
};
pub use caller::{Access, Caller};
pub use create::{How, Special};
pub use data::{Read, Stability, Written};
pub use error::Error;
pub use figures::{FileSystemInfo, Names, SpaceFigures};
pub use file_system::{FileSystem, Options, Unstable};
pub use handle::{HANDLE_BYTES, Handle};
pub use listing::{Entry, EntryPlus, Page};
pub use piece::{Piece, Pieces};
pub use record::Damage;
pub use recovery::Recovery;
pub use relink::{Linked, Renamed};
pub use sparse::BLOCK_BYTES;
pub use storage::{DataId, Storage, Stored};
pub use write_buffer::{ChunkPool, WriteBuffer, slices_max};
