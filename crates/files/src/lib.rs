//! What an emulated volume stores: a tree of inodes with sparse data, with the meaning
//! that RFC 1813 (NFS version 3) gives to each of its procedures.
//!
//! For: a service that answers NFS requests, and a simulator that wants the same answers under
//! virtual time. Every method takes the caller's identity and, where something changes, `now`; the
//! same calls give the same tree, so a failure can be replayed. Not for: bytes on the wire (they
//! are `nfs3`'s), limits of throughput and delays, export rules by address, or touching a disk:
//! what keeps a volume there implements [`Storage`] and is told of every change.
//!
//! [`FileSystem`] is the whole of it; read its documentation first. Semantics are those of RFC
//! 1813 with the customs of UNIX servers where it leaves a choice; each choice is told at its
//! method.

mod attributes;
mod caller;
mod change;
mod changes;
mod create;
mod data;
mod directory;
mod error;
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
