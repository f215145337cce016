//! Whether what is called random is: the kinds, offsets, files and sizes of operations and the
//! instants of arrivals, compared with the distributions they claim.
//!
//! Every test computes the probability that a perfect generator deviates as much as ours does, and
//! fails where it is below [`statistics::FALSE_ALARM`]. Seeds are fixed, so the outcome never
//! changes between runs.

mod arrivals;
#[path = "../base_stream/mod.rs"]
mod base_stream;
mod bits;
mod kinds;
mod places;
mod statistics;
