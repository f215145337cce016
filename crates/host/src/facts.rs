//! The facts that are stored with every result, as `(name, value)`, ordered by name.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::cpu::CpuInfo;
use crate::{Root, device, mounts, nfs};

/// Facts about this host and its settings.
pub fn of_host(root: &Root) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    for (name, entry) in ENTRIES {
        // `/proc/sys` separates the numbers of a list by tabs.
        add(name, root.text(entry).map(|text| text.replace('\t', " ")));
    }
    add("machine.cloud", is_azure(root).then(|| "azure".to_owned()));
    let cpuinfo = root.text("proc/cpuinfo").map(|text| CpuInfo::parse(&text)).unwrap_or_default();
    add("cpu.count", (cpuinfo.count > 0).then(|| cpuinfo.count.to_string()));
    add("cpu.model", cpuinfo.model);
    add("memory.bytes", memory_bytes(root).map(|bytes| bytes.to_string()));
    let os_release = root.text("etc/os-release").unwrap_or_default();
    add("os.id", os_release_value(&os_release, "ID"));
    add("os.name", os_release_value(&os_release, "PRETTY_NAME"));
    add("os.version", os_release_value(&os_release, "VERSION_ID"));
    let limits = root.text("proc/self/limits").unwrap_or_default();
    add("limit.locked_memory_bytes", soft_limit(&limits, "Max locked memory"));
    add("limit.open_files", soft_limit(&limits, "Max open files"));
    add("virtualisation", virtualisation(root, cpuinfo.virtual_machine));
    facts.sort();
    facts
}

/// Facts about the file system and the mount of `path`, which must exist.
pub fn of_target(root: &Root, path: &Path) -> Vec<(String, String)> {
    let Ok(path) = fs::canonicalize(path) else { return Vec::new() };
    let device = fs::metadata(&path).ok().map(|found| {
        let number = found.dev();
        (rustix::fs::major(number), rustix::fs::minor(number))
    });
    let mut facts = of_mount(root, &path, device);
    if let Ok(space) = rustix::fs::statvfs(&path) {
        let mut add = |name: &str, blocks: u64| {
            let bytes = blocks.saturating_mul(space.f_frsize);
            facts.push((name.to_owned(), bytes.to_string()));
        };
        add("filesystem.free_bytes", space.f_bavail);
        add("filesystem.size_bytes", space.f_blocks);
    }
    facts.sort();
    facts
}

