//! The procedures of NFS 3, MOUNT 3 and the portmapper as a client sees them: encoded calls in,
//! decoded replies out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod access;
mod arbitrary;
mod calls;
mod captures;
mod data;
#[expect(dead_code, reason = "these tests draw calls but no results")]
#[path = "../../../nfs3/tests/protocol/draw.rs"]
mod draw;
mod listing;
mod model;
mod mount;
mod names;
mod outcome;
#[path = "../../../nfs3/tests/protocol/pcap.rs"]
mod pcap;
mod refusals;
mod repeated;
mod scene;
