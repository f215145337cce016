//! The decoders of MOUNT and of the portmapper, with any input.
#![no_main]

#[path = "../src/mount.rs"]
mod mount;

libfuzzer_sys::fuzz_target!(|data: &[u8]| mount::try_mount(data));
