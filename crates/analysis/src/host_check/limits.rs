//! Limits of this process, and the most that the generator does on this host.

use units::thousands;

use super::{About, Check, Look, Status, Subject};

/// `CAP_IPC_LOCK`, by its number in capability.h: locked memory has no limit then.
const CAP_IPC_LOCK: u32 = 14;
/// Locked memory for io_uring's buffers at a queue depth of 64 and transfers of 1 MiB.
const LOCKED_WANTED: u64 = 64 << 20;
/// Transfer size by which a wanted throughput is turned into operations for the generator: the
/// smaller of the two that both documents measure with.
const SMALL_TRANSFER_BYTES: f64 = 8192.0;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    // Our own NFS client uses neither.
    if !matches!(look.asked.about, About::Export(_)) {
        checks.extend([io_uring(look), locked_memory(look)]);
    }
    checks.push(generator(look));
    checks
}

fn io_uring(look: &Look<'_>) -> Check {
    let check = Check::new("io_uring", Subject::Process, "io_uring")
        .wanted("allowed")
        .why("ops/s at high queue depths: without it every outstanding operation needs a thread");
    let sysctl = look.facts.get("io_uring.disabled");
    let allow = "sudo sysctl -w kernel.io_uring_disabled=0";
    match (look.facts.get("io_uring.tried"), sysctl) {
        (Some("works"), _) => check.found("works here").ok(),
        (Some(refused), Some("1" | "2")) => check.found(refused).status(Status::Warning, allow),
        (Some(refused), _) => check
            .found(refused)
            .status(Status::Warning, "allow it in the container's seccomp profile"),
        (None, Some("0")) => check.found("kernel.io_uring_disabled = 0").ok(),
        (None, Some(value)) => check
            .found(format!("kernel.io_uring_disabled = {value}"))
            .status(Status::Warning, allow),
        (None, None) => check.not_known(
            "kernel.io_uring_disabled came with Linux 6.6, and a captured tree cannot be tried",
        ),
    }
}

fn locked_memory(look: &Look<'_>) -> Check {
    let check = Check::new("limit.locked_memory", Subject::Process, "locked memory")
        .wanted(format!("{} bytes or more", thousands(LOCKED_WANTED)))
        .why("CPU per operation: io_uring's buffers are registered only as far as this goes");
    let capable = look
        .facts
        .get("process.capabilities")
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_some_and(|mask| mask >> CAP_IPC_LOCK & 1 == 1);
    match look.facts.get("limit.locked_memory_bytes") {
        None => check.not_known("/proc/self/limits is not there"),
        Some("unlimited") => check.found("unlimited").ok(),
        Some(limit) => match limit.parse::<u64>() {
            Err(_) => check.not_known(format!("/proc/self/limits says `{limit}`")),
            Ok(limit) if capable => {
                let found = format!("{} bytes, which do not bind this user", thousands(limit));
                check.found(found).ok()
            }
            Ok(limit) => {
                let status = if limit < LOCKED_WANTED { Status::Hint } else { Status::Ok };
                check
                    .found(format!("{} bytes", thousands(limit)))
                    .status(status, format!("ulimit -l {}", LOCKED_WANTED >> 10))
            }
        },
    }
}

fn generator(look: &Look<'_>) -> Check {
    let check = Check::new("generator.ceiling", Subject::Process, "ceiling of the generator")
        .wanted("twice the ops/s that the store is to give")
        .why("ops/s: a generator near its ceiling measures itself");
    let Some(ceiling) = look.facts.real("generator.ops_per_s") else {
        return check.not_known(match look.asked.is_captured {
            true => "not measured: a captured tree cannot run anything",
            false => "not measured",
        });
    };
    let workers = look.facts.number("generator.workers").unwrap_or(1);
    let check = check.found(format!(
        "{} ops/s without a store, with {workers} workers",
        thousands(ceiling.round() as u64)
    ));
    let Some(want) = look.asked.want_bytes_per_s else { return check.ok() };
    let wanted = want / SMALL_TRANSFER_BYTES;
    let status = if 2.0 * wanted > ceiling { Status::Warning } else { Status::Ok };
    check
        .wanted(format!(
            "2 x {} ops/s, if the wanted throughput were of 8 KiB operations",
            thousands(wanted.round() as u64)
        ))
        .status(status, "more processors, or more hosts")
}
