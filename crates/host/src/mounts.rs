//! Mounts, from `/proc/self/mountinfo`: file system and options of a path.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mounted directory of the file system: `/` unless only a part is mounted.
    pub root: PathBuf,
    /// The mount point.
    pub point: PathBuf,
    /// Its device, as `(major, minor)`; the major number of a file system without a device is 0.
    pub device: (u32, u32),
    /// The file system's type: `ext4`, `nfs`.
    pub filesystem: String,
    /// The source: a device's path, `server:/export`.
    pub source: String,
    /// Options of this mount: `rw,noatime`.
    pub options: String,
    /// Options of the file system; for NFS the version, transfer sizes and connections.
    pub super_options: String,
}

/// Parses the text of `/proc/self/mountinfo`; malformed lines are ignored.
///
/// Source: proc_pid_mountinfo(5):
/// `id parent major:minor root point options [tags...] - type source super-options`.
pub fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    // The number of tags between the options and the dash varies.
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let text = |field: &[u8]| String::from_utf8_lossy(&unescape(field)).into_owned();
    let (major, minor) = std::str::from_utf8(fields[2]).ok()?.split_once(':')?;
    Some(Mount {
        root: path_of(fields[3]),
        point: path_of(fields[4]),
        device: (major.parse().ok()?, minor.parse().ok()?),
        filesystem: text(fields.get(dash + 1)?),
        source: text(fields.get(dash + 2)?),
        options: text(fields[5]),
        super_options: text(fields.get(dash + 3)?),
    })
}

/// The path in a field of mountinfo or of fstab(5).
pub(crate) fn path_of(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Decodes space, tab, newline and backslash, which are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = (byte == b'\\')
            .then(|| after.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[3..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    bytes
}

/// The mount of `path` (absolute, without links): the one with the longest mount point above it; of
/// several on one point the last, which hides the others.
pub fn covering<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of real systems: a virtual machine's root disk, an NFSv3 mount with several
    /// connections, a mount point with a space, two mounts on one point.
    const MOUNTINFO: &[u8] = b"\
22 27 0:21 / /proc rw,relatime - proc proc rw\n\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,errors=remount-ro\n\
40 27 8:17 / /data rw,noatime shared:20 master:3 - xfs /dev/sdb1 rw,attr2,inode64,logbufs=8\n\
612 27 0:52 / /mnt/vol1 rw,relatime shared:331 - nfs 10.0.0.4:/vol1 rw,vers=3,rsize=262144,\
wsize=262144,namlen=255,hard,proto=tcp,nconnect=8,timeo=600,retrans=2,sec=sys,mountaddr=10.0.0.4\n\
613 27 0:53 / /mnt/two\\040words rw - tmpfs none rw,size=1024k\n\
614 40 0:54 / /data rw - tmpfs over rw\n\
not a mount\n";

    fn of(path: &str) -> Mount {
        covering(&parse(MOUNTINFO), Path::new(path)).unwrap().clone()
    }

    #[test]
    fn a_local_file_system_is_found_below_its_mount_point() {
        let mount = of("/opt/scratch");
        assert_eq!(mount.point, Path::new("/"));
        assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("ext4", "/dev/vda"));
        assert_eq!(mount.device, (254, 0));
        assert_eq!(mount.super_options, "rw,discard,errors=remount-ro");
    }

    #[test]
    fn an_nfs_mount_has_its_server_and_options() {
        let mount = of("/mnt/vol1/fourcorners");
        assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("nfs", "10.0.0.4:/vol1"));
        assert_eq!(mount.options, "rw,relatime");
        assert!(mount.super_options.contains("nconnect=8"));
    }

    #[test]
    fn an_escaped_space_in_a_mount_point_is_decoded() {
        assert_eq!(of("/mnt/two words/x").point, Path::new("/mnt/two words"));
    }

    #[test]
    fn a_directory_with_the_same_prefix_is_not_below_the_mount() {
        assert_eq!(of("/mnt/vol10").point, Path::new("/"));
    }

    #[test]
    fn of_two_mounts_on_one_point_the_later_applies() {
        assert_eq!(of("/data/x").source, "over");
    }

    #[test]
    fn malformed_lines_are_ignored() {
        assert_eq!(parse(MOUNTINFO).len(), 6);
        assert_eq!(parse(b""), []);
        assert_eq!(parse(b"1 2 3:4 / /x rw - ext4\n"), []);
    }
}
