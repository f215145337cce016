//! The types that procedures share: handles, statuses, attributes, and weak cache consistency data.
//!
//! Source: RFC 1813, sections 2.4 to 2.6. Names are the RFC's.
#![expect(non_camel_case_types, reason = "the names of RFC 1813")]

use crate::xdr::{Reader, UNBOUNDED, Writer, Xdr, XdrError, xdr_enum, xdr_struct};

/// Maximum length of a handle in bytes.
pub const NFS3_FHSIZE: usize = 64;
/// Length of the verifier of directory cookies in bytes.
pub const NFS3_COOKIEVERFSIZE: usize = 8;
/// Length of the verifier of an exclusive CREATE in bytes.
pub const NFS3_CREATEVERFSIZE: usize = 8;
/// Length of the verifier of unstable writes in bytes.
pub const NFS3_WRITEVERFSIZE: usize = 8;

/// `cookieverf3`.
pub type cookieverf3 = [u8; NFS3_COOKIEVERFSIZE];
/// `createverf3`.
pub type createverf3 = [u8; NFS3_CREATEVERFSIZE];
/// `writeverf3`: changes when the server may have lost unstable writes.
//= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7
//# This cookie must be consistent during a single instance of the NFS version 3 protocol service
//# and must be unique between instances of the NFS version 3 protocol server, where uncommitted
//# data may be lost.
pub type writeverf3 = [u8; NFS3_WRITEVERFSIZE];

/// A handle, borrowed from a message; see [`Handle`] for an owned one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct nfs_fh3<'a>(pub &'a [u8]);

impl std::fmt::Debug for nfs_fh3<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<'a> Xdr<'a> for nfs_fh3<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<nfs_fh3<'a>, XdrError> {
        Ok(nfs_fh3(reader.opaque("a handle", NFS3_FHSIZE)?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.opaque(self.0, NFS3_FHSIZE);
    }
}

/// An owned handle, without allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    bytes: [u8; NFS3_FHSIZE],
    len: usize,
}

impl Handle {
    /// The handle with these bytes; `None` if there are more than [`NFS3_FHSIZE`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Handle> {
        let mut handle = Handle { bytes: [0; NFS3_FHSIZE], len: bytes.len() };
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(handle)
    }

    /// The handle for a message.
    #[must_use]
    pub fn fh(&self) -> nfs_fh3<'_> {
        nfs_fh3(&self.bytes[..self.len])
    }
}

impl From<nfs_fh3<'_>> for Handle {
    /// # Panics
    /// If there are more than [`NFS3_FHSIZE`] bytes, which decoders refuse.
    fn from(fh: nfs_fh3<'_>) -> Handle {
        Handle::new(fh.0).expect("the decoder checked the length of the handle")
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fh().fmt(f)
    }
}

/// `filename3` or `nfspath3`: bytes, because the RFC specifies no character set. The RFC has no
/// maximum length; a server answers NFS3ERR_NAMETOOLONG.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct filename3<'a>(pub &'a [u8]);

/// `nfspath3`: the target of a symbolic link.
pub type nfspath3<'a> = filename3<'a>;

impl std::fmt::Debug for filename3<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl<'a> Xdr<'a> for filename3<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<filename3<'a>, XdrError> {
        Ok(filename3(reader.opaque("a file's name", UNBOUNDED)?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.opaque(self.0, UNBOUNDED);
    }
}

/// Status of an operation. Unknown numbers are kept: an unknown failure concerns one operation, not
/// the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct nfsstat3(pub u32);

/// The constants of `nfsstat3` and their names.
macro_rules! statuses {
    ($($name:ident = $value:literal, $says:literal;)*) => {
        impl nfsstat3 {
            $(#[doc = $says] pub const $name: nfsstat3 = nfsstat3($value);)*

            /// All statuses of the RFC.
            pub const ALL: &[nfsstat3] = &[$(nfsstat3::$name),*];

            /// The name in the RFC.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

statuses! {
    NFS3_OK = 0, "The call completed.";
    NFS3ERR_PERM = 1, "Not owner.";
    NFS3ERR_NOENT = 2, "No such file or directory.";
    NFS3ERR_IO = 5, "A hard error, for example of a disk.";
    NFS3ERR_NXIO = 6, "No such device or address.";
    NFS3ERR_ACCES = 13, "Permission denied.";
    NFS3ERR_EXIST = 17, "The file exists.";
    NFS3ERR_XDEV = 18, "A hard link across devices.";
    NFS3ERR_NODEV = 19, "No such device.";
    NFS3ERR_NOTDIR = 20, "Not a directory.";
    NFS3ERR_ISDIR = 21, "Is a directory.";
    NFS3ERR_INVAL = 22, "Invalid or unsupported argument.";
    NFS3ERR_FBIG = 27, "File too large.";
    NFS3ERR_NOSPC = 28, "No space left on the device.";
    NFS3ERR_ROFS = 30, "A read-only file system.";
    NFS3ERR_MLINK = 31, "Too many hard links.";
    NFS3ERR_NAMETOOLONG = 63, "The name is too long.";
    NFS3ERR_NOTEMPTY = 66, "The directory is not empty.";
    NFS3ERR_DQUOT = 69, "The quota is used up.";
    NFS3ERR_STALE = 70, "The handle's file is no more.";
    NFS3ERR_REMOTE = 71, "Too many levels of remote in a path.";
    NFS3ERR_BADHANDLE = 10001, "The handle failed the server's checks.";
    NFS3ERR_NOT_SYNC = 10002, "The guard of a SETATTR did not match.";
    NFS3ERR_BAD_COOKIE = 10003, "A cookie of READDIR is stale.";
    NFS3ERR_NOTSUPP = 10004, "The operation is not supported.";
    NFS3ERR_TOOSMALL = 10005, "A buffer or request is too small.";
    NFS3ERR_SERVERFAULT = 10006, "An error that is none of these.";
    NFS3ERR_BADTYPE = 10007, "The server has no objects of this type.";
    NFS3ERR_JUKEBOX = 10008, "It takes long: try again later.";
}

impl std::fmt::Display for nfsstat3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "nfsstat3 {}", self.0),
        }
    }
}

