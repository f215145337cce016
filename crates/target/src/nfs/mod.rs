//! An export of NFS version 3 as a target, in user space: no mount, no kernel client, requests
//! exactly as asked for, over as many connections as wanted.
//!
//! [`url::NfsUrl`] says where; [`session::Session`] mounts it and does every procedure, one
//! blocking call at a time; [`files::NfsFiles`] is what a worker measures.

pub mod dial;
pub mod error;
pub mod fault;
pub mod files;
pub mod listing;
pub mod procedures;
pub mod session;
pub mod unwired;
pub mod url;
pub mod waiting;

mod calls;
mod channel;
mod core;
mod dispatch;
mod doubt;
mod flow;
mod recovery;
mod settle;
mod sockets;
mod stable;
mod uncommitted;
mod url_text;

pub use error::{NfsError, NfsFailure};
pub use fault::ProtocolFault;
pub use files::{NfsAccess, NfsFiles};
pub use listing::DirEntry;
pub use procedures::Written;
pub use session::{Mounted, NfsFile, Session, null_round_trip};
pub use url::{NfsUrl, NfsUrlError, Policy};
pub use waiting::{WaitObserver, WaitReport};
