//! The simulator: the engine's own worker, schedule, slots and recorder against a model of a
//! storage, many workers in one thread, in virtual time, from one seed; and the whole way of an
//! operation over NFS ([`nfs_world`]): our client, a network, our volume service.
//!
//! For: tests in which the truth is known. What the storage did is decided by a model whose answer
//! can be written down ([`queueing`] has the formulas), so that what the recorder and analysis say
//! can be held against it; an hour of load takes seconds. Nothing here reads a clock: the same
//! seed gives the same bytes.
//!
//! Not for: predicting what a real storage will do.
//!
//! The idea is that of TigerBeetle's simulator (VOPR) and of FoundationDB's before it: run the
//! product's own code, replace only what lies outside it.

pub mod examination;
pub mod nfs_world;
pub mod population;
pub mod queueing;
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
