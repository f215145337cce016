//! What records mean: a pure function of them. Same records, same findings, bit for bit.
//!
//! For: every number that any output shows. Not for: reading files, nor for layout.
//! `docs/method.md` says how each number is made.
//!
//! Reading order: [`findings`] (the whole), [`load_point`] (what one window says), [`estimate`] (a
//! number with its uncertainty), [`percentile`], then the checks: [`little`], [`overload`],
//! [`steady`], [`warnings`]; last what limits it: [`verdict`].

pub mod agreement;
pub mod compare;
pub mod connections;
pub mod curve;
pub mod distributions;
#[cfg(test)]
mod draws;
pub mod effective;
pub mod emulated;
pub mod estimate;
pub mod findings;
pub mod fit;
pub mod heat;
pub mod host_check;
pub mod host_state;
pub mod little;
pub mod load_point;
pub mod mix;
pub mod outliers;
pub mod overload;
pub mod percentile;
pub mod repeats;
pub mod search;
pub mod series;
#[cfg(test)]
mod simulated;
pub mod steadiness;
pub mod steady;
pub mod summary;
pub mod times;
mod trend;
pub mod tune;
pub mod verdict;
pub mod warm_up;
pub mod warnings;
mod window;
pub mod wire;
pub mod witness;
pub mod work;

pub use findings::{Findings, analyze};
