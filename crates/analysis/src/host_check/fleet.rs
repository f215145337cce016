//! The hosts of a fleet together: which are not reached, what differs between them, and whose clock is
//! wrong.
//!
//! Hosts that differ in a setting give different results, and their total is that of no configuration.
//! Facts that identify a host (names, addresses) and counters always differ and are not compared.

use std::collections::BTreeMap;

use metrics::warning::is_wall_clock_off;

use super::{Checkup, Facts, Options};

/// The facts that are compared: settings, versions and sizes.
const COMPARED: &[&str] = &[
    "clock.keeper",
    "clock.source",
    "core.rmem_max",
    "core.wmem_max",
    "cpu.count",
    "cpu.governor",
    "cpu.model",
    "cpu.quota",
    "cpu.smt",
    "device.model",
    "device.read_ahead_kib",
    "device.scheduler",
    "filesystem.size_bytes",
    "filesystem.type",
    "io_uring.disabled",
    "kernel.release",
    "limit.locked_memory_bytes",
    "limit.open_files",
    "machine.cloud",
    "machine.product",
    "memory.bytes",
    "memory.dirty_ratio",
    "memory.transparent_huge_pages",
    "mount.connections",
    "mount.missing",
    "mount.nconnect",
    "mount.options",
    "mount.read_ahead_kib",
    "mount.rsize_bytes",
    "mount.security",
    "mount.server",
    "mount.source",
    "mount.super_options",
    "mount.version",
    "mount.wsize_bytes",
    "nfs.session_slots_max",
    "nic.driver",
    "nic.mtu_bytes",
    "nic.speed_mbit_s",
    "numa.nodes",
    "os.name",
    "sunrpc.tcp_max_slot_table_entries",
    "sunrpc.tcp_slot_table_entries",
    "tcp.adv_win_scale",
    "tcp.congestion_control",
    "tcp.moderate_rcvbuf",
    "tcp.rmem",
    "tcp.sack",
    "tcp.slow_start_after_idle",
    "tcp.timestamps",
    "tcp.window_scaling",
    "tcp.wmem",
    "transport.local_ports",
    "virtualisation",
    "vm.location",
    "vm.size",
    "vm.zone",
];
/// Memory of equal machines differs by what their firmware reserves.
const MEMORY: &str = "memory.bytes";
/// Relative difference of memory that is none.
const MEMORY_TOLERANCE: f64 = 0.02;
/// An option of an NFS mount that names the host.
const OF_HOST: &str = "clientaddr=";
/// The checks of all hosts.
#[derive(Clone, Debug)]
pub struct FleetCheckup {
    /// The hosts, in the order in which they were named.
    pub hosts: Vec<FleetHost>,
    /// What differs between those that answered.
    pub differences: Vec<Difference>,
}

/// One host of a fleet.
#[derive(Clone, Debug)]
pub struct FleetHost {
    /// Its name in the list of hosts.
    pub name: String,
    /// Its checks, or why there are none.
    pub checked: Result<CheckedHost, String>,
}

/// A host that answered.
#[derive(Clone, Debug)]
pub struct CheckedHost {
    /// Its facts.
    pub facts: Facts,
    /// What they were judged for.
    pub options: Options,
    /// The results.
    pub checkup: Checkup,
    /// Its wall clock minus the controller's, in nanoseconds.
    pub clock_ahead_ns: i64,
    /// The clock is known to plus or minus this many nanoseconds.
    pub clock_error_ns: u64,
}

impl FleetCheckup {
    /// Compares the hosts.
    pub fn of(hosts: Vec<FleetHost>) -> FleetCheckup {
        let answered = hosts.iter().enumerate().filter_map(|(host, one)| {
            one.checked.as_ref().ok().map(|checked| (host, &checked.facts))
        });
        let differences = differences(&answered.collect::<Vec<_>>());
        FleetCheckup { hosts, differences }
    }

    /// Hosts that did not answer, with the reason.
    pub fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hosts.iter().filter_map(|host| {
            host.checked.as_ref().err().map(|why| (host.name.as_str(), why.as_str()))
        })
    }

    /// Hosts that answered, with their positions.
    pub fn answered(&self) -> impl Iterator<Item = (usize, &CheckedHost)> {
        let hosts = self.hosts.iter().enumerate();
        hosts.filter_map(|(index, host)| Some((index, host.checked.as_ref().ok()?)))
    }
}

impl CheckedHost {
    /// Whether a check found a problem, or its clock is wrong.
    pub fn has_problems(&self) -> bool {
        self.checkup.has_problems() || self.is_clock_off()
    }

