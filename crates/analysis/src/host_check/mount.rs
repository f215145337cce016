//! The mount, and the kernel's NFS client: options in force, connections, slots, read-ahead.

use cloud::client::SettingName;
use cloud::row::LimitName;

use super::finding::{
    AttributeCache, Backport, ConnectionCounts, Direction, FileSystem, FileSystemFault, Finding,
    Kernel, MountConnections, NoResponse, RequestSlots, Security, SlotWait, TransferSize,
};
use super::{Check, Look, Status, is_remote};

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = vec![file_system(look)];
    if !look.is_nfs_mount() {
        return checks;
    }
    checks.extend([
        version(look),
        connections(look),
        transfer_size(look, Direction::Read, "mount.rsize_bytes"),
        transfer_size(look, Direction::Write, "mount.wsize_bytes"),
        no_response(look),
        write_completion(look),
        attribute_cache(look),
        access_times(look),
        security(look),
    ]);
    checks.extend([other_mounts(look), local_cache(look), locks(look)].into_iter().flatten());
    checks.extend([slots(look), slot_wait(look), read_ahead(look)]);
    if look.facts.get("mount.version").is_some_and(|version| version.starts_with("4.")) {
        checks.push(session_slots(look));
    }
    checks.push(kernel(look));
    checks
}

fn file_system(look: &Look<'_>) -> Check {
    if let Some(missing) = look.text("mount.missing") {
        let finding = Finding::FileSystem(FileSystem::NotMounted(missing));
        return Check::new(Status::Problem, finding);
    }
    let Some(kind) = look.text("filesystem.type") else {
        return Check::new(Status::NotKnown, Finding::FileSystem(FileSystem::NotKnown));
    };
    let options = look.facts.get("mount.options").unwrap_or("");
    let (status, fault) = match kind.as_str() {
        kind if is_remote(kind) => match has(options, "ro") {
            true => (Status::Warning, Some(FileSystemFault::ReadOnly)),
            false => (Status::Ok, None),
        },
        "tmpfs" | "overlay" | "ramfs" => (Status::Warning, Some(FileSystemFault::Local)),
        _ => (Status::Hint, Some(FileSystemFault::Local)),
    };
    let (source, point) = (look.text("mount.source"), look.text("mount.point"));
    Check::new(status, Finding::FileSystem(FileSystem::Mounted { kind, source, point, fault }))
}

fn version(look: &Look<'_>) -> Check {
    let status = match look.facts.get("mount.version") {
        None => Status::NotKnown,
        Some("3" | "4.1" | "4.2") => Status::Ok,
        Some(_) => Status::Warning,
    };
    Check::new(status, Finding::NfsVersion(look.text("mount.version")))
}

fn connections(look: &Look<'_>) -> Check {
    let facts = look.facts;
    let found = facts.number("mount.nconnect").map(|count| {
        let options = facts.get("mount.super_options").unwrap_or("");
        let requested = value_of(options, "nconnect").and_then(|value| value.parse().ok());
        ConnectionCounts {
            count,
            requested: requested.unwrap_or(1),
            used: facts.number("mount.connections_used"),
        }
    });
    let connections = MountConnections {
        recommended: look.client.setting(SettingName::NconnectRecommended),
        most: look.catalog.limit(LimitName::NconnectMax),
        flow: look.flow(),
        calls_per_connection: look.catalog.limit(LimitName::OutstandingPerConnectionMax),
        found,
    };
    let is_enough = |count: u64| {
        let flows = connections.flow.get() * count as f64;
        facts.is_azure() && look.options.required.is_some_and(|required| required.get() <= flows)
    };
    let status = match found {
        None => Status::NotKnown,
        Some(ConnectionCounts { count, requested, .. }) => match count {
            _ if requested > count => Status::Problem,
            count if count >= connections.recommended => Status::Ok,
            _ if is_enough(count) => Status::Hint,
            1 if facts.is_azure() => Status::Problem,
            1 => Status::Warning,
            _ => Status::Hint,
        },
    };
    Check::new(status, Finding::MountConnections(connections))
}

