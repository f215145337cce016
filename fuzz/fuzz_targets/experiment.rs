//! The parser of experiments and the planner, with any input.
#![no_main]

#[path = "../src/experiment.rs"]
mod experiment;

libfuzzer_sys::fuzz_target!(|data: &[u8]| experiment::try_experiment(data));
