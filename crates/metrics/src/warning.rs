//! Warnings as values; `report` words them: what was found, why it matters for the result, and what
//! to do next.

use serde::{Deserialize, Serialize};

use crate::wire::CounterSource;

/// Something that a reader of the results must know.
///
/// A journal stores a variant as its position here, and its fields in order. Therefore variants are
/// added at the end and never removed, and a variant that needs another field becomes a new variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Warning {
    /// A worker used nearly all of its processor: the generator may be the bottleneck.
    GeneratorBusy {
        /// The busiest worker's share of the processors that its threads could use, 0 to 1.
        busy: f64,
    },
    /// The process used nearly all processors of the host: workers that share them wait for each
    /// other, even if none is busy all the time.
    ProcessorsBusy {
        /// Processors used by the whole process.
        used: f64,
        /// Processors of the host.
        processors: u32,
    },
    /// A run has more threads than this process has processors, so that they wait for each other.
    ThreadsShareProcessors {
        /// Threads of the run's workers.
        threads: u64,
        /// Processors that the process can use concurrently: those it may run on, or fewer because
        /// of its cgroup's CPU quota.
        processors: u32,
    },
    /// Operations were issued late.
    ScheduleDelayHigh {
        /// Mean of response time minus service time, in nanoseconds.
        delay_mean_ns: f64,
        /// Mean service time, in nanoseconds.
        service_mean_ns: f64,
    },
    /// The offered rate exceeds what the target can handle: the backlog grew until the end.
    Overloaded {
        /// Offered operations per second.
        offered_rate: f64,
        /// Completed operations per second.
        achieved_rate: f64,
        /// Operations due but not issued at the end of the window.
        backlog: u64,
    },
    /// A figure drifts during the window.
    NotSteady {
        /// The figure.
        figure: Figure,
        /// Change from the window's first to its last third, as a fraction of the mean.
        drift: f64,
        /// The means of both thirds, in operations per second or nanoseconds; `None` in records
        /// without them.
        thirds: Option<[f64; 2]>,
    },
    /// The five rounds of a window differ or have a trend beyond SNIA's criterion, although the
    /// figure does not drift from the window's beginning to its end.
    RoundsDiffer {
        /// The figure.
        figure: Figure,
        /// Difference between the highest and the lowest round, over their mean.
        excursion: f64,
        /// Change along the fitted line, over their mean.
        slope: f64,
    },
    /// The transient at a run's start extends into its window and affects the mean.
    WarmUpTooShort {
        /// The figure.
        figure: Figure,
        /// The planned warm-up, in nanoseconds.
        planned_ns: u64,
        /// Where MSER-5 cuts, in nanoseconds from the run's start.
        cut_ns: u64,
        /// The cut is the latest that the rule allows: the transient may not have ended.
        no_end: bool,
        /// The relative difference between the window's mean and the mean after the cut.
        bias: f64,
    },
    /// Some intervals differ strongly from the others.
    OutlierIntervals {
        /// Number of outliers.
        outliers: u32,
        /// Number of intervals.
        intervals: u32,
        /// The figure in which the farthest outlier differs.
        figure: Figure,
        /// Start of that interval, in nanoseconds from the run's start.
        start_ns: u64,
        /// Its value, in operations per second or nanoseconds.
        value: f64,
        /// The median of all intervals.
        median: f64,
    },
    /// The window has too few intervals to estimate the uncertainty, or none.
    WindowTooShort {
        /// Intervals in the window.
        intervals: u32,
    },
    /// Too few samples are above a percentile.
    FewSamplesForPercentile {
        /// The percentile, for example 99.9.
        percentile: f64,
        /// Samples above it.
        samples_above: u64,
    },
    /// Little's law does not hold for the window: our accounting is wrong, or the window is not
    /// balanced.
    LittleMismatch {
        /// Mean outstanding, from the time integral.
        outstanding_mean: f64,
        /// Achieved rate × mean service time.
        expected: f64,
    },
    /// I/O is buffered and the working set fits in the host's memory.
    WorkingSetFitsCache {
        /// Bytes that the run can access.
        working_set_bytes: u64,
        /// The host's memory in bytes.
        memory_bytes: u64,
    },
    /// Operations failed.
    ErrorsSeen {
        /// `(operation kind, error kind, count)`.
        errors: Vec<(String, String, u64)>,
    },
    /// Repeats of a load point differ more than their uncertainty.
    RepeatsDisagree {
        /// Largest difference over the mean.
        spread: f64,
        /// The probability of such a difference by chance, 0 to 1; `None` if the variation within a
        /// repeat is unknown.
        chance: Option<f64>,
        /// The repeat, from 0, without which the others agree.
        repeat: Option<u32>,
    },
    /// One of several repeats differs strongly from the others.
    OutlierRepeat {
        /// Its number, from 0.
        repeat: u32,
        /// Its operations per second.
        rate: f64,
        /// The mean of the others.
        others_mean: f64,
    },
    /// The hypervisor gave processor time to other guests.
    HostNoisy {
        /// Share of the host's processor time that was stolen, 0 to 1.
        steal: f64,
    },
    /// The run ended before the end of its plan.
    EndedEarly {
        /// The reason, in words.
        reason: String,
    },
    /// The connections of a stream carried different shares of its operations.
    ConnectionsUneven {
        /// Operations per second of the slowest connection.
        least: f64,
        /// Operations per second of the fastest connection.
        most: f64,
        /// Their difference over the mean.
        spread: f64,
    },
    /// Connections were lost and replaced during the run.
    ConnectionReestablished {
        /// Number of affected connections.
        connections: u64,
        /// How often they were replaced in total.
        reconnects: u64,
        /// Calls that were repeated.
        replays: u64,
    },
    /// An export's write verifier changed during the run: the server restarted or lost its cache.
    ServerRestarted {
        /// How often: the maximum over the workers.
        times: u64,
        /// Bytes that were rewritten.
        rewritten_bytes: u64,
    },
    /// Fewer bytes reached the storage than operations moved: a client cache served them.
    ServedFromCache {
        /// Whether this concerns reads; otherwise writes.
        is_read: bool,
        /// The source of `wire_bytes`.
        source: CounterSource,
        /// Bytes moved by operations in the window.
        counted_bytes: u64,
        /// Bytes counted by the source in the window.
        wire_bytes: u64,
    },
    /// It is unknown whether direct I/O reached the device: the file system does not support it or
    /// keeps data in memory (tmpfs).
    NotStorage {
        /// The file system's name.
        filesystem: String,
    },
    /// Metrics of another system could not be read, at least at times.
    ScrapesFailed {
        /// The exporter.
        url: String,
        /// How often.
        failed: u64,
        /// How often it was tried.
        scrapes: u64,
        /// Why, the last time.
        reason: String,
    },
    /// The stored metrics of other systems are damaged, and ignored.
    ScrapedDamaged {
        /// What is wrong with their file.
        reason: String,
    },
    /// The cache of the file server may hold the whole working set.
    WorkingSetFitsServerCache {
        /// The largest working set of the load points concerned, in bytes.
        working_set_bytes: u64,
    },
    /// A warning that concerns hosts of a fleet.
    OnHosts {
        /// Their names.
        hosts: Vec<String>,
        /// Number of hosts in the fleet.
        of: u32,
        /// The warning; if their numbers differ, those of the first host, and of failed operations their
        /// sums.
        warning: Box<Warning>,
    },
    /// Hosts were lost during a run that continued.
    HostsLost {
        /// Each with the time from the run's start, in nanoseconds, from which totals are without it,
        /// and the reason.
        lost: Vec<(String, u64, String)>,
        /// Number of hosts in the fleet.
        of: u32,
    },
    /// Hosts did not start together.
    HostsStartedApart {
        /// Between the first and the last start, in nanoseconds.
        spread_ns: u64,
        /// At most this much more or less, in nanoseconds.
        error_ns: u64,
        /// The host that started last.
        last: String,
    },
    /// A host was slower than the others with the same share of the load.
    HostSlower {
        /// Its name.
        host: String,
        /// Its operations per second.
        rate: f64,
        /// The median of the others.
        median: f64,
    },
    /// Facts differ between the hosts of a fleet.
    HostsDiffer {
        /// Each with the hosts that differ from most.
        facts: Vec<(String, Vec<String>)>,
    },
    /// A host could not write its spool, from which a record is completed.
    SpoolFailed {
        /// The spool's directory on the host.
        path: String,
        /// Why.
        reason: String,
    },
    /// The wall clock of a host is certainly wrong, or that of the controller.
    WallClockOff {
        /// The host's clock minus the controller's, in nanoseconds.
        ahead_ns: i64,
        /// At most this much more or less, in nanoseconds.
        error_ns: u64,
    },
}

