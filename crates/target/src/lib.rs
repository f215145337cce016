//! What operations are sent to. Each kind of target is one module: [`null`], [`posix`], [`nfs`].
//!
//! To add a kind, implement [`run_target::RunTarget`] and [`Target`] in a module (`null.rs` is the
//! smallest), add what a worker opens to [`run_target::Opener`], and, if it has files, implement
//! the `Folder` trait and add it to [`location::TargetLocation`]. All kinds share the rules for the
//! target directory ([`survey`], [`directory`]).
//!
//! A target is opened for `queue_depth` operations and always has room for that many. It knows
//! nothing of schedules, workers or statistics.

pub mod nfs;
pub mod null;
pub mod posix;

mod aligned;
pub mod clean;
mod creation;
pub mod directory;
pub mod existing;
pub mod fill;
mod folder;
pub mod identity;
pub mod inventory;
mod lease_content;
pub mod location;
pub mod manifest;
pub mod names;
pub mod refusal;
mod renewal;
pub mod run_target;
pub mod shared_directory;
pub mod split_fill;
pub mod storage;
pub mod survey;
pub mod threads;
pub mod tree;
mod verification;
mod working_directory;

pub use lease_content::LockOwner;
pub use uring::Wait;
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;
use workload::op::Op;

use crate::names::content::WrongByte;

/// The end of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag with which it was submitted.
    pub tag: u32,
    /// Bytes moved, or a negative Linux error number.
    pub result: i32,
}

/// Why a target can no longer be used. A failed operation is a [`Completion`] instead.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The kernel does not accept or return operations.
    #[error("drive {target}: {source}")]
    Drive {
        /// The I/O interface: `io_uring`, a path.
        target: String,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// io_uring was requested, and the kernel or the container forbids it.
    #[error(
        "io_uring is not allowed here: {source}; allow it (`sysctl kernel.io_uring_disabled=0`; in \
         a container also its seccomp profile), or leave out `--engine io_uring`: blocking calls \
         (`--engine psync`) work without it"
    )]
    RingRefused {
        /// The kernel's error.
        source: std::io::Error,
    },
    /// A file cannot be opened.
    #[error("open {path}: {source}")]
    Open {
        /// The file.
        path: String,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// The path is not a regular file, or the file has several hard links.
    #[error(
        "open {path}: it is not a regular file with a single hard link, so fourcorners did not \
         create it"
    )]
    NotRegular {
        /// The file.
        path: String,
    },
    /// The buffers of the outstanding operations cannot be allocated.
    #[error("map {bytes} bytes for outstanding operations: {source}")]
    Memory {
        /// Bytes requested.
        bytes: u64,
        /// The kernel's error.
        source: std::io::Error,
    },
}

/// A reply that violated the protocol between a target and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file of the operation, as in `Op::file`.
    pub file: u32,
    /// The request, the reply, and the rule that the reply violates.
    pub description: String,
}

/// One worker's access to what operations are sent to. Tags are `0..queue_depth`.
pub trait Target {
    /// Accepts an operation. It reaches the storage now or at the next [`Target::reap`].
    ///
    /// # Errors
    /// The target is lost.
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError>;

    /// Sends what was submitted, in one system call, and appends what has completed. Returns when
    /// at least one operation has completed or `wait` is over; it may also return early.
    ///
    /// # Errors
    /// The target is lost.
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError>;

    /// The memory of slot `tag`, large enough for any transfer: filled by the engine before a
    /// write, read by it after a read. `None` if no data moves (the null target).
    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]>;

    /// The first wrong byte in the parts of a file that the operation of slot `tag` has read and that are
    /// no longer in its buffer, if the target verifies them.
    fn wrong_byte(&mut self, _tag: u32) -> Option<WrongByte> {
        None
    }

    /// How many operations it sends together: the engine generates the data of further writes while
    /// the storage works on these. `usize::MAX` if everything is sent at the next [`Target::reap`],
    /// or each operation is sent when it is submitted.
    fn batch(&self) -> usize {
        usize::MAX
    }

    /// The server's first replies that violated the protocol. Called after the measurement.
    fn faults(&self) -> Vec<Fault> {
        Vec::new()
    }

    /// Whether operations are outstanding and the storage has sent nothing for half a second, so
    /// that a wait might never end.
    fn is_unresponsive(&self) -> bool {
        false
    }

    /// The current counters of its connections, by connection number. Called at the end of each
    /// interval, so it must not allocate.
    fn connections(&mut self) -> &[ConnectionCounters] {
        &[]
    }
}

/// Sleeps, for targets that complete operations when they are submitted.
fn sleep(wait: Wait) {
    match wait {
        Wait::Poll => {}
        Wait::Precise(wait) | Wait::Coarse(wait) => std::thread::sleep(wait),
    }
}

/// Memory for `slots` operations of `slot_bytes` each.
fn slot_buffers(slots: usize, slot_bytes: u64) -> Result<Buffers, TargetError> {
    Buffers::new(slots, slot_bytes as usize)
        .map_err(|source| TargetError::Memory { bytes: slots as u64 * slot_bytes, source })
}
