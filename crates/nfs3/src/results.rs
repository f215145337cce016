//! Results of the NFS procedures, except READDIR and READDIRPLUS ([`crate::directory`]).
//!
//! Every result is a union of `resok` (status NFS3_OK) and `resfail`. [`Res3`] is this union, with
//! aliases for the RFC's names. Source: RFC 1813, sections 3.3.1 to 3.3.21.

use crate::arguments::{Data, stable_how};
use crate::types::{
    fattr3, nfs_fh3, nfspath3, nfsstat3, nfstime3, post_op_attr, post_op_fh3, wcc_data, writeverf3,
};
use crate::xdr::{Reader, Writer, Xdr, XdrError, xdr_struct};

/// Bit of FSINFO: hard links.
pub const FSF3_LINK: u32 = 0x01;
/// Bit of FSINFO: symbolic links.
pub const FSF3_SYMLINK: u32 = 0x02;
/// Bit of FSINFO: PATHCONF is the same for all objects.
pub const FSF3_HOMOGENEOUS: u32 = 0x08;
/// Bit of FSINFO: SETATTR can set times.
pub const FSF3_CANSETTIME: u32 = 0x10;

/// `union switch (nfsstat3 status) { case NFS3_OK: Ok; default: Fail; }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Res3<Ok, Fail> {
    /// NFS3_OK.
    Ok(Ok),
    /// Any other status.
    Fail(nfsstat3, Fail),
}

impl<Ok, Fail> Res3<Ok, Fail> {
    /// The status.
    pub fn status(&self) -> nfsstat3 {
        match self {
            Res3::Ok(_) => nfsstat3::NFS3_OK,
            Res3::Fail(status, _) => *status,
        }
    }
}

impl<'a, Ok: Xdr<'a>, Fail: Xdr<'a>> Xdr<'a> for Res3<Ok, Fail> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, XdrError> {
        Ok(match nfsstat3::decode(reader)? {
            nfsstat3::NFS3_OK => Res3::Ok(Ok::decode(reader)?),
            status => Res3::Fail(status, Fail::decode(reader)?),
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        self.status().encode(writer);
        match self {
            Res3::Ok(ok) => ok.encode(writer),
            Res3::Fail(status, fail) => {
                debug_assert!(*status != nfsstat3::NFS3_OK, "a failure has a reason");
                fail.encode(writer);
            }
        }
    }
}

/// GETATTR.
pub type GETATTR3res = Res3<GETATTR3resok, ()>;
/// SETATTR.
pub type SETATTR3res = Res3<SETATTR3resok, SETATTR3resfail>;
/// LOOKUP.
pub type LOOKUP3res<'a> = Res3<LOOKUP3resok<'a>, LOOKUP3resfail>;
/// ACCESS.
pub type ACCESS3res = Res3<ACCESS3resok, ACCESS3resfail>;
/// READLINK.
pub type READLINK3res<'a> = Res3<READLINK3resok<'a>, READLINK3resfail>;
/// READ.
pub type READ3res<'a> = Res3<READ3resok<'a>, READ3resfail>;
/// WRITE.
pub type WRITE3res = Res3<WRITE3resok, WRITE3resfail>;
/// CREATE.
pub type CREATE3res<'a> = Res3<CREATE3resok<'a>, CREATE3resfail>;
/// MKDIR.
pub type MKDIR3res<'a> = Res3<MKDIR3resok<'a>, MKDIR3resfail>;
/// SYMLINK.
pub type SYMLINK3res<'a> = Res3<SYMLINK3resok<'a>, SYMLINK3resfail>;
/// MKNOD.
pub type MKNOD3res<'a> = Res3<MKNOD3resok<'a>, MKNOD3resfail>;
/// REMOVE.
pub type REMOVE3res = Res3<REMOVE3resok, REMOVE3resfail>;
/// RMDIR.
pub type RMDIR3res = Res3<RMDIR3resok, RMDIR3resfail>;
/// RENAME.
pub type RENAME3res = Res3<RENAME3resok, RENAME3resfail>;
/// LINK.
pub type LINK3res = Res3<LINK3resok, LINK3resfail>;
/// FSSTAT.
pub type FSSTAT3res = Res3<FSSTAT3resok, FSSTAT3resfail>;
/// FSINFO.
pub type FSINFO3res = Res3<FSINFO3resok, FSINFO3resfail>;
/// PATHCONF.
pub type PATHCONF3res = Res3<PATHCONF3resok, PATHCONF3resfail>;
/// COMMIT.
pub type COMMIT3res = Res3<COMMIT3resok, COMMIT3resfail>;

/// CREATE, MKDIR, SYMLINK and MKNOD have the same results.
pub type MKDIR3resok<'a> = CREATE3resok<'a>;
/// See [`CREATE3resfail`].
pub type MKDIR3resfail = CREATE3resfail;
/// See [`CREATE3resok`].
pub type SYMLINK3resok<'a> = CREATE3resok<'a>;
/// See [`CREATE3resfail`].
pub type SYMLINK3resfail = CREATE3resfail;
/// See [`CREATE3resok`].
pub type MKNOD3resok<'a> = CREATE3resok<'a>;
/// See [`CREATE3resfail`].
pub type MKNOD3resfail = CREATE3resfail;
/// REMOVE and RMDIR have the same results, for success and failure.
pub type REMOVE3resfail = REMOVE3resok;
/// See [`REMOVE3resok`].
pub type RMDIR3resok = REMOVE3resok;
/// See [`REMOVE3resok`].
pub type RMDIR3resfail = REMOVE3resok;
/// The same for success and failure.
pub type SETATTR3resfail = SETATTR3resok;
/// The same for success and failure.
pub type RENAME3resfail = RENAME3resok;
/// The same for success and failure.
pub type LINK3resfail = LINK3resok;
/// Failures of several procedures contain only an object's attributes.
pub type ACCESS3resfail = READ3resfail;
/// See [`READ3resfail`].
pub type READLINK3resfail = READ3resfail;
/// See [`READ3resfail`].
pub type FSSTAT3resfail = READ3resfail;
/// See [`READ3resfail`].
pub type FSINFO3resfail = READ3resfail;
/// See [`READ3resfail`].
pub type PATHCONF3resfail = READ3resfail;
/// See [`WRITE3resfail`].
pub type COMMIT3resfail = WRITE3resfail;

xdr_struct! {
    /// Success of GETATTR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.1
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GETATTR3resok {
        /// The attributes.
        obj_attributes: fattr3,
    }

    /// Success or failure of SETATTR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.2
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SETATTR3resok {
        /// Of the object.
        obj_wcc: wcc_data,
    }

    /// Success of LOOKUP.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.3
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LOOKUP3resok<'a> {
        /// The object.
        object: nfs_fh3<'a>,
        /// Its attributes.
        obj_attributes: post_op_attr,
        /// The directory's.
        dir_attributes: post_op_attr,
    }

