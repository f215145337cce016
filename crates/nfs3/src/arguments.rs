//! Arguments of the NFS procedures.
//!
//! Source: RFC 1813, sections 3.3.1 to 3.3.21. Names are the RFC's.
#![expect(non_camel_case_types, reason = "the names of RFC 1813")]

use crate::types::{
    cookieverf3, createverf3, diropargs3, ftype3, nfs_fh3, nfspath3, sattr3, sattrguard3, specdata3,
};
use crate::xdr::{Reader, UNBOUNDED, Writer, Xdr, XdrError, xdr_enum, xdr_struct};

/// Bit of ACCESS: read a file or a directory.
pub const ACCESS3_READ: u32 = 0x01;
/// Bit of ACCESS: look up a name.
pub const ACCESS3_LOOKUP: u32 = 0x02;
/// Bit of ACCESS: overwrite data or change entries.
pub const ACCESS3_MODIFY: u32 = 0x04;
/// Bit of ACCESS: append data or add entries.
pub const ACCESS3_EXTEND: u32 = 0x08;
/// Bit of ACCESS: delete an entry.
pub const ACCESS3_DELETE: u32 = 0x10;
/// Bit of ACCESS: execute a file.
pub const ACCESS3_EXECUTE: u32 = 0x20;

xdr_enum! {
    /// What must be durable before the reply to a WRITE.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum stable_how {
        /// Nothing; COMMIT follows later.
        UNSTABLE = 0,
        /// The data, and the metadata needed to read it.
        DATA_SYNC = 1,
        /// Data and metadata.
        FILE_SYNC = 2,
    }
}

xdr_struct! {
    /// GETATTR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.1
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GETATTR3args<'a> {
        /// The object.
        object: nfs_fh3<'a>,
    }

    /// SETATTR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.2
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SETATTR3args<'a> {
        /// The object.
        object: nfs_fh3<'a>,
        /// The attributes to set.
        new_attributes: sattr3,
        /// Required ctime of the object, if any.
        guard: sattrguard3,
    }

    /// LOOKUP.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.3
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LOOKUP3args<'a> {
        /// The name.
        what: diropargs3<'a>,
    }

    /// ACCESS.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.4
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ACCESS3args<'a> {
        /// The object.
        object: nfs_fh3<'a>,
        /// The requested bits.
        access: u32,
    }

    /// READLINK.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.5
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READLINK3args<'a> {
        /// The link.
        symlink: nfs_fh3<'a>,
    }

    /// READ.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.6
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READ3args<'a> {
        /// The file.
        file: nfs_fh3<'a>,
        /// Start in bytes.
        offset: u64,
        /// Length in bytes.
        //# The number of bytes of data that are to be read. If count is 0, the READ will succeed
        //# and return 0 bytes of data, subject to access permissions checking.
        count: u32,
    }

    /// WRITE.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct WRITE3args<'a> {
        /// The file.
        file: nfs_fh3<'a>,
        /// Start in bytes.
        offset: u64,
        /// Length in bytes; the server compares it with the data's length.
        count: u32,
        /// Requested stability.
        stable: stable_how,
        /// The data, borrowed from the message.
        data: Data<'a>,
    }

    /// CREATE.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.8
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CREATE3args<'a> {
        /// Directory and name.
        r#where: diropargs3<'a>,
        /// Attributes, and the behaviour if the name exists.
        how: createhow3,
    }

    /// MKDIR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.9
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MKDIR3args<'a> {
        /// Directory and name.
        r#where: diropargs3<'a>,
        /// Attributes to set.
        attributes: sattr3,
    }

    /// Attributes and target of a new symbolic link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct symlinkdata3<'a> {
        /// Attributes to set.
        symlink_attributes: sattr3,
        /// The target.
        symlink_data: nfspath3<'a>,
    }

    /// SYMLINK.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.10
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SYMLINK3args<'a> {
        /// Directory and name.
        r#where: diropargs3<'a>,
        /// Attributes and target.
        symlink: symlinkdata3<'a>,
    }

    /// Attributes and numbers of a new device.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct devicedata3 {
        /// Attributes to set.
        dev_attributes: sattr3,
        /// Major and minor number.
        spec: specdata3,
    }

    /// MKNOD.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.11
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MKNOD3args<'a> {
        /// Directory and name.
        r#where: diropargs3<'a>,
        /// Type and attributes.
        what: mknoddata3,
    }

    /// REMOVE.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.12
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct REMOVE3args<'a> {
        /// Directory and name.
        object: diropargs3<'a>,
    }

    /// RMDIR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.13
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RMDIR3args<'a> {
        /// Directory and name.
        object: diropargs3<'a>,
    }

    /// RENAME.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.14
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RENAME3args<'a> {
        /// The old name.
        from: diropargs3<'a>,
        /// The new name.
        to: diropargs3<'a>,
    }

    /// LINK.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.15
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LINK3args<'a> {
        /// The file.
        file: nfs_fh3<'a>,
        /// The new name.
        link: diropargs3<'a>,
    }

    /// READDIR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.16
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READDIR3args<'a> {
        /// The directory.
        dir: nfs_fh3<'a>,
        /// Returns entries after this cookie; 0 means from the beginning.
        cookie: u64,
        /// The verifier that came with the cookie.
        cookieverf: cookieverf3,
        /// Maximum bytes of the results in XDR.
        count: u32,
    }

    /// READDIRPLUS.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.17
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct READDIRPLUS3args<'a> {
        /// The directory.
        dir: nfs_fh3<'a>,
        /// Returns entries after this cookie; 0 means from the beginning.
        cookie: u64,
        /// The verifier that came with the cookie.
        cookieverf: cookieverf3,
        /// Maximum bytes of names, file IDs and cookies.
        dircount: u32,
        /// Maximum bytes of the results in XDR.
        maxcount: u32,
    }

    /// FSSTAT.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.18
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FSSTAT3args<'a> {
        /// The root.
        fsroot: nfs_fh3<'a>,
    }

    /// FSINFO.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.19
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FSINFO3args<'a> {
        /// The root.
        fsroot: nfs_fh3<'a>,
    }

    /// PATHCONF.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.20
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PATHCONF3args<'a> {
        /// The object.
        object: nfs_fh3<'a>,
    }

    /// COMMIT.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.21
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct COMMIT3args<'a> {
        /// The file.
        file: nfs_fh3<'a>,
        /// Start in bytes.
        offset: u64,
        /// Length in bytes; 0 means up to the end.
        count: u32,
    }
}

