//! Feeds the experiment parser and the planner with anything.
#![no_main]

#[path = "../src/experiment.rs"]
mod experiment;

libfuzzer_sys::fuzz_target!(|data: &[u8]| experiment::try_experiment(data));
