//! The target directory on real files: every refusal, the fill, verification, and `clean`. Tests
//! that need a separate file system are in `faults.rs`.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod cleaning;
mod filling;
mod local;
mod plans;
mod refusals;
mod splitting;
mod test_volume;
mod verification;
