//! The words of checks of the built-in NFS client.

use analysis::host_check::finding::{ExportSlots, PortPermission, ProcessLimit};
use units::{BytesPerSec, counted, thousands};

use super::words::{Words, limit, mib_s};

pub(super) fn connections(recommended: u64, flow: BytesPerSec, connections: Option<u64>) -> Words {
    let words = Words::new(
        "connections to the export",
        format!("{recommended} connections (nconnect={recommended})"),
        format!(
            "throughput and ops/s: by published figures one network flow of Azure carries about {}",
            mib_s(flow)
        ),
    );
    match connections {
        None => words
            .found("one per worker; the URL does not set it")
            .change(format!("add nconnect={recommended} to the URL, or add workers")),
        Some(count) => words
            .found(counted(count, "connection"))
            .change(format!("nconnect={recommended} in the URL")),
    }
}

pub(super) fn slots(slots: &ExportSlots) -> Words {
    let ExportSlots { recommended, per_connection, .. } = slots;
    let found = match (slots.total(), slots.connections) {
        (Some(total), Some(count)) => {
            format!("{per_connection} x {} = {}", counted(count, "connection"), thousands(total))
        }
        _ => format!("{per_connection} per connection"),
    };
    Words::new(
        "most outstanding calls",
        format!(
            "{recommended} per connection, and below {} per endpoint of Azure NetApp Files",
            thousands(slots.per_endpoint)
        ),
        "latency under load: beyond that the service blocks the sender",
    )
    .found(found)
    .change(format!("slots={recommended} in the URL, or fewer connections"))
}

pub(super) fn open_files(needed: u64, found: &ProcessLimit) -> Words {
    Words::new(
        "open files of a process",
        format!("{} or more", thousands(needed)),
        "whether a run can start: each connection is an open file",
    )
    .found(limit(found, thousands))
    .change(format!("ulimit -n {needed}"))
}

pub(super) fn privileged_ports(permission: PortPermission) -> Words {
    let found = match permission {
        PortPermission::AllFrom(port) => format!("all processes may use ports from {port}"),
        PortPermission::Permitted => "this process may use them".to_owned(),
        PortPermission::Denied => "this process may not use them".to_owned(),
        PortPermission::NotKnown => "/proc/self/status is missing".to_owned(),
    };
    Words::new(
        "ports below 1024",
        "allowed, because the URL has privileged=true",
        "whether a run can start",
    )
    .found(found)
    .change("run as root, or: sudo setcap cap_net_bind_service+ep PROGRAM")
}
