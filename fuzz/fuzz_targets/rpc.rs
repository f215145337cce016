//! Both ends of an RPC connection, with any stream.
#![no_main]

#[path = "../src/rpc.rs"]
mod rpc;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rpc::try_rpc(data));
