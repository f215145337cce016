//! FSSTAT, FSINFO, PATHCONF: RFC 1813, sections 3.3.18 to 3.3.20.

use units::Bytes;

use crate::attributes::Time;
use crate::file_system::NAME_MAX;
use crate::{Error, FileSystem, Handle};

/// `FSSTAT3resok`. The quota is the size of the volume, as it is for a volume of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceFigures {
    /// The quota.
    pub total: Bytes,
    /// What is not used of it.
    pub free: Bytes,
    /// What can still be written: the memory budget may leave less.
    pub available: Bytes,
    /// Inodes at most.
    pub files_total: u64,
    /// Inodes left.
    pub files_free: u64,
}

/// `FSINFO3resok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystemInfo {
    /// Most bytes of a READ, and the preferred number.
    pub read_max: u32,
    /// Most bytes of a WRITE, and the preferred number.
    pub write_max: u32,
    /// Sizes and offsets should be multiples of this.
    pub multiple: u32,
    /// Preferred size of a READDIR reply.
    pub readdir_preferred: u32,
    /// Largest size of a file.
    pub file_size_max: Bytes,
    /// What times are told to.
    pub time_delta: Time,
    /// FSF3_LINK, FSF3_SYMLINK, FSF3_HOMOGENEOUS, FSF3_CANSETTIME.
    pub properties: u32,
}

/// `PATHCONF3resok`, but for what no volume of ours varies: names are never cut short, only the
/// superuser gives files away, case counts and is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// Names that one file may have.
    pub links_max: u32,
    /// Bytes of the longest name.
    pub name_max: u32,
}

/// FSF3_LINK, FSF3_SYMLINK, FSF3_HOMOGENEOUS, FSF3_CANSETTIME.
const PROPERTIES: u32 = 0x0001 | 0x0002 | 0x0008 | 0x0010;

/// A page of the Linux client's listing cache; larger replies win nothing.
const READDIR_PREFERRED: u32 = 65_536;

impl FileSystem {
    /// FSSTAT; any handle of the file system will do.
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

    /// FSINFO; any handle of the file system will do.
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
