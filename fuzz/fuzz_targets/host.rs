//! The parsers of a host's files, with any input: a captured host may be anyone's.
#![no_main]

#[path = "../src/host.rs"]
mod host;

libfuzzer_sys::fuzz_target!(|data: &[u8]| host::try_host(data));
