//! Feeds the decoders of streams of both sides of a connection with anything.
#![no_main]

#[path = "../src/rpc.rs"]
mod rpc;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rpc::try_rpc(data));
