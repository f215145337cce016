//! Workloads: the experiment that a user writes, the plan that it resolves to, and the operation
//! stream.
//!
//! A core: no clock, no file, no socket, no thread, no environment. Operation *i* of a stream is a
//! pure function of the seed and *i* (an idea of latte and lading), so hosts split a run by splitting
//! *i*, a failure is replayed by its number, and data is verified without being stored.
//!
//! Reading order: [`keys`] (the table of all keys), [`experiment`] (reading a file), [`resolve`] (from
//! an experiment to a plan), [`plan`] and [`run`] (the resolved types), [`search`] (runs that are
//! chosen from measurements), [`op`] (one operation and the stream), [`file_use`], [`pattern`], [`mix`],
//! [`names`] (operations on names), [`scenario`] (users), [`replay`] (operations of a trace), [`arrival`],
//! [`rate_schedule`], [`data`].

pub mod active_time;
pub mod arrival;
mod arrival_reader;
mod combination;
pub mod condition;
pub mod connection;
pub mod data;
pub mod experiment;
pub mod file_use;
pub mod interleave;
pub mod keys;
pub mod kind_table;
mod label;
mod layer;
pub mod limit;
pub mod metric;
pub mod mix;
mod name_load;
mod name_reader;
pub mod names;
pub mod offered_load;
pub mod op;
pub mod outcome;
pub mod overrides;
pub mod pattern;
pub mod plan;
mod problem;
pub mod profiles;
pub mod random;
pub mod rate_schedule;
mod rate_trace;
pub mod reach;
mod reader;
pub mod reference;
pub mod replay;
mod replay_list;
mod replay_load;
mod replay_reader;
pub mod resolve;
pub mod run;
pub mod scale;
pub mod scenario;
mod scenario_reader;
pub mod schema;
pub mod search;
mod search_settings;
mod shared_arrival;
mod stream_targets;
mod sweep;
mod tuned_load;
mod user_load;
pub mod user_search;
pub mod value;
mod written;
