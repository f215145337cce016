//! The procedures of NFS 3, MOUNT 3 and the portmapper as a client sees them: encoded calls in,
//! decoded replies out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod data;
mod scene;
