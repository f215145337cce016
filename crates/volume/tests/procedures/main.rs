//! The procedures of NFS 3, MOUNT 3 and the portmapper as a client sees them: encoded calls in,
//! decoded replies out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod access;
mod calls;
mod data;
mod listing;
mod mount;
mod names;
mod refusals;
mod repeated;
mod scene;
mod told;