    /// Whether its wall clock is certainly off by more than a second.
    pub const fn is_clock_off(&self) -> bool {
        is_wall_clock_off(self.clock_ahead_ns, self.clock_error_ns)
    }
}

/// A fact that is not the same on all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The fact's name: `mount.nconnect`.
    pub fact: &'static str,
    /// Its values, that of most hosts first. `None`: not known there.
    pub values: Vec<ValueOnHosts>,
}

/// A value and the hosts that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueOnHosts {
    /// The value.
    pub value: Option<String>,
    /// Positions in the list of hosts, ascending.
    pub hosts: Vec<usize>,
}

/// The facts that differ between hosts, each given with its position.
fn differences(hosts: &[(usize, &Facts)]) -> Vec<Difference> {
    COMPARED.iter().filter_map(|fact| difference(fact, hosts)).collect()
}

fn difference(fact: &'static str, hosts: &[(usize, &Facts)]) -> Option<Difference> {
    let mut by_value: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (host, facts) in hosts {
        let value = facts.get(fact).map(|value| compared(fact, value));
        by_value.entry(value).or_default().push(*host);
    }
    if by_value.len() < 2 || (fact == MEMORY && is_same_memory(hosts)) {
        return None;
    }
    let mut values: Vec<ValueOnHosts> =
        by_value.into_iter().map(|(value, hosts)| ValueOnHosts { value, hosts }).collect();
    values.sort_by_key(|one| std::cmp::Reverse(one.hosts.len()));
    Some(Difference { fact, values })
}

/// The value without what names the host.
fn compared(fact: &str, value: &str) -> String {
    match fact {
        "mount.super_options" | "mount.options" => {
            let options = value.split(',').filter(|option| !option.starts_with(OF_HOST));
            options.collect::<Vec<_>>().join(",")
        }
        _ => value.to_owned(),
    }
}

fn is_same_memory(hosts: &[(usize, &Facts)]) -> bool {
    let sizes: Option<Vec<f64>> = hosts.iter().map(|(_, facts)| facts.real(MEMORY)).collect();
    let Some(sizes) = sizes else { return false };
    let (low, high) = sizes
        .iter()
        .fold((f64::MAX, 0.0_f64), |(low, high), size| (low.min(*size), high.max(*size)));
    high - low <= MEMORY_TOLERANCE * high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        Facts(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn what_differs_is_listed_with_the_value_of_most_hosts_first() {
        let usual = facts(&[("mount.nconnect", "8"), ("host.name", "a"), ("nic.rx_packets", "7")]);
        let one = facts(&[("mount.nconnect", "1"), ("host.name", "b"), ("nic.rx_packets", "9")]);
        let unknown = facts(&[("host.name", "c")]);
        let found = differences(&[(0, &one), (1, &usual), (2, &usual), (3, &unknown)]);
        let value = |value: Option<&str>, hosts: &[usize]| ValueOnHosts {
            value: value.map(str::to_owned),
            hosts: hosts.to_vec(),
        };
        let [only] = &found[..] else { panic!("names and counters are not compared: {found:?}") };
        assert_eq!(only.fact, "mount.nconnect");
        assert_eq!(only.values[0], value(Some("8"), &[1, 2]));
        assert!(only.values.contains(&value(Some("1"), &[0])));
        assert!(only.values.contains(&value(None, &[3])));
        assert_eq!(differences(&[(4, &usual)]), []);
    }

    #[test]
    fn the_hosts_own_address_and_what_firmware_reserves_are_no_differences() {
        let host = |address: &str, memory: &str| {
            let options = format!("rw,vers=3,{OF_HOST}{address},nconnect=8");
            facts(&[("mount.super_options", &options), (MEMORY, memory)])
        };
        let [a, b] = [host("10.0.0.1", "33000000000"), host("10.0.0.2", "33600000000")];
        assert_eq!(differences(&[(0, &a), (1, &b)]), []);
        let small = host("10.0.0.3", "16000000000");
        assert_eq!(differences(&[(0, &a), (1, &small)])[0].fact, MEMORY);
    }

    #[test]
    fn a_clock_is_off_only_beyond_its_error() {
        assert!(is_wall_clock_off(3_600_000_000_000, 200_000));
        assert!(is_wall_clock_off(-3_600_000_000_000, 200_000));
        assert!(!is_wall_clock_off(1_000_000_000, 0));
        assert!(!is_wall_clock_off(1_500_000_000, 600_000_000));
        assert!(!is_wall_clock_off(0, u64::MAX));
    }
}
