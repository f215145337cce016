//! The decoders of NFS arguments and results, with any input.
#![no_main]

#[path = "../src/procedures.rs"]
mod procedures;

libfuzzer_sys::fuzz_target!(|data: &[u8]| procedures::try_procedures(data));
