//! Network interfaces: which one carries the packets to a server, and facts about it.
//!
//! Routes are those of `/proc/net/route` and `/proc/net/ipv6_route`, by the longest prefix. Routing
//! rules (`ip rule`) are ignored, except the kernel's default: packets to an address of this host use
//! the loopback interface.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Root;

/// The interface that carries packets to `server`; without a server, that of the default route.
pub fn interface_to(root: &Root, server: Option<IpAddr>) -> Option<String> {
    match server {
        Some(server) if server.is_loopback() || is_own(root, server) => Some(LOOPBACK.to_owned()),
        Some(IpAddr::V6(server)) => {
            let address = u128::from(server);
            route_v6(&root.text("proc/net/ipv6_route")?, address)
        }
        Some(IpAddr::V4(server)) => route_v4(&root.text("proc/net/route")?, Some(server)),
        None => {
            let v4 = root.text("proc/net/route").and_then(|text| route_v4(&text, None));
            let v6 = || {
                let text = root.text("proc/net/ipv6_route")?;
                route_v6(&text, u128::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)))
            };
            v4.or_else(v6)
        }
    }
}

/// The loopback interface.
pub(crate) const LOOPBACK: &str = "lo";

/// Whether the address belongs to this host.
fn is_own(root: &Root, address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            root.text("proc/net/fib_trie").is_some_and(|text| has_v4(&text, address))
        }
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_own(root, IpAddr::V4(address)),
            None => root.text("proc/net/if_inet6").is_some_and(|text| has_v6(&text, address)),
        },
    }
}

/// Searches the tree of routes: a line `|-- 10.0.0.4` for each address, followed by its routes; an
/// address of this host has `/32 host LOCAL`.
fn has_v4(text: &str, address: Ipv4Addr) -> bool {
    let mut at = None;
    text.lines().map(str::trim).any(|line| {
        if let Some(leaf) = line.strip_prefix("|-- ") {
            at = leaf.parse::<Ipv4Addr>().ok();
        }
        line == "/32 host LOCAL" && at == Some(address)
    })
}

/// Searches lines of `address index prefix-length scope flags name`, with the address as 32 hexadecimal
/// digits.
fn has_v6(text: &str, address: Ipv6Addr) -> bool {
    let own = |line: &str| u128::from_str_radix(line.split_ascii_whitespace().next()?, 16).ok();
    text.lines().filter_map(own).any(|own| own == u128::from(address))
}

/// The interface for `address`, or of the default route, from lines of `Iface Destination Gateway Flags
/// RefCnt Use Metric Mask ...`. Addresses are hexadecimal in little-endian byte order.
fn route_v4(text: &str, address: Option<Ipv4Addr>) -> Option<String> {
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, destination, _, flags, _, _, metric, mask, ..] = fields.as_slice() else {
            return None;
        };
        let number = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::swap_bytes);
        let (destination, mask) = (number(destination)?, number(mask)?);
        let up = u32::from_str_radix(flags, 16).ok()? & 1 == 1;
        let fits = match address {
            Some(address) => u32::from(address) & mask == destination & mask,
            None => mask == 0,
        };
        let preference = (mask.count_ones(), u32::MAX - metric.parse::<u32>().ok()?);
        (up && fits).then(|| (preference, (*name).to_owned()))
    };
    text.lines().filter_map(route).max_by_key(|(preference, _)| *preference).map(|(_, name)| name)
}

/// The interface for `address`, from lines of `destination length source length next-hop metric refs
/// use flags name`, with hexadecimal numbers.
fn route_v6(text: &str, address: u128) -> Option<String> {
    const UP: u32 = 1;
    const REJECT: u32 = 0x0200;
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [destination, length, _, _, _, metric, _, _, flags, name] = fields.as_slice() else {
            return None;
        };
        let hexadecimal = |text: &str| u32::from_str_radix(text, 16).ok();
        let destination = u128::from_str_radix(destination, 16).ok()?;
        let (length, flags) = (hexadecimal(length)?, hexadecimal(flags)?);
        let unused = 128u32.checked_sub(length)?;
        let differs = (address ^ destination).checked_shr(unused).unwrap_or(0);
        let usable = flags & UP != 0 && flags & REJECT == 0;
        let preference = (length, u32::MAX - hexadecimal(metric)?);
        (usable && differs == 0).then(|| (preference, (*name).to_owned()))
    };
    text.lines().filter_map(route).max_by_key(|(preference, _)| *preference).map(|(_, name)| name)
}

