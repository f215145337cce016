//! Tuning: the least concurrency that reaches a target rate.
//!
//! For: how many operations must be outstanding (Little's law), which load to measure next, and
//! whether the rate is reached or cannot be. Not for: making the runs or presenting the result.
//!
//! The worked example is section 10 of NetApp's paper "Azure NetApp Files: Getting the Most Out of
//! Your Cloud Storage" (2019): 200 MiB/s of 64 KiB at 1.909 ms. The paper computes one step by
//! hand; the search continues from there, because the response time rises with the load.
//!
//! Reading order: [`arithmetic`] (the prediction), [`search`] (measuring, correcting, stopping),
//! [`findings`] (the answer), [`share`] (distribution over hosts and files).

pub mod arithmetic;
pub mod findings;
pub mod limit;
pub(crate) mod relevance;
pub mod search;
pub mod share;
