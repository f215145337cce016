//! The network interface that carries the packets, and the virtual machine's share of the network.

use units::thousands;

use super::figures::mib_s;
use super::{Check, Look, Status, Subject};

/// Fewer packets tell nothing about where they go.
const PACKETS_MIN: u64 = 10_000;
/// Packets that were lost or damaged, beyond which TCP's windows shrink noticeably: one in 10,000.
const LOSSES_MAX: f64 = 1e-4;
/// The usual Ethernet; Azure has nothing larger on the way to the store.
const MTU: u64 = 1500;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    if !look.is_over_network() {
        return Vec::new();
    }
    let mut checks = vec![interface(look)];
    match look.facts.get("nic.name") {
        None | Some("lo") => {}
        Some(_) => {
            checks.extend([speed(look), packets(look), losses(look)]);
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
    let check = Check::new("net.interface", Subject::Network, "interface to the server")
        .wanted("the one that is meant for storage")
        .why("all figures: every byte goes through it");
    let Some(name) = look.facts.get("nic.name") else {
        return check.not_known("no route to the server, and no default route, in /proc/net");
    };
    if name == "lo" {
        return check
            .found("lo: the server is on this host")
            .wanted("a server on another host, unless this one is to be measured")
            .status(Status::Hint, "");
    }
    let driver = look.facts.get("nic.driver").unwrap_or("driver not told");
    let to = look.facts.get("mount.server").map_or("by the default route", |_| "to the server");
    check.found(format!("{name} ({driver}), {to}")).ok()
}

fn speed(look: &Look<'_>) -> Check {
    let check = Check::new("net.speed", Subject::Network, "speed of the interface")
        .wanted("more than the store is to give")
        .why("MiB/s: nothing faster goes through");
    let Some(mbit_s) = look.facts.number("nic.speed_mbit_s") else {
        return check.not_known("the driver tells no speed");
    };
    let bytes_per_s = mbit_s as f64 * 1e6 / 8.0;
    let check = check.found(format!("{} Mbit/s, {}", thousands(mbit_s), mib_s(bytes_per_s)));
    match look.asked.want_bytes_per_s {
        Some(want) if want > bytes_per_s => check
            .wanted(format!("{}, as wanted", mib_s(want)))
            .status(Status::Problem, "a faster interface, or more hosts"),
        None if mbit_s <= 1000 => check.status(Status::Warning, "a faster interface"),
        _ => check.ok(),
    }
}

fn packets(look: &Look<'_>) -> Check {
    let check = Check::new("net.mtu", Subject::Network, "largest packet (MTU)")
        .wanted(format!("{} bytes; larger only where the whole way has it", thousands(MTU)))
        .why("CPU per operation, and MiB/s where processors are short");
    let Some(mtu) = look.facts.number("nic.mtu_bytes") else {
        return check.not_known("/sys/class/net has no mtu of it");
    };
    let status = match mtu {
        mtu if mtu < MTU => Status::Hint,
        mtu if mtu > MTU && look.facts.is_azure() => Status::Warning,
        _ => Status::Ok,
    };
    let name = look.facts.get("nic.name").unwrap_or("NAME");
    check
        .found(format!("{} bytes", thousands(mtu)))
        .status(status, format!("sudo ip link set {name} mtu {MTU}"))
}

fn losses(look: &Look<'_>) -> Check {
    let check = Check::new("net.losses", Subject::Network, "packets lost on this host")
        .wanted("less than 1 in 10,000")
        .why("MiB/s and the largest response times: TCP sends again, and slower");
    let number = |name: &str| look.facts.number(name);
    let (Some(received), Some(sent)) = (number("nic.rx_packets"), number("nic.tx_packets")) else {
        return check.not_known("/sys/class/net has no statistics of it");
    };
    let lost: u64 = ["rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "rx_missed_errors"]
        .iter()
        .filter_map(|name| number(&format!("nic.{name}")))
        .fold(0, u64::saturating_add);
    let all = received.saturating_add(sent);
    if all < PACKETS_MIN {
        return check.not_known(format!("only {} packets since it came up", thousands(all)));
    }
    let is_many = lost as f64 / all as f64 > LOSSES_MAX;
    let found = format!("{} of {} since it came up", thousands(lost), thousands(all));
    let name = look.facts.get("nic.name").unwrap_or("NAME");
    let status = if is_many { Status::Warning } else { Status::Ok };
    check.found(found).status(status, format!("ethtool -S {name} and ethtool -g {name} show where"))
}

/// Only on hosts with several memory nodes.
fn numa(look: &Look<'_>) -> Option<Check> {
    let nodes = look.facts.get("numa.nodes").filter(|nodes| *nodes != "0")?;
    let check = Check::new("net.numa", Subject::Network, "memory node of the interface")
        .wanted("known, so that workers can be kept near it")
        .why("CPU per operation and the spread between runs: other nodes are farther away");
    Some(match look.facts.number("nic.numa_node") {
        None => check.not_known(format!("the host has the nodes {nodes}, its driver tells none")),
        Some(node) => check.found(format!("{node}, of the nodes {nodes}")).status(
            Status::Hint,
            format!("numactl --cpunodebind={node} --membind={node} fourcorners run ..."),
        ),
    })
}

fn accelerated(look: &Look<'_>) -> Check {
    let facts = look.facts;
    let check = Check::new("net.accelerated", Subject::Network, "accelerated networking")
        .wanted("a virtual function (mlx4, mlx5 or mana) that carries the packets")
        .why(
            "response time, ops/s and CPU per operation: without it every packet goes through \
             the hypervisor's software switch",
        );
    let enable = "az network nic update -g GROUP -n NIC --accelerated-networking true, with the \
                  virtual machine deallocated";
    let name = match facts.get("nic.vf.name") {
        None => return check.not_known("/sys/class/net cannot be listed"),
        Some("none") => {
            return check.found("off: no virtual function").status(Status::Problem, enable);
        }
        Some(name) => name,
    };
    let driver = facts.get("nic.vf.driver").unwrap_or("driver not told");
    let numbers = |direction: &str| {
        let all = facts.number(&format!("nic.{direction}_packets"))?;
        Some((facts.number(&format!("nic.vf.{direction}_packets"))?, all))
    };
    let (Some((rx_vf, rx)), Some((tx_vf, tx))) = (numbers("rx"), numbers("tx")) else {
        return check.not_known(format!("{name} ({driver}) is there, but counters are missing"));
    };
    // The synthetic interface counts what its function carried too; where it does not, the function
    // has more.
    let all = rx.max(rx_vf).saturating_add(tx.max(tx_vf));
    let through = rx_vf.saturating_add(tx_vf);
    if all < PACKETS_MIN {
        return check.not_known(format!("only {} packets since start", thousands(all)));
    }
    let share = 100.0 * through as f64 / all as f64;
    let check = check
        .found(format!("{name} ({driver}) carried {share:.1} % of {} packets", thousands(all)));
    match share {
        share if share < 50.0 => check.status(
            Status::Problem,
            format!(
                "sudo ip link set {name} up; where it stays so: dmesg | grep -i -e {driver} -e \
                 netvsc"
            ),
        ),
        share if share < 90.0 => check.status(Status::Hint, "count again after a run"),
        _ => check.ok(),
    }
}

fn egress(look: &Look<'_>) -> Check {
    let check = Check::new("vm.egress", Subject::Network, "what the virtual machine may send")
        .wanted("more than the writes that are wanted")
        .why("MiB/s of writes: Azure meters what a machine sends, and not what it receives");
    let Some(name) = look.facts.get("vm.size") else {
        return check.not_known(match look.asked.is_captured {
            true => "captured/imds.json is not in the tree",
            false => "the instance metadata service did not answer in time",
        });
    };
    let Some(size) = look.facts.vm_size() else {
        return check.not_known(format!("{name} is not in this program's table of sizes"));
    };
    let limit = size.egress_bytes_per_s() as f64;
    let found = format!("{name}: {} Mbit/s, {}", thousands(size.egress_mbit_s), mib_s(limit));
    let check = check.found(found);
    match look.asked.want_bytes_per_s {
        Some(want) if want > limit => check
            .wanted(format!("{}, as wanted, if they are writes", mib_s(want)))
            .status(Status::Problem, "a larger size, or more hosts"),
        _ => check.ok(),
    }
}