    /// Failure of LOOKUP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LOOKUP3resfail {
        /// The directory's attributes.
        dir_attributes: post_op_attr,
    }

    /// Success of ACCESS.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.4
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ACCESS3resok {
        /// The object's attributes.
        obj_attributes: post_op_attr,
        /// The allowed bits.
        access: u32,
    }

    /// Success of READLINK.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.5
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READLINK3resok<'a> {
        /// The link's attributes.
        symlink_attributes: post_op_attr,
        /// The target.
        data: nfspath3<'a>,
    }

    /// Success of READ.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.6
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct READ3resok<'a> {
        /// The file's attributes.
        file_attributes: post_op_attr,
        /// Number of bytes.
        count: u32,
        /// Whether the data reaches the end of the file.
        eof: bool,
        /// The data, borrowed from the message.
        data: Data<'a>,
    }

    /// Failure of READ and other procedures.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READ3resfail {
        /// The object's attributes.
        obj_attributes: post_op_attr,
    }

    /// Success of WRITE.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WRITE3resok {
        /// Of the file.
        file_wcc: wcc_data,
        /// Number of bytes.
        count: u32,
        /// At least the requested stability.
        committed: stable_how,
        /// The client compares it with the verifier of the COMMIT.
        verf: writeverf3,
    }

    /// Failure of WRITE or COMMIT.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WRITE3resfail {
        /// Of the file.
        file_wcc: wcc_data,
    }

    /// Success of CREATE, MKDIR, SYMLINK, MKNOD.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.8
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CREATE3resok<'a> {
        /// The new object.
        obj: post_op_fh3<'a>,
        /// Its attributes.
        obj_attributes: post_op_attr,
        /// Of the directory.
        dir_wcc: wcc_data,
    }

    /// Failure of CREATE, MKDIR, SYMLINK, MKNOD.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CREATE3resfail {
        /// Of the directory.
        dir_wcc: wcc_data,
    }

    /// Success or failure of REMOVE and RMDIR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.12
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct REMOVE3resok {
        /// Of the directory.
        dir_wcc: wcc_data,
    }

    /// Success or failure of RENAME.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.14
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RENAME3resok {
        /// Of the source directory.
        fromdir_wcc: wcc_data,
        /// Of the target directory.
        todir_wcc: wcc_data,
    }

    /// Success or failure of LINK.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.15
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LINK3resok {
        /// The file's attributes.
        file_attributes: post_op_attr,
        /// Of the link's directory.
        linkdir_wcc: wcc_data,
    }

    /// Success of FSSTAT.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.18
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FSSTAT3resok {
        /// The root's attributes.
        obj_attributes: post_op_attr,
        /// Size of the file system in bytes.
        tbytes: u64,
        /// Free bytes.
        fbytes: u64,
        /// Free bytes for the caller.
        abytes: u64,
        /// Maximum number of files.
        tfiles: u64,
        /// Free files.
        ffiles: u64,
        /// Free files for the caller.
        afiles: u64,
        /// Time in seconds for which these values are not expected to change.
        invarsec: u32,
    }

    /// Success of FSINFO.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.19
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FSINFO3resok {
        /// The root's attributes.
        obj_attributes: post_op_attr,
        /// Maximum size of a READ in bytes.
        rtmax: u32,
        /// Preferred size of a READ in bytes.
        rtpref: u32,
        /// The size should be a multiple of this.
        rtmult: u32,
        /// Maximum size of a WRITE in bytes.
        wtmax: u32,
        /// Preferred size of a WRITE in bytes.
        wtpref: u32,
        /// The size should be a multiple of this.
        wtmult: u32,
        /// Preferred size of a READDIR in bytes.
        dtpref: u32,
        /// Maximum size of a file in bytes.
        maxfilesize: u64,
        /// Resolution of the server's times.
        time_delta: nfstime3,
        /// Bits, see [`FSF3_LINK`].
        properties: u32,
    }

    /// Success of PATHCONF.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.20
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PATHCONF3resok {
        /// The object's attributes.
        obj_attributes: post_op_attr,
        /// Maximum number of hard links.
        linkmax: u32,
        /// Maximum length of a name in bytes.
        name_max: u32,
        /// Whether longer names are refused instead of truncated.
        no_trunc: bool,
        /// Whether only the superuser may change the owner of a file.
        chown_restricted: bool,
        /// Whether names that differ only in case are equal.
        case_insensitive: bool,
        /// Whether the case of names is preserved.
        case_preserving: bool,
    }

    /// Success of COMMIT.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.21
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct COMMIT3resok {
        /// Of the file.
        file_wcc: wcc_data,
        /// If it differs from that of a WRITE, the client must write the data again.
        verf: writeverf3,
    }
}

