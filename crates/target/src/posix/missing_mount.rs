//! Whether the volume that a path refers to is mounted.

use std::fs;
use std::io;
use std::path::Path;

use host::missing_mount::missing_mount;
use host::mounts;

use crate::refusal::Refusal;

/// Refuses a path whose volume is not mounted. `existing` is the part of the path that exists.
pub(crate) fn refuse_missing_mount(path: &Path, existing: &Path) -> Result<(), Refusal> {
    let fstab = match fs::read("/etc/fstab") {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Refusal::io("read", Path::new("/etc/fstab"), error)),
    };
    let mountinfo = Path::new("/proc/self/mountinfo");
    let mountinfo = fs::read(mountinfo).map_err(|error| Refusal::io("read", mountinfo, error))?;
    let mounts = mounts::parse(&mountinfo);
    let root = Path::new("/");
    let on_root = mounts::covering(&mounts, existing).is_none_or(|mount| mount.point == root);
    let is_mounted = |point: &Path| mounts.iter().any(|mount| mount.point == point);
    match missing_mount(existing, &fstab, on_root, is_mounted) {
        None => Ok(()),
        Some(missing) => Err(Refusal::MountMissing {
            path: path.to_path_buf(),
            mount_point: missing.mount_point,
            in_fstab: missing.in_fstab,
        }),
    }
}
