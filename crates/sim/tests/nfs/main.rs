//! Client, network and volume service as one, in virtual time, held against answers that are known.
//!
//! One test program with a module for each subject, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as the test would")]

mod data;
mod duplex;
mod limits;
mod links;
mod long;
mod predictions;
mod replays;
mod response_times;
mod setups;
mod witness;
