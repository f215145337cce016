//! From what an application needs to what to buy: pools, volumes, hosts, settings, cost.
//!
//! For: every design that the facts allow, with its arithmetic, what binds it, and what the next
//! cheaper one would lose; and, where there is none, which constraint forbids it and by how much.
//! What parts were measured to do, and response times under load, come from `predict`. Not for:
//! measuring, nor for laying it out. Solved by enumeration: the quota for a throughput and the
//! hosts for a quota follow by exact whole-number arithmetic, so what is enumerated are level, QoS
//! type, kind and number of volumes, spare share and size of host.

mod arrange;
mod asked;
pub mod avs;
pub mod capability;
mod cautions;
pub mod claim;
pub mod client;
pub mod cost;
pub mod design;
pub mod facts;
pub mod front;
pub mod host_kind;
pub mod hosts;
pub mod layout;
mod less;
pub mod need;
pub mod published;
pub mod region_need;
pub mod response;
pub mod schedule;
pub mod shortfall;
pub mod solve;

mod space;
pub mod storage;
