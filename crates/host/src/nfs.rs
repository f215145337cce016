//! The settings of an NFS mount, from its effective options.
//!
//! The kernel lists the negotiated values and all defaults, unlike fstab. Source: nfs(5),
//! `nfs_show_mount_options` of the kernel.

use std::fs;
use std::net::IpAddr;

use crate::mounts::Mount;
use crate::mountstats::{self, MountStats};
use crate::{Root, mounts};

/// The value of an option in a list such as `rw,vers=3,hard`; empty for an option without a value.
pub fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    options.split(',').find_map(|option| match option.split_once('=') {
        Some((own, value)) => (own == name).then_some(value),
        None => (option == name).then_some(""),
    })
}

/// Whether a file system of this type is NFS.
pub fn is_nfs(filesystem: &str) -> bool {
    filesystem == "nfs" || filesystem == "nfs4"
}

/// The server's address, also if it is mounted by name.
pub fn server(mount: &Mount) -> Option<IpAddr> {
    let options = mount.super_options.as_str();
    option(options, "addr").or_else(|| option(options, "mountaddr"))?.parse().ok()
}

/// The client's counters of this mount.
pub fn stats(root: &Root, mount: &Mount) -> Option<MountStats> {
    let text = fs::read(root.path("proc/self/mountstats")).ok()?;
    mountstats::on(&mountstats::parse(&text), &mount.point).cloned()
}

/// Facts about an NFS mount, as `(name, value)` with names that begin with `mount.`; none for other
/// file systems.
pub(crate) fn facts(root: &Root, mount: &Mount) -> Vec<(String, String)> {
    if !is_nfs(&mount.filesystem) {
        return Vec::new();
    }
    let options = mount.super_options.as_str();
    let mut facts = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    };
    let owned = |name: &str| option(options, name).map(str::to_owned);
    add("mount.version", version(options));
    add("mount.rsize_bytes", owned("rsize"));
    add("mount.wsize_bytes", owned("wsize"));
    add("mount.security", owned("sec"));
    add("mount.server", server(mount).map(|server| server.to_string()));
    let stats = stats(root, mount);
    // The first mount of a server sets the number of connections; `nconnect` of later mounts has no
    // effect.
    let transports = stats.map(|stats| stats.transports.len()).filter(|count| *count > 0);
    let connections = transports.map(|count| count.to_string());
    add("mount.nconnect", connections.or_else(|| Some(nconnect_option(options).to_owned())));
    let (major, minor) = mount.device;
    add("mount.read_ahead_kib", root.text(&format!("sys/class/bdi/{major}:{minor}/read_ahead_kb")));
    facts
}

/// The option `nconnect`; one connection without it.
pub fn nconnect_option(options: &str) -> &str {
    option(options, "nconnect").unwrap_or("1")
}

/// `3`, `4.0`, `4.1`: newer kernels show `vers=4.1`, older ones `vers=4,minorversion=1`.
fn version(options: &str) -> Option<String> {
    let version = option(options, "vers").or_else(|| option(options, "nfsvers"))?;
    Some(match (version, option(options, "minorversion")) {
        ("4", minor) => format!("4.{}", minor.unwrap_or("0")),
        _ => version.to_owned(),
    })
}

/// Other mounts of the same server, which share its connections, as `(mount point, nconnect)`.
pub fn other_mounts_of_server(root: &Root, mount: &Mount) -> Vec<(String, String)> {
    let text = fs::read(root.path("proc/self/mountinfo")).unwrap_or_default();
    let own = server(mount);
    let shares = |other: &Mount| {
        is_nfs(&other.filesystem) && own.is_some() && server(other) == own && other != mount
    };
    mounts::parse(&text)
        .iter()
        .filter(|other| shares(other))
        .map(|other| {
            let point = other.point.display().to_string();
            (point, nconnect_option(&other.super_options).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn an_option_is_found_by_its_full_name() {
        let options = "rw,vers=3,rsize=262144,hard,mountaddr=10.0.0.4,addr=10.0.0.5";
        assert_eq!(option(options, "rsize"), Some("262144"));
        assert_eq!(option(options, "hard"), Some(""));
        assert_eq!(option(options, "size"), None);
        assert_eq!(option(options, "addr"), Some("10.0.0.5"));
        assert_eq!(nconnect_option(options), "1");
    }

    #[test]
    fn the_version_includes_the_minor_number() {
        for (options, shown) in [
            ("vers=3", Some("3")),
            ("vers=4.1", Some("4.1")),
            ("vers=4,minorversion=1", Some("4.1")),
            ("vers=4", Some("4.0")),
            ("rw", None),
        ] {
            assert_eq!(version(options).as_deref(), shown, "{options}");
        }
    }

    fn tree() -> Tree {
        Tree::of(&[
            (
                "proc/self/mountinfo",
                "61 27 0:52 / /mnt/a rw - nfs 10.0.0.4:/a rw,vers=3,rsize=65536,wsize=65536,\
                 nconnect=8,sec=sys,addr=10.0.0.4\n\
                 62 27 0:53 / /mnt/b rw - nfs 10.0.0.4:/b rw,vers=3,addr=10.0.0.4\n\
                 63 27 0:54 / /mnt/c rw - nfs 10.0.0.5:/c rw,vers=3,addr=10.0.0.5\n",
            ),
            (
                "proc/self/mountstats",
                "device 10.0.0.4:/a mounted on /mnt/a with fstype nfs statvers=1.1\n\
                 \txprt:\ttcp 759 1 1 0 12 39 39 0 80 0 17 2 0\n",
            ),
            ("sys/class/bdi/0:52/read_ahead_kb", "128\n"),
        ])
    }

    #[test]
    fn connections_are_the_actual_ones_instead_of_the_option() {
        let tree = tree();
        let root = tree.root();
        let mounts = mounts::parse(&fs::read(root.path("proc/self/mountinfo")).unwrap());
        let expected = [
            ("mount.version", "3"),
            ("mount.rsize_bytes", "65536"),
            ("mount.wsize_bytes", "65536"),
            ("mount.security", "sys"),
            ("mount.server", "10.0.0.4"),
            ("mount.nconnect", "1"),
            ("mount.read_ahead_kib", "128"),
        ];
        let facts = facts(&root, &mounts[0]);
        let facts: Vec<_> = facts.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(facts, expected);
        let others = other_mounts_of_server(&root, &mounts[0]);
        assert_eq!(others, [("/mnt/b".to_owned(), "1".to_owned())]);
    }
}
