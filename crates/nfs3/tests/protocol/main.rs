//! The whole protocol: round trips of all types, comparison with a third-party codec and with
//! captures of the Linux client and nfs-ganesha, and client with server.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod captures;
mod connection;
mod draw;
mod field_order;
mod fuzz_corpus;
mod oracle;
mod pcap;
mod round_trip;
