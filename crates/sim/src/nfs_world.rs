//! The complete path of an operation in virtual time: the engine's workers, the built-in NFS
//! client, a network, the volume service with its limits and delays, and back; in one thread, from
//! one seed.
//!
//! It is for experiments with calculable results, and for events that are rare on real networks:
//! connections lost during a run, streams split anywhere, a service that restarts and loses data.
//! All decisions are made by the product's own code; only sockets, threads and clocks are replaced.
//! Client and service use no virtual time, so all time is the network's and that of the service's
//! configuration.
//!
//! Every worker, every direction of a connection and the service have one next event. Events at the
//! same time occur in the order in which they were planned, so the result depends only on the run,
//! the setup and the seed.

use metrics::run_record::ExperimentRecord;
use workload::plan::{Plan, Run};

use crate::network::Network;
pub use crate::network::Simulated;
use crate::nfs_setup::Setup;
use crate::world::experiment_of;

/// Simulates a run on one host.
///
/// # Panics
/// The configuration violates a rule of the account, or a stream's volume is not in it.
pub fn simulate(run: &Run, setup: &Setup, seed: u64) -> Simulated {
    Network::new(run, setup, seed).run(run)
}

/// Simulates a whole plan, run after run, each on new volumes.
pub fn experiment(plan: &Plan, setup: &Setup, seed: u64) -> ExperimentRecord {
    experiment_of(plan, seed, |run, seed| simulate(run, setup, seed).record)
}
