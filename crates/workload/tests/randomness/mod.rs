//! Compares kinds, offsets, files and sizes of operations, and arrivals, with their distributions.
//!
//! Every test computes the probability that a perfect generator deviates at least as much, and fails
//! below [`statistics::FALSE_ALARM`]. Seeds are fixed, so the outcome never changes.

mod arrivals;
mod bits;
mod kinds;
mod positions;
pub(crate) mod statistics;
