//! The settings of an emulated volume and the check of its service counters, as JSON.

use analysis::emulated::{EmulatedFindings, Seen};
use analysis::service_check::ServiceCheck;
use serde_json::{Value, json};

use crate::number::exported;

pub(super) fn emulated_volume(emulated: &EmulatedFindings) -> Value {
    let seen = |seen: &Option<Seen>| {
        seen.map(|seen| json!({"load_point": seen.load_point, "value": exported(seen.value.value)}))
    };
    let volume = &emulated.volume;
    json!({
        "service_level": volume.service_level,
        "quota_bytes": volume.quota_bytes,
        "throughput_limit_bytes_per_sec": volume.throughput_limit_bytes_per_s,
        "read_delay_ns": volume.read_delay_ns,
        "write_delay_ns": volume.write_delay_ns,
        "memory_bytes": volume.memory_bytes,
        "throughput_max_bytes_per_sec": seen(&emulated.throughput),
        "read_service_mean_min_ns": seen(&emulated.read),
        "write_service_mean_min_ns": seen(&emulated.write),
    })
}

pub(super) fn service_counters(checked: ServiceCheck) -> Value {
    json!({
        "runs": checked.runs,
        "runs_that_differ": checked.runs_that_differ,
        "calls": checked.calls,
        "moved_bytes": checked.bytes,
    })
}
