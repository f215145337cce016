//! The NFS version 3 protocol, bytes in and bytes out: XDR, ONC RPC with record marking, the
//! portmapper, MOUNT and all 22 procedures of NFS, each with its encoder and its decoder, and one
//! connection of a client and of a server as state machines.
//!
//! A core: no socket, no clock, no thread, no file. Whoever owns the connection feeds what was
//! received and sends what is handed out, so the same code stands behind io_uring and in a
//! simulator under virtual time.
//!
//! Written from RFC 1813 (NFS 3, MOUNT 3), RFC 5531 (ONC RPC 2), RFC 4506 (XDR) and RFC 1833
//! (portmapper); what they ask and this crate does not do stands in `EXCEPTIONS.md`. Types bear
//! the names of the RFCs, so that a reader finds in one what the other says.
//!
//! Peers are strangers: no bytes from outside panic here or make us hold more memory than a small
//! multiple of the bytes that arrived.

pub mod xdr;

pub mod record;
pub mod rpc;

pub mod mount;
pub mod portmap;
pub mod procedure;

pub mod arguments;
pub mod directory;
pub mod results;
pub mod types;

pub mod client;
pub mod template;

pub mod reply_cache;
pub mod request;
pub mod server;
