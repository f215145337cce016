//! What this machine and this mount are, and how they are set: facts that are stored with every
//! result, because a figure without them cannot be compared with another.
//!
//! Everything is read below a [`Root`], so that the tests read copies of real systems. A fact that
//! is not to be had (no such file, no permission) is left out; nothing here fails. Not for: judging
//! the facts, changing settings.

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