impl std::fmt::Debug for READ3resok<'_> {
    /// Omits the data.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let READ3resok { file_attributes, count, eof, data } = self;
        let length = data.0.len();
        write!(f, "READ3resok({count}, eof {eof}, {length} bytes, {file_attributes:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn the_results_of_a_read_have_the_bytes_of_the_rfc() {
        let data = Data(b"abc");
        let ok = READ3resok { file_attributes: None, count: 3, eof: true, data };
        let bytes = b"\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x01\0\0\0\x03abc\0";
        assert_eq!(encoded(&READ3res::Ok(ok)), bytes);
        assert_eq!(decode_whole(bytes), Ok(READ3res::Ok(ok)));
    }

    #[test]
    fn the_results_of_a_write_have_the_bytes_of_the_rfc() {
        let ok = WRITE3resok {
            file_wcc: wcc_data::default(),
            count: 9,
            committed: stable_how::FILE_SYNC,
            verf: *b"verifier",
        };
        let bytes = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\x02verifier";
        assert_eq!(encoded(&WRITE3res::Ok(ok)), bytes);
        assert_eq!(decode_whole(bytes), Ok(WRITE3res::Ok(ok)));
    }

    #[test]
    fn a_failure_keeps_a_status_that_the_rfc_does_not_define() {
        let bytes = b"\0\0\x30\x39\0\0\0\0";
        let fail = READ3res::Fail(nfsstat3(12345), READ3resfail { obj_attributes: None });
        assert_eq!(decode_whole(bytes), Ok(fail));
        assert_eq!(encoded(&fail), bytes);
    }
}
