//! The mount, and the kernel's NFS client: options in force, connections, slots, read-ahead.

use cloud::client::SettingName;
use cloud::row::LimitName;
use units::counted;

use super::figures::{bytes, mib_s};
use super::{Check, Look, Status, Subject, is_remote};

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = vec![file_system(look)];
    if !look.is_nfs_mount() {
        return checks;
    }
    checks.extend([
        version(look),
        connections(look),
        transfer_size(look, "mount.rsize", "largest read (rsize)", "rsize", "reads"),
        transfer_size(look, "mount.wsize", "largest write (wsize)", "wsize", "writes"),
        errors(look),
        stability(look),
        caching(look),
        access_times(look),
        security(look),
    ]);
    checks.extend([shared(look), local_cache(look), locks(look)].into_iter().flatten());
    checks.extend([slots(look), slots_seen(look), read_ahead(look)]);
    if look.facts.get("mount.version").is_some_and(|version| version.starts_with("4.")) {
        checks.push(session_slots(look));
    }
    checks.push(kernel(look));
    checks
}

const REMOUNT: &str = "umount, and mount anew with -o ";

fn file_system(look: &Look<'_>) -> Check {
    let check = Check::new("mount.filesystem", Subject::Mount, "the file system that is measured")
        .wanted("the store that is meant")
        .why("every figure: what is not mounted is measured as this host's own disk");
    if let Some(missing) = look.facts.get("mount.missing") {
        return check
            .found(format!("nothing is mounted on {missing}"))
            .status(Status::Problem, format!("sudo mount {missing}"));
    }
    let Some(kind) = look.facts.get("filesystem.type") else {
        return check.not_known("no line of /proc/self/mountinfo covers the directory");
    };
    let source = look.facts.get("mount.source").unwrap_or("(no source)");
    let point = look.facts.get("mount.point").unwrap_or("(no mount point)");
    let check = check.found(format!("{kind}: {source} on {point}"));
    if is_remote(kind) {
        let options = look.facts.get("mount.options").unwrap_or("");
        return match options.split(',').any(|option| option == "ro") {
            true => check
                .wanted("a mount that can be written")
                .status(Status::Warning, format!("sudo mount -o remount,rw {point}")),
            false => check.ok(),
        };
    }
    let status = match kind {
        "tmpfs" | "overlay" | "ramfs" => Status::Warning,
        _ => Status::Hint,
    };
    check.wanted("a network file system, if a file store is meant").status(status, "")
}

fn version(look: &Look<'_>) -> Check {
    let check = Check::new("mount.version", Subject::Mount, "NFS version")
        .wanted("3 or 4.1")
        .why("all figures: NFSv4.0 keeps one connection whatever nconnect says");
    match look.facts.get("mount.version") {
        None => check.not_known("the mount's options show no vers="),
        Some(version @ ("3" | "4.1" | "4.2")) => check.found(version).ok(),
        Some(version) => {
            check.found(version).status(Status::Warning, format!("{REMOUNT}vers=3 (or vers=4.1)"))
        }
    }
}

fn connections(look: &Look<'_>) -> Check {
    let wanted = look.client.setting(SettingName::NconnectWanted);
    let most = look.catalog.limit(LimitName::NconnectMax);
    let flow = look.catalog.limit(LimitName::FlowThroughput) as f64 * 1024.0;
    let per_connection = look.catalog.limit(LimitName::OutstandingPerConnectionMax);
    let check = Check::new("mount.nconnect", Subject::Mount, "connections to the server")
        .wanted(format!("{wanted} connections (nconnect={wanted}, at most {most})"))
        .why(format!(
            "throughput and ops/s: one network flow was seen to give about {}, and Azure NetApp \
             Files takes {per_connection} calls in progress on a connection",
            mib_s(flow)
        ));
    let facts = look.facts;
    let Some(count) = facts.number("mount.nconnect") else {
        return check.not_known("neither the options nor /proc/self/mountstats tell");
    };
    let options = facts.get("mount.super_options").unwrap_or("");
    let asked: u64 =
        value_of(options, "nconnect").and_then(|value| value.parse().ok()).unwrap_or(1);
    let mut found = counted(count, "connection");
    match facts.number("mount.connections_used") {
        Some(used) if used < count => found.push_str(&format!(", {used} of them used so far")),
        None => found.push_str(" by the option; /proc/self/mountstats does not count them"),
        Some(_) => {}
    }
    if asked != count {
        found.push_str(&format!("; the mount asked for {asked}"));
    }
    let check = check.found(found);
    let is_enough_for_want = look
        .asked
        .want_bytes_per_s
        .is_some_and(|want| want <= flow * count as f64 && look.facts.is_azure());
    let status = match count {
        _ if asked > count => Status::Problem,
        count if count >= wanted => Status::Ok,
        _ if is_enough_for_want => Status::Hint,
        1 if look.facts.is_azure() => Status::Problem,
        1 => Status::Warning,
        _ => Status::Hint,
    };
    let first = "; the first mount of a server decides for all of its mounts: umount them all";
    check.status(status, format!("{REMOUNT}nconnect={wanted}{first}"))
}

