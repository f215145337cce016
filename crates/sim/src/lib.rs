//! The simulator: the engine's own workers, schedules, slots and recorders with a model of a
//! storage, many workers in one thread, in virtual time, from one seed. Also the complete path of
//! an operation over NFS ([`nfs_world`]): the built-in client, a network, the volume service. And fleets
//! ([`fleet`]): the cores of controller and agents, and what happens to their hosts.
//!
//! It is for tests with known results: the model's behaviour can be calculated (crate `statistics`
//! has the formulas) and compared with what the recorder and analysis report; an hour of load takes
//! seconds. Nothing here reads a clock, so the same seed gives the same bytes. It does not predict
//! real storage.
//!
//! The idea is that of TigerBeetle's simulator (VOPR) and of FoundationDB's before it: run the
//! product's own code and replace only its environment.

pub mod examination;
pub mod fleet;
pub mod nfs_setup;
pub mod nfs_world;
pub mod population;
pub mod storage;
pub mod tap;
pub mod testbed;
pub mod wire;
pub mod world;

mod lanes;
mod link;
mod network;
mod site;
mod station;
mod traffic;

pub use world::{experiment, simulate};
