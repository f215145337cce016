//! Analyses records: a pure function. The same records give the same findings, bit for bit.
//!
//! For: every number that any output shows. Not for: reading files, layout or sentences.
//! `docs/method.md` has the formulas.
//!
//! Reading order: [`findings`] (all results), [`load_point`] (one window), [`estimate`] (a value
//! with uncertainty), [`percentile`], then the checks [`little`], [`overload`], [`steady`],
//! [`warnings`], and the bottleneck: [`verdict`].

pub mod agreement;
pub mod common_window;
pub mod compare;
pub mod condition;
pub mod connections;
pub mod curve;
pub(crate) mod curve_point;
#[cfg(test)]
mod draws;
pub mod effective;
pub mod emulated;
pub mod estimate;
pub mod findings;
pub mod fit;
pub mod fleet;
pub mod headline;
pub mod heat;
pub mod host_check;
pub mod host_heat;
pub mod host_state;
pub mod interval_rows;
pub mod kinds_over_time;
pub mod little;
pub mod load_point;
pub mod measured_load;
pub mod metric;
pub mod mix;
pub mod outliers;
pub mod overload;
pub mod percentile;
pub mod repeats;
mod run_measured;
pub mod sample;
pub mod scaling;
pub mod scraped;
pub mod search;
pub mod series;
mod server_cache;
pub mod service_check;
#[cfg(test)]
mod simulated;
pub mod spread;
pub mod steadiness;
pub mod steady;
pub mod summary;
pub mod targets;
pub mod times;
pub mod tree_check;
mod trend;
pub mod tune;
pub mod users;
pub mod verdict;
pub mod warm_up;
pub mod warnings;
mod window;
pub mod wire;
pub mod workload_signature;

pub use findings::{Findings, analyze};
