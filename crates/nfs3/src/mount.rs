//! MOUNT version 3, which returns the root handle of an export.
//!
//! Source: RFC 1813, section 5 (appendix I).

use crate::types::nfs_fh3;
use crate::xdr::{Reader, UNBOUNDED, Writer, Xdr, XdrError, xdr_enum, xdr_struct};

/// Maximum length of a path in bytes.
pub const MNTPATHLEN: usize = 1024;
/// Maximum length of a name in bytes.
pub const MNTNAMLEN: usize = 255;
/// AUTH_NONE in the list of flavours that MNT returns.
pub const FLAVOR_NONE: u32 = 0;
/// AUTH_SYS in the list of flavours that MNT returns.
pub const FLAVOR_SYS: u32 = 1;

xdr_enum! {
    /// Status of MNT.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(non_camel_case_types, reason = "the names of RFC 1813")]
    pub enum mountstat3 {
        /// No error.
        MNT3_OK = 0,
        /// Not owner.
        MNT3ERR_PERM = 1,
        /// No such file or directory.
        MNT3ERR_NOENT = 2,
        /// I/O error.
        MNT3ERR_IO = 5,
        /// Permission denied.
        MNT3ERR_ACCES = 13,
        /// Not a directory.
        MNT3ERR_NOTDIR = 20,
        /// Invalid argument.
        MNT3ERR_INVAL = 22,
        /// Filename too long.
        MNT3ERR_NAMETOOLONG = 63,
        /// Operation not supported.
        MNT3ERR_NOTSUPP = 10004,
        /// A failure on the server.
        MNT3ERR_SERVERFAULT = 10006,
    }
}

/// `dirpath`: argument of MNT and UMNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct dirpath<'a>(pub &'a [u8]);

impl<'a> Xdr<'a> for dirpath<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<dirpath<'a>, XdrError> {
        Ok(dirpath(reader.opaque("a path", MNTPATHLEN)?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.opaque(self.0, MNTPATHLEN);
    }
}

/// `name`: a host, or a group of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct name<'a>(pub &'a [u8]);

impl<'a> Xdr<'a> for name<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<name<'a>, XdrError> {
        Ok(name(reader.opaque("a name", MNTNAMLEN)?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.opaque(self.0, MNTNAMLEN);
    }
}

/// `mountres3_ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct mountres3_ok<'a> {
    /// The root of the export.
    pub fhandle: nfs_fh3<'a>,
    /// Accepted credential flavours, in order of preference.
    pub auth_flavors: Vec<u32>,
}

/// `mountres3`: the result of MNT; the status of `Err` is never `MNT3_OK`.
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub type mountres3<'a> = Result<mountres3_ok<'a>, mountstat3>;

impl<'a> Xdr<'a> for mountres3<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<mountres3<'a>, XdrError> {
        let status = mountstat3::decode(reader)?;
        if status != mountstat3::MNT3_OK {
            return Ok(Err(status));
        }
        let fhandle = nfs_fh3::decode(reader)?;
        let count = reader.count("the list of flavours", UNBOUNDED)?;
        let mut auth_flavors = Vec::new();
        for _ in 0..count {
            auth_flavors.push(reader.u32()?);
        }
        Ok(Ok(mountres3_ok { fhandle, auth_flavors }))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Ok(ok) => {
                mountstat3::MNT3_OK.encode(writer);
                ok.fhandle.encode(writer);
                writer.count(ok.auth_flavors.len(), UNBOUNDED);
                ok.auth_flavors.iter().for_each(|flavor| writer.u32(*flavor));
            }
            Err(status) => {
                debug_assert!(*status != mountstat3::MNT3_OK, "a failure has an error status");
                status.encode(writer);
            }
        }
    }
}

xdr_struct! {
    /// A mount that the server has recorded; an item of DUMP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(non_camel_case_types, reason = "the name of RFC 1813")]
    pub struct mountbody<'a> {
        /// The client.
        ml_hostname: name<'a>,
        /// The mounted path.
        ml_directory: dirpath<'a>,
    }
}

/// `mountlist`: the result of DUMP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct mountlist<'a>(pub Vec<mountbody<'a>>);

impl<'a> Xdr<'a> for mountlist<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<mountlist<'a>, XdrError> {
        Ok(mountlist(reader.list()?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.list(&self.0);
    }
}

/// `exportnode`: an item of EXPORT.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct exportnode<'a> {
    /// The export.
    pub ex_dir: dirpath<'a>,
    /// Hosts and groups that may mount it; if empty, all hosts.
    pub ex_groups: Vec<name<'a>>,
}

impl<'a> Xdr<'a> for exportnode<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<exportnode<'a>, XdrError> {
        Ok(exportnode { ex_dir: dirpath::decode(reader)?, ex_groups: reader.list()? })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        self.ex_dir.encode(writer);
        writer.list(&self.ex_groups);
    }
}

/// `exports`: the result of EXPORT.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1813")]
pub struct exports<'a>(pub Vec<exportnode<'a>>);

impl<'a> Xdr<'a> for exports<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<exports<'a>, XdrError> {
        Ok(exports(reader.list()?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.list(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn the_result_of_a_mount_has_the_bytes_of_the_rfc() {
        let ok = mountres3_ok { fhandle: nfs_fh3(b"abcde"), auth_flavors: vec![1] };
        let bytes = b"\0\0\0\0\0\0\0\x05abcde\0\0\0\0\0\0\x01\0\0\0\x01";
        assert_eq!(encoded(&mountres3::Ok(ok.clone())), bytes);
        assert_eq!(decode_whole(bytes), Ok(mountres3::Ok(ok)));
        let refused = b"\0\0\0\x0d";
        assert_eq!(decode_whole(refused), Ok(mountres3::Err(mountstat3::MNT3ERR_ACCES)));
    }

    #[test]
    fn the_list_of_exports_has_the_bytes_of_the_rfc() {
        let list =
            exports(vec![exportnode { ex_dir: dirpath(b"/vol"), ex_groups: vec![name(b"host")] }]);
        let bytes = b"\0\0\0\x01\0\0\0\x04/vol\0\0\0\x01\0\0\0\x04host\0\0\0\0\0\0\0\0";
        assert_eq!(encoded(&list), bytes);
        assert_eq!(decode_whole(bytes), Ok(list));
    }

    #[test]
    fn a_path_above_the_maximum_length_is_refused() {
        let mut bytes = 1025u32.to_be_bytes().to_vec();
        bytes.resize(4 + 1028, b'a');
        let refused = decode_whole::<dirpath<'_>>(&bytes);
        assert!(matches!(refused, Err(XdrError::TooLong { max: 1024, .. })), "{refused:?}");
    }
}
