//! What operations are sent to: the trait [`Target`] and its implementations; and the directory
//! that a file target works in, with its safety rules.
//!
//! A target is opened for `queue_depth` operations and so always has room. It knows nothing of
//! schedules, workers or statistics. To add one, implement [`Target`]; `null.rs` is the smallest
//! example.

pub mod nfs;
pub mod null;
pub mod posix;
pub mod psync;
pub mod ring;

mod aligned;
pub mod clean;
pub mod directory;
pub mod fill;
pub mod folder;
pub mod identity;
mod lock;
mod making;
pub mod manifest;
mod ours;
pub mod place;
pub mod refusal;
pub mod storage;
pub mod threads;
pub mod truth;

pub use uring::ring::Wait;
use workload::connection::ConnectionCounters;
use workload::op::Op;

/// The end of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag it was submitted with.
    pub tag: u32,
    /// Bytes moved, or a negated Linux error number.
    pub result: i32,
}

/// Why a target cannot go on at all. A failed operation is not that: it is a [`Completion`].
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The kernel refused to take or return operations.
    #[error("drive {target}: {source}")]
    Drive {
        /// What is driven: `io_uring`, a path.
        target: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// io_uring was forced, and the kernel or the container forbids it.
    #[error(
        "io_uring is refused here: {source}; allow it (`sysctl kernel.io_uring_disabled=0`; in a \
         container also its seccomp profile), or leave out `--engine io_uring`: blocking calls \
         (`--engine psync`) work without it"
    )]
    RingRefused {
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// A file cannot be opened.
    #[error("open {path}: {source}")]
    Open {
        /// Which.
        path: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// In the place of a file is something else, or a file that has further names.
    #[error(
        "open {path}: it is not a regular file of one name, so it is not one that fourcorners made"
    )]
    NotAlone {
        /// Which.
        path: String,
    },
    /// There is no memory for the outstanding operations.
    #[error("map {bytes} bytes for outstanding operations: {source}")]
    Memory {
        /// How much was wanted.
        bytes: u64,
        /// The kernel's answer.
        source: std::io::Error,
    },
}

/// An answer that broke the protocol between a target and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file that was worked on, as in `Op::file`.
    pub file: u32,
    /// What was requested, what was answered, and which rule says otherwise.
    pub description: String,
}

/// What operations are sent to. One worker owns one target; tags are `0..queue_depth`.
pub trait Target {
    /// Takes an operation. It may reach the storage now or at the next [`Target::reap`].
    ///
    /// # Errors
    /// The target is gone for good.
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError>;

    /// Sends what was submitted, in one system call, and appends what has completed. Waits until at
    /// least one operation has completed or `wait` is over; a spurious early return is allowed.
    ///
    /// # Errors
    /// The target is gone for good.
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError>;

    /// The memory of slot `tag`, of the largest transfer size: filled by the engine before a write,
    /// inspected after a read. `None` where no data moves (the null target).
    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]>;

    /// How many operations it sends together. The data of further ones is made while the storage
    /// works on these. `usize::MAX` where nothing is sent before the next [`Target::reap`], or each
    /// operation on its own.
    fn batch(&self) -> usize {
        usize::MAX
    }

    /// The first answers of a server that broke its protocol; nothing where there is none. To be
    /// asked when the target is no longer measured.
    fn faults(&self) -> Vec<Fault> {
        Vec::new()
    }

    /// Whether operations are outstanding and nothing has come from the storage for half a second,
    /// so that waiting for them may take for ever.
    fn is_unresponsive(&self) -> bool {
        false
    }

    /// What each of its connections has done up to now, in the order of their numbers; nothing
    /// where a target has none. Their number does not change. Asked at each interval's edge, so it
    /// allocates nothing.
    fn connections(&mut self) -> &[ConnectionCounters] {
        &[]
    }
}

/// Waits where nothing can complete meanwhile: for targets that complete operations when they are
/// submitted.
fn sleep(wait: Wait) {
    match wait {
        Wait::Look => {}
        Wait::Precise(wait) | Wait::Coarse(wait) => std::thread::sleep(wait),
    }
}
