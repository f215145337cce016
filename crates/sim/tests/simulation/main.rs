//! Complete simulations: the engine's worker with storages of known behaviour.
//!
//! One test program with a module for each subject, so that it is linked only once.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod runs;

mod active_times;
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
mod profiles;
mod queues;
mod repeatable;
mod scaling_out;
mod schedules;
mod searches;
mod stall;
mod tune;
mod users;
