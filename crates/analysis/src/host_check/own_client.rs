//! Our own NFS client: what the URL asks for, and whether this host lets it.

use cloud::client::SettingName;
use cloud::row::LimitName;
use units::{counted, thousands};

use super::figures::mib_s;
use super::{Check, Export, Look, Status, Subject};

/// Ports below this one are kept for privileged processes, unless the host says otherwise.
const PRIVILEGED_PORTS_BELOW: u64 = 1024;
/// `CAP_NET_BIND_SERVICE`, by its number in capability.h.
const CAP_NET_BIND_SERVICE: u32 = 10;
/// Files that a process has open besides its connections, generously.
const OTHER_FILES: u64 = 64;

pub(super) fn checks(look: &Look<'_>, export: &Export) -> Vec<Check> {
    let mut checks = vec![connections(look, export), slots(look, export)];
    checks.push(open_files(look, export));
    if export.privileged {
        checks.push(privileged_ports(look));
    }
    checks
}

fn connections(look: &Look<'_>, export: &Export) -> Check {
    let flow = look.catalog.limit(LimitName::FlowThroughput) as f64 * 1024.0;
    let wanted = look.client.setting(SettingName::NconnectWanted);
    let check = Check::new("export.nconnect", Subject::OwnClient, "connections to the export")
        .wanted(format!("{wanted} connections (nconnect={wanted})"))
        .why(format!(
            "throughput and ops/s: one network flow of Azure was seen to give about {}",
            mib_s(flow)
        ));
    match export.connections {
        None => check
            .found("one for each worker; the URL does not say")
            .status(Status::Hint, format!("add nconnect={wanted} to the URL, or workers")),
        Some(count) => {
            let count = u64::from(count);
            let want = look.asked.want_bytes_per_s;
            let is_enough_for_want = want.is_some_and(|want| want <= flow * count as f64);
            let status = match count {
                count if count >= wanted => Status::Ok,
                1 if !is_enough_for_want => Status::Warning,
                _ => Status::Hint,
            };
            let change = format!("nconnect={wanted} in the URL");
            check.found(counted(count, "connection")).status(status, change)
        }
    }
}

fn slots(look: &Look<'_>, export: &Export) -> Check {
    let most = look.catalog.limit(LimitName::OutstandingPerConnectionMax);
    let endpoint = look.client.setting(SettingName::OutstandingPerEndpointMax);
    let check = Check::new("export.slots", Subject::OwnClient, "calls outstanding at most")
        .wanted(format!(
            "{most} on a connection, and below {} on an endpoint of Azure NetApp Files",
            thousands(endpoint)
        ))
        .why("response time under load: beyond that the service holds the sender back");
    let slots = u64::from(export.slots);
    let total = export.connections.map(|count| slots.saturating_mul(u64::from(count)));
    let found = match (total, export.connections) {
        (Some(total), Some(count)) => {
            format!("{slots} x {} = {}", counted(u64::from(count), "connection"), thousands(total))
        }
        _ => format!("{slots} on a connection"),
    };
    let is_too_many = slots > most || total.is_some_and(|total| total > endpoint);
    let status = if is_too_many { Status::Warning } else { Status::Ok };
    check.found(found).status(status, format!("slots={most} in the URL, or fewer connections"))
}

fn open_files(look: &Look<'_>, export: &Export) -> Check {
    let needed = u64::from(export.connections.unwrap_or(1)) + OTHER_FILES;
    let check = Check::new("export.open_files", Subject::OwnClient, "open files of a process")
        .wanted(format!("{} or more", thousands(needed)))
        .why("whether a run can begin: each connection is an open file");
    match look.facts.get("limit.open_files") {
        None => check.not_known("/proc/self/limits is not there"),
        Some("unlimited") => check.found("unlimited").ok(),
        Some(limit) => match limit.parse::<u64>() {
            Err(_) => check.not_known(format!("/proc/self/limits says `{limit}`")),
            Ok(limit) => {
                let status = if limit < needed { Status::Problem } else { Status::Ok };
                check.found(thousands(limit)).status(status, format!("ulimit -n {needed}"))
            }
        },
    }
}

fn privileged_ports(look: &Look<'_>) -> Check {
    let check = Check::new("export.privileged", Subject::OwnClient, "ports below 1024")
        .wanted("allowed, as the URL says privileged=true")
        .why("whether a run can begin");
    let facts = look.facts;
    let from = facts.number("transport.unprivileged_ports_from");
    let capable = facts
        .get("process.capabilities")
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .map(|mask| mask >> CAP_NET_BIND_SERVICE & 1 == 1);
    match (from, capable) {
        (Some(from), _) if from < PRIVILEGED_PORTS_BELOW => {
            check.found(format!("everybody may use ports from {from} on")).ok()
        }
        (_, Some(true)) => check.found("this process may use them").ok(),
        (_, Some(false)) => check.found("this process may not use them").status(
            Status::Problem,
            "run as root, or: sudo setcap cap_net_bind_service+ep PROGRAM",
        ),
        (_, None) => check.not_known("/proc/self/status is not there"),
    }
}
