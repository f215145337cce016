//! Warnings that teach: a closed enum; each says what was seen, why it matters for this number,
//! what to try next. (The form is hyperfine's.)

mod words;

use crate::wire::WirePlace;

/// Something a reader of a number must know.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A worker used nearly all of its processor: the generator may be the limit.
    GeneratorBusy {
        /// Share of the processors that its threads could use, used by the busiest worker, 0 to 1.
        busy: f64,
    },
    /// The process used nearly all processors of the host: workers that share them wait for each
    /// other, though none of them fills one.
    ProcessorsBusy {
        /// Processors used by the whole process.
        used: f64,
        /// Processors of the host.
        processors: u32,
    },
    /// A run has more threads than this process has processors: they wait for each other.
    ThreadsShareProcessors {
        /// Threads of the run's workers.
        threads: u64,
        /// Processors that the process can use at a time: those it may run on, or fewer where the
        /// quota of its cgroup allows less.
        processors: u32,
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
    /// A figure drifts within the window.
    NotSteady {
        /// Which one.
        figure: Figure,
        /// Change from the window's first to its last third, as a fraction of the mean.
        drift: f64,
        /// The means of both thirds, in operations per second or nanoseconds; `None` in records
        /// that lack them.
        thirds: Option<[f64; 2]>,
    },
    /// The five rounds of a window lie apart or fall in a line, by more than SNIA's criterion
    /// allows, though the figure does not drift from its beginning to its end.
    RoundsDiffer {
        /// Which figure.
        figure: Figure,
        /// Difference of the highest and the lowest round over their mean.
        excursion: f64,
        /// Change along the line through them over their mean.
        slope: f64,
    },
    /// The transient at a run's beginning reaches into its window and changes its mean.
    WarmUpTooShort {
        /// Which figure.
        figure: Figure,
        /// The planned warm-up, in nanoseconds.
        planned_ns: u64,
        /// Where MSER-5 cuts, in nanoseconds from the run's start.
        cut_ns: u64,
        /// The cut is the latest that the rule may make: no end of the transient was seen.
        no_end: bool,
        /// By what share the window's mean differs from that of what lies behind the cut.
        bias: f64,
    },
    /// Some intervals lie far from the others.
    OutlierIntervals {
        /// How many.
        outliers: u32,
        /// Of how many.
        intervals: u32,
        /// The figure in which the farthest lies apart.
        figure: Figure,
        /// Beginning of the farthest, in nanoseconds from the run's start.
        start_ns: u64,
        /// Its value: operations per second, or nanoseconds.
        value: f64,
        /// The median of all.
        median: f64,
    },
    /// The window has too few intervals for an uncertainty, or none at all.
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
    /// Little's law does not hold on the window: our accounting is wrong, or the window is
    /// unbalanced.
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
        /// How often chance alone gives such a difference, 0 to 1; `None` where nothing is known of
        /// the intervals within a repeat.
        chance: Option<f64>,
        /// The repeat, from 0, without which the others agree.
        repeat: Option<u32>,
    },
    /// One of several repeats lies far from the others.
    OutlierRepeat {
        /// Which one, from 0.
        repeat: u32,
        /// Its operations per second.
        rate: f64,
        /// The mean of the others.
        others_mean: f64,
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
    /// The connections of a stream did not share its operations evenly.
    ConnectionsUneven {
        /// Operations per second of the slowest.
        least: f64,
        /// Operations per second of the fastest.
        most: f64,
        /// Their difference over the mean, as a fraction.
        spread: f64,
    },
    /// Connections were lost and made again in the run.
    ConnectionReestablished {
        /// Connections that were.
        connections: u64,
        /// How often, all together.
        reconnects: u64,
        /// Calls that were sent again.
        replays: u64,
    },
    /// The write verifier of an export changed in the run: the server restarted or lost its cache.
    ServerRestarted {
        /// How often, as the worker that saw most of it counted.
        times: u64,
        /// Bytes that had to be written again.
        rewritten_bytes: u64,
    },
    /// Fewer bytes went over the wire than operations moved: a cache of this host answered.
    ServedFromCache {
        /// Bytes that were read; else those that were written.
        is_read: bool,
        /// Where the wire was counted.
        place: WirePlace,
        /// Bytes that operations moved in the window.
        counted_bytes: u64,
        /// Bytes that the place counted in it.
        wire_bytes: u64,
    },
    /// Nothing tells whether direct I/O reached the device: the file system does not support it or
    /// keeps data in memory (tmpfs).
    NotStorage {
        /// The file system's name.
        filesystem: String,
    },
}

/// A figure that is judged for steadiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Operations completed per second.
    AchievedRate,
    /// Mean response time: in an open loop the achieved rate is the offered one for as long as the
    /// target keeps up, so a drift shows here first.
    ResponseTime,
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
