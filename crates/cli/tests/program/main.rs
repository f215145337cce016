//! The real binary, as a user starts it: output, exit codes, files left behind.
//!
//! One test program with a module for each subject, so that it is linked once.

mod harness;

mod clean;
mod emulated;
mod ending;
mod help;
mod mistakes;
mod plans;
mod refusals;
mod runs;
mod verifying;
mod volumes;
