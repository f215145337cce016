//! The use of the measuring host's processors as JSON.

use analysis::host_state::HostSummary;
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::exported;

/// The use of the measuring host over a window.
#[derive(Serialize, JsonSchema)]
pub(super) struct HostJson {
    /// Intervals with a reading.
    intervals: u32,
    /// The period that they cover.
    span_ns: u64,
    /// Intervals whose period differs from their length by more than 10 %.
    late_readings: u32,
    /// CPU time of one reading.
    reading_cpu_mean_ns: f64,
    /// Online processors that the process may use.
    processors: Option<f64>,
    /// The CPU quota of the process's cgroup; null without one.
    quota_processors: Option<f64>,
    /// The share of those processors' time used by any process.
    busy_fraction: Option<EstimateJson>,
    /// The share used by the measuring process.
    process_fraction: Option<EstimateJson>,
    /// The share used by other processes.
    others_fraction: Option<EstimateJson>,
    /// The share that the hypervisor gave to other guests.
    steal_fraction: Option<EstimateJson>,
    /// The time that runnable threads of the process waited for a processor, per second.
    run_queue_delay_ns_per_sec: Option<EstimateJson>,
    /// The same per operation.
    run_queue_delay_ns_per_op: Option<EstimateJson>,
    /// The share of time in which at least one task of the host waited for a processor.
    pressure_fraction: Option<EstimateJson>,
    /// The mean number of tasks running or waiting for a processor.
    runnable_mean_tasks: Option<EstimateJson>,
    /// The share of one processor; only if the service runs in the measuring process.
    service_cpu_fraction: Option<EstimateJson>,
}

pub(super) fn host(host: &HostSummary) -> HostJson {
    HostJson {
        intervals: host.intervals,
        span_ns: host.span_ns,
        late_readings: host.late_readings,
        reading_cpu_mean_ns: exported(host.reading_cpu_mean.0),
        processors: host.processors.map(exported),
        quota_processors: host.quota.map(exported),
        busy_fraction: host.busy.map(estimate),
        process_fraction: host.process.map(estimate),
        others_fraction: host.others.map(estimate),
        steal_fraction: host.steal.map(estimate),
        run_queue_delay_ns_per_sec: host.run_queue_delay.map(|share| estimate(share.scaled(1e9))),
        run_queue_delay_ns_per_op: host.run_queue_delay_ns_per_op.map(estimate),
        pressure_fraction: host.pressure.map(estimate),
        runnable_mean_tasks: host.runnable_mean.map(estimate),
        service_cpu_fraction: host.service_cpu.map(estimate),
    }
}
