//! Whole simulations: the engine's worker against storages whose truth is known.
//!
//! One test program with a module for each subject, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as the test would")]

mod runs;

mod arrivals;
mod curves;
mod examination;
mod examples;
mod faults;
mod limits;
mod little;
mod long;
mod mixes;
mod predictions;
mod queues;
mod repeatable;
mod searches;
mod stall;
mod tune;
