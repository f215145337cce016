//! The storage of a directory: the file system's name and space, and whether direct I/O works.
//!
//! The kernel's statement (`STATX_DIOALIGN`, Linux 6.1) is read first and then tested: some network
//! file systems report nothing, and some accept the flag and refuse the first transfer.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, OFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};
use serde::{Deserialize, Serialize};

use crate::aligned::AlignedBuffer;
use crate::refusal::Refusal;

/// A file system's identity and space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its identity; empty if it has none (NFS).
    pub filesystem_id: String,
    /// Bytes available to this user.
    pub free_bytes: u64,
    /// Inodes available to this user; `None` if the file system does not limit them.
    pub free_inodes: Option<u64>,
    /// Whether it is mounted read-only.
    pub read_only: bool,
}

/// The storage that a directory is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// The file system's name, such as `ext4`.
    pub filesystem: String,
    /// Whether the file system keeps its data in memory, so that runs do not measure storage.
    pub in_memory: bool,
    /// Whether direct I/O works.
    pub direct: DirectIo,
}

/// Whether direct I/O works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectIo {
    /// It works if offsets and sizes are multiples of this alignment.
    Supported {
        /// The alignment of offsets and sizes.
        offset_align_bytes: u64,
    },
    /// It does not work.
    Unsupported {
        /// The reason, from the kernel.
        reason: String,
    },
}

impl DirectIo {
    /// Whether it works.
    pub const fn is_supported(&self) -> bool {
        matches!(self, DirectIo::Supported { .. })
    }
}

/// The name of the file on which direct I/O is tested. It is in our directory and removed after the
/// test; it remains only after a crash.
pub(crate) const PROBE_NAME: &str = ".fourcorners.probe";

/// The space of the file system at `path`.
pub(crate) fn space(path: &Path) -> Result<Space, Refusal> {
    let found = rustix::fs::statvfs(path)
        .map_err(|error| Refusal::io("query the file system of", path, error))?;
    Ok(Space {
        filesystem_id: match found.f_fsid {
            0 => String::new(),
            id => format!("{id:016x}"),
        },
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        free_inodes: (found.f_files > 0).then_some(found.f_favail),
        read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// Whether a file system is mounted exactly at `path`.
pub(crate) fn is_mount_root(path: &Path) -> bool {
    let reported = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS)
        .ok()
        .filter(|found| found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT))
        .map(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
    // Before Linux 5.8: a mount root has another device number than its parent.
    reported.unwrap_or_else(|| {
        let device = |path: &Path| rustix::fs::stat(path).map(|found| found.st_dev).ok();
        path.parent().is_none_or(|parent| device(path) != device(parent))
    })
}

/// Determines the storage of `directory`, which must be ours.
///
/// # Errors
/// The probe file could not be created: no permission, no space, a read-only file system.
pub fn probe(directory: &Path) -> Result<Storage, Refusal> {
    let (filesystem, in_memory) = filesystem_of(directory)?;
    let path = directory.join(PROBE_NAME);
    let created = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(flags(OFlags::NOFOLLOW))
        .open(&path)
        .and_then(|file| file.write_all_at(&[0x46; PROBE_BYTES], 0));
    let direct = created.map(|()| try_direct(&path));
    let removed = fs::remove_file(&path);
    let direct = direct.map_err(|error| Refusal::io("write", &path, error))?;
    removed.map_err(|error| Refusal::io("remove", &path, error))?;
    Ok(Storage { filesystem, in_memory, direct })
}

/// The largest alignment that direct I/O requires in practice, and the size of the probe.
const PROBE_BYTES: usize = 4096;

/// Whether the existing file `path` can be read with direct I/O; writes nothing. A file shorter
/// than the probe counts as not.
pub(crate) fn reads_directly(path: &Path) -> bool {
    try_direct(path).is_supported()
}

fn try_direct(path: &Path) -> DirectIo {
    let unsupported = |reason: String| DirectIo::Unsupported { reason };
    let reported = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN)
        .ok()
        .filter(|found| found.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
        .map(|found| u64::from(found.stx_dio_offset_align));
    if reported == Some(0) {
        return unsupported("the kernel reports no direct I/O alignment (statx)".to_owned());
    }
    let file = match open_direct(path) {
        Ok(file) => file,
        Err(error) => return unsupported(format!("open with O_DIRECT: {error}")),
    };
    let mut buffer = AlignedBuffer::new(PROBE_BYTES);
    if let Err(error) = file.read_exact_at(buffer.as_mut(), 0) {
        return unsupported(format!("read with O_DIRECT: {error}"));
    }
    let offset_align_bytes =
        reported.unwrap_or_else(|| match file.read_exact_at(&mut buffer.as_mut()[..512], 512) {
            Ok(()) => 512,
            Err(_) => PROBE_BYTES as u64,
        });
    DirectIo::Supported { offset_align_bytes }
}

fn open_direct(path: &Path) -> io::Result<fs::File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::DIRECT | OFlags::NOFOLLOW)).open(path)
}

