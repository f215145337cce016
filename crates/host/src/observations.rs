//! Facts that change over time: counters and running programs. Separate from [`crate::facts`], which
//! must be equal whenever they are read on one host.

use std::fs;
use std::path::Path;

use crate::cpu::CpuTimes;
use crate::{Root, missing_mount, mounts, network, nfs};

/// Observations of the host, as `(name, value)`.
pub fn of_host(root: &Root) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        seen.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("clock.keeper", clock_keeper(root));
    let status = root.text("proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    add("process.capabilities", capabilities.map(|mask| mask.trim().to_owned()));
    add("mounts.nfs", nfs_mounts(root));
    let since_boot = CpuTimes::read(root).and_then(|now| now.steal_since(&CpuTimes::default()));
    add("cpu.steal_share_since_boot", since_boot.map(|share| format!("{share:.6}")));
    seen
}

/// Observations of the interface that carries packets to a server.
pub fn of_interface(root: &Root, name: &str) -> Vec<(String, String)> {
    network::counters(root, name)
}

/// Observations of the NFS mount of `path` (absolute, without links); none for other file systems.
pub fn of_mount(root: &Root, path: &Path) -> Vec<(String, String)> {
    let text = fs::read(root.path("proc/self/mountinfo")).unwrap_or_default();
    let mounts = mounts::parse(&text);
    let Some(mount) = mounts::covering(&mounts, path) else { return Vec::new() };
    if !nfs::is_nfs(&mount.filesystem) {
        return Vec::new();
    }
    let mut seen = Vec::new();
    let mut add = |name: &str, value: String| seen.push((name.to_owned(), value));
    let nconnect_option = nfs::nconnect_option(&mount.super_options);
    let differing: Vec<String> = nfs::other_mounts_of_server(root, mount)
        .into_iter()
        .filter(|(_, nconnect)| nconnect != nconnect_option)
        .map(|(point, nconnect)| format!("{point} (nconnect={nconnect})"))
        .collect();
    if !differing.is_empty() {
        add("mount.other_mounts", differing.join(", "));
    }
    if let Some(stats) = nfs::stats(root, mount).filter(|stats| !stats.transports.is_empty()) {
        let all = &stats.transports;
        let sum = |of: fn(&crate::mountstats::Transport) -> u64| {
            all.iter().map(of).fold(0, u64::saturating_add)
        };
        add("mount.connections", all.len().to_string());
        add("mount.connections_used", all.iter().filter(|t| t.connects > 0).count().to_string());
        add("mount.calls_sent", sum(|t| t.sends).to_string());
        add("mount.calls_waiting_for_slot_sum", sum(|t| t.waiting_for_slot).to_string());
        if let Some(most) = all.iter().filter_map(|t| t.slots_used_max).max() {
            add("mount.slots_used_max", most.to_string());
        }
        let getattr = stats.procedure("GETATTR").filter(|p| p.calls >= CALLS_MIN);
        if let Some(getattr) = getattr {
            let mean_ms = getattr.round_trip_ms as f64 / getattr.calls as f64;
            add("mount.getattr_round_trip_ms", format!("{mean_ms:.3}"));
            add("mount.getattr_calls", getattr.calls.to_string());
        }
    }
    seen
}

/// The mount points of NFS.
fn nfs_mounts(root: &Root) -> Option<String> {
    let text = fs::read(root.path("proc/self/mountinfo")).ok()?;
    let points: Vec<String> = mounts::parse(&text)
        .iter()
        .filter(|mount| nfs::is_nfs(&mount.filesystem))
        .map(|mount| mount.point.display().to_string())
        .collect();
    (!points.is_empty()).then(|| points.join(", "))
}

