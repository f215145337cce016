//! The caller, and what permission bits allow it (RFC 1813, sections 3.3.4 and 4.4).

use std::ops::BitOr;

use crate::attributes::Kind;
use crate::inode::Inode;

/// The identity from AUTH_SYS, after the service applied root squashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller<'a> {
    /// User ID; 0 is the superuser.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Supplementary groups.
    pub gids: &'a [u32],
    /// True if the export is read-only for this client.
    pub read_only: bool,
}

/// A set of ACCESS bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(pub u32);

impl Access {
    /// Read data, or list a directory.
    pub const READ: Access = Access(0x01);
    /// Look up a name in a directory.
    pub const LOOKUP: Access = Access(0x02);
    /// Overwrite data, or change entries of a directory.
    pub const MODIFY: Access = Access(0x04);
    /// Append data, or add entries.
    pub const EXTEND: Access = Access(0x08);
    /// Remove an entry of a directory.
    pub const DELETE: Access = Access(0x10);
    /// Execute a file.
    pub const EXECUTE: Access = Access(0x20);

    /// True if it includes all bits of `other`.
    pub fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Access {
    type Output = Access;
    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// Read, write, and execute or search, as in the lowest three bits of a mode.
pub(crate) const R: u32 = 4;
pub(crate) const W: u32 = 2;
pub(crate) const X: u32 = 1;

impl Caller<'_> {
    pub(crate) fn is_root(&self) -> bool {
        self.uid == 0
    }

    pub(crate) fn is_member(&self, gid: u32) -> bool {
        self.gid == gid || self.gids.contains(&gid)
    }

    /// True for the owner and the superuser.
    pub(crate) fn owns(&self, inode: &Inode) -> bool {
        self.is_root() || self.uid == inode.uid
    }

    /// Whether the mode allows all `required` bits. The superuser may do everything except execute
    /// a file without any execute bit.
    pub(crate) fn may(&self, inode: &Inode, required: u32) -> bool {
        if self.is_root() {
            let executable = inode.kind() == Kind::Directory || inode.mode & 0o111 != 0;
            return required & X == 0 || executable;
        }
        let bits = if self.uid == inode.uid {
            inode.mode >> 6
        } else if self.is_member(inode.gid) {
            inode.mode >> 3
        } else {
            inode.mode
        };
        bits & required == required
    }

    /// Whether READ is allowed. An NFSv3 server does not know which files are open. It therefore
    /// lets the owner read a file that may have been opened before the mode changed, and lets users
    /// read a file that they may execute (RFC 1813, section 4.4).
    pub(crate) fn may_read(&self, inode: &Inode) -> bool {
        self.owns(inode) || self.may(inode, R) || self.may(inode, X)
    }

    /// Whether WRITE is allowed; always for the owner, for the same reason.
    pub(crate) fn may_write(&self, inode: &Inode) -> bool {
        self.owns(inode) || self.may(inode, W)
    }

    /// The requested ACCESS bits that the mode allows.
    pub(crate) fn access(&self, inode: &Inode, requested: Access) -> Access {
        let directory = inode.kind() == Kind::Directory;
        let mut given = Access::default();
        if self.may(inode, R) {
            given = given | Access::READ;
        }
        if self.may(inode, X) {
            given = given | if directory { Access::LOOKUP } else { Access::EXECUTE };
        }
        if self.may(inode, W) && !self.read_only {
            given = given | Access::MODIFY | Access::EXTEND;
            if directory {
                given = given | Access::DELETE;
            }
        }
        Access(given.0 & requested.0)
    }
}
