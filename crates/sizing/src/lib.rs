//! From requirements to a design: pools, volumes, hosts, settings, cost.
//!
//! For: all designs that the facts allow, with their arithmetic, bottleneck and trade-offs; if
//! there is none, the violated constraint and the missing amount. Capabilities and response times
//! come from `predict`. Not for: measuring, or wording; see `report`.
//!
//! Enumerates level, QoS type, kind and number of volumes, spare share and host size; the quota for
//! a throughput and the hosts for a quota follow by exact integer arithmetic.

mod arrange;
pub mod assumption;
pub mod avs;
pub mod business;
pub mod capability;
mod cautions;
mod cheaper;
pub mod choice;
pub mod claim;
pub mod client;
pub mod cost;
pub mod cost_by_level;
pub mod design;
pub mod facts;
pub mod front;
mod host_demand;
pub mod host_kind;
mod host_search;
pub mod hosts;
pub mod layout;
pub mod need;
mod need_check;
pub mod pool;
pub mod published;
pub mod region_need;
pub mod resource_use;
pub mod response;
pub mod schedule;
pub mod shortfall;
pub mod solve;
mod space;
pub mod statement;
pub mod storage;
pub mod trade_offs;
