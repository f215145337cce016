//! Conducts a plan: prepares the files, then runs each phase of each run, and emits events.
//!
//! [`conduct`] is the sequence, [`prepare`] makes the target's files ready, [`fleet`] executes runs on this
//! host, [`fleet_run`] on several, [`run_trees`] makes and compares trees of names, [`overdue`] decides when a host is named that takes long, [`tolerance`]
//! when failed operations end a run, [`announce`] calls the listeners.
//!
//! `engine` measures, `store` listens and keeps the results, `analysis` judges them.

pub mod announce;
pub mod conduct;
pub mod event;
pub mod fleet;
pub mod fleet_run;
pub mod host_warnings;
pub mod interleave;
pub mod lost_hosts;
pub mod overdue;
pub mod prepare;
pub mod run_trees;
pub mod tolerance;

mod run_progress;
