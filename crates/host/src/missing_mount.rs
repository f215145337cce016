//! Detects that the volume above a path is not mounted.
//!
//! An unmounted mount point is an ordinary empty directory: a run there would fill the system disk
//! and report its speed as the volume's. A mount is missing if /etc/fstab lists an unmounted mount
//! point above the path, or if the path is below `/mnt` or `/media` (Filesystem Hierarchy Standard
//! 3.0, 3.11 and 3.12) but on the root file system.

use std::path::{Path, PathBuf};

use crate::mounts::path_of;

/// A missing mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingMount {
    /// Its mount point.
    pub mount_point: PathBuf,
    /// Whether /etc/fstab lists it.
    pub in_fstab: bool,
}

/// Finds a missing mount above `path` (absolute, without links).
///
/// * `fstab` - the text of /etc/fstab
/// * `on_root` - whether `path` is on the file system of `/`
/// * `is_mounted` - whether a directory is a mount point
pub fn missing_mount(
    path: &Path,
    fstab: &[u8],
    on_root: bool,
    is_mounted: impl Fn(&Path) -> bool,
) -> Option<MissingMount> {
    let listed = fstab_mount_points(fstab)
        .filter(|point| point != Path::new("/") && path.starts_with(point))
        .find(|point| !is_mounted(point));
    if let Some(mount_point) = listed {
        return Some(MissingMount { mount_point, in_fstab: true });
    }
    let parent = ["/mnt", "/media"].into_iter().find(|parent| path.starts_with(parent))?;
    on_root.then(|| {
        let below = path.strip_prefix(parent).expect("it starts with the parent");
        let mount_point = match below.components().next() {
            Some(name) => Path::new(parent).join(name),
            None => PathBuf::from(parent),
        };
        MissingMount { mount_point, in_fstab: false }
    })
}

/// The second field of each line that names a directory.
fn fstab_mount_points(fstab: &[u8]) -> impl Iterator<Item = PathBuf> {
    fstab.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let first = fields.next()?;
        let point = fields.next()?;
        (!first.starts_with(b"#") && point.starts_with(b"/")).then(|| path_of(point))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FSTAB: &[u8] = b"# <file system> <mount point> <type> <options> <dump> <pass>\n\
        UUID=0a-1b / ext4 discard,errors=remount-ro 0 1\n\
        /dev/sdb1\t/data  xfs noatime 0 2\n\
        10.0.0.4:/vol1 /srv/two\\040words nfs vers=3,nconnect=8 0 0\n\
        UUID=cc none swap sw 0 0\n";

    fn find(path: &str, on_root: bool, mounted: &[&str]) -> Option<(String, bool)> {
        let is_mounted = |point: &Path| mounted.iter().any(|mounted| Path::new(mounted) == point);
        missing_mount(Path::new(path), FSTAB, on_root, is_mounted)
            .map(|missing| (missing.mount_point.display().to_string(), missing.in_fstab))
    }

    #[test]
    fn a_listed_mount_point_that_is_not_mounted_is_reported() {
        assert_eq!(find("/data/runs", true, &[]), Some(("/data".to_owned(), true)));
        assert_eq!(find("/data", true, &[]), Some(("/data".to_owned(), true)));
    }

    #[test]
    fn a_listed_mount_point_that_is_mounted_is_fine() {
        assert_eq!(find("/data/runs", false, &["/data"]), None);
    }

    #[test]
    fn a_directory_with_the_same_prefix_is_a_different_one() {
        assert_eq!(find("/database", true, &[]), None);
    }

    #[test]
    fn escaped_spaces_in_a_mount_point_are_decoded() {
        let missing = Some(("/srv/two words".to_owned(), true));
        assert_eq!(find("/srv/two words/x", true, &[]), missing);
    }

    #[test]
    fn a_directory_for_mounts_on_the_root_file_system_is_reported() {
        assert_eq!(find("/mnt/vol1/deep", true, &[]), Some(("/mnt/vol1".to_owned(), false)));
        assert_eq!(find("/media", true, &[]), Some(("/media".to_owned(), false)));
        assert_eq!(find("/mnt/vol1", false, &["/mnt/vol1"]), None);
    }

    #[test]
    fn other_directories_on_the_root_file_system_are_fine() {
        assert_eq!(find("/opt/scratch", true, &[]), None);
    }
}
