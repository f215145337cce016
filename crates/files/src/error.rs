//! Errors: the `nfsstat3` values that a file system returns.
//!
//! Not here: values that only a server returns (BADTYPE, NOTSUPP, SERVERFAULT, TOOSMALL for a
//! request that it cannot parse).

use std::fmt;

/// `nfsstat3` of RFC 1813, section 2.6, without `NFS3_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Error {
    /// Only the owner or the superuser may do this.
    Perm = 1,
    /// The directory has no such name.
    NoEnt = 2,
    /// The volume's storage failed.
    Io = 5,
    /// Permission bits refuse it, or the name is empty.
    Acces = 13,
    /// The name exists.
    Exist = 17,
    /// The two objects are in different file systems.
    XDev = 18,
    /// The object must be a directory.
    NotDir = 20,
    /// The object must not be a directory.
    IsDir = 21,
    /// The argument is invalid for this object.
    Inval = 22,
    /// The maximum size of a file is exceeded.
    FBig = 27,
    /// The volume's memory or inodes, or the storage, are exhausted.
    NoSpc = 28,
    /// The export is read-only for this caller.
    RoFs = 30,
    /// The maximum number of hard links is reached.
    MLink = 31,
    /// A name or a symbolic link's target is too long.
    NameTooLong = 63,
    /// The directory is not empty.
    NotEmpty = 66,
    /// The volume's quota is exceeded.
    DQuot = 69,
    /// The handle's object was removed.
    Stale = 70,
    /// The handle is not one of this server.
    BadHandle = 10001,
    /// The guard differs from the object's ctime.
    NotSync = 10002,
    /// The cookie belongs to an earlier directory or volume.
    BadCookie = 10003,
    /// The reply has no space for a single entry.
    TooSmall = 10005,
    /// Nothing was done; the client should retry later.
    Jukebox = 10008,
}

impl Error {
    /// The value of `nfsstat3` on the wire.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// The name in RFC 1813.
    pub fn name(self) -> &'static str {
        match self {
            Error::Perm => "NFS3ERR_PERM",
            Error::NoEnt => "NFS3ERR_NOENT",
            Error::Io => "NFS3ERR_IO",
            Error::Acces => "NFS3ERR_ACCES",
            Error::Exist => "NFS3ERR_EXIST",
            Error::XDev => "NFS3ERR_XDEV",
            Error::NotDir => "NFS3ERR_NOTDIR",
            Error::IsDir => "NFS3ERR_ISDIR",
            Error::Inval => "NFS3ERR_INVAL",
            Error::FBig => "NFS3ERR_FBIG",
            Error::NoSpc => "NFS3ERR_NOSPC",
            Error::RoFs => "NFS3ERR_ROFS",
            Error::MLink => "NFS3ERR_MLINK",
            Error::NameTooLong => "NFS3ERR_NAMETOOLONG",
            Error::NotEmpty => "NFS3ERR_NOTEMPTY",
            Error::DQuot => "NFS3ERR_DQUOT",
            Error::Stale => "NFS3ERR_STALE",
            Error::BadHandle => "NFS3ERR_BADHANDLE",
            Error::NotSync => "NFS3ERR_NOT_SYNC",
            Error::BadCookie => "NFS3ERR_BAD_COOKIE",
            Error::TooSmall => "NFS3ERR_TOOSMALL",
            Error::Jukebox => "NFS3ERR_JUKEBOX",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_numbers_and_names_of_the_rfc() {
        for (error, code, name) in [
            (Error::NoEnt, 2, "NFS3ERR_NOENT"),
            (Error::XDev, 18, "NFS3ERR_XDEV"),
            (Error::NoSpc, 28, "NFS3ERR_NOSPC"),
            (Error::NotEmpty, 66, "NFS3ERR_NOTEMPTY"),
            (Error::DQuot, 69, "NFS3ERR_DQUOT"),
            (Error::Stale, 70, "NFS3ERR_STALE"),
            (Error::BadHandle, 10001, "NFS3ERR_BADHANDLE"),
            (Error::TooSmall, 10005, "NFS3ERR_TOOSMALL"),
            (Error::Jukebox, 10008, "NFS3ERR_JUKEBOX"),
        ] {
            assert_eq!((error.code(), error.to_string().as_str()), (code, name));
        }
    }
}
