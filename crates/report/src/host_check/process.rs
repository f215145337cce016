//! The words of checks of this process's limits and of the generator.

use analysis::host_check::finding::{GeneratorCeiling, IoUring, ProcessLimit};
use units::{OpsPerSec, thousands};

use super::words::{Words, bytes, limit};

pub(super) fn io_uring(found: &IoUring) -> Words {
    let words = Words::new(
        "io_uring",
        "allowed",
        "ops/s at high queue depths: without it each outstanding operation needs a thread",
    );
    let allow = "sudo sysctl -w kernel.io_uring_disabled=0";
    match found {
        IoUring::Works => words.found("works here"),
        IoUring::Failed { result, is_by_sysctl: true } => {
            words.found(result.as_str()).change(allow)
        }
        IoUring::Failed { result, is_by_sysctl: false } => {
            words.found(result.as_str()).change("allow it in the container's seccomp profile")
        }
        IoUring::Sysctl(value) => {
            words.found(format!("kernel.io_uring_disabled = {value}")).change(allow)
        }
        IoUring::NotKnown => words.found(
            "kernel.io_uring_disabled requires Linux 6.6, and captured facts cannot be tried",
        ),
    }
}

pub(super) fn locked_memory(needed: u64, found: &ProcessLimit, is_enforced: bool) -> Words {
    let found = limit(found, |limit| match is_enforced {
        true => bytes(limit),
        false => format!("{}, not enforced for this user", bytes(limit)),
    });
    Words::new(
        "locked memory",
        format!("{} or more", bytes(needed)),
        "CPU per operation: io_uring registers buffers only up to this limit",
    )
    .found(found)
    .change(format!("ulimit -l {}", needed >> 10))
}

pub(super) fn generator(
    ceiling: Option<GeneratorCeiling>,
    required: Option<OpsPerSec>,
    is_captured: bool,
) -> Words {
    let rounded = |rate: OpsPerSec| thousands(rate.get().round() as u64);
    let words = Words::new(
        "ceiling of the generator",
        "twice the required ops/s",
        "ops/s: near its ceiling the generator measures itself",
    );
    let Some(GeneratorCeiling { rate, workers }) = ceiling else {
        return words.found(match is_captured {
            true => "not measured: captured facts only",
            false => "not measured",
        });
    };
    let found = format!("{} ops/s without storage, with {workers} workers", rounded(rate));
    let words = words.found(found).change("more processors, or more hosts");
    match required {
        None => words,
        Some(required) => words.recommended(format!(
            "2 x {} ops/s, for the required throughput in 8 KiB operations",
            rounded(required)
        )),
    }
}