fn transfer_size(look: &Look<'_>, direction: Direction, fact: &str) -> Check {
    let recommended = look.client.setting(SettingName::TransferSizeRecommended);
    let enough = look.client.setting(SettingName::TransferSizeEnough);
    let found = look.facts.number(fact);
    let status = match found {
        None => Status::NotKnown,
        Some(size) if size < enough => Status::Problem,
        Some(size) if size < recommended => Status::Hint,
        Some(size) if size > recommended && look.facts.is_azure() => Status::Hint,
        Some(_) => Status::Ok,
    };
    let size = TransferSize { direction, recommended, enough, found };
    Check::new(status, Finding::TransferSize(size))
}

fn no_response(look: &Look<'_>) -> Check {
    let (status, found) = match look.facts.get("mount.super_options") {
        None => (Status::NotKnown, None),
        Some(options) if has(options, "soft") => (Status::Problem, Some(NoResponse::Soft)),
        Some(options) if has(options, "softerr") => (Status::Problem, Some(NoResponse::SoftErr)),
        Some(_) => (Status::Ok, Some(NoResponse::Hard)),
    };
    Check::new(status, Finding::NoResponse(found))
}

fn write_completion(look: &Look<'_>) -> Check {
    let all = ["mount.super_options", "mount.options"].map(|name| look.facts.get(name));
    let is_sync = all.into_iter().flatten().any(|options| has(options, "sync"));
    let status = if is_sync { Status::Problem } else { Status::Ok };
    Check::new(status, Finding::WriteCompletion { is_sync })
}

fn attribute_cache(look: &Look<'_>) -> Check {
    let options = look.facts.get("mount.super_options").unwrap_or("");
    let seconds = value_of(options, "acregmax").or(value_of(options, "actimeo"));
    let (status, cache) = match seconds {
        _ if has(options, "noac") => (Status::Problem, AttributeCache::Noac),
        Some("0") => (Status::Warning, AttributeCache::Zero),
        Some(seconds) => (Status::Ok, AttributeCache::UpTo(seconds.to_owned())),
        None => (Status::Ok, AttributeCache::Default),
    };
    Check::new(status, Finding::AttributeCache(cache))
}

fn access_times(look: &Look<'_>) -> Check {
    let options = look.facts.get("mount.options").unwrap_or("");
    let found = ["noatime", "relatime", "strictatime"].into_iter().find(|name| has(options, name));
    Check::new(Status::Ok, Finding::AccessTimes(found))
}

fn security(look: &Look<'_>) -> Check {
    let Some(flavour) = look.text("mount.security") else {
        return Check::new(Status::NotKnown, Finding::Security(None));
    };
    let loss_percent = look.client.kerberos_loss_percent(&flavour);
    let status = if loss_percent.is_some() { Status::Warning } else { Status::Ok };
    Check::new(status, Finding::Security(Some(Security { flavour, loss_percent })))
}

/// Only if other mounts share the connections and request a different number.
fn other_mounts(look: &Look<'_>) -> Option<Check> {
    let others = look.text("mount.other_mounts")?;
    Some(Check::new(Status::Warning, Finding::OtherMounts(others)))
}

fn local_cache(look: &Look<'_>) -> Option<Check> {
    let options = look.facts.get("mount.super_options")?;
    has(options, "fsc").then(|| Check::new(Status::Problem, Finding::LocalCache))
}

fn locks(look: &Look<'_>) -> Option<Check> {
    let options = look.facts.get("mount.super_options")?;
    let local = value_of(options, "local_lock").filter(|kinds| *kinds != "none")?;
    Some(Check::new(Status::Hint, Finding::LocalLocks(local.to_owned())))
}