impl std::fmt::Debug for nfsstat3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Xdr<'_> for nfsstat3 {
    fn decode(reader: &mut Reader<'_>) -> Result<nfsstat3, XdrError> {
        reader.u32().map(nfsstat3)
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.0);
    }
}

xdr_enum! {
    /// The type of an object.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ftype3 {
        /// Regular file.
        NF3REG = 1,
        /// Directory.
        NF3DIR = 2,
        /// Block device.
        NF3BLK = 3,
        /// Character device.
        NF3CHR = 4,
        /// Symbolic link.
        NF3LNK = 5,
        /// Socket.
        NF3SOCK = 6,
        /// Named pipe.
        NF3FIFO = 7,
    }
}

xdr_struct! {
    /// Major and minor number of a device.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct specdata3 {
        /// Major number.
        specdata1: u32,
        /// Minor number.
        specdata2: u32,
    }

    /// Time since 1970.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub struct nfstime3 {
        /// Whole seconds.
        seconds: u32,
        /// Nanoseconds.
        nseconds: u32,
    }

    /// Attributes before an operation, by which a client checks its cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct wcc_attr {
        /// Length of the file in bytes.
        size: u64,
        /// Last change of the data.
        mtime: nfstime3,
        /// Last change of the attributes.
        ctime: nfstime3,
    }

    /// Weak cache consistency data. Both parts are optional; [`wcc_data::default`] has none.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct wcc_data {
        /// Before the operation.
        before: pre_op_attr,
        /// After the operation.
        after: post_op_attr,
    }

    /// Attributes to set; `None` and `DONT_CHANGE` leave an attribute unchanged.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct sattr3 {
        /// Permission bits.
        mode: Option<u32>,
        /// Owner.
        uid: Option<u32>,
        /// Group.
        gid: Option<u32>,
        /// Length of the file in bytes.
        size: Option<u64>,
        /// Last access.
        atime: set_time,
        /// Last change of the data.
        mtime: set_time,
    }

    /// A name in a directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct diropargs3<'a> {
        /// The directory.
        dir: nfs_fh3<'a>,
        /// The name.
        name: filename3<'a>,
    }
}

/// The attributes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct fattr3 {
    /// `type`.
    pub ftype: ftype3,
    /// Permission bits.
    pub mode: u32,
    /// Hard links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length of the file in bytes.
    pub size: u64,
    /// Used space in bytes.
    pub used: u64,
    /// Device numbers.
    pub rdev: specdata3,
    /// The file system.
    pub fsid: u64,
    /// Unique within the file system.
    pub fileid: u64,
    /// Last access.
    pub atime: nfstime3,
    /// Last change of the data.
    pub mtime: nfstime3,
    /// Last change of the attributes.
    pub ctime: nfstime3,
}

impl Xdr<'_> for fattr3 {
    fn decode(reader: &mut Reader<'_>) -> Result<fattr3, XdrError> {
        Ok(fattr3 {
            ftype: Xdr::decode(reader)?,
            mode: reader.u32()?,
            nlink: reader.u32()?,
            uid: reader.u32()?,
            gid: reader.u32()?,
            size: reader.u64()?,
            used: reader.u64()?,
            rdev: Xdr::decode(reader)?,
            fsid: reader.u64()?,
            fileid: reader.u64()?,
            atime: Xdr::decode(reader)?,
            mtime: Xdr::decode(reader)?,
            ctime: Xdr::decode(reader)?,
        })
    }

    /// With one append, which is faster than fifteen; almost every reply has attributes.
    fn encode(&self, writer: &mut Writer<'_>) {
        let high = |number: u64| (number >> 32) as u32;
        let low = |number: u64| number as u32;
        let fattr3 { ftype, mode, nlink, uid, gid, size, used, rdev, fsid, fileid, .. } = *self;
        let [atime, mtime, ctime] = [self.atime, self.mtime, self.ctime];
        #[rustfmt::skip]
        let words = [
            ftype as u32, mode, nlink, uid, gid,
            high(size), low(size), high(used), low(used),
            rdev.specdata1, rdev.specdata2,
            high(fsid), low(fsid), high(fileid), low(fileid),
            atime.seconds, atime.nseconds, mtime.seconds, mtime.nseconds,
            ctime.seconds, ctime.nseconds,
        ];
        writer.words(words);
    }
}

