//! Why a procedure refuses: the `nfsstat3` values that a file system can give.
//!
//! Not here: what only a server can say (JUKEBOX, BADTYPE, NOTSUPP, SERVERFAULT, TOOSMALL of a
//! request it cannot parse).

use std::fmt;

/// `nfsstat3` of RFC 1813, section 2.6, without `NFS3_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Error {
    /// Only the owner, or the superuser, may do this.
    Perm = 1,
    /// No such name in this directory.
    NoEnt = 2,
    /// The storage under a volume that is kept on disk failed.
    Io = 5,
    /// The permission bits refuse it; also the name that is empty.
    Acces = 13,
    /// The name is there already.
    Exist = 17,
    /// The two objects are in different file systems.
    XDev = 18,
    /// A directory was needed.
    NotDir = 20,
    /// A directory was given where something else was needed.
    IsDir = 21,
    /// The argument makes no sense for this object.
    Inval = 22,
    /// Beyond the largest size of a file.
    FBig = 27,
    /// No memory, or no inode, is left in the volume's budget.
    NoSpc = 28,
    /// The caller may only read.
    RoFs = 30,
    /// The file has as many names as a file may have.
    MLink = 31,
    /// A name or the text of a symbolic link is too long.
    NameTooLong = 63,
    /// The directory still has entries.
    NotEmpty = 66,
    /// The quota of the volume is used up.
    DQuot = 69,
    /// The object that the handle named is gone.
    Stale = 70,
    /// The bytes were never a handle of a file system like this.
    BadHandle = 10001,
    /// The ctime of the guard is not the object's.
    NotSync = 10002,
    /// The cookie is of another life of the directory.
    BadCookie = 10003,
    /// The reply would not hold even one entry.
    TooSmall = 10005,
    /// Nothing was done; the caller should try again later.
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