/// A wall clock that is further off makes logs of several hosts unreadable, in nanoseconds.
const CLOCK_OFF_NS: u64 = 1_000_000_000;

/// Whether a wall clock is certainly off by more than a second.
///
/// * `ahead_ns` - the host's clock minus the controller's, known to ± `error_ns`
pub const fn is_wall_clock_off(ahead_ns: i64, error_ns: u64) -> bool {
    ahead_ns.unsigned_abs().saturating_sub(error_ns) > CLOCK_OFF_NS
}

/// A figure that is checked for steady state. Journals store its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Figure {
    /// Operations completed per second.
    AchievedRate,
    /// Mean response time. With open arrivals the achieved rate equals the offered rate while the
    /// target keeps up, so a drift shows here first.
    ResponseTime,
}

impl Warning {
    /// Short stable name for machines: `generator_busy`.
    pub const fn code(&self) -> &'static str {
        match self {
            Warning::GeneratorBusy { .. } => "generator_busy",
            Warning::ProcessorsBusy { .. } => "processors_busy",
            Warning::ThreadsShareProcessors { .. } => "threads_share_processors",
            Warning::ScheduleDelayHigh { .. } => "schedule_delay_high",
            Warning::Overloaded { .. } => "overloaded",
            Warning::NotSteady { .. } => "not_steady",
            Warning::WindowTooShort { intervals: 0 } => "nothing_measured",
            Warning::WindowTooShort { .. } => "window_too_short",
            Warning::FewSamplesForPercentile { .. } => "few_samples_for_percentile",
            Warning::LittleMismatch { .. } => "little_mismatch",
            Warning::WorkingSetFitsCache { .. } => "working_set_fits_cache",
            Warning::ErrorsSeen { .. } => "errors_seen",
            Warning::RepeatsDisagree { .. } => "repeats_disagree",
            Warning::OutlierRepeat { .. } => "outlier_repeat",
            Warning::RoundsDiffer { .. } => "rounds_differ",
            Warning::WarmUpTooShort { .. } => "warm_up_too_short",
            Warning::OutlierIntervals { .. } => "outlier_intervals",
            Warning::HostNoisy { .. } => "host_noisy",
            Warning::EndedEarly { .. } => "ended_early",
            Warning::ConnectionsUneven { .. } => "connections_uneven",
            Warning::ConnectionReestablished { .. } => "connection_reestablished",
            Warning::ServerRestarted { .. } => "server_restarted",
            Warning::ServedFromCache { is_read: true, .. } => "served_from_cache",
            Warning::ServedFromCache { .. } => "held_in_cache",
            Warning::NotStorage { .. } => "not_storage",
            Warning::ScrapesFailed { .. } => "scrapes_failed",
            Warning::ScrapedDamaged { .. } => "scraped_damaged",
            Warning::WorkingSetFitsServerCache { .. } => "working_set_fits_server_cache",
            Warning::OnHosts { warning, .. } => warning.code(),
            Warning::HostsLost { .. } => "hosts_lost",
            Warning::HostsStartedApart { .. } => "hosts_started_apart",
            Warning::HostSlower { .. } => "host_slower",
            Warning::HostsDiffer { .. } => "hosts_differ",
            Warning::SpoolFailed { .. } => "spool_failed",
            Warning::WallClockOff { .. } => "wall_clock_off",
        }
    }
}
