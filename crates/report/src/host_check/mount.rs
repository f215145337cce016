//! The words of checks of the mount.

use analysis::host_check::finding::{
    AttributeCache, Direction, FileSystem, FileSystemFault, Kernel, MountConnections, NoResponse,
    RequestSlots, Security, SlotWait, TransferSize,
};
use units::{counted, thousands};

use super::words::{Words, bytes, mib_s};

const REMOUNT: &str = "umount, then mount with -o ";

pub(super) fn file_system(found: &FileSystem) -> Words {
    let words = Words::new(
        "measured file system",
        "the intended storage",
        "all figures: without the mount, the local disk of this host is measured",
    );
    let (kind, source, point, fault) = match found {
        FileSystem::NotMounted(point) => {
            let found = format!("{point} is not mounted");
            return words.found(found).change(format!("sudo mount {point}"));
        }
        FileSystem::NotKnown => {
            return words.found("no line of /proc/self/mountinfo covers the directory");
        }
        FileSystem::Mounted { kind, source, point, fault } => (kind, source, point, fault),
    };
    let source = source.as_deref().unwrap_or("(no source)");
    let point = point.as_deref().unwrap_or("(no mount point)");
    let words = words.found(format!("{kind}: {source} on {point}"));
    match fault {
        None => words,
        Some(FileSystemFault::ReadOnly) => words
            .recommended("a writable mount")
            .change(format!("sudo mount -o remount,rw {point}")),
        Some(FileSystemFault::Local) => {
            words.recommended("a network file system, to measure a file service")
        }
    }
}

pub(super) fn version(found: Option<&str>) -> Words {
    Words::new(
        "NFS version",
        "3 or 4.1",
        "all figures: NFSv4.0 uses one connection regardless of nconnect",
    )
    .found_or(found, "the mount's options show no vers=")
    .change(format!("{REMOUNT}vers=3 (or vers=4.1)"))
}

pub(super) fn connections(connections: &MountConnections) -> Words {
    let MountConnections { recommended, most, calls_per_connection, .. } = connections;
    let words = Words::new(
        "connections to the server",
        format!("{recommended} connections (nconnect={recommended}, at most {most})"),
        format!(
            "throughput and ops/s: by published figures one network flow carries about {}, and Azure \
             NetApp Files processes {calls_per_connection} calls per connection at a time",
            mib_s(connections.flow)
        ),
    );
    let Some(counts) = connections.found else {
        return words.found("neither the options nor /proc/self/mountstats show it");
    };
    let mut found = counted(counts.count, "connection");
    match counts.used {
        Some(used) if used < counts.count => found.push_str(&format!(", {used} used so far")),
        None => found.push_str(" by the mount option; /proc/self/mountstats does not count them"),
        Some(_) => {}
    }
    if counts.requested != counts.count {
        found.push_str(&format!("; the mount requested {}", counts.requested));
    }
    let first = "; the first mount of a server sets it for all its mounts: umount them all";
    words.found(found).change(format!("{REMOUNT}nconnect={recommended}{first}"))
}

pub(super) fn transfer_size(size: &TransferSize) -> Words {
    let (title, option, direction) = match size.direction {
        Direction::Read => ("largest read (rsize)", "rsize", "reads"),
        Direction::Write => ("largest write (wsize)", "wsize", "writes"),
    };
    let why = format!(
        "MiB/s of large {direction}: larger operations are split into calls of this size; from {} the \
         vendor measured no difference on large volumes",
        bytes(size.enough)
    );
    Words::new(title, bytes(size.recommended), why)
        .found_or(size.found.map(bytes), &format!("the mount's options show no {option}="))
        .change(format!("{REMOUNT}{option}={}", size.recommended))
}

pub(super) fn no_response(found: Option<NoResponse>) -> Words {
    let option = found.map(|found| match found {
        NoResponse::Hard => "hard",
        NoResponse::Soft => "soft",
        NoResponse::SoftErr => "softerr",
    });
    Words::new(
        "behaviour when the server does not respond",
        "hard",
        "failed operations: with soft, a slow server causes errors and silently lost writes",
    )
    .found_or(option, "the mount options are unknown")
    .change(format!("{REMOUNT}hard"))
}

pub(super) fn write_completion(is_sync: bool) -> Words {
    Words::new(
        "when a write completes",
        "async (default): the program decides when data must be durable",
        "MiB/s and latency of writes: with sync each waits for stable storage",
    )
    .found(if is_sync { "sync" } else { "async" })
    .change(format!("{REMOUNT}async"))
}

pub(super) fn attribute_cache(cache: &AttributeCache) -> Words {
    let words = Words::new(
        "attribute cache",
        "on (default)",
        "ops/s: without it, GETATTR calls are sent in addition to reads and writes",
    );
    match cache {
        AttributeCache::Noac => {
            words.found("off, and writes are synchronous (noac)").change(format!("{REMOUNT}ac"))
        }
        AttributeCache::Zero => words.found("off (0 s)").change(format!("{REMOUNT}actimeo=60")),
        AttributeCache::UpTo(seconds) => words.found(format!("files for up to {seconds} s")),
        AttributeCache::Default => words.found("default"),
    }
}

pub(super) fn access_times(option: Option<&str>) -> Words {
    Words::new(
        "access times",
        "any; the vendor uses noatime",
        "no figure: with NFS the server maintains access times (nfs(5))",
    )
    .found_or(option, "not shown")
}