fn slots(look: &Look<'_>) -> Check {
    let slots = RequestSlots {
        recommended: look.catalog.limit(LimitName::OutstandingPerConnectionMax),
        per_endpoint: look.client.setting(SettingName::OutstandingPerEndpointMax),
        found: look.facts.number("sunrpc.tcp_max_slot_table_entries"),
        initial: look.facts.number("sunrpc.tcp_slot_table_entries"),
    };
    let status = match slots.found {
        None => Status::NotKnown,
        Some(limit) if limit == slots.recommended => Status::Ok,
        Some(limit) if limit < slots.recommended => Status::Warning,
        Some(_) if look.facts.is_azure() => Status::Warning,
        Some(_) => Status::Hint,
    };
    Check::new(status, Finding::RequestSlots(slots))
}

fn slot_wait(look: &Look<'_>) -> Check {
    let facts = look.facts;
    let counters =
        facts.number("mount.calls_sent").zip(facts.number("mount.calls_waiting_for_slot_sum"));
    let (status, wait) = match counters {
        None => (Status::NotKnown, SlotWait::NotCounted),
        Some((0, _)) => (Status::NotKnown, SlotWait::NoCalls),
        Some((calls, waiting)) => {
            let waiting_mean = waiting as f64 / calls as f64;
            let slots_used_max = facts.number("mount.slots_used_max");
            // Below 0.01 calls the wait is negligible.
            let status = if waiting_mean < 0.01 { Status::Ok } else { Status::Hint };
            (status, SlotWait::Counted { waiting_mean, calls, slots_used_max })
        }
    };
    Check::new(status, Finding::SlotWait(wait))
}

fn session_slots(look: &Look<'_>) -> Check {
    let recommended = look.catalog.limit(LimitName::SlotsPerNfs41SessionMax);
    let found = look.facts.number("nfs.session_slots_max");
    let status = match found {
        None => Status::NotKnown,
        Some(slots) if slots < recommended => Status::Warning,
        Some(_) => Status::Ok,
    };
    Check::new(status, Finding::SessionSlots { recommended, found })
}

fn read_ahead(look: &Look<'_>) -> Check {
    let recommended_kib = look.client.setting(SettingName::ReadAheadRecommended) >> 10;
    let found_kib = look.facts.number("mount.read_ahead_kib");
    let status = match found_kib {
        None => Status::NotKnown,
        Some(kib) if kib < recommended_kib => Status::Hint,
        Some(_) => Status::Ok,
    };
    let mount_point = look.text("mount.point");
    Check::new(status, Finding::ReadAhead { recommended_kib, found_kib, mount_point })
}

fn kernel(look: &Look<'_>) -> Check {
    let client = &look.client;
    let needed = client.nconnect_since("linux").unwrap_or((5, 3));
    let Some(release) = look.text("kernel.release") else {
        return Check::new(Status::NotKnown, Finding::Kernel { needed, found: None });
    };
    let is_new = leading_version(&release).is_some_and(|version| version >= needed);
    let os = look.facts.get("os.id").zip(look.facts.get("os.version"));
    let is_backported = || {
        let (id, version) = os?;
        let id = if ["centos", "rocky", "almalinux", "ol"].contains(&id) { "rhel" } else { id };
        Some(leading_version(version)? >= client.nconnect_since(id)?)
    };
    let (status, backport) = match is_new {
        true => (Status::Ok, None),
        false if is_backported() == Some(true) => {
            (Status::Ok, Some(Backport { distribution: look.text("os.name") }))
        }
        false => (Status::Warning, None),
    };
    Check::new(status, Finding::Kernel { needed, found: Some(Kernel { release, backport }) })
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
    fn versions_are_compared_numerically() {
        assert_eq!(leading_version("5.14.0-427.el9"), Some((5, 14)));
        assert_eq!(leading_version("18.04"), Some((18, 4)));
        assert_eq!(leading_version("9"), Some((9, 0)));
        assert_eq!(leading_version("rolling"), None);
        assert!(leading_version("5.10") > leading_version("5.3"));
    }

    #[test]
    fn options_match_by_their_full_name() {
        let options = "rw,softreval,nconnect=4,async";
        assert!(!has(options, "soft") && !has(options, "sync"));
        assert_eq!(value_of(options, "nconnect"), Some("4"));
        assert_eq!(value_of(options, "connect"), None);
    }
}