/// Facts about an interface, as `(name, value)` with names that begin with `nic.`.
///
/// With accelerated networking on Azure, the interface `hv_netvsc` passes its packets to a virtual
/// function with the same hardware address, which is listed under `nic.vf.`.
pub fn facts(root: &Root, name: &str) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    // A name with a slash would leave the directory.
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return facts;
    }
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    let entry = |of: &str, entry: &str| root.text(&format!("sys/class/net/{of}/{entry}"));
    add("nic.name", Some(name.to_owned()));
    let driver = driver(root, name);
    add("nic.driver", driver.clone());
    // -1 if the driver does not know it; unreadable while the link is down.
    add("nic.speed_mbit_s", entry(name, "speed").filter(|speed| !speed.starts_with('-')));
    add("nic.mtu_bytes", entry(name, "mtu"));
    add("nic.numa_node", entry(name, "device/numa_node").filter(|node| !node.starts_with('-')));
    if driver.as_deref() == Some(SYNTHETIC) {
        match virtual_function(root, name) {
            Some(vf) => {
                add("nic.vf.driver", driver_of_vf(root, &vf));
                add("nic.vf.name", Some(vf));
            }
            None if root.path("sys/class/net").is_dir() => {
                add("nic.vf.name", Some("none".to_owned()));
            }
            None => {}
        }
    }
    facts
}

/// Counters of an interface and its virtual function since they came up, as `(name, value)` with names
/// that begin with `nic.`.
pub fn counters(root: &Root, name: &str) -> Vec<(String, String)> {
    let mut counted = Vec::new();
    for counter in COUNTERS {
        let value = root.text(&format!("sys/class/net/{name}/statistics/{counter}"));
        counted.extend(value.map(|value| (format!("nic.{counter}"), value)));
    }
    let captured = root.text(&format!("captured/ethtool-S/{name}"));
    let vf = virtual_function(root, name);
    for counter in ["rx_packets", "tx_packets"] {
        // The synthetic interface's counter of its virtual function, or the function's own counter.
        let by_synthetic =
            captured.as_deref().and_then(|text| ethtool(text, &format!("vf_{counter}")));
        let own = vf.as_ref().and_then(|vf| {
            root.text(&format!("sys/class/net/{vf}/statistics/{counter}"))?.parse().ok()
        });
        let value: Option<u64> = by_synthetic.or(own);
        counted.extend(value.map(|value| (format!("nic.vf.{counter}"), value.to_string())));
    }
    counted
}

/// Azure's synthetic interface.
const SYNTHETIC: &str = "hv_netvsc";

const COUNTERS: &[&str] = &[
    "rx_packets",
    "tx_packets",
    "rx_dropped",
    "tx_dropped",
    "rx_errors",
    "tx_errors",
    "rx_missed_errors",
];

/// A counter from the text of `ethtool -S`.
fn ethtool(text: &str, counter: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(counter))?;
    line.trim_start().strip_prefix(':')?.trim().parse().ok()
}

/// The driver, from the device's `uevent`; a virtual interface has none.
fn driver(root: &Root, name: &str) -> Option<String> {
    let uevent = root.text(&format!("sys/class/net/{name}/device/uevent"))?;
    uevent.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned)
}

fn driver_of_vf(root: &Root, name: &str) -> Option<String> {
    driver(root, name).filter(|driver| driver != SYNTHETIC)
}