fn transfer_size(
    look: &Look<'_>,
    id: &'static str,
    title: &'static str,
    option: &str,
    direction: &str,
) -> Check {
    let wanted = look.client.setting(SettingName::TransferSizeWanted);
    let enough = look.client.setting(SettingName::TransferSizeEnough);
    let check = Check::new(id, Subject::Mount, title).wanted(bytes(wanted)).why(format!(
        "MiB/s of large {direction}: a larger operation is cut into calls of this size; from {} \
         on the vendor saw no difference on large volumes",
        bytes(enough)
    ));
    let Some(size) = look.facts.number(&format!("mount.{option}_bytes")) else {
        return check.not_known(format!("the mount's options show no {option}="));
    };
    let status = match size {
        size if size < enough => Status::Problem,
        size if size < wanted => Status::Hint,
        size if size > wanted && look.facts.is_azure() => Status::Hint,
        _ => Status::Ok,
    };
    check.found(bytes(size)).status(status, format!("{REMOUNT}{option}={wanted}"))
}

fn errors(look: &Look<'_>) -> Check {
    let check = Check::new("mount.hard", Subject::Mount, "what a silent server leads to")
        .wanted("hard")
        .why(
            "failed operations: with soft a slow server ends in errors and in writes that are \
             lost without notice",
        );
    let Some(options) = look.facts.get("mount.super_options") else {
        return check.not_known("the mount's options are not there");
    };
    for soft in ["soft", "softerr"] {
        if has(options, soft) {
            return check.found(soft).status(Status::Problem, format!("{REMOUNT}hard"));
        }
    }
    check.found("hard").ok()
}

fn stability(look: &Look<'_>) -> Check {
    let check = Check::new("mount.sync", Subject::Mount, "when a write is answered")
        .wanted("async, the default: the program says when data must be durable")
        .why("MiB/s and response time of writes: with sync each waits for stable storage");
    let all = ["mount.super_options", "mount.options"].map(|name| look.facts.get(name));
    match all.into_iter().flatten().any(|options| has(options, "sync")) {
        true => check.found("sync").status(Status::Problem, format!("{REMOUNT}async")),
        false => check.found("async").ok(),
    }
}

fn caching(look: &Look<'_>) -> Check {
    let check = Check::new("mount.attributes", Subject::Mount, "attribute cache")
        .wanted("on, as by default")
        .why("ops/s: without it GETATTR calls stand beside the reads and writes");
    let options = look.facts.get("mount.super_options").unwrap_or("");
    if has(options, "noac") {
        let check = check.found("off, and writes are synchronous (noac)");
        return check.status(Status::Problem, format!("{REMOUNT}ac"));
    }
    match value_of(options, "acregmax").or(value_of(options, "actimeo")) {
        Some("0") => {
            check.found("off (0 s)").status(Status::Warning, format!("{REMOUNT}actimeo=60"))
        }
        Some(seconds) => check.found(format!("files for up to {seconds} s")).ok(),
        None => check.found("as by default").ok(),
    }
}

fn access_times(look: &Look<'_>) -> Check {
    let options = look.facts.get("mount.options").unwrap_or("");
    let found = ["noatime", "relatime", "strictatime"].into_iter().find(|name| has(options, name));
    Check::new("mount.atime", Subject::Mount, "access times")
        .found(found.unwrap_or("not shown"))
        .wanted("noatime, as the vendor mounts; any will do")
        .why("nothing: the server keeps access times of NFS, whatever the mount says (nfs(5))")
        .ok()
}

