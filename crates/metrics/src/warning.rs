//! Warnings that teach: a closed enum; each says what was seen, why it matters for this number, what to try next.
//! (The form is hyperfine's.)

/// Something a reader of a number must know.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A worker used nearly all of its processor: the generator may be the limit.
    GeneratorBusy {
        /// Share of one processor used by the busiest worker, 0 to 1.
        busy: f64,
    },
    /// Operations were issued late: the schedule was not kept.
    ScheduleDelayHigh {
        /// Mean of response time minus service time, in nanoseconds.
        delay_mean_ns: f64,
        /// Mean service time, in nanoseconds.
        service_mean_ns: f64,
    },
    /// The offered rate is more than the target takes: the backlog grew to the end.
    Overloaded {
        /// Operations per second asked for.
        offered_rate: f64,
        /// Operations per second completed.
        achieved_rate: f64,
        /// Operations due but not issued at the end of the window.
        backlog: u64,
    },
    /// The figure drifts within the window.
    NotSteady {
        /// Change from the window's first to its last third, as a fraction of the mean.
        drift: f64,
    },
    /// The window has too few intervals for an uncertainty.
    WindowTooShort {
        /// Intervals in the window.
        intervals: u32,
    },
    /// A percentile was asked for that too few samples lie above.
    FewSamplesForPercentile {
        /// The percentile, for example 99.9.
        percentile: f64,
        /// Samples above it.
        samples_above: u64,
    },
    /// Little's law does not hold on the window: our accounting is wrong, or the window is unbalanced.
    LittleMismatch {
        /// Mean outstanding from the time integral.
        outstanding_mean: f64,
        /// Achieved rate times mean service time.
        expected: f64,
    },
    /// I/O is buffered and the working set fits the host's memory.
    WorkingSetFitsCache {
        /// Bytes that can be touched.
        working_set_bytes: u64,
        /// The host's memory.
        memory_bytes: u64,
    },
    /// Operations failed.
    ErrorsSeen {
        /// `(operation kind, error kind, count)`.
        errors: Vec<(String, String, u64)>,
    },
    /// Repeats of a load point differ more than their uncertainty.
    RepeatsDisagree {
        /// Largest difference over the mean, as a fraction.
        spread: f64,
    },
    /// Other work on the host took processor time.
    HostNoisy {
        /// Share of the host's processor time that was stolen by the hypervisor, 0 to 1.
        steal: f64,
    },
    /// The run ended before its plan did.
    EndedEarly {
        /// Why, in words.
        reason: String,
    },
    /// Nothing tells whether direct I/O reached the device: the file system does not support it or keeps data in
    /// memory (tmpfs).
    NotStorage {
        /// The file system's name.
        filesystem: String,
    },
}

/// A warning in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Short name, stable, for machines: `generator_busy`.
    pub code: &'static str,
    /// What was seen.
    pub seen: String,
    /// Why it matters for this number.
    pub matters: &'static str,
    /// What to try next.
    pub remedy: &'static str,
}
