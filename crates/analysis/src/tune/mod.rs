//! Tuning: the least concurrency that reaches a wanted rate.
//!
//! For: how many operations must be outstanding (Little's law), which load to measure next, and
//! when it is known that the rate is reached, or that it cannot be. Not for: doing the runs, nor
//! for what the result looks like.
//!
//! The worked example is section 10 of NetApp's paper "Azure NetApp Files: Getting the Most Out of
//! Your Cloud Storage" (2019): 200 MiB/s of 64 KiB at 1.909 ms. What the paper does once and by
//! hand, the search goes on with, because the response time rises with the load.
//!
//! Reading order: [`arithmetic`] (the prediction), [`search`] (measuring, correcting, stopping),
//! [`findings`] (what it comes to), [`share`] (over hosts and files).

pub mod arithmetic;
pub mod findings;
pub mod limit;
pub(crate) mod relevance;
pub mod search;
pub mod share;
