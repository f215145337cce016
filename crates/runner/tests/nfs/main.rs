//! The engine against the emulated volume service, over real TCP on loopback: what the service was
//! set to is what is measured, and what both sides counted is the same.
//!
//! The generator and the service share a machine that may be busy with other things. So limits and
//! delays are held against the books of the service too, whose clock no client can delay, and every
//! test has the machine for itself.

mod delays;
mod flows;
mod limits;
mod resize;
mod served;
mod shared;
mod witness;