/// The mount point of a missing mount above `path` (absolute, without links).
pub fn missing_mount(root: &Root, path: &Path) -> Option<String> {
    let text = fs::read(root.path("proc/self/mountinfo")).ok()?;
    let mounts = mounts::parse(&text);
    let on_root = mounts::covering(&mounts, path).is_some_and(|m| m.point == Path::new("/"));
    let fstab = fs::read(root.path("etc/fstab")).unwrap_or_default();
    let is_mounted = |point: &Path| mounts.iter().any(|mount| mount.point == point);
    let missing = missing_mount::missing_mount(path, &fstab, on_root, is_mounted)?;
    Some(missing.mount_point.display().to_string())
}

/// A mean needs at least this many calls, because each is counted in whole milliseconds.
const CALLS_MIN: u64 = 100;

/// The running program that synchronises the clock, if it is a known one.
fn clock_keeper(root: &Root) -> Option<String> {
    let processes = fs::read_dir(root.path("proc")).ok()?;
    let names = processes.filter_map(|entry| {
        let pid = entry.ok()?.file_name().into_string().ok()?;
        pid.bytes().all(|b| b.is_ascii_digit()).then(|| root.text(&format!("proc/{pid}/comm")))?
    });
    // The kernel truncates names to 15 characters.
    let mut keepers: Vec<String> = names
        .filter(|name| ["chronyd", "ntpd", "ntpsec", "systemd-timesyn", "ptp4l"].contains(&&**name))
        .collect();
    keepers.sort();
    let keeper = keepers.into_iter().next()?;
    Some(if keeper == "systemd-timesyn" { "systemd-timesyncd".to_owned() } else { keeper })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn host_and_mount_have_observations() {
        let tree = Tree::of(&[
            (
                "proc/self/mountinfo",
                "61 27 0:52 / /mnt/a rw - nfs4 10.0.0.4:/a rw,vers=4.1,nconnect=2,addr=10.0.0.4\n\
                 62 27 0:53 / /mnt/b rw - nfs4 10.0.0.4:/b rw,vers=4.1,addr=10.0.0.4\n",
            ),
            (
                "proc/self/mountstats",
                "device 10.0.0.4:/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n\
                 \txprt:\ttcp 759 1 1 0 12 300 300 0 80 30 17 2 0\n\
                 \txprt:\ttcp 0 0 0 0 0 0 0 0 0 0 2 0 0\n\
                 \tper-op statistics\n\
                 \t  GETATTR: 200 200 0 952 784 0 100 130 0\n",
            ),
            ("proc/self/status", "Name:\tcat\nCapEff:\t000001ffffffffff\n"),
            ("etc/fstab", "10.0.0.4:/c /mnt/c nfs vers=3 0 0\n"),
            ("proc/812/comm", "systemd-timesyn\n"),
            ("proc/813/comm", "bash\n"),
            ("proc/stat", "cpu  100 0 0 800 0 0 0 100 0 0\n"),
        ]);
        let root = tree.root();
        let expected = [
            ("mount.other_mounts", "/mnt/b (nconnect=1)"),
            ("mount.connections", "2"),
            ("mount.connections_used", "1"),
            ("mount.calls_sent", "300"),
            ("mount.calls_waiting_for_slot_sum", "30"),
            ("mount.slots_used_max", "17"),
            ("mount.getattr_round_trip_ms", "0.500"),
            ("mount.getattr_calls", "200"),
        ];
        let seen = of_mount(&root, Path::new("/mnt/a/fourcorners"));
        let seen: Vec<_> = seen.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(seen, expected);
        let host = of_host(&root);
        let host: Vec<_> = host.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let expected = [
            ("clock.keeper", "systemd-timesyncd"),
            ("process.capabilities", "000001ffffffffff"),
            ("mounts.nfs", "/mnt/a, /mnt/b"),
            ("cpu.steal_share_since_boot", "0.100000"),
        ];
        assert_eq!(host, expected);
        assert_eq!(missing_mount(&root, Path::new("/mnt/c/x")).as_deref(), Some("/mnt/c"));
        assert_eq!(missing_mount(&root, Path::new("/mnt/a/x")), None);
    }
}
