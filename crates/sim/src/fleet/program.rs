//! What an agent does with requests, as the simulated host runs it.

use cluster::message::Hello;

use super::host::{Fault, Phase};

/// The clocks of a host when something happens.
#[derive(Clone, Copy, Debug)]
pub struct HostTime {
    /// Its monotonic clock.
    pub monotonic_ns: u64,
    /// Its wall clock, since 1970.
    pub unix_ns: u64,
}

/// What an agent does with requests. It sends by the outbox that it was made with, and is dropped when its process
/// ends or is killed.
pub trait Program {
    /// Its first message.
    fn hello(&self) -> Hello;

    /// Takes a request.
    fn work(&mut self, number: u32, work: Vec<u8>, time: HostTime);

    /// Takes a signal.
    fn signal(&mut self, signal: &[u8], time: HostTime);

    /// The controller is gone.
    fn input_ended(&mut self, time: HostTime);

    /// The time of [`Program::wakes_at_ns`] has come.
    fn wake(&mut self, time: HostTime);

    /// When something happens by itself, by the host's monotonic clock.
    fn wakes_at_ns(&self) -> Option<u64>;

    /// The phases that were entered since the last call.
    fn take_phases(&mut self) -> Vec<Phase>;

    /// Its process ends.
    fn has_ended(&self) -> bool;

    /// The storage of its host fails.
    fn storage_failed(&mut self, fault: Fault, time: HostTime);
}
