//! Experiments, plans and the operations that they describe.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod active_times;
mod base_stream;
mod diagnostics;
mod documents;
mod examples;
mod fuzz_corpus;
mod metric;
mod name_streams;
mod names;
mod nfs;
mod plans;
mod profile_streams;
mod profiles;
mod randomness;
mod reduction_and_truth;
mod replays;
mod requirements;
mod schedule_files;
mod schema_check;
mod streams;
mod user_streams;
