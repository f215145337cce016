//! The parser of `volumes.toml` and the start of the service, with any input.
#![no_main]

#[path = "../src/volumes.rs"]
mod volumes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| volumes::try_volumes(data));
