//! Limits of this process, and the ceiling of the generator on this host.

use units::OpsPerSec;

use super::finding::{Finding, GeneratorCeiling, IoUring, ProcessLimit};
use super::{About, Check, Look, Status};

/// `CAP_IPC_LOCK`, by its number in capability.h: locked memory has no limit then.
const CAP_IPC_LOCK: u32 = 14;
/// Locked memory for io_uring's buffers at a queue depth of 64 and transfers of 1 MiB, in bytes.
const LOCKED_NEEDED: u64 = 64 << 20;
/// Transfer size that converts a required throughput to operations: the smaller of the two that the
/// vendor's documents use.
const SMALL_TRANSFER_BYTES: f64 = 8192.0;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    // The built-in NFS client uses neither.
    if !matches!(look.options.about, About::Export(_)) {
        checks.extend([io_uring(look), locked_memory(look)]);
    }
    checks.push(generator(look));
    checks
}

fn io_uring(look: &Look<'_>) -> Check {
    let sysctl = look.text("io_uring.disabled");
    let (status, found) = match (look.text("io_uring.tried"), sysctl) {
        (Some(result), _) if result == "works" => (Status::Ok, IoUring::Works),
        (Some(result), sysctl) => {
            let is_by_sysctl = matches!(sysctl.as_deref(), Some("1" | "2"));
            (Status::Warning, IoUring::Failed { result, is_by_sysctl })
        }
        (None, Some(value)) => {
            let status = if value == "0" { Status::Ok } else { Status::Warning };
            (status, IoUring::Sysctl(value))
        }
        (None, None) => (Status::NotKnown, IoUring::NotKnown),
    };
    Check::new(status, Finding::IoUring(found))
}

fn locked_memory(look: &Look<'_>) -> Check {
    let is_enforced = look.facts.has_capability(CAP_IPC_LOCK) != Some(true);
    let limit = look.process_limit("limit.locked_memory_bytes");
    let status = match limit {
        ProcessLimit::Missing | ProcessLimit::Unreadable(_) => Status::NotKnown,
        ProcessLimit::At(limit) if is_enforced && limit < LOCKED_NEEDED => Status::Hint,
        ProcessLimit::At(_) | ProcessLimit::Unlimited => Status::Ok,
    };
    Check::new(status, Finding::LockedMemory { needed: LOCKED_NEEDED, limit, is_enforced })
}

fn generator(look: &Look<'_>) -> Check {
    let ceiling = look.facts.real("generator.ops_per_s").map(|rate| GeneratorCeiling {
        rate: OpsPerSec::new(rate),
        workers: look.facts.number("generator.workers").unwrap_or(1),
    });
    let required = look.options.required.map(|rate| rate.get() / SMALL_TRANSFER_BYTES);
    let status = match (ceiling, required) {
        (None, _) => Status::NotKnown,
        (Some(ceiling), Some(required)) if 2.0 * required > ceiling.rate.get() => Status::Warning,
        (Some(_), _) => Status::Ok,
    };
    let required = required.map(OpsPerSec::new);
    let is_captured = look.options.is_captured;
    Check::new(status, Finding::Generator { ceiling, required, is_captured })
}
