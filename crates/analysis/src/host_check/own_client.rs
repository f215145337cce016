//! The built-in NFS client: options of the URL, and whether this host permits them.

use cloud::client::SettingName;
use cloud::row::LimitName;

use super::finding::{ExportSlots, Finding, PortPermission, ProcessLimit};
use super::{Check, Export, Look, Status};

/// By default, ports below this one are reserved for privileged processes.
const PRIVILEGED_PORTS_BELOW: u64 = 1024;
/// `CAP_NET_BIND_SERVICE`, by its number in capability.h.
const CAP_NET_BIND_SERVICE: u32 = 10;
/// Generous estimate of open files besides connections.
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
    let flow = look.flow();
    let recommended = look.client.setting(SettingName::NconnectRecommended);
    let connections = export.connections.map(u64::from);
    let is_enough = |count: u64| {
        let flows = flow.get() * count as f64;
        look.options.required.is_some_and(|required| required.get() <= flows)
    };
    let status = match connections {
        None => Status::Hint,
        Some(count) if count >= recommended => Status::Ok,
        Some(1) if !is_enough(1) => Status::Warning,
        Some(_) => Status::Hint,
    };
    Check::new(status, Finding::ExportConnections { recommended, flow, connections })
}

fn slots(look: &Look<'_>, export: &Export) -> Check {
    let slots = ExportSlots {
        recommended: look.catalog.limit(LimitName::OutstandingPerConnectionMax),
        per_endpoint: look.client.setting(SettingName::OutstandingPerEndpointMax),
        per_connection: u64::from(export.slots),
        connections: export.connections.map(u64::from),
    };
    let is_too_many = slots.per_connection > slots.recommended
        || slots.total().is_some_and(|total| total > slots.per_endpoint);
    let status = if is_too_many { Status::Warning } else { Status::Ok };
    Check::new(status, Finding::ExportSlots(slots))
}

fn open_files(look: &Look<'_>, export: &Export) -> Check {
    let needed = u64::from(export.connections.unwrap_or(1)) + OTHER_FILES;
    let limit = look.process_limit("limit.open_files");
    let status = match limit {
        ProcessLimit::Missing | ProcessLimit::Unreadable(_) => Status::NotKnown,
        ProcessLimit::At(limit) if limit < needed => Status::Problem,
        ProcessLimit::At(_) | ProcessLimit::Unlimited => Status::Ok,
    };
    Check::new(status, Finding::OpenFiles { needed, limit })
}

fn privileged_ports(look: &Look<'_>) -> Check {
    let facts = look.facts;
    let from = facts.number("transport.unprivileged_ports_from");
    let (status, permission) = match (from, facts.has_capability(CAP_NET_BIND_SERVICE)) {
        (Some(from), _) if from < PRIVILEGED_PORTS_BELOW => {
            (Status::Ok, PortPermission::AllFrom(from))
        }
        (_, Some(true)) => (Status::Ok, PortPermission::Permitted),
        (_, Some(false)) => (Status::Problem, PortPermission::Denied),
        (_, None) => (Status::NotKnown, PortPermission::NotKnown),
    };
    Check::new(status, Finding::PrivilegedPorts(permission))
}
