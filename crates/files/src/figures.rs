//! FSSTAT, FSINFO, PATHCONF: RFC 1813, sections 3.3.18 to 3.3.20.

use units::Bytes;

use crate::attributes::Time;
use crate::file_system::NAME_MAX;
use crate::{Error, FileSystem, Handle};

/// `FSSTAT3resok`. As in the cloud service, the quota is the size of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceFigures {
    /// The quota.
    pub total: Bytes,
    /// The unused part of the quota.
    pub free: Bytes,
    /// The part that can be written, which the memory budget may reduce.
    pub available: Bytes,
    /// Maximum number of inodes.
    pub files_total: u64,
    /// Free inodes.
    pub files_free: u64,
}

/// `FSINFO3resok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystemInfo {
    /// Maximum and preferred size of a READ in bytes.
    pub read_max: u32,
    /// Maximum and preferred size of a WRITE in bytes.
    pub write_max: u32,
    /// Sizes and offsets should be multiples of this, in bytes.
    pub multiple: u32,
    /// Preferred size of a READDIR reply in bytes.
    pub readdir_preferred: u32,
    /// Maximum size of a file.
    pub file_size_max: Bytes,
    /// Resolution of times.
    pub time_delta: Time,
    /// FSF3_LINK, FSF3_SYMLINK, FSF3_HOMOGENEOUS, FSF3_CANSETTIME.
    pub properties: u32,
}

/// The fields of `PATHCONF3resok` that differ between volumes. The others are constant: long names
/// are refused instead of truncated, only the superuser may change an owner, and names are
/// case-sensitive and case-preserving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// Maximum number of hard links to a file.
    pub links_max: u32,
    /// Maximum length of a name in bytes.
    pub name_max: u32,
}

/// FSF3_LINK, FSF3_SYMLINK, FSF3_HOMOGENEOUS, FSF3_CANSETTIME.
const PROPERTIES: u32 = 0x0001 | 0x0002 | 0x0008 | 0x0010;

/// A page of the Linux client's listing cache. Larger replies have no benefit.
const READDIR_PREFERRED: u32 = 65_536;

impl FileSystem {
    /// FSSTAT, for any handle of the file system.
    pub fn fsstat(&self, object: Handle) -> Result<SpaceFigures, Error> {
        self.table.get(object)?;
        let free = self.space.quota_bytes.saturating_sub(self.space.used_bytes());
        let memory = self.space.memory_bytes_max.saturating_sub(self.space.memory_bytes);
        Ok(SpaceFigures {
            total: Bytes::new(self.space.quota_bytes),
            free: Bytes::new(free),
            available: Bytes::new(free.min(memory)),
            files_total: self.space.inodes_max,
            files_free: self.space.inodes_max.saturating_sub(self.space.inodes),
        })
    }

    /// FSINFO, for any handle of the file system.
    pub fn fsinfo(&self, object: Handle) -> Result<FileSystemInfo, Error> {
        self.table.get(object)?;
        Ok(FileSystemInfo {
            read_max: self.options.transfer_max,
            write_max: self.options.transfer_max,
            multiple: 4096,
            readdir_preferred: READDIR_PREFERRED,
            file_size_max: self.options.file_size_max,
            time_delta: Time { seconds: 0, nanoseconds: 1 },
            properties: PROPERTIES,
        })
    }

    /// PATHCONF.
    pub fn pathconf(&self, object: Handle) -> Result<Names, Error> {
        self.table.get(object)?;
        Ok(Names { links_max: self.options.links_max, name_max: NAME_MAX as u32 })
    }
}
