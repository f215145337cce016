//! Conducts a plan: prepare, then each run's phases, with events for whoever listens.
//!
//! [`conduct`] is the order of things, [`prepare`] makes the target's files ready, [`fleet`] is who
//! does a run (one host today), [`tolerance`] decides when failed operations end a run,
//! [`announce`] tells the listeners.
//!
//! Not for: measuring (the engine), keeping (the store listens), judging (analysis).

pub mod announce;
pub mod conduct;
pub mod event;
pub mod fleet;
pub mod interleave;
pub mod prepare;
pub mod tolerance;
