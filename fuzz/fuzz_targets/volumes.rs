//! Reads and starts anything as a description of the service.
#![no_main]

#[path = "../src/volumes.rs"]
mod volumes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| volumes::try_volumes(data));
