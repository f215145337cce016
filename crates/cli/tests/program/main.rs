//! The real binary, as a user starts it: output, exit codes, files left behind.
//!
//! One test program with a module for each subject, so that it is linked once.

mod harness;

mod avs;
mod avs_profiles;
mod cable;
mod checks;
mod clean;
mod comparing;
mod emulated;
mod ending;
mod expecting;
mod explaining;
mod foreign_servers;
#[path = "../../../target/tests/nfs/ganesha.rs"]
mod ganesha;
mod help;
mod host_state;
mod interleaving;
mod invalid_input;
mod limits;
mod loopback;
#[path = "../../../target/tests/nfs/memfs.rs"]
mod memfs;
mod plans;
mod predicting;
mod private_network;
#[path = "../../../analysis/tests/records/mod.rs"]
mod records;
mod refusals;
mod runs;
mod servers;
mod size;
mod tune;
mod verifying;
mod volumes;
mod wire_truth;
#[path = "../../../rvtools/tests/workbooks/mod.rs"]
mod workbooks;
