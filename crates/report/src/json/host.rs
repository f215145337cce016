//! The use of the measuring host's processors as JSON.

use analysis::host_state::HostSummary;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::exported;

#[derive(Serialize)]
pub(super) struct HostJson {
    intervals: u32,
    span_ns: u64,
    late_readings: u32,
    reading_cpu_mean_ns: f64,
    processors: Option<f64>,
    quota_processors: Option<f64>,
    busy_fraction: Option<EstimateJson>,
    process_fraction: Option<EstimateJson>,
    others_fraction: Option<EstimateJson>,
    steal_fraction: Option<EstimateJson>,
    run_queue_delay_ns_per_sec: Option<EstimateJson>,
    run_queue_delay_ns_per_op: Option<EstimateJson>,
    pressure_fraction: Option<EstimateJson>,
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
