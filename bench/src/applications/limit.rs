//! The limit that an application and its profile share: a control group that lets through a number of
//! operations and bytes per second of one block device.
//!
//! Version 1 of the controller `blkio` limits reads that miss the page cache, direct writes, and
//! buffered writes that the process itself writes back (fsync). Pages that the kernel writes back
//! later belong to no process and are not limited.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Operations per second of each direction.
const OPERATIONS_PER_S: u64 = 1_000;
/// Bytes per second of each direction.
const BYTES_PER_S: u64 = 64 << 20;
/// Where the controller is mounted.
const CONTROLLER: &str = "/sys/fs/cgroup/blkio";

/// A control group; removed on drop.
pub(crate) struct Limit {
    group: PathBuf,
}

impl Limit {
    /// Limits the device of the file system that contains `folder`.
    pub(crate) fn new(folder: &Path) -> Result<Limit> {
        ensure!(
            Path::new(CONTROLLER).join("blkio.throttle.read_iops_device").exists(),
            "application and profile are compared at the same limit, which needs root and the control \
             group controller blkio (version 1) at {CONTROLLER}"
        );
        let device =
            std::fs::metadata(folder).with_context(|| format!("read {}", folder.display()))?;
        let (major, minor) = numbers(device.dev());
        ensure!(
            Path::new(&format!("/sys/dev/block/{major}:{minor}")).exists(),
            "{} is not on a block device, which could be limited",
            folder.display()
        );
        let group = Path::new(CONTROLLER).join(format!("fourcorners-{}", std::process::id()));
        std::fs::create_dir_all(&group).with_context(|| format!("make {}", group.display()))?;
        let limit = Limit { group };
        for direction in ["read", "write"] {
            for (what, most) in [("iops", OPERATIONS_PER_S), ("bps", BYTES_PER_S)] {
                let file = limit.group.join(format!("blkio.throttle.{direction}_{what}_device"));
                std::fs::write(&file, format!("{major}:{minor} {most}"))
                    .with_context(|| format!("write {}", file.display()))?;
            }
        }
        Ok(limit)
    }

    /// A program that begins in the group, as an unprivileged user if there is one.
    pub(crate) fn command(&self, user: Option<&str>, program: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.group.join("cgroup.procs"));
        if let Some(user) = user {
            command.args(["setpriv", "--reuid", user, "--regid", user, "--clear-groups"]);
        }
        command.arg(program);
        command
    }

    /// In words.
    pub(crate) fn describe() -> String {
        format!(
            "{OPERATIONS_PER_S} operations and {} MiB per second of each direction",
            BYTES_PER_S >> 20
        )
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // Fails while a process is in the group; an empty group without use remains.
        let _ = std::fs::remove_dir(&self.group);
    }
}

/// Major and minor number of a device (makedev(3)).
fn numbers(device: u64) -> (u64, u64) {
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & !0xff;
    (major, minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_a_major_and_a_minor_number() {
        assert_eq!(numbers(0xfe00), (254, 0));
        assert_eq!(numbers(0x0010_0803), (8, 0x103));
    }
}
