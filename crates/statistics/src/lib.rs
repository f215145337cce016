//! Statistics and queueing formulas shared by `analysis`, `predict` and `sim`.
//!
//! For: textbook functions of plain numbers, each checked against published values. Not for:
//! records, load points or topologies.

pub mod average;
pub mod correlation;
pub mod distributions;
pub mod holm;
pub mod least_squares;
pub mod positive_least_squares;
pub mod queueing;
pub mod ranks;
