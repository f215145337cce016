//! Facts about this host and its mounts, which are stored with every result, and counters of the
//! kernel.
//!
//! Everything is read below a [`Root`], so that tests can read copies of real systems. A fact that is
//! not available (no file, no permission) is omitted; nothing here fails. Not for: judging the facts,
//! or changing settings.

pub mod cpu;
pub mod device;
pub mod facts;
pub mod instance;
pub mod missing_mount;
pub mod mounts;
pub mod mountstats;
pub mod network;
pub mod nfs;
pub mod observations;
pub mod quota;
mod root;
pub mod state;
mod threads;
#[cfg(test)]
mod tree;
pub mod wire;

pub use root::Root;
