//! The directory of a run on real files: every refusal, the fill, the checks before a read, and
//! `clean`. What needs a file system of its own is in `faults.rs`.

#![expect(clippy::unwrap_used, reason = "a helper that cannot help fails its test")]

mod cleaning;
mod filling;
mod local;
mod place;
mod plans;
mod refusals;
mod truths;
