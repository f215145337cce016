//! The state of the measuring host in one interval: who used its processors, and how long runnable
//! threads waited for one.
//!
//! For: telling a slow target from a host that had no processor time left for the measurement. Not
//! for: judging it (`analysis`). The counters are read at the interval's edges by the thread that
//! conducts the run. On a busy host that thread may be late, so rates divide by
//! [`HostInterval::span_ns`], not by the interval's length.

/// Differences of the host's counters between two readings, one at each edge of an interval. A
/// field is `None` where the system does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostInterval {
    /// Time between the two readings, in nanoseconds. It differs from the interval's length where a
    /// reading was late.
    pub span_ns: u64,
    /// CPU time that the reading at the interval's end took, in nanoseconds.
    pub reading_cpu_ns: u64,
    /// Online processors in this process's affinity mask.
    pub processors: Option<u32>,
    /// The CPU quota of this process's cgroup, in thousandths of a processor: the lowest along its
    /// path. `None` without a quota.
    pub quota_millicores: Option<u64>,
    /// Where the time of those processors went; `None` if their set changed during the interval.
    pub times: Option<ProcessorTimes>,
    /// Tasks running or waiting for a processor on the whole host when the interval ended, the
    /// reading thread included. A sample, not a mean.
    pub runnable_tasks: Option<u32>,
    /// Time in which at least one task of the host waited for a processor (`some` of
    /// `/proc/pressure/cpu`), in nanoseconds.
    pub pressure_ns: Option<u64>,
    /// Time that the threads of this process were runnable but waited for a processor, added up
    /// over the threads, in nanoseconds.
    pub run_queue_delay_ns: Option<u64>,
    /// CPU time of the thread that serves the emulated volume in this process, in nanoseconds.
    pub service_cpu_ns: Option<u64>,
}

/// Time of the processors that this process may use, added up over them and over all processes of
/// the host, in nanoseconds. The kernel counts it in clock ticks of 10 ms for each processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// In user space and in the kernel, interrupts included. Most kernels sample it at their timer
    /// interrupts and miss work in short bursts; the time that is neither idle nor stolen is exact.
    pub busy_ns: u64,
    /// Idle, or waiting only for I/O.
    pub idle_ns: u64,
    /// Taken by the hypervisor for others.
    pub steal_ns: u64,
}
