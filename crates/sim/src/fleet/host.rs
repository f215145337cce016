//! A simulated host: its clocks, the network on the way to it, and what happens to it.

use super::Random;

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its clocks.
    pub clock: Clock,
    /// The network on the way to it.
    pub path: NetworkPath,
    /// Time for a process to be started there.
    pub starts_within_ns: u64,
}

/// The clocks of a host.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Its monotonic clock at time 0.
    pub monotonic_zero_ns: u64,
    /// Its wall clock at time 0, since 1970.
    pub unix_zero_ns: u64,
    /// How much faster than virtual time both run, in parts per million.
    pub drift_ppm: i64,
}

const MILLION: i128 = 1_000_000;

impl Clock {
    fn elapsed_ns(&self, now_ns: u64) -> u64 {
        let elapsed = i128::from(now_ns) * (MILLION + i128::from(self.drift_ppm)) / MILLION;
        u64::try_from(elapsed).expect("a clock drifts by less than its rate")
    }

    /// The monotonic clock at a time.
    pub fn monotonic_ns(&self, now_ns: u64) -> u64 {
        self.monotonic_zero_ns + self.elapsed_ns(now_ns)
    }

    /// The wall clock at a time, since 1970.
    pub fn unix_ns(&self, now_ns: u64) -> u64 {
        self.unix_zero_ns + self.elapsed_ns(now_ns)
    }

    /// The first time at which the monotonic clock has reached `monotonic_ns`.
    pub fn time_of(&self, monotonic_ns: u64) -> u64 {
        let elapsed = i128::from(monotonic_ns.saturating_sub(self.monotonic_zero_ns));
        let rate = MILLION + i128::from(self.drift_ppm);
        let now = (elapsed * MILLION + rate - 1) / rate;
        u64::try_from(now).expect("a clock drifts by less than its rate")
    }
}

/// The network on the way to a host and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPath {
    /// Latency to the host.
    pub there_ns: u64,
    /// Latency from the host.
    pub back_ns: u64,
    /// Each message takes up to this much longer.
    pub jitter_ns: u64,
    /// Bandwidth in either direction.
    pub bytes_per_s: u64,
}

/// What an agent does when a fault happens to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Its process starts.
    Connect,
    /// It opens the target.
    Open,
    /// It writes files.
    Fill,
    /// It opens its files for a run.
    Prepare,
    /// It waits for the start of a run.
    Start,
    /// It measures.
    Measure,
    /// It checks its files after a run.
    Check,
    /// Its spool is collected.
    Collect,
}

impl Phase {
    /// Whether it is part of a run.
    pub const fn is_in_run(self) -> bool {
        matches!(self, Phase::Prepare | Phase::Start | Phase::Measure | Phase::Check)
    }

    /// All phases, in their order.
    pub const ALL: [Phase; 8] = [
        Phase::Connect,
        Phase::Open,
        Phase::Fill,
        Phase::Prepare,
        Phase::Start,
        Phase::Measure,
        Phase::Check,
        Phase::Collect,
    ];
}

/// What happens to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The agent's process is killed.
    Kill,
    /// The agent's process is stopped, and continues after a time if there is one.
    Freeze {
        /// The time.
        continues_after_ns: Option<u64>,
    },
    /// Nothing passes the network in either direction.
    Cut {
        /// The network recovers after this time, if it does. What was sent meanwhile arrives then.
        recovers_after_ns: Option<u64>,
        /// The kernel of the host ends connections on which nothing passes after this time.
        host_notices_after_ns: u64,
    },
    /// The network becomes this slow.
    Slow(NetworkPath),
    /// The controller's process is killed.
    KillController,
    /// The disk with the spools is full.
    SpoolFull,
    /// The target does not respond any more.
    Stall,
}

/// A fault that happens a time after a host enters a phase for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// The host's position.
    pub host: usize,
    /// The phase.
    pub phase: Phase,
    /// The time.
    pub after_ns: u64,
    /// The fault.
    pub fault: Fault,
}

/// What messages in one direction of a connection wait for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Direction {
    /// The last message has been sent.
    free_ns: u64,
    /// The last message arrives.
    last_ns: u64,
}

impl Direction {
    /// When a message arrives; messages keep their order. The sender is free again at
    /// [`Direction::free_ns`].
    pub(super) fn arrival_ns(
        &mut self,
        from_ns: u64,
        bytes: usize,
        latency_ns: u64,
        path: &NetworkPath,
        random: &mut Random,
    ) -> u64 {
        let takes_ns = bytes as u64 * 1_000_000_000 / path.bytes_per_s;
        self.free_ns = from_ns.max(self.free_ns) + takes_ns;
        let arrives_ns = self.free_ns + latency_ns + random.below(path.jitter_ns + 1);
        self.last_ns = self.last_ns.max(arrives_ns);
        self.last_ns
    }

    pub(super) const fn free_ns(&self) -> u64 {
        self.free_ns
    }
}