/// The host's memory, in bytes.
pub fn memory_bytes(root: &Root) -> Option<u64> {
    let meminfo = root.text("proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    // The kernel's `kB` is 1,024 bytes: proc_meminfo(5).
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Facts that are the whole text of an entry.
const ENTRIES: &[(&str, &str)] = &[
    ("clock.available", "sys/devices/system/clocksource/clocksource0/available_clocksource"),
    ("clock.source", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("core.rmem_max", "proc/sys/net/core/rmem_max"),
    ("core.wmem_max", "proc/sys/net/core/wmem_max"),
    ("cpu.governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu.isolated", "sys/devices/system/cpu/isolated"),
    ("cpu.quota", "sys/fs/cgroup/cpu.max"),
    ("cpu.smt", "sys/devices/system/cpu/smt/active"),
    ("host.name", "proc/sys/kernel/hostname"),
    ("io_uring.disabled", "proc/sys/kernel/io_uring_disabled"),
    ("kernel.release", "proc/sys/kernel/osrelease"),
    ("kernel.version", "proc/sys/kernel/version"),
    ("machine.product", "sys/class/dmi/id/product_name"),
    ("machine.vendor", "sys/class/dmi/id/sys_vendor"),
    ("memory.dirty_ratio", "proc/sys/vm/dirty_ratio"),
    ("memory.transparent_huge_pages", "sys/kernel/mm/transparent_hugepage/enabled"),
    ("nfs.session_slots_max", "sys/module/nfs/parameters/max_session_slots"),
    ("numa.nodes", "sys/devices/system/node/online"),
    ("sunrpc.tcp_max_slot_table_entries", "proc/sys/sunrpc/tcp_max_slot_table_entries"),
    ("sunrpc.tcp_slot_table_entries", "proc/sys/sunrpc/tcp_slot_table_entries"),
    ("tcp.adv_win_scale", "proc/sys/net/ipv4/tcp_adv_win_scale"),
    ("tcp.congestion_control", "proc/sys/net/ipv4/tcp_congestion_control"),
    ("tcp.moderate_rcvbuf", "proc/sys/net/ipv4/tcp_moderate_rcvbuf"),
    ("tcp.rmem", "proc/sys/net/ipv4/tcp_rmem"),
    ("tcp.sack", "proc/sys/net/ipv4/tcp_sack"),
    ("tcp.slow_start_after_idle", "proc/sys/net/ipv4/tcp_slow_start_after_idle"),
    ("tcp.timestamps", "proc/sys/net/ipv4/tcp_timestamps"),
    ("tcp.window_scaling", "proc/sys/net/ipv4/tcp_window_scaling"),
    ("tcp.wmem", "proc/sys/net/ipv4/tcp_wmem"),
    ("transport.local_ports", "proc/sys/net/ipv4/ip_local_port_range"),
    ("transport.unprivileged_ports_from", "proc/sys/net/ipv4/ip_unprivileged_port_start"),
];

/// The chassis asset tag of every Azure virtual machine, and of no other machine.
///
/// Source: cloud-init's data source for Azure.
const AZURE_ASSET_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// Whether the firmware identifies an Azure virtual machine.
pub fn is_azure(root: &Root) -> bool {
    root.text("sys/class/dmi/id/chassis_asset_tag").as_deref() == Some(AZURE_ASSET_TAG)
}

/// Facts about the mount of `path` (absolute, without links).
///
/// * `device` - the device number of `path`, if it is known
pub fn of_mount(root: &Root, path: &Path, device: Option<(u32, u32)>) -> Vec<(String, String)> {
    let mountinfo = fs::read(root.path("proc/self/mountinfo")).unwrap_or_default();
    let mounts = mounts::parse(&mountinfo);
    let mount = mounts::covering(&mounts, path);
    let mut facts = Vec::new();
    if let Some(mount) = mount {
        facts.extend(nfs::facts(root, mount));
        let mut add = |name: &str, value: &str| facts.push((name.to_owned(), value.to_owned()));
        add("filesystem.type", &mount.filesystem);
        add("mount.options", &mount.options);
        add("mount.point", &mount.point.to_string_lossy());
        add("mount.source", &mount.source);
        add("mount.super_options", &mount.super_options);
    }
    // The files of some file systems (btrfs) have another device number than the mount.
    let number = mount.map(|mount| mount.device).or(device);
    facts.extend(number.into_iter().flat_map(|number| device::facts(root, number)));
    facts
}

/// A value of os-release(5).
fn os_release_value(os_release: &str, key: &str) -> Option<String> {
    let assignment = |line: &str| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
    let value = os_release.lines().find_map(assignment)?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// A soft limit from `/proc/self/limits`.
fn soft_limit(limits: &str, name: &str) -> Option<String> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next().map(str::to_owned)
}

/// The kind of container or virtual machine, if any.
fn virtualisation(root: &Root, virtual_machine: bool) -> Option<String> {
    let container = [".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io"]
        .iter()
        .any(|entry| root.path(entry).exists());
    let hypervisor = root.text("sys/hypervisor/type");
    let machine = match hypervisor {
        Some(name) => Some(format!("virtual machine ({name})")),
        None => virtual_machine.then(|| "virtual machine".to_owned()),
    };
    match (machine, container) {
        (Some(machine), true) => Some(format!("container in a {machine}")),
        (None, true) => Some("container".to_owned()),
        (machine, false) => machine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// A virtual machine with an NFS mount.
    fn system() -> Tree {
        Tree::of(&[
            ("proc/sys/kernel/osrelease", "6.8.0-1015-azure\n"),
            ("proc/sys/kernel/version", "#17-Ubuntu SMP\n"),
            ("proc/sys/kernel/io_uring_disabled", "0\n"),
            ("proc/cpuinfo", "processor: 0\nmodel name: EPYC\nflags: hypervisor\nprocessor: 1\n"),
            ("proc/meminfo", "MemTotal:       16393932 kB\nMemFree:         1 kB\n"),
            (
                "proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max open files            1024                 524288               files\n\
                 Max locked memory         67108864             67108864             bytes\n",
            ),
            ("etc/os-release", "ID=ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n"),
            (
                "proc/self/mountinfo",
                "27 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
                 61 27 0:52 / /mnt/vol1 rw,relatime - nfs 10.0.0.4:/vol1 rw,vers=3,nconnect=8\n",
            ),
        ])
    }

    fn pairs(facts: &[(String, String)]) -> Vec<(&str, &str)> {
        facts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn facts_of_the_host_are_ordered_by_name() {
        let facts = of_host(&system().root());
        let expected = [
            ("cpu.count", "2"),
            ("cpu.model", "EPYC"),
            ("io_uring.disabled", "0"),
            ("kernel.release", "6.8.0-1015-azure"),
            ("kernel.version", "#17-Ubuntu SMP"),
            ("limit.locked_memory_bytes", "67108864"),
            ("limit.open_files", "1024"),
            ("memory.bytes", "16787386368"),
            ("os.id", "ubuntu"),
            ("os.name", "Ubuntu 24.04.1 LTS"),
            ("virtualisation", "virtual machine"),
        ];
        assert_eq!(pairs(&facts), expected);
    }

    #[test]
    fn a_network_mount_has_options_and_no_device() {
        let path = Path::new("/mnt/vol1/fourcorners");
        let mut facts = of_mount(&system().root(), path, Some((0, 52)));
        let expected = [
            ("filesystem.type", "nfs"),
            ("mount.nconnect", "8"),
            ("mount.options", "rw,relatime"),
            ("mount.point", "/mnt/vol1"),
            ("mount.source", "10.0.0.4:/vol1"),
            ("mount.super_options", "rw,vers=3,nconnect=8"),
            ("mount.version", "3"),
        ];
        facts.sort();
        assert_eq!(pairs(&facts), expected);
    }

    #[test]
    fn an_empty_tree_has_no_facts() {
        let empty = Tree::of(&[]);
        assert_eq!(of_host(&empty.root()), []);
        assert_eq!(of_mount(&empty.root(), Path::new("/x"), None), []);
    }

    #[test]
    fn this_host_and_its_temporary_directory_have_facts() {
        let root = Root::of_this_host();
        let names = |facts: Vec<(String, String)>| -> Vec<String> {
            facts.into_iter().map(|(name, _)| name).collect()
        };
        let host = names(of_host(&root));
        assert!(host.contains(&"kernel.release".to_owned()), "{host:?}");
        assert!(host.is_sorted());
        let target = names(of_target(&root, &std::env::temp_dir()));
        for name in ["filesystem.free_bytes", "filesystem.type", "mount.point", "mount.source"] {
            assert!(target.contains(&name.to_owned()), "{target:?}");
        }
        assert!(target.is_sorted());
    }
}
