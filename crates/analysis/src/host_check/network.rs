//! The network interface and the network limits of the virtual machine.

use units::BytesPerSec;

use super::finding::{
    AcceleratedNetworking, Egress, Finding, Interface, PacketLosses, VirtualFunction,
};
use super::{Check, Look, Status};

/// Fewer packets give no reliable share.
const PACKETS_MIN: u64 = 10_000;
/// Packet loss above which TCP windows shrink noticeably: 1 in 10,000.
const LOSSES_MAX: f64 = 1e-4;
/// Standard Ethernet, in bytes; Azure has no larger MTU to the storage.
const MTU: u64 = 1500;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    if !look.is_over_network() {
        return Vec::new();
    }
    let mut checks = vec![interface(look)];
    match look.facts.get("nic.name") {
        None | Some("lo") => {}
        Some(name) => {
            checks.extend([speed(look), packets(look, name), losses(look, name)]);
            checks.extend(numa(look));
            if look.facts.get("nic.driver") == Some("hv_netvsc") {
                checks.push(accelerated(look));
            }
        }
    }
    if look.facts.is_azure() {
        checks.push(egress(look));
    }
    checks
}

fn interface(look: &Look<'_>) -> Check {
    let (status, interface) = match look.text("nic.name") {
        None => (Status::NotKnown, Interface::NoRoute),
        Some(name) if name == "lo" => (Status::Hint, Interface::Loopback),
        Some(name) => {
            let driver = look.text("nic.driver");
            let is_to_server = look.facts.get("mount.server").is_some();
            (Status::Ok, Interface::Named { name, driver, is_to_server })
        }
    };
    Check::new(status, Finding::Interface(interface))
}

fn speed(look: &Look<'_>) -> Check {
    let mbit_s = look.facts.number("nic.speed_mbit_s");
    let (status, exceeded_by) = match mbit_s {
        None => (Status::NotKnown, None),
        Some(mbit_s) => match look.required_above(speed_of(mbit_s)) {
            Some(required) => (Status::Problem, Some(required)),
            None if look.options.required.is_none() && mbit_s <= 1000 => (Status::Warning, None),
            None => (Status::Ok, None),
        },
    };
    Check::new(status, Finding::InterfaceSpeed { mbit_s, exceeded_by })
}

/// A speed in 10^6 bit/s as throughput.
pub(super) fn speed_of(mbit_s: u64) -> BytesPerSec {
    BytesPerSec::new(mbit_s as f64 * 1e6 / 8.0)
}

fn packets(look: &Look<'_>, interface: &str) -> Check {
    let found_bytes = look.facts.number("nic.mtu_bytes");
    let status = match found_bytes {
        None => Status::NotKnown,
        Some(mtu) if mtu < MTU => Status::Hint,
        Some(mtu) if mtu > MTU && look.facts.is_azure() => Status::Warning,
        Some(_) => Status::Ok,
    };
    let interface = interface.to_owned();
    Check::new(status, Finding::Mtu { interface, recommended_bytes: MTU, found_bytes })
}

fn losses(look: &Look<'_>, interface: &str) -> Check {
    let number = |name: &str| look.facts.number(name);
    let (Some(received), Some(sent)) = (number("nic.rx_packets"), number("nic.tx_packets")) else {
        return Check::new(Status::NotKnown, Finding::PacketLosses(PacketLosses::NotCounted));
    };
    let lost: u64 = ["rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "rx_missed_errors"]
        .iter()
        .filter_map(|name| number(&format!("nic.{name}")))
        .fold(0, u64::saturating_add);
    let packets = received.saturating_add(sent);
    let (status, losses) = match packets {
        0..PACKETS_MIN => (Status::NotKnown, PacketLosses::TooFew(packets)),
        _ => {
            let is_many = lost as f64 / packets as f64 > LOSSES_MAX;
            let status = if is_many { Status::Warning } else { Status::Ok };
            (status, PacketLosses::Counted { lost, packets, interface: interface.to_owned() })
        }
    };
    Check::new(status, Finding::PacketLosses(losses))
}

/// Only on hosts with several NUMA nodes.
fn numa(look: &Look<'_>) -> Option<Check> {
    let nodes = look.text("numa.nodes").filter(|nodes| nodes != "0")?;
    let node = look.facts.number("nic.numa_node");
    let status = if node.is_some() { Status::Hint } else { Status::NotKnown };
    Some(Check::new(status, Finding::Numa { nodes, node }))
}

fn accelerated(look: &Look<'_>) -> Check {
    let (status, found) = virtual_function(look);
    Check::new(status, Finding::AcceleratedNetworking(found))
}

fn virtual_function(look: &Look<'_>) -> (Status, AcceleratedNetworking) {
    let facts = look.facts;
    let name = match look.text("nic.vf.name") {
        None => return (Status::NotKnown, AcceleratedNetworking::NotKnown),
        Some(name) if name == "none" => return (Status::Problem, AcceleratedNetworking::Off),
        Some(name) => name,
    };
    let function = VirtualFunction { name, driver: look.text("nic.vf.driver") };
    let numbers = |direction: &str| {
        let all = facts.number(&format!("nic.{direction}_packets"))?;
        Some((facts.number(&format!("nic.vf.{direction}_packets"))?, all))
    };
    let (Some((rx_vf, rx)), Some((tx_vf, tx))) = (numbers("rx"), numbers("tx")) else {
        return (Status::NotKnown, AcceleratedNetworking::NotCounted(function));
    };
    // The synthetic interface usually includes the packets of the virtual function; if it does not,
    // the function has more.
    let packets = rx.max(rx_vf).saturating_add(tx.max(tx_vf));
    let through = rx_vf.saturating_add(tx_vf);
    if packets < PACKETS_MIN {
        return (Status::NotKnown, AcceleratedNetworking::TooFew(packets));
    }
    let percent = 100.0 * through as f64 / packets as f64;
    let status = match percent {
        percent if percent < 50.0 => Status::Problem,
        percent if percent < 90.0 => Status::Hint,
        _ => Status::Ok,
    };
    (status, AcceleratedNetworking::Counted { function, percent, packets })
}

fn egress(look: &Look<'_>) -> Check {
    let (status, egress) = match (look.text("vm.size"), look.facts.vm_size()) {
        (None, _) => {
            let is_captured = look.options.is_captured;
            (Status::NotKnown, Egress::SizeNotKnown { is_captured })
        }
        (Some(size), None) => (Status::NotKnown, Egress::NotListed { size }),
        (Some(size), Some(row)) => {
            let limit = row.egress();
            let exceeded_by = look.required_above(limit);
            let status = if exceeded_by.is_some() { Status::Problem } else { Status::Ok };
            (status, Egress::Limit { size, mbit_s: row.egress_mbit_s, limit, exceeded_by })
        }
    };
    Check::new(status, Finding::Egress(egress))
}
