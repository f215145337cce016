//! What is known about an object beside its data: `fattr3`, `sattr3` and weak cache consistency
//! data of RFC 1813, sections 2.6 and 3.1.

use crate::{Error, Handle};

/// The permission bits with set-user-id, set-group-id and sticky; nothing of the type.
pub(crate) const MODE_BITS: u32 = 0o7777;
pub(crate) const SET_USER_ID: u32 = 0o4000;
pub(crate) const SET_GROUP_ID: u32 = 0o2000;
pub(crate) const STICKY: u32 = 0o1000;

/// A moment since 1970-01-01T00:00:00Z, as `nfstime3` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Whole seconds.
    pub seconds: u32,
    /// And nanoseconds, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Time {
    /// The next moment that can be told from this one.
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
    /// What it is.
    pub kind: Kind,
    /// Permission bits, without the type.
    pub mode: u32,
    /// Names that it has; for a directory 2 and one for each directory in it.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Bytes from the beginning to the end, holes counted.
    pub size: u64,
    /// Bytes of storage: the written blocks of 4 KiB. What the quota counts.
    pub used: u64,
    /// Major and minor number of a device node.
    pub rdev: (u32, u32),
    /// Which file system.
    pub fsid: u64,
    /// Inode number.
    pub fileid: u64,
    /// Last access.
    pub atime: Time,
    /// Last change of the data.
    pub mtime: Time,
    /// Last change of data or attributes. Every change makes it later, also where the clock
    /// does not move.
    pub ctime: Time,
}

/// What to do with a time: `set_atime` and `set_mtime`.
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

/// `sattr3`: `None` leaves the attribute as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAttributes {
    /// Permission bits; bits of the type are ignored.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Shorten or lengthen a regular file.
    pub size: Option<u64>,
    /// Time of last access.
    pub atime: SetTime,
    /// Time of last change of the data.
    pub mtime: SetTime,
}

/// `wcc_attr`: how an object was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WccAttributes {
    /// Bytes.
    pub size: u64,
    /// Last change of the data.
    pub mtime: Time,
    /// Last change at all.
    pub ctime: Time,
}

/// `wcc_data`: before and after, both taken while nobody else could change the object. `None`
/// where there was no such object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wcc {
    /// Before the procedure.
    pub before: Option<WccAttributes>,
    /// After it.
    pub after: Option<Attributes>,
}

/// The answer of a procedure that changes one object: RFC 1813 gives weak cache consistency data
/// with success and with failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Changed<T> {
    /// What came of it.
    pub result: Result<T, Error>,
    /// Of the object; for procedures on names, of the directory.
    pub wcc: Wcc,
}

/// An object that was made or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its handle.
    pub handle: Handle,
    /// Its attributes.
    pub attributes: Attributes,
}