fn security(look: &Look<'_>) -> Check {
    let check = Check::new("mount.security", Subject::Mount, "security of each call")
        .wanted("sys, unless Kerberos is what is to be measured");
    let all = "all figures: Kerberos computes over every call, on both sides";
    let Some(flavour) = look.facts.get("mount.security") else {
        return check.why(all).not_known("the mount's options show no sec=");
    };
    match look.client.kerberos_loss_percent(flavour) {
        Some((sequential, random)) => check
            .found(flavour)
            .why(format!(
                "all figures: against sys the vendor lost {sequential} % of sequential MiB/s and \
                 {random} % of random reads with {flavour}, from one client"
            ))
            .status(
                Status::Warning,
                format!("{REMOUNT}sec=sys, where encryption is not asked for"),
            ),
        None => check.why(all).found(flavour).ok(),
    }
}

/// Only where other mounts share the connections and ask for another number of them.
fn shared(look: &Look<'_>) -> Option<Check> {
    let others = look.facts.get("mount.other_mounts")?;
    Some(
        Check::new("mount.shared", Subject::Mount, "other mounts of the server")
            .found(others)
            .wanted("the same nconnect on all mounts of a server")
            .why("throughput: they share its connections, and the first of them decided how many")
            .status(Status::Warning, "umount all of them, and mount anew with the same nconnect"),
    )
}

fn local_cache(look: &Look<'_>) -> Option<Check> {
    let options = look.facts.get("mount.super_options")?;
    has(options, "fsc").then(|| {
        Check::new("mount.fscache", Subject::Mount, "cache on a local disk")
            .found("fsc")
            .wanted("none while measuring")
            .why("reads: those from FS-Cache never reach the store")
            .status(Status::Problem, format!("{REMOUNT}nofsc"))
    })
}

fn locks(look: &Look<'_>) -> Option<Check> {
    let options = look.facts.get("mount.super_options")?;
    let local = value_of(options, "local_lock").filter(|kinds| *kinds != "none")?;
    Some(
        Check::new("mount.locks", Subject::Mount, "locks")
            .found(format!("local_lock={local}"))
            .wanted("none, where several hosts use the files")
            .why("no figure; a lock is seen on this host only")
            .status(Status::Hint, format!("{REMOUNT}local_lock=none")),
    )
}

fn slots(look: &Look<'_>) -> Check {
    let most = look.catalog.limit(LimitName::OutstandingPerConnectionMax);
    let endpoint = look.client.setting(SettingName::OutstandingPerEndpointMax);
    let check = Check::new("mount.slots", Subject::Mount, "slots of a connection")
        .wanted(format!("{most}, for Azure NetApp Files"))
        .why(format!(
            "response time under load: beyond {most} calls on a connection the service reads no \
             further and holds the sender back; all clients of an endpoint together should stay \
             below {}",
            units::thousands(endpoint)
        ));
    let Some(limit) = look.facts.number("sunrpc.tcp_max_slot_table_entries") else {
        return check.not_known(
            "/proc/sys/sunrpc/tcp_max_slot_table_entries is not there (module sunrpc not loaded?)",
        );
    };
    let mut found = format!("at most {}", units::thousands(limit));
    if let Some(first) = look.facts.number("sunrpc.tcp_slot_table_entries") {
        found.push_str(&format!(", {first} at first"));
    }
    let status = match limit {
        limit if limit == most => Status::Ok,
        limit if limit < most => Status::Warning,
        _ if look.facts.is_azure() => Status::Warning,
        _ => Status::Hint,
    };
    check.found(found).status(
        status,
        format!(
            "echo options sunrpc tcp_max_slot_table_entries={most} | sudo tee \
             /etc/modprobe.d/sunrpc.conf; sudo sysctl -w \
             sunrpc.tcp_max_slot_table_entries={most}; then mount anew"
        ),
    )
}

fn slots_seen(look: &Look<'_>) -> Check {
    let facts = look.facts;
    let check = Check::new("mount.slots_seen", Subject::Mount, "calls that waited for a slot")
        .wanted("none")
        .why("response time: such a wait is inside this host, before the call is sent");
    let (Some(sent), Some(waiting)) =
        (facts.number("mount.calls_sent"), facts.number("mount.calls_waiting_for_slot_sum"))
    else {
        return check.not_known("/proc/self/mountstats has no counters of this mount");
    };
    if sent == 0 {
        return check.not_known("no call was sent since the mount was made");
    }
    let mean = waiting as f64 / sent as f64;
    let most = facts.number("mount.slots_used_max");
    let used = most.map_or_else(String::new, |most| format!("; at most {most} slots were in use"));
    let found = format!(
        "{mean:.2} waiting on average when a call was sent ({} calls since mounting){used}",
        units::thousands(sent)
    );
    // Below a hundredth of a call nobody waits for another in any run of notice.
    let status = if mean < 0.01 { Status::Ok } else { Status::Hint };
    check.found(found).status(status, "more connections (nconnect), or less concurrency")
}

