//! Feeds the readers of a host's files with anything: a captured host is a stranger's.
#![no_main]

#[path = "../src/host.rs"]
mod host;

libfuzzer_sys::fuzz_target!(|data: &[u8]| host::try_host(data));
