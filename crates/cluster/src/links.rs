//! The sessions of a fleet with what carries them: the pipes of processes, or links under virtual time.

use std::fmt;
use std::time::Duration;

use crate::controller::Controller;

/// What carries the sessions with the agents on all hosts.
pub trait Links: fmt::Debug {
    /// The sessions.
    fn controller(&mut self) -> &mut Controller;

    /// The names of the hosts, in their order.
    fn names(&self) -> Vec<String>;

    /// The name of an earlier host that is the same machine as this one by another name. Only hosts that are
    /// reached by ssh are compared: containers share a machine, and so may nodes of Slurm.
    fn earlier_name_of(&self, host: usize) -> Option<&str>;

    /// The time by the clock of the sessions, in nanoseconds.
    fn now_ns(&self) -> u64;

    /// Waits until something arrives, at most for `longest`, and handles it. Performs all actions of the
    /// controller.
    fn turn(&mut self, longest: Duration);

    /// Performs the actions of the controller.
    fn perform(&mut self);
}