pub(super) fn security(found: Option<&Security>) -> Words {
    let words = Words::new(
        "security flavour",
        "sys, unless Kerberos is to be measured",
        "all figures: Kerberos costs processor time per call on both sides",
    );
    let Some(Security { flavour, loss_percent }) = found else {
        return words.found("the mount's options show no sec=");
    };
    let words = words.found(flavour.as_str());
    match loss_percent {
        None => words,
        Some((sequential, random)) => words
            .why(format!(
                "all figures: with {flavour} the vendor measured {sequential} % less sequential MiB/s and \
                 {random} % fewer random reads than with sys, from one client"
            ))
            .change(format!("{REMOUNT}sec=sys, unless encryption is required")),
    }
}

pub(super) fn other_mounts(others: &str) -> Words {
    Words::new(
        "other mounts of this server",
        "the same nconnect on all mounts of a server",
        "throughput: they share connections, and the first mount sets their number",
    )
    .found(others)
    .change("umount all of them, then mount with the same nconnect")
}

pub(super) fn local_cache() -> Words {
    Words::new(
        "cache on a local disk",
        "none while measuring",
        "reads: those from FS-Cache never reach the storage",
    )
    .found("fsc")
    .change(format!("{REMOUNT}nofsc"))
}

pub(super) fn locks(kinds: &str) -> Words {
    Words::new(
        "locks",
        "none, if several hosts use the files",
        "no figure: locks are visible on this host only",
    )
    .found(format!("local_lock={kinds}"))
    .change(format!("{REMOUNT}local_lock=none"))
}

pub(super) fn slots(slots: &RequestSlots) -> Words {
    let most = slots.recommended;
    let words = Words::new(
        "request slots per connection",
        format!("{most}, for Azure NetApp Files"),
        format!(
            "latency under load: beyond {most} calls per connection the service stops reading, which \
             blocks the sender; all clients of an endpoint together should stay below {}",
            thousands(slots.per_endpoint)
        ),
    );
    let Some(limit) = slots.found else {
        return words.found(
            "/proc/sys/sunrpc/tcp_max_slot_table_entries is missing (module sunrpc not loaded?)",
        );
    };
    let initially =
        slots.initial.map_or_else(String::new, |initial| format!(", initially {initial}"));
    words.found(format!("at most {}{initially}", thousands(limit))).change(format!(
        "echo options sunrpc tcp_max_slot_table_entries={most} | sudo tee \
         /etc/modprobe.d/sunrpc.conf; sudo sysctl -w \
         sunrpc.tcp_max_slot_table_entries={most}; then remount"
    ))
}

pub(super) fn slot_wait(wait: &SlotWait) -> Words {
    let words = Words::new(
        "calls that waited for a slot",
        "none",
        "response time: this wait occurs in this host, before the call is sent",
    );
    match wait {
        SlotWait::NotCounted => words.found("/proc/self/mountstats has no counters of this mount"),
        SlotWait::NoCalls => words.found("no call was sent since mounting"),
        SlotWait::Counted { waiting_mean, calls, slots_used_max } => {
            let used = slots_used_max
                .map_or_else(String::new, |most| format!("; at most {most} slots in use"));
            words
                .found(format!(
                    "{waiting_mean:.2} waiting on average when a call was sent ({} calls since \
                     mounting){used}",
                    thousands(*calls)
                ))
                .change("more connections (nconnect), or less concurrency")
        }
    }
}

pub(super) fn session_slots(recommended: u64, found: Option<u64>) -> Words {
    Words::new(
        "slots of the NFSv4.1 session",
        format!("{recommended}, the maximum of Azure NetApp Files"),
        "ops/s and MiB/s: all connections of the mount share them",
    )
    .found_or(found.map(thousands), "/sys/module/nfs/parameters/max_session_slots is missing")
    .change(format!(
        "echo options nfs max_session_slots={recommended} | sudo tee \
         /etc/modprobe.d/nfsclient.conf; then reboot"
    ))
}

pub(super) fn read_ahead(recommended: u64, found: Option<u64>, mount_point: Option<&str>) -> Words {
    let kib = |count: u64| format!("{} KiB", thousands(count));
    let point = mount_point.unwrap_or("MOUNT");
    Words::new(
        "read-ahead of the mount",
        format!("{} for large sequential reads", kib(recommended)),
        "MiB/s of sequential reads through the page cache only; direct I/O has no read-ahead",
    )
    .found_or(found.map(kib), "/sys/class/bdi has no read_ahead_kb of this mount")
    .change(format!(
        "echo {recommended} | sudo tee /sys/class/bdi/$(mountpoint -d {point})/read_ahead_kb"
    ))
}

pub(super) fn kernel(needed: (u32, u32), found: Option<&Kernel>) -> Words {
    let words = Words::new(
        "kernel support for nconnect",
        format!("Linux {}.{} or newer, or a distribution's backport", needed.0, needed.1),
        "throughput: older kernels use one connection per server",
    )
    .change("a newer kernel or distribution");
    let Some(Kernel { release, backport }) = found else {
        return words.found("/proc/sys/kernel/osrelease is missing");
    };
    match backport {
        None => words.found(release.as_str()),
        Some(backport) => {
            let name = backport.distribution.as_deref().unwrap_or("the distribution");
            words.found(format!("{release}; {name} has backported nconnect"))
        }
    }
}
