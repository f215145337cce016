//! The real binary, as a user starts it: output, exit codes, files left behind.
//!
//! One test program with a module for each subject, so that it is linked once.

mod harness;

mod applications;
mod avs;
mod avs_profiles;
mod baselines;
mod business_metric;
mod cable;
mod checks;
mod ci_examples;
mod clean;
mod collecting;
mod comparing;
mod conditions;
mod emulated;
mod ending;
mod expecting;
mod explaining;
mod exporter;
mod exporting;
mod fleet;
mod fleet_containers;
mod fleet_counters;
mod fleet_faults;
mod fleet_files;
mod fleet_fill;
mod fleet_names;
mod fleet_records;
mod fleet_runs;
mod fleet_searches;
mod fleet_ssh;
mod fleet_waits;
mod foreign_servers;
#[path = "../../../target/tests/nfs/ganesha.rs"]
mod ganesha;
mod glance;
mod guide;
mod help;
mod host_state;
mod installed;
mod interleaving;
mod invalid_input;
mod keeping;
mod limits;
mod live;
mod loopback;
mod lost_hosts;
#[path = "../../../target/tests/nfs/memfs.rs"]
mod memfs;
mod metrics;
mod names;
mod observing;
mod plans;
mod predicting;
mod private_network;
mod profiles;
mod pseudo_terminal;
#[path = "../../../analysis/tests/records/mod.rs"]
mod records;
mod refusals;
mod relayed_agent;
mod replaying;
mod runs;
mod scraping;
mod servers;
mod size;
mod ssh_hosts;
mod targets;
mod tune;
mod unequal_hosts;
mod verifying;
mod volumes;
mod wire_truth;
#[path = "../../../rvtools/tests/workbooks/mod.rs"]
mod workbooks;
mod working_set;
