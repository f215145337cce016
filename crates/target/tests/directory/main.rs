//! The directory of a run on real files: every refusal, the fill, the checks before a read, and `clean`. What needs a
//! file system of its own is in `faults.rs`.

mod cleaning;
mod filling;
mod place;
mod refusals;
mod truths;