/// The interface with the hardware address of `name` and a driver that is not the synthetic one.
fn virtual_function(root: &Root, name: &str) -> Option<String> {
    let address = |of: &str| root.text(&format!("sys/class/net/{of}/address"));
    let own = address(name)?;
    let mut names: Vec<String> = fs::read_dir(root.path("sys/class/net"))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names.into_iter().find(|other| {
        other != name
            && address(other).as_deref() == Some(own.as_str())
            && driver_of_vf(root, other).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth9\t00000000\t0100000A\t0003\t0\t0\t50\t00000000\t0\t0\t0
eth1\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth2\t0402000A\t00000000\t0000\t0\t0\t0\tFFFFFFFF\t0\t0\t0
";

    #[test]
    fn the_longest_prefix_carries_the_packets_and_then_the_lowest_metric() {
        let to = |address: &str| route_v4(ROUTES, Some(address.parse().unwrap()));
        assert_eq!(to("10.0.2.4").as_deref(), Some("eth1"), "a route that is down is ignored");
        assert_eq!(to("8.8.8.8").as_deref(), Some("eth9"));
        assert_eq!(route_v4(ROUTES, None).as_deref(), Some("eth9"));
        assert_eq!(route_v4("", None), None);
    }

    #[test]
    fn ipv6_routes_are_read() {
        let text = "\
20010db8000000000000000000000000 40 00000000000000000000000000000000 00 \
00000000000000000000000000000000 00000100 00000001 00000000 00000001 eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
00000000000000000000000000000000 ffffffff 00000001 00000000 00200200 lo
";
        let to = |address: &str| {
            let address: Ipv6Addr = address.parse().unwrap();
            route_v6(text, u128::from(address))
        };
        assert_eq!(to("2001:db8::4").as_deref(), Some("eth1"));
        assert_eq!(to("2001:db9::4").as_deref(), Some("eth0"));
    }

    /// From Linux 6.8, on a host with the addresses 10.0.2.5 and fd00::2.
    const TRIE: &str = "\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.2.0/24 2 0 2
        |-- 10.0.2.0
           /24 link UNICAST
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 10.0.2.0/24 2 0 2
        +-- 10.0.2.0/29 2 0 2
           |-- 10.0.2.0
              /24 link UNICAST
           |-- 10.0.2.5
              /32 host LOCAL
        |-- 10.0.2.255
           /32 link BROADCAST
";
    const ADDRESSES: &str = "\
00000000000000000000000000000001 01 80 10 80       lo
fd000000000000000000000000000002 04 40 00 82     eth0
";

    #[test]
    fn packets_to_an_address_of_this_host_use_the_loopback() {
        let tree = Tree::of(&[("proc/net/route", ROUTES)]);
        let root = tree.root();
        let to = |address: &str| interface_to(&root, address.parse().ok());
        assert_eq!(to("10.0.2.5").as_deref(), Some("eth1"), "without a list of local addresses");
        tree.write("proc/net/fib_trie", TRIE);
        tree.write("proc/net/if_inet6", ADDRESSES);
        for own in ["10.0.2.5", "::ffff:10.0.2.5", "fd00::2", "127.0.0.1", "::1"] {
            assert_eq!(to(own).as_deref(), Some("lo"), "{own}");
        }
        // A neighbour, the network address and the broadcast address are not this host.
        for other in ["10.0.2.4", "10.0.2.0", "10.0.2.255"] {
            assert_eq!(to(other).as_deref(), Some("eth1"), "{other}");
        }
        assert_eq!(to("fd00::3"), None);
    }

    /// A virtual machine on Azure, with accelerated networking if `vf`.
    fn azure(vf: bool) -> Tree {
        let tree = Tree::of(&[
            ("sys/class/net/eth0/address", "00:0d:3a:01:02:03\n"),
            ("sys/class/net/eth0/device/uevent", "DRIVER=hv_netvsc\nMODALIAS=vmbus:63\n"),
            ("sys/class/net/eth0/speed", "40000\n"),
            ("sys/class/net/eth0/statistics/rx_packets", "1000\n"),
        ]);
        if vf {
            tree.write("sys/class/net/enP1s1/address", "00:0d:3a:01:02:03\n");
            tree.write("sys/class/net/enP1s1/device/uevent", "DRIVER=mlx5_core\n");
            tree.write("sys/class/net/enP1s1/statistics/rx_packets", "990\n");
        }
        tree
    }

    fn fact(facts: &[(String, String)], name: &str) -> Option<String> {
        facts.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn the_virtual_function_is_found_by_its_hardware_address() {
        let tree = azure(true);
        let root = tree.root();
        let found = facts(&root, "eth0");
        assert_eq!(fact(&found, "nic.driver").as_deref(), Some("hv_netvsc"));
        assert_eq!(fact(&found, "nic.vf.name").as_deref(), Some("enP1s1"));
        assert_eq!(fact(&found, "nic.vf.driver").as_deref(), Some("mlx5_core"));
        let counted = counters(&root, "eth0");
        assert_eq!(fact(&counted, "nic.vf.rx_packets").as_deref(), Some("990"));
        let without = facts(&azure(false).root(), "eth0");
        assert_eq!(fact(&without, "nic.vf.name").as_deref(), Some("none"));
        assert_eq!(facts(&root, "../../../etc"), []);
    }

    #[test]
    fn captured_ethtool_counters_override_those_of_the_function() {
        let tree = azure(true);
        let text = "NIC statistics:\n     tx_scattered: 0\n     vf_rx_packets: 7\n";
        tree.write("captured/ethtool-S/eth0", text);
        let counted = counters(&tree.root(), "eth0");
        assert_eq!(fact(&counted, "nic.vf.rx_packets").as_deref(), Some("7"));
        assert_eq!(ethtool("vf_rx_packets_x: 3", "vf_rx_packets"), None);
    }
}
