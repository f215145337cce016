//! What was measured: histograms, the recorder of one worker, intervals and series of them, and the
//! record of a run.
//!
//! A core: no clock, no file, no thread. A worker owns its [`recorder::Recorder`] and hands a whole
//! [`recorder::Tally`] over at each interval edge; tallies of all workers become one
//! [`interval::Interval`].

pub mod connection;
pub mod histogram;
pub mod host_state;
pub mod interleaved;
pub mod interval;
pub mod recorder;
pub mod run_record;
pub mod warning;
pub mod wire;
pub mod witness;
