//! What an emulated volume was set to and what a witness of it counted, as JSON.

use analysis::emulated::{EmulatedFindings, Seen};
use analysis::witness::Witnessed;
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

pub(super) fn witness(witnessed: Witnessed) -> Value {
    json!({
        "runs": witnessed.runs,
        "runs_that_differ": witnessed.runs_that_differ,
        "calls": witnessed.calls,
        "moved_bytes": witnessed.bytes,
    })
}
