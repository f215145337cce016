//! Feeds the decoders of arguments and results of MOUNT and of the portmapper with anything.
#![no_main]

#[path = "../src/mount.rs"]
mod mount;

libfuzzer_sys::fuzz_target!(|data: &[u8]| mount::try_mount(data));
