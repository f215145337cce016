//! Client, network and volume service together in virtual time, compared with known results.
//!
//! One test program with a module for each subject, so that it is linked only once.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod data;
mod duplex;
mod limits;
mod links;
mod long;
mod predictions;
mod replays;
mod response_times;
mod service_counters;
mod setups;
