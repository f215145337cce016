//! What to do to a target: the experiment a user writes, the plan it resolves to, and the stream of
//! operations.
//!
//! A core: no clock, no file, no socket, no thread, no environment. Operation *i* of a stream is a
//! pure function of the seed and *i* (the idea is latte's and lading's), so hosts split a run by
//! splitting *i*, a failure is replayed by its number, and data is verified without being stored.
//!
//! Reading order: [`experiment`] (what a user wrote; [`keys`] is the table of what can be written),
//! [`resolve`] (from there to a plan), [`plan`] (the resolved types that flow), [`search`] (runs
//! that are decided from what was measured), [`op`] (one operation and the stream of them),
//! [`pattern`], [`mix`], [`arrival`], [`data`].

pub mod arrival;
mod combination;
pub mod connection;
pub mod data;
pub mod diagnostic;
pub mod experiment;
pub mod interleave;
pub mod keys;
mod label;
pub mod mix;
pub mod op;
pub mod outcome;
pub mod overrides;
pub mod pattern;
pub mod plan;
pub mod random;
pub mod reach;
mod reader;
pub mod reference;
pub mod resolve;
pub mod scale;
pub mod schema;
pub mod search;
mod searching;
mod sweep;
pub mod value;
