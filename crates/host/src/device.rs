//! The block device below a file system, from `/sys/dev/block`.

use std::fs;
use std::path::PathBuf;

use crate::Root;

/// Facts about the device `(major, minor)`, as `(name, value)` with names that begin with
/// `device.`; none without a device (network file systems, memory).
pub(crate) fn facts(root: &Root, (major, minor): (u32, u32)) -> Vec<(String, String)> {
    let number = format!("{major}:{minor}");
    let Ok(own) = fs::canonicalize(root.path(&format!("sys/dev/block/{number}"))) else {
        return Vec::new();
    };
    let mut facts = vec![("device.number".to_owned(), number)];
    if let Some(name) = own.file_name() {
        facts.push(("device.name".to_owned(), name.to_string_lossy().into_owned()));
    }
    // A partition has no queue; its disk's directory does.
    let disk: PathBuf = match (own.join("partition").exists(), own.parent()) {
        (true, Some(disk)) => disk.to_path_buf(),
        _ => own,
    };
    for (name, entry) in ENTRIES {
        let text = fs::read_to_string(disk.join(entry)).ok();
        if let Some(text) = text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            facts.push(((*name).to_owned(), value(name, text)));
        }
    }
    facts
}

/// Source: Documentation/ABI/stable/sysfs-block of the kernel.
const ENTRIES: &[(&str, &str)] = &[
    ("device.model", "device/model"),
    ("device.mapper_name", "dm/name"),
    ("device.rotational", "queue/rotational"),
    ("device.scheduler", "queue/scheduler"),
    ("device.logical_block_bytes", "queue/logical_block_size"),
    ("device.physical_block_bytes", "queue/physical_block_size"),
    ("device.requests", "queue/nr_requests"),
    ("device.read_ahead_kib", "queue/read_ahead_kb"),
    ("device.write_cache", "queue/write_cache"),
];

fn value(name: &str, text: &str) -> String {
    match name {
        // The active one is in brackets: `none [mq-deadline] kyber`.
        "device.scheduler" => match text.split_once('[').and_then(|(_, rest)| rest.split_once(']'))
        {
            Some((used, _)) => used.to_owned(),
            None => text.to_owned(),
        },
        "device.rotational" => match text {
            "0" => "no".to_owned(),
            "1" => "yes".to_owned(),
            other => other.to_owned(),
        },
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;
    use crate::tree::Tree;

    /// The entries of a disk with a partition in `/sys`.
    fn system() -> Tree {
        let tree = Tree::of(&[
            ("sys/devices/pci0/block/sdb/queue/scheduler", "none [mq-deadline] kyber\n"),
            ("sys/devices/pci0/block/sdb/queue/rotational", "0\n"),
            ("sys/devices/pci0/block/sdb/queue/logical_block_size", "512\n"),
            ("sys/devices/pci0/block/sdb/queue/physical_block_size", "4096\n"),
            ("sys/devices/pci0/block/sdb/device/model", "Virtual Disk    \n"),
            ("sys/devices/pci0/block/sdb/sdb1/partition", "1\n"),
        ]);
        let root = tree.root();
        fs::create_dir_all(root.path("sys/dev/block")).unwrap();
        let link = |number: &str, to: &str| {
            symlink(Path::new("../../devices/pci0/block").join(to), root.path(number)).unwrap();
        };
        link("sys/dev/block/8:16", "sdb");
        link("sys/dev/block/8:17", "sdb/sdb1");
        tree
    }

    fn facts_of(number: (u32, u32)) -> Vec<(String, String)> {
        facts(&system().root(), number)
    }

    #[test]
    fn a_disk_has_its_model_scheduler_and_block_sizes() {
        let expected = [
            ("device.number", "8:16"),
            ("device.name", "sdb"),
            ("device.model", "Virtual Disk"),
            ("device.rotational", "no"),
            ("device.scheduler", "mq-deadline"),
            ("device.logical_block_bytes", "512"),
            ("device.physical_block_bytes", "4096"),
        ];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        assert_eq!(facts_of((8, 16)), expected);
    }

    #[test]
    fn a_partition_has_its_own_name_and_the_other_facts_of_its_disk() {
        let facts = facts_of((8, 17));
        assert_eq!(facts[1], ("device.name".to_owned(), "sdb1".to_owned()));
        assert_eq!(facts[2], ("device.model".to_owned(), "Virtual Disk".to_owned()));
    }

    #[test]
    fn a_file_system_without_a_device_has_no_facts() {
        assert_eq!(facts_of((0, 52)), []);
    }
}
