//! The state of the measuring host in one interval: who used its processors, and how long runnable
//! threads waited for one. It distinguishes a slow target from a host without processor time for
//! the measurement; `analysis` judges it.
//!
//! The conducting thread reads the counters at the interval's edges. On a busy host it may be late,
//! so rates divide by [`HostInterval::span_ns`], not by the interval's length.

/// Differences of the host's counters between two readings, one at each edge of an interval. A
/// field is `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostInterval {
    /// Time between the two readings, in nanoseconds. It differs from the interval's length if a
    /// reading was late.
    pub span_ns: u64,
    /// CPU time used by the reading at the end of the interval, in nanoseconds.
    pub reading_cpu_ns: u64,
    /// Online processors in this process's affinity mask.
    pub processors: Option<u32>,
    /// The CPU quota of this process's cgroup in thousandths of a processor, the lowest along its
    /// path; `None` without a quota.
    pub quota_millicores: Option<u64>,
    /// How those processors were used; `None` if their set changed during the interval.
    pub times: Option<ProcessorTimes>,
    /// Tasks running or waiting for a processor on the whole host at the end of the interval,
    /// including the reading thread. A sample, not a mean.
    pub runnable_tasks: Option<u32>,
    /// Time during which at least one task of the host waited for a processor (`some` of
    /// `/proc/pressure/cpu`), in nanoseconds.
    pub pressure_ns: Option<u64>,
    /// Time that the threads of this process were runnable and waited for a processor, summed over
    /// the threads, in nanoseconds.
    pub run_queue_delay_ns: Option<u64>,
    /// CPU time of the thread that serves the emulated volume in this process, in nanoseconds.
    pub service_cpu_ns: Option<u64>,
}

/// Time of the processors that this process may use, summed over them and over all processes of the
/// host, in nanoseconds. The kernel's resolution is one clock tick (10 ms) per processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// In user space and in the kernel, including interrupts. Most kernels sample it at timer
    /// interrupts and miss short bursts; the time that is neither idle nor stolen is exact.
    pub busy_ns: u64,
    /// Idle, or waiting only for I/O.
    pub idle_ns: u64,
    /// Taken by the hypervisor for other guests.
    pub steal_ns: u64,
}
