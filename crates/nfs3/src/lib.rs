//! The NFS version 3 protocol, bytes in and bytes out: XDR, ONC RPC with record marking, the
//! portmapper, MOUNT and all 22 NFS procedures, with encoders and decoders, and a client connection
//! and a server connection as state machines.
//!
//! A core: no socket, no clock, no thread, no file. The owner of a connection passes in received
//! bytes and sends the bytes it gets, so the same code runs with io_uring and in a simulator under
//! virtual time.
//!
//! Implements RFC 1813 (NFS 3, MOUNT 3), RFC 5531 (ONC RPC 2), RFC 4506 (XDR) and RFC 1833
//! (portmapper); `EXCEPTIONS.md` lists the exceptions. Types have the names of the RFCs.
//!
//! Peers are not trusted: no received bytes cause a panic, or memory use of more than a small
//! multiple of their length.

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
