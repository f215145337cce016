//! The whole service without its sockets, with any stream.
#![no_main]

#[path = "../src/service.rs"]
mod service;

libfuzzer_sys::fuzz_target!(|data: &[u8]| service::try_service(data));
