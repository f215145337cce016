//! Measured data: histograms, the recorder of a worker, intervals, and the record of a run. Without
//! clock, files or threads.
//!
//! A worker owns its [`recorder::Recorder`] and hands over a [`recorder::Tally`] at each edge; the
//! tallies of all workers are combined into one [`interval::Interval`].

pub mod connection;
pub mod environment;
pub mod fleet;
pub mod histogram;
pub mod host_state;
pub mod interleaved;
pub mod interval;
pub mod recorder;
pub mod run_record;
pub mod scraped;
pub mod service_counters;
pub mod tree_comparison;
pub mod warning;
pub mod wire;
