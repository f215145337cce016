//! The engine and the emulated volume service over real TCP on loopback: the configuration of the
//! service is what is measured, and the counts of both sides are equal.
//!
//! The generator and the service share a machine that may be busy. So limits and delays are also
//! compared with the service's own counters, whose clock no client can delay, and the tests run one
//! after the other.

mod counts;
mod delays;
mod flows;
mod limits;
mod resize;
mod served;
mod shared;
