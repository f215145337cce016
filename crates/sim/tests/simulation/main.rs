//! Whole simulations: the engine's worker against storages whose truth is known.
//!
//! One test program with a module for each subject, so that it is linked once.

mod runs;

mod arrivals;
mod examples;
mod faults;
mod limits;
mod little;
mod long;
mod queues;
mod repeatable;
mod stall;