impl sattr3 {
    /// Changes no attribute.
    pub const UNCHANGED: sattr3 = sattr3 {
        mode: None,
        uid: None,
        gid: None,
        size: None,
        atime: set_time::DONT_CHANGE,
        mtime: set_time::DONT_CHANGE,
    };
}

/// Attributes that a server may leave out.
pub type post_op_attr = Option<fattr3>;
/// Attributes before the operation that a server may leave out.
pub type pre_op_attr = Option<wcc_attr>;
/// A handle that a server may leave out.
pub type post_op_fh3<'a> = Option<nfs_fh3<'a>>;
/// The guard of a SETATTR: the ctime that the client expects.
pub type sattrguard3 = Option<nfstime3>;

/// `set_atime` and `set_mtime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum set_time {
    /// Do not change it.
    DONT_CHANGE,
    /// The server's clock.
    SET_TO_SERVER_TIME,
    /// A time from the client.
    SET_TO_CLIENT_TIME(nfstime3),
}

impl Xdr<'_> for set_time {
    fn decode(reader: &mut Reader<'_>) -> Result<set_time, XdrError> {
        Ok(match reader.u32()? {
            0 => set_time::DONT_CHANGE,
            1 => set_time::SET_TO_SERVER_TIME,
            2 => set_time::SET_TO_CLIENT_TIME(nfstime3::decode(reader)?),
            value => return Err(XdrError::NoSuchValue { what: "time_how", value }),
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            set_time::DONT_CHANGE => writer.u32(0),
            set_time::SET_TO_SERVER_TIME => writer.u32(1),
            set_time::SET_TO_CLIENT_TIME(time) => {
                writer.u32(2);
                time.encode(writer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn attributes_take_84_bytes_in_the_order_of_the_rfc() {
        let mut bytes = Vec::new();
        for word in [1u32, 0o644, 2, 1000, 100, 0, 5, 0, 4096, 7, 8, 0, 9, 0, 10] {
            bytes.extend(word.to_be_bytes());
        }
        for word in [11u32, 12, 13, 14, 15, 16] {
            bytes.extend(word.to_be_bytes());
        }
        let time = |seconds| nfstime3 { seconds, nseconds: seconds + 1 };
        let attributes = fattr3 {
            ftype: ftype3::NF3REG,
            mode: 0o644,
            nlink: 2,
            uid: 1000,
            gid: 100,
            size: 5,
            used: 4096,
            rdev: specdata3 { specdata1: 7, specdata2: 8 },
            fsid: 9,
            fileid: 10,
            atime: time(11),
            mtime: time(13),
            ctime: time(15),
        };
        assert_eq!(bytes.len(), 84);
        assert_eq!(encoded(&attributes), bytes);
        assert_eq!(decode_whole(&bytes), Ok(attributes));
    }

    #[test]
    fn attributes_to_set_have_the_bytes_of_the_rfc() {
        let time = nfstime3 { seconds: 3, nseconds: 4 };
        let set = sattr3 {
            size: Some(9),
            atime: set_time::SET_TO_SERVER_TIME,
            mtime: set_time::SET_TO_CLIENT_TIME(time),
            ..sattr3::UNCHANGED
        };
        let words = [0u32, 0, 0, 1, 0, 9, 1, 2, 3, 4];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(encoded(&set), bytes);
        assert_eq!(decode_whole(&bytes), Ok(set));
        assert_eq!(encoded(&sattr3::UNCHANGED), [0; 24]);
    }

    #[test]
    fn statuses_print_their_name_or_number() {
        assert_eq!(nfsstat3::NFS3ERR_STALE.to_string(), "NFS3ERR_STALE");
        assert_eq!(nfsstat3(4711).to_string(), "nfsstat3 4711");
        assert_eq!(nfsstat3::ALL.len(), 29);
    }

    #[test]
    fn a_handle_of_65_bytes_is_refused() {
        let mut bytes = 65u32.to_be_bytes().to_vec();
        bytes.resize(4 + 68, 1);
        let refused = decode_whole::<nfs_fh3<'_>>(&bytes);
        assert!(matches!(refused, Err(XdrError::TooLong { max: 64, .. })), "{refused:?}");
        assert_eq!(Handle::new(&[1; 65]), None);
    }
}