/// Open flags in the form that the standard library takes.
pub(crate) const fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

/// The file system's name, and whether it keeps data in memory.
fn filesystem_of(path: &Path) -> Result<(String, bool), Refusal> {
    let found = rustix::fs::statfs(path)
        .map_err(|error| Refusal::io("query the file system of", path, error))?;
    let magic = found.f_type.cast_unsigned() & 0xffff_ffff;
    let known = FILESYSTEMS.iter().find(|(number, ..)| *number == magic);
    Ok(match known {
        Some((_, name, in_memory)) => ((*name).to_owned(), *in_memory),
        None => (format!("{UNKNOWN_FILESYSTEM}{magic:x}"), false),
    })
}

/// Whether only this machine reaches the file system of `file`; also if its number is that of a local
/// file system and what it is made of is not (an `overlay` on a network file system).
pub(crate) fn is_local(file: &fs::File) -> bool {
    let magic = rustix::fs::fstatfs(file).map(|found| found.f_type.cast_unsigned() & 0xffff_ffff);
    magic.is_ok_and(|magic| {
        FILESYSTEMS.iter().any(|(number, name, _)| *number == magic && LOCAL.contains(name))
    })
}

/// File systems on a device or in the memory of one machine.
const LOCAL: [&str; 8] = ["ext4", "xfs", "btrfs", "tmpfs", "ramfs", "overlay", "zfs", "f2fs"];

/// Leading part of the name of a file system with an unknown number.
pub(crate) const UNKNOWN_FILESYSTEM: &str = "file system 0x";

/// Source: statfs(2) and include/uapi/linux/magic.h.
const FILESYSTEMS: [(u64, &str, bool); 16] = [
    (0xEF53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683E, "btrfs", false),
    (0x6969, "nfs", false),
    (0xFF53_4D42, "cifs", false),
    (0xFE53_4D42, "smb", false),
    (0x0102_1994, "tmpfs", true),
    (0x8584_58F6, "ramfs", true),
    (0x794C_7630, "overlay", false),
    (0x6573_5546, "fuse", false),
    (0x2FC1_2FC1, "zfs", false),
    (0x00C3_6400, "ceph", false),
    (0xF2F5_2010, "f2fs", false),
    (0x0102_1997, "9p", false),
    (0x4750_4653, "gpfs", false),
    (0x0BD0_0BD0, "lustre", false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_memory_file_systems_are_recognised() {
        let storage = probe(tempfile::tempdir_in("/dev/shm").unwrap().path()).unwrap();
        assert_eq!((storage.filesystem.as_str(), storage.in_memory), ("tmpfs", true));
    }

    #[test]
    fn the_probe_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        probe(directory.path()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_system_without_direct_io_is_recognised() {
        // procfs stores no data and does not support O_DIRECT.
        assert!(!try_direct(Path::new("/proc/version")).is_supported());
    }

    #[test]
    fn mount_roots_are_distinguished_from_other_directories() {
        assert!(is_mount_root(Path::new("/")));
        assert!(is_mount_root(Path::new("/proc")));
        assert!(!is_mount_root(Path::new("/proc/self")));
    }
}
