//! An NFSv3 export as a target, accessed in user space: without a mount and the kernel's client,
//! with exactly the requests and connections that the user configures.
//!
//! [`url::NfsUrl`] names it; [`session::Session`] mounts it and calls every procedure, blocking;
//! workers measure through [`files::NfsFiles`].

pub mod dial;
pub mod error;
pub mod fault;
pub mod files;
pub(crate) mod folder;
pub mod listing;
pub mod names;
pub mod procedures;
pub mod run_target;
pub mod sans_io;
pub mod session;
pub mod url;
pub mod waiting;

mod calls;
mod channel;
mod core;
mod dispatch;
mod flow;
#[cfg(test)]
mod known_answers;
mod recovery;
mod replies;
mod restart_check;
mod sockets;
mod stable;
mod uncommitted;
mod url_text;

pub use core::Rewrite;
pub use error::{NfsError, NfsFailure};
pub use fault::ProtocolFault;
pub use files::{NfsAccess, NfsFiles};
pub use listing::DirEntry;
pub use procedures::Written;
pub use run_target::NfsTarget;
pub use session::{Mounted, NfsFile, Session, null_round_trip};
pub use url::{NfsUrl, NfsUrlError, Policy};
pub use waiting::{Observer, WaitObserver, WaitReport};

/// A number that differs between calls and processes.
pub(crate) fn random_u64() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}
