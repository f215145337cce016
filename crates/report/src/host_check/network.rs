//! The words of checks of the network interface and the virtual machine's network limits.

use analysis::host_check::Status;
use analysis::host_check::finding::{
    AcceleratedNetworking, Egress, Interface, PacketLosses, VirtualFunction,
};
use units::{BytesPerSec, thousands};

use super::words::{Words, bytes, mib_s};

pub(super) fn interface(interface: &Interface) -> Words {
    let words = Words::new(
        "interface to the server",
        "the interface intended for storage",
        "all figures: all data passes through it",
    );
    match interface {
        Interface::NoRoute => {
            words.found("no route to the server, and no default route, in /proc/net")
        }
        Interface::Loopback => words
            .found("lo: the server is on this host")
            .recommended("a server on another host, unless this host is to be measured"),
        Interface::Named { name, driver, is_to_server } => {
            let to = if *is_to_server { "to the server" } else { "by the default route" };
            words.found(format!("{name} ({}), {to}", driver_name(driver.as_deref())))
        }
    }
}

fn driver_name(driver: Option<&str>) -> &str {
    driver.unwrap_or("unknown driver")
}

/// `25,000 Mbit/s, 2,980.2 MiB/s`.
fn bit_rate(mbit_s: u64, rate: BytesPerSec) -> String {
    format!("{} Mbit/s, {}", thousands(mbit_s), mib_s(rate))
}

pub(super) fn speed(mbit_s: Option<u64>, exceeded_by: Option<BytesPerSec>) -> Words {
    let found = mbit_s.map(|mbit_s| bit_rate(mbit_s, BytesPerSec::new(mbit_s as f64 * 1e6 / 8.0)));
    let words = Words::new(
        "speed of the interface",
        "more than the required throughput",
        "MiB/s: it is an upper bound",
    )
    .found_or(found, "the driver does not report the speed");
    match exceeded_by {
        None => words.change("a faster interface"),
        Some(required) => words
            .recommended(format!("{}, as required", mib_s(required)))
            .change("a faster interface, or more hosts"),
    }
}

pub(super) fn packets(interface: &str, recommended: u64, found: Option<u64>) -> Words {
    Words::new(
        "largest packet (MTU)",
        format!("{}; larger only if the whole path supports it", bytes(recommended)),
        "CPU per operation, and MiB/s if processors are the bottleneck",
    )
    .found_or(found.map(bytes), "/sys/class/net does not show it")
    .change(format!("sudo ip link set {interface} mtu {recommended}"))
}

pub(super) fn losses(losses: &PacketLosses) -> Words {
    let words = Words::new(
        "packets lost on this host",
        "less than 1 in 10,000",
        "MiB/s and tail latency: TCP retransmits and slows down",
    );
    match losses {
        PacketLosses::NotCounted => words.found("/sys/class/net has no statistics"),
        PacketLosses::TooFew(packets) => {
            let packets = thousands(*packets);
            words.found(format!("only {packets} packets since the interface came up"))
        }
        PacketLosses::Counted { lost, packets, interface } => {
            let (lost, packets) = (thousands(*lost), thousands(*packets));
            words
                .found(format!("{lost} of {packets} since the interface came up"))
                .change(format!("ethtool -S {interface} and ethtool -g {interface} show where"))
        }
    }
}

pub(super) fn numa(nodes: &str, node: Option<u64>) -> Words {
    let words = Words::new(
        "NUMA node of the interface",
        "known, to run workers on the same node",
        "CPU per operation and run-to-run variation: other nodes have longer access times",
    );
    match node {
        None => words.found(format!("the host has nodes {nodes}; the driver does not report one")),
        Some(node) => words
            .found(format!("{node}, of nodes {nodes}"))
            .change(format!("numactl --cpunodebind={node} --membind={node} fourcorners run ...")),
    }
}

pub(super) fn accelerated(found: &AcceleratedNetworking, status: Status) -> Words {
    let words = Words::new(
        "accelerated networking",
        "a virtual function (mlx4, mlx5 or mana) that carries the packets",
        "latency, ops/s and CPU per operation: without it every packet passes through the \
         hypervisor's software switch",
    );
    match found {
        AcceleratedNetworking::NotKnown => words.found("/sys/class/net cannot be listed"),
        AcceleratedNetworking::Off => words.found("off: no virtual function").change(
            "az network nic update -g GROUP -n NIC --accelerated-networking true, with the virtual \
             machine deallocated",
        ),
        AcceleratedNetworking::NotCounted(VirtualFunction { name, driver }) => {
            words.found(format!("{name} ({}) has no counters", driver_name(driver.as_deref())))
        }
        AcceleratedNetworking::TooFew(packets) => {
            words.found(format!("only {} packets since start", thousands(*packets)))
        }
        AcceleratedNetworking::Counted { function, percent, packets } => {
            let (name, driver) = (&function.name, driver_name(function.driver.as_deref()));
            let packets = thousands(*packets);
            let words = words
                .found(format!("{name} ({driver}) carried {percent:.1} % of {packets} packets"));
            match status {
                Status::Problem => words.change(format!(
                    "sudo ip link set {name} up; if that does not help: dmesg | grep -i -e {driver} \
                     -e netvsc"
                )),
                _ => words.change("check again after a run"),
            }
        }
    }
}

pub(super) fn egress(egress: &Egress) -> Words {
    let words = Words::new(
        "egress limit of the virtual machine",
        "more than the required writes",
        "MiB/s of writes: Azure limits what a virtual machine sends, not what it receives",
    );
    match egress {
        Egress::SizeNotKnown { is_captured } => words.found(match is_captured {
            true => "captured/imds.json is missing",
            false => "the instance metadata service did not answer in time",
        }),
        Egress::NotListed { size } => words.found(format!("{size} is an unknown size")),
        Egress::Limit { size, mbit_s, limit, exceeded_by } => {
            let words = words.found(format!("{size}: {}", bit_rate(*mbit_s, *limit)));
            match exceeded_by {
                None => words,
                Some(required) => words
                    .recommended(format!("{}, as required, for writes", mib_s(*required)))
                    .change("a larger size, or more hosts"),
            }
        }
    }
}
