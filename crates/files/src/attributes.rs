//! Attributes of an object: `fattr3`, `sattr3` and weak cache consistency data of RFC 1813,
//! sections 2.6 and 3.1.

use crate::{Error, Handle};

/// Permission bits, set-user-id, set-group-id and sticky bit, without the file type.
pub(crate) const MODE_BITS: u32 = 0o7777;
pub(crate) const SET_USER_ID: u32 = 0o4000;
pub(crate) const SET_GROUP_ID: u32 = 0o2000;
pub(crate) const STICKY: u32 = 0o1000;

/// `nfstime3`: time since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Whole seconds.
    pub seconds: u32,
    /// Nanoseconds, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Time {
    /// The time one nanosecond later.
    pub(crate) fn next(self) -> Time {
        if self.nanoseconds >= 999_999_999 {
            Time { seconds: self.seconds.wrapping_add(1), nanoseconds: 0 }
        } else {
            Time { nanoseconds: self.nanoseconds + 1, ..self }
        }
    }
}

/// `ftype3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// NF3REG.
    Regular = 1,
    /// NF3DIR.
    Directory = 2,
    /// NF3BLK.
    BlockDevice = 3,
    /// NF3CHR.
    CharacterDevice = 4,
    /// NF3LNK.
    Symlink = 5,
    /// NF3SOCK.
    Socket = 6,
    /// NF3FIFO.
    Fifo = 7,
}

/// `fattr3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Type of the object.
    pub kind: Kind,
    /// Permission bits, without the type.
    pub mode: u32,
    /// Number of hard links; for a directory, 2 plus the number of its subdirectories.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes, including holes.
    pub size: u64,
    /// Size in bytes of the written 4 KiB blocks, which count against the quota.
    pub used: u64,
    /// Major and minor number of a device node.
    pub rdev: (u32, u32),
    /// File system.
    pub fsid: u64,
    /// Inode number.
    pub fileid: u64,
    /// Last access.
    pub atime: Time,
    /// Last change of the data.
    pub mtime: Time,
    /// Last change of data or attributes. Increases with every change, even if the clock stops.
    pub ctime: Time,
}

/// `set_atime` and `set_mtime`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetTime {
    /// DONT_CHANGE.
    #[default]
    Keep,
    /// SET_TO_SERVER_TIME.
    Now,
    /// SET_TO_CLIENT_TIME.
    To(Time),
}

/// `sattr3`: `None` leaves an attribute unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAttributes {
    /// Permission bits; file type bits are ignored.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Size of a regular file in bytes.
    pub size: Option<u64>,
    /// Last access.
    pub atime: SetTime,
    /// Last change of the data.
    pub mtime: SetTime,
}

/// `wcc_attr`: attributes of an object before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WccAttributes {
    /// Length in bytes.
    pub size: u64,
    /// Last change of the data.
    pub mtime: Time,
    /// Last change of data or attributes.
    pub ctime: Time,
}

/// `wcc_data`: attributes before and after a procedure, without other changes in between. `None` if
/// the object did not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wcc {
    /// Before the procedure.
    pub before: Option<WccAttributes>,
    /// After the procedure.
    pub after: Option<Attributes>,
}

/// The result of a procedure that changes one object. RFC 1813 requires weak cache consistency data
/// for success and failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Changed<T> {
    /// Result of the procedure.
    pub result: Result<T, Error>,
    /// Of the object, or of the directory for procedures on names.
    pub wcc: Wcc,
}

/// An object that was created or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its handle.
    pub handle: Handle,
    /// Its attributes.
    pub attributes: Attributes,
}
