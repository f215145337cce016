//! The CPU quota of this process's control group (cgroup), versions 1 and 2.
//!
//! A quota is the CPU time that a group may use in each period. Every group from the root down to
//! the process's own may have one, and the lowest applies. Source:
//! Documentation/admin-guide/cgroup-v2.rst (`cpu.max`) and
//! Documentation/scheduler/sched-bwc.rst (`cpu.cfs_quota_us`, `cpu.cfs_period_us`) of the kernel.

use std::path::{Path, PathBuf};

use crate::Root;
use crate::mounts::{self, Mount};

/// The lowest CPU quota of this process, in thousandths of a processor; `None` without one.
pub fn cpu_quota_millicores(root: &Root) -> Option<u64> {
    let groups = root.text("proc/self/cgroup")?;
    let mountinfo = root.text("proc/self/mountinfo")?;
    let mounts = mounts::parse(mountinfo.as_bytes());
    let quotas = groups.lines().filter_map(|line| {
        let (version, path) = group(line)?;
        let mount = mounts.iter().find(|mount| version.is_mounted_at(mount))?;
        version.lowest_quota(root, mount, path)
    });
    quotas.min()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Parses `hierarchy:controllers:path`, a line of `/proc/self/cgroup`; `None` for controllers
/// without a CPU quota.
fn group(line: &str) -> Option<(Version, &str)> {
    let (hierarchy, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    match hierarchy {
        "0" => Some((Version::Two, path)),
        _ => controllers.split(',').any(|name| name == "cpu").then_some((Version::One, path)),
    }
}

impl Version {
    fn is_mounted_at(self, mount: &Mount) -> bool {
        match self {
            Version::One => {
                let has_cpu = mount.super_options.split(',').any(|option| option == "cpu");
                mount.filesystem == "cgroup" && has_cpu
            }
            Version::Two => mount.filesystem == "cgroup2",
        }
    }

    /// The lowest quota from the group at `path` up to the mounted one.
    fn lowest_quota(self, root: &Root, mount: &Mount, path: &str) -> Option<u64> {
        // If a container mounts only its own group, the path is relative to that group or to the
        // host's root.
        let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let top = mount.point.strip_prefix("/").unwrap_or(&mount.point);
        let groups = below.ancestors().map(|group| top.join(group));
        groups.filter_map(|group| self.quota_of(root, &group)).min()
    }

    fn quota_of(self, root: &Root, group: &Path) -> Option<u64> {
        let text = |file: &str| -> Option<String> {
            let entry: PathBuf = group.join(file);
            root.text(entry.to_str()?)
        };
        let (quota, period) = match self {
            Version::One => (text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?),
            Version::Two => {
                let max = text("cpu.max")?;
                let (quota, period) = max.split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            }
        };
        // `max` or -1 means no quota.
        let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
        quota.checked_mul(1000)?.checked_div(period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const V2: &str =
        "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn quota(files: &[(&str, &str)]) -> Option<u64> {
        cpu_quota_millicores(&Tree::of(files).root())
    }

    #[test]
    fn the_lowest_quota_up_to_the_root_applies() {
        let files = [
            ("proc/self/mountinfo", V2),
            ("proc/self/cgroup", "0::/system.slice/bench.service\n"),
            ("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/system.slice/bench.service/cpu.max", "400000 100000\n"),
        ];
        assert_eq!(quota(&files), Some(1500));
        assert_eq!(quota(&files[..2]), None, "no group has a quota");
        assert_eq!(quota(&files[1..]), None, "no cgroup is mounted");
    }

    #[test]
    fn a_group_without_a_quota_has_none() {
        let files = [
            ("proc/self/mountinfo", V2),
            ("proc/self/cgroup", "0::/bench\n"),
            ("sys/fs/cgroup/bench/cpu.max", "max 100000\n"),
        ];
        assert_eq!(quota(&files), None);
        for odd in ["", "100000", "a b", "100000 0", "18446744073709551615 1"] {
            let files = [files[0], files[1], ("sys/fs/cgroup/bench/cpu.max", odd)];
            assert_eq!(quota(&files), None, "{odd}");
        }
    }

    #[test]
    fn version_1_uses_the_hierarchy_of_the_cpu_controller() {
        let files = [
            ("proc/self/mountinfo", V1),
            ("proc/self/cgroup", "8:cpuset:/\n1:cpu,cpuacct:/bench\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/bench/cpu.cfs_quota_us", "25000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/bench/cpu.cfs_period_us", "50000\n"),
        ];
        assert_eq!(quota(&files), Some(500));
        assert_eq!(quota(&files[..4]), None, "-1 means no quota");
    }

    #[test]
    fn the_group_of_a_container_is_at_the_mount_point() {
        // The path in the host's namespace, and in the container's.
        let mount = "35 24 0:30 /docker/4f2 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        for (mount, path) in [(mount, "0::/docker/4f2\n"), (V2, "0::/\n"), (mount, "0::/\n")] {
            let files = [
                ("proc/self/mountinfo", mount),
                ("proc/self/cgroup", path),
                ("sys/fs/cgroup/cpu.max", "200000 100000\n"),
            ];
            assert_eq!(quota(&files), Some(2000), "{mount}{path}");
        }
    }
}