impl<'a> WRITE3args<'a> {
    /// Decodes everything but the data, which follows in `reader` or is still to be received.
    /// Returns the arguments without data, and its length.
    pub(crate) fn decode_head(
        reader: &mut Reader<'a>,
    ) -> Result<(WRITE3args<'a>, usize), XdrError> {
        let (file, offset) = (nfs_fh3::decode(reader)?, reader.u64()?);
        let (count, stable) = (reader.u32()?, stable_how::decode(reader)?);
        let length = reader.count("data", UNBOUNDED)?;
        Ok((WRITE3args { file, offset, count, stable, data: Data(&[]) }, length))
    }
}

impl std::fmt::Debug for WRITE3args<'_> {
    /// Omits the data.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WRITE3args { file, offset, count, stable, data } = self;
        let length = data.0.len();
        write!(f, "WRITE3args({file:?} at {offset}, {count}, {stable:?}, {length} bytes)")
    }
}

/// The data of a READ or a WRITE, borrowed from the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a>(pub &'a [u8]);

impl<'a> Xdr<'a> for Data<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Data<'a>, XdrError> {
        Ok(Data(reader.opaque("data", UNBOUNDED)?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.opaque(self.0, UNBOUNDED);
    }
}

/// Behaviour of CREATE if the name exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum createhow3 {
    /// An existing file is allowed.
    UNCHECKED(sattr3),
    /// The name must not exist.
    GUARDED(sattr3),
    /// The name must not exist, unless it was created with this verifier.
    EXCLUSIVE(createverf3),
}

impl Xdr<'_> for createhow3 {
    fn decode(reader: &mut Reader<'_>) -> Result<createhow3, XdrError> {
        Ok(match reader.u32()? {
            0 => createhow3::UNCHECKED(sattr3::decode(reader)?),
            1 => createhow3::GUARDED(sattr3::decode(reader)?),
            2 => createhow3::EXCLUSIVE(createverf3::decode(reader)?),
            value => return Err(XdrError::NoSuchValue { what: "createmode3", value }),
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            createhow3::UNCHECKED(attributes) => {
                writer.u32(0);
                attributes.encode(writer);
            }
            createhow3::GUARDED(attributes) => {
                writer.u32(1);
                attributes.encode(writer);
            }
            createhow3::EXCLUSIVE(verifier) => {
                writer.u32(2);
                verifier.encode(writer);
            }
        }
    }
}