fn session_slots(look: &Look<'_>) -> Check {
    let wanted = look.catalog.limit(LimitName::SlotsPerNfs41SessionMax);
    let check = Check::new("mount.session_slots", Subject::Mount, "slots of the NFSv4.1 session")
        .wanted(format!("{wanted}, the most that Azure NetApp Files gives"))
        .why("ops/s and MiB/s: all connections of the mount share them");
    match look.facts.number("nfs.session_slots_max") {
        None => check.not_known("/sys/module/nfs/parameters/max_session_slots is not there"),
        Some(slots) => {
            let status = if slots < wanted { Status::Warning } else { Status::Ok };
            let change = format!(
                "echo options nfs max_session_slots={wanted} | sudo tee \
                 /etc/modprobe.d/nfsclient.conf; then reboot"
            );
            check.found(units::thousands(slots)).status(status, change)
        }
    }
}

fn read_ahead(look: &Look<'_>) -> Check {
    let wanted = look.client.setting(SettingName::ReadAheadWanted) >> 10;
    let check = Check::new("mount.read_ahead", Subject::Mount, "read-ahead of the mount")
        .wanted(format!("{} KiB for large sequential reads", units::thousands(wanted)))
        .why("MiB/s of sequential reads through the page cache only; direct I/O has no read-ahead");
    let Some(found) = look.facts.number("mount.read_ahead_kib") else {
        return check.not_known("/sys/class/bdi has no read_ahead_kb of this mount");
    };
    let status = if found < wanted { Status::Hint } else { Status::Ok };
    let point = look.facts.get("mount.point").unwrap_or("MOUNT");
    check.found(format!("{} KiB", units::thousands(found))).status(
        status,
        format!("echo {wanted} | sudo tee /sys/class/bdi/$(mountpoint -d {point})/read_ahead_kb"),
    )
}

fn kernel(look: &Look<'_>) -> Check {
    let client = &look.client;
    let linux = client.nconnect_since("linux").unwrap_or((5, 3));
    let check = Check::new("mount.kernel", Subject::Mount, "kernel, for nconnect")
        .wanted(format!("Linux {}.{} or newer, or a distribution's own port", linux.0, linux.1))
        .why("throughput: an older kernel has one connection to a server");
    let Some(release) = look.facts.get("kernel.release") else {
        return check.not_known("/proc/sys/kernel/osrelease is not there");
    };
    if leading_version(release).is_some_and(|version| version >= linux) {
        return check.found(release).ok();
    }
    let os = look.facts.get("os.id").zip(look.facts.get("os.version"));
    let ported = os.and_then(|(id, version)| {
        let id = if ["centos", "rocky", "almalinux", "ol"].contains(&id) { "rhel" } else { id };
        Some(leading_version(version)? >= client.nconnect_since(id)?)
    });
    match ported {
        Some(true) => {
            let name = look.facts.get("os.name").unwrap_or("the distribution");
            check.found(format!("{release}; {name} has nconnect in it")).ok()
        }
        _ => check.found(release).status(Status::Warning, "a newer kernel or distribution"),
    }
}

/// The first two numbers of `5.14.0-427.el9`, `8.10`, `9`.
fn leading_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

fn has(options: &str, name: &str) -> bool {
    options.split(',').any(|option| option == name)
}

fn value_of<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(leading_version("5.14.0-427.el9"), Some((5, 14)));
        assert_eq!(leading_version("18.04"), Some((18, 4)));
        assert_eq!(leading_version("9"), Some((9, 0)));
        assert_eq!(leading_version("rolling"), None);
        assert!(leading_version("5.10") > leading_version("5.3"));
    }

    #[test]
    fn options_are_found_by_their_whole_name() {
        let options = "rw,softreval,nconnect=4,async";
        assert!(!has(options, "soft") && !has(options, "sync"));
        assert_eq!(value_of(options, "nconnect"), Some("4"));
        assert_eq!(value_of(options, "connect"), None);
    }
}
