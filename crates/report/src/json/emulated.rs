//! The settings of an emulated volume and the check of its service counters, as JSON.

use analysis::emulated::{EmulatedFindings, Seen};
use analysis::service_check::ServiceCheck;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// The settings of the emulated volume, and the results closest to its limits.
#[derive(Serialize, JsonSchema)]
pub(super) struct EmulatedVolumeJson<'a> {
    /// The service level: `Ultra`.
    service_level: &'a str,
    /// The quota.
    quota_bytes: u64,
    /// The throughput limit, reads and writes together.
    throughput_limit_bytes_per_sec: u64,
    /// The delay of each read.
    read_delay_ns: u64,
    /// The delay of each write.
    write_delay_ns: u64,
    /// The memory limit of its files.
    memory_bytes: u64,
    /// The highest measured throughput.
    throughput_max_bytes_per_sec: Option<SeenJson>,
    /// The lowest mean service time of reads.
    read_service_mean_min_ns: Option<SeenJson>,
    /// The lowest mean service time of writes.
    write_service_mean_min_ns: Option<SeenJson>,
}

/// A value and the load point that has it.
#[derive(Serialize, JsonSchema)]
struct SeenJson {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// The value, in the unit of the field.
    value: f64,
}

/// The service's counters, compared with those of the load generator.
#[derive(Serialize, JsonSchema)]
pub(super) struct ServiceCountersJson {
    /// Runs with counters of the service.
    runs: u32,
    /// Runs in which the two sides counted differently.
    runs_that_differ: u32,
    /// Calls that the service answered.
    calls: u64,
    /// Bytes that the service read and wrote.
    moved_bytes: u64,
}

pub(super) fn emulated_volume(emulated: &EmulatedFindings) -> EmulatedVolumeJson<'_> {
    let seen = |seen: Option<Seen>| {
        seen.map(|seen| SeenJson { load_point: seen.load_point, value: exported(seen.value.value) })
    };
    let volume = &emulated.volume;
    EmulatedVolumeJson {
        service_level: &volume.service_level,
        quota_bytes: volume.quota_bytes,
        throughput_limit_bytes_per_sec: volume.throughput_limit_bytes_per_s,
        read_delay_ns: volume.read_delay_ns,
        write_delay_ns: volume.write_delay_ns,
        memory_bytes: volume.memory_bytes,
        throughput_max_bytes_per_sec: seen(emulated.throughput),
        read_service_mean_min_ns: seen(emulated.read),
        write_service_mean_min_ns: seen(emulated.write),
    }
}

pub(super) fn service_counters(checked: ServiceCheck) -> ServiceCountersJson {
    ServiceCountersJson {
        runs: checked.runs,
        runs_that_differ: checked.runs_that_differ,
        calls: checked.calls,
        moved_bytes: checked.bytes,
    }
}
