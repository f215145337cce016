//! Feeds the decoders of arguments and results of NFS with anything.
#![no_main]

#[path = "../src/procedures.rs"]
mod procedures;

libfuzzer_sys::fuzz_target!(|data: &[u8]| procedures::try_procedures(data));
