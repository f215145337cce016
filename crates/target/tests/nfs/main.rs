//! NFS as a target, against foreign servers and against scripted ones.

#![expect(clippy::unwrap_used, reason = "a helper that cannot help fails its test")]

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
