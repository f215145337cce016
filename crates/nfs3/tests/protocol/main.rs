//! The protocol as a whole: every type there and back, against another hand's codec, against the
//! bytes of the Linux client and nfs-ganesha, and client against server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod captures;
mod connection;
mod draw;
mod field_order;
mod fuzz_corpus;

mod oracle;
mod pcap;
mod round_trip;