/// The object that MKNOD creates. For types of other procedures, the server answers
/// NFS3ERR_BADTYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mknoddata3 {
    /// A block device.
    NF3BLK(devicedata3),
    /// A character device.
    NF3CHR(devicedata3),
    /// A socket.
    NF3SOCK(sattr3),
    /// A named pipe.
    NF3FIFO(sattr3),
    /// A regular file, which MKNOD does not create.
    NF3REG,
    /// A directory, which MKNOD does not create.
    NF3DIR,
    /// A symbolic link, which MKNOD does not create.
    NF3LNK,
}

impl Xdr<'_> for mknoddata3 {
    fn decode(reader: &mut Reader<'_>) -> Result<mknoddata3, XdrError> {
        Ok(match ftype3::decode(reader)? {
            ftype3::NF3BLK => mknoddata3::NF3BLK(devicedata3::decode(reader)?),
            ftype3::NF3CHR => mknoddata3::NF3CHR(devicedata3::decode(reader)?),
            ftype3::NF3SOCK => mknoddata3::NF3SOCK(sattr3::decode(reader)?),
            ftype3::NF3FIFO => mknoddata3::NF3FIFO(sattr3::decode(reader)?),
            ftype3::NF3REG => mknoddata3::NF3REG,
            ftype3::NF3DIR => mknoddata3::NF3DIR,
            ftype3::NF3LNK => mknoddata3::NF3LNK,
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        let ftype = match self {
            mknoddata3::NF3BLK(_) => ftype3::NF3BLK,
            mknoddata3::NF3CHR(_) => ftype3::NF3CHR,
            mknoddata3::NF3SOCK(_) => ftype3::NF3SOCK,
            mknoddata3::NF3FIFO(_) => ftype3::NF3FIFO,
            mknoddata3::NF3REG => ftype3::NF3REG,
            mknoddata3::NF3DIR => ftype3::NF3DIR,
            mknoddata3::NF3LNK => ftype3::NF3LNK,
        };
        ftype.encode(writer);
        match self {
            mknoddata3::NF3BLK(device) | mknoddata3::NF3CHR(device) => device.encode(writer),
            mknoddata3::NF3SOCK(attributes) | mknoddata3::NF3FIFO(attributes) => {
                attributes.encode(writer);
            }
            mknoddata3::NF3REG | mknoddata3::NF3DIR | mknoddata3::NF3LNK => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::filename3;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn the_arguments_of_a_write_have_the_bytes_of_the_rfc() {
        let args = WRITE3args {
            file: nfs_fh3(b"file"),
            offset: 1 << 32,
            count: 5,
            stable: stable_how::DATA_SYNC,
            data: Data(b"hello"),
        };
        let bytes = b"\0\0\0\x04file\0\0\0\x01\0\0\0\0\0\0\0\x05\0\0\0\x01\
                      \0\0\0\x05hello\0\0\0";
        assert_eq!(encoded(&args), bytes);
        assert_eq!(decode_whole(bytes), Ok(args));
    }

    #[test]
    fn the_arguments_of_an_exclusive_create_have_the_bytes_of_the_rfc() {
        let args = CREATE3args {
            r#where: diropargs3 { dir: nfs_fh3(b"dir "), name: filename3(b"new") },
            how: createhow3::EXCLUSIVE(*b"verifier"),
        };
        let bytes = b"\0\0\0\x04dir \0\0\0\x03new\0\0\0\0\x02verifier";
        assert_eq!(encoded(&args), bytes);
        assert_eq!(decode_whole(bytes), Ok(args));
    }

    #[test]
    fn the_data_of_a_write_is_not_copied() {
        let bytes = b"\0\0\0\x04data";
        let data: Data<'_> = decode_whole(bytes).unwrap();
        assert_eq!(data.0.as_ptr(), bytes[4..].as_ptr());
    }
}
