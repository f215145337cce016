//! NFS as a target, with third-party and scripted servers.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod behaviour;
mod broken;
mod drive;
mod exchange;
mod files;
mod ganesha;
mod lying;
mod memfs;
mod namespaces;
mod restarts;
mod scripted;
mod session;
mod timing;
mod waiting;
