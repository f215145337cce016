//! Use of the measuring host's processors in a window, and run-queue delay of this process.
//!
//! For: distinguishing a slow target from a busy client, or from a service on the same processors.
//! Not for: the verdict. `docs/method.md`, "State of the host", has the formulas.

use metrics::host_state::HostInterval;
use metrics::interval::{Interval, StreamInterval};
use units::Nanos;

use crate::estimate::{self, Estimate};

/// A reading is late if its span differs from the interval's length by more than this share.
const LATE_SHARE: f64 = 0.1;

/// The host in a window (of one run, or of all repeats). Shares are 0 to 1.
///
/// Rates and shares are relative to the time between readings, not to the length of intervals.
/// The kernel reports processors' times in ticks of 10 ms and this process's CPU time exactly, so
/// the share of others may be slightly negative.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSummary {
    /// Intervals of the window with host counters.
    pub intervals: u32,
    /// Total time between readings, in nanoseconds.
    pub span_ns: u64,
    /// Intervals with a late reading at either edge.
    pub late_readings: u32,
    /// Mean CPU time of a reading.
    pub reading_cpu_mean: Nanos,
    /// Mean number of online processors available to this process.
    pub processors: Option<f64>,
    /// Lowest CPU quota of the cgroup, in processors; `None` without one.
    pub quota: Option<f64>,
    /// Share of processor time used by any process: neither idle nor stolen.
    pub busy: Option<Estimate>,
    /// Share used by this process.
    pub process: Option<Estimate>,
    /// Share used by others: `busy` minus `process`.
    pub others: Option<Estimate>,
    /// Share taken by the hypervisor (steal).
    pub steal: Option<Estimate>,
    /// Mean number of this process's threads waiting for a processor.
    pub run_queue_delay: Option<Estimate>,
    /// Their waiting time per completed operation, in nanoseconds.
    pub run_queue_delay_ns_per_op: Option<Estimate>,
    /// Share of time in which at least one task of the host waited for a processor (PSI).
    pub pressure: Option<Estimate>,
    /// Mean number of tasks running or waiting for a processor on the whole host, sampled at the
    /// ends of the intervals; includes the reading thread.
    pub runnable_mean: Option<Estimate>,
    /// Share of one processor used by the emulated volume's service, if it runs in this process.
    pub service_cpu: Option<Estimate>,
}

/// An interval with host counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostSample {
    host: HostInterval,
    length_ns: f64,
    /// CPU time of this process.
    process_ns: f64,
    /// Operations of all streams and kinds.
    completed: f64,
}

/// The intervals with host counters.
pub(crate) fn samples(intervals: &[&Interval]) -> Vec<HostSample> {
    let sample = |interval: &&Interval| {
        Some(HostSample {
            host: interval.host?,
            length_ns: interval.end_ns.saturating_sub(interval.start_ns) as f64,
            process_ns: interval.process_user_ns as f64 + interval.process_system_ns as f64,
            completed: interval.streams.iter().map(StreamInterval::completed).sum::<u64>() as f64,
        })
    };
    intervals.iter().filter_map(sample).collect()
}

impl HostSample {
    fn span_ns(&self) -> f64 {
        self.host.span_ns as f64
    }

    /// Available processor time between readings.
    fn capacity_ns(&self) -> f64 {
        self.span_ns() * f64::from(self.host.processors.unwrap_or(0))
    }

    /// Busy time. The kernel's own count misses short bursts.
    fn busy_ns(&self) -> Option<f64> {
        let times = self.host.times?;
        Some(self.capacity_ns() - times.idle_ns as f64 - times.steal_ns as f64)
    }

    fn run_queue_delay_ns(&self) -> Option<f64> {
        self.host.run_queue_delay_ns.map(|ns| ns as f64)
    }

    fn is_late(&self) -> bool {
        (self.span_ns() - self.length_ns).abs() > LATE_SHARE * self.length_ns
    }
}

/// Summarises a window; `None` without host counters. The uncertainty comes from `repeats`, if
/// given, otherwise from intervals.
pub(crate) fn summary(samples: &[HostSample], repeats: &[&HostSummary]) -> Option<HostSummary> {
    if samples.is_empty() {
        return None;
    }
    type Number = fn(&HostSample) -> Option<f64>;
    type Own = fn(&HostSummary) -> Option<Estimate>;
    // Only intervals that have the numerator.
    let ratio = |numerator: Number, denominator: fn(&HostSample) -> f64, own: Own| {
        let pairs = samples.iter().filter_map(|one| Some((numerator(one)?, denominator(one))));
        let (numerators, denominators): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let whole = Estimate::of_ratio(&numerators, &denominators);
        estimate::with_repeats(whole, &estimate::of_repeats(repeats, own))
    };
    let mean = |number: Number| {
        let numbers: Vec<f64> = samples.iter().filter_map(number).collect();
        (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
    };
    let quotas = samples.iter().filter_map(|one| one.host.quota_millicores);
    Some(HostSummary {
        intervals: samples.len() as u32,
        span_ns: samples.iter().map(|one| one.host.span_ns).sum(),
        late_readings: samples.iter().filter(|one| one.is_late()).count() as u32,
        reading_cpu_mean: Nanos(mean(|one| Some(one.host.reading_cpu_ns as f64)).unwrap_or(0.0)),
        processors: mean(|one| one.host.processors.map(f64::from)),
        quota: quotas.min().map(|millicores| millicores as f64 / 1e3),
        busy: ratio(HostSample::busy_ns, HostSample::capacity_ns, |s| s.busy),
        process: ratio(
            // The same intervals as for the other shares, so that they add up.
            |one| one.host.times.map(|_| one.process_ns),
            HostSample::capacity_ns,
            |s| s.process,
        ),
        others: ratio(
            |one| Some(one.busy_ns()? - one.process_ns),
            HostSample::capacity_ns,
            |s| s.others,
        ),
        steal: ratio(
            |one| one.host.times.map(|times| times.steal_ns as f64),
            HostSample::capacity_ns,
            |s| s.steal,
        ),
        run_queue_delay: ratio(HostSample::run_queue_delay_ns, HostSample::span_ns, |s| {
            s.run_queue_delay
        }),
        run_queue_delay_ns_per_op: ratio(
            HostSample::run_queue_delay_ns,
            |one| one.completed,
            |s| s.run_queue_delay_ns_per_op,
        ),
        pressure: ratio(
            |one| one.host.pressure_ns.map(|ns| ns as f64),
            HostSample::span_ns,
            |s| s.pressure,
        ),
        runnable_mean: ratio(
            |one| one.host.runnable_tasks.map(f64::from),
            |_| 1.0,
            |s| s.runnable_mean,
        ),
        service_cpu: ratio(
            |one| one.host.service_cpu_ns.map(|ns| ns as f64),
            HostSample::span_ns,
            |s| s.service_cpu,
        ),
    })
}
