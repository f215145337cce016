//! The results of READDIR and READDIRPLUS, and how many bytes an entry takes, for a server must
//! not give more than the client asked for.
//!
//! Source: RFC 1813, sections 3.3.16 and 3.3.17. Names are the RFC's.
#![expect(non_camel_case_types, reason = "the names of RFC 1813")]

use crate::results::{READ3resfail, Res3};
use crate::types::{cookieverf3, filename3, post_op_attr, post_op_fh3};
use crate::xdr::{Reader, Writer, Xdr, XdrError, padding, xdr_struct};

/// Bytes of [`crate::types::fattr3`].
const FATTR3_BYTES: usize = 84;

/// READDIR.
pub type READDIR3res<'a> = Res3<READDIR3resok<'a>, READDIR3resfail>;
/// READDIRPLUS.
pub type READDIRPLUS3res<'a> = Res3<READDIRPLUS3resok<'a>, READDIRPLUS3resfail>;
/// READDIR failed: the directory's attributes.
pub type READDIR3resfail = READ3resfail;
/// READDIRPLUS failed: the directory's attributes.
pub type READDIRPLUS3resfail = READ3resfail;

xdr_struct! {
    /// An entry, without the pointer to the next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct entry3<'a> {
        /// The number of what has the name.
        fileid: u64,
        /// The name.
        name: filename3<'a>,
        /// From where to go on.
        cookie: u64,
    }

    /// An entry with attributes and handle, without the pointer to the next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct entryplus3<'a> {
        /// The number of what has the name.
        fileid: u64,
        /// The name.
        name: filename3<'a>,
        /// From where to go on.
        cookie: u64,
        /// Its attributes.
        name_attributes: post_op_attr,
        /// Its handle.
        name_handle: post_op_fh3<'a>,
    }

    /// READDIR done.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.16
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct READDIR3resok<'a> {
        /// The directory's attributes.
        dir_attributes: post_op_attr,
        /// To be sent with the cookies.
        cookieverf: cookieverf3,
        /// The entries.
        reply: dirlist3<'a>,
    }

    /// READDIRPLUS done.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.17
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct READDIRPLUS3resok<'a> {
        /// The directory's attributes.
        dir_attributes: post_op_attr,
        /// To be sent with the cookies.
        cookieverf: cookieverf3,
        /// The entries.
        reply: dirlistplus3<'a>,
    }
}

/// `dirlist3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct dirlist3<'a> {
    /// The entries in order.
    pub entries: Vec<entry3<'a>>,
    /// Whether the directory ends here.
    pub eof: bool,
}

impl<'a> Xdr<'a> for dirlist3<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<dirlist3<'a>, XdrError> {
        Ok(dirlist3 { entries: reader.list()?, eof: reader.bool()? })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.list(&self.entries);
        writer.bool(self.eof);
    }
}

/// `dirlistplus3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct dirlistplus3<'a> {
    /// The entries in order.
    pub entries: Vec<entryplus3<'a>>,
    /// Whether the directory ends here.
    pub eof: bool,
}

impl<'a> Xdr<'a> for dirlistplus3<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<dirlistplus3<'a>, XdrError> {
        Ok(dirlistplus3 { entries: reader.list()?, eof: reader.bool()? })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.list(&self.entries);
        writer.bool(self.eof);
    }
}

/// Bytes of [`READDIR3resok`] or [`READDIRPLUS3resok`] without its entries: attributes, verifier,
/// the end of the list and `eof`. They count towards what the client asked for.
//= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.16
//# The maximum size of the READDIR3resok structure, in bytes.  The size must include all XDR
//# overhead.
#[must_use]
pub fn resok_bytes(with_attributes: bool) -> usize {
    4 + if with_attributes { FATTR3_BYTES } else { 0 } + 8 + 4 + 4
}

impl entry3<'_> {
    /// Bytes that the entry takes in the list.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 + 8 + opaque_bytes(self.name.0) + 8
    }
}

impl entryplus3<'_> {
    /// Bytes that the entry takes in the list, held against `maxcount`.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let attributes = if self.name_attributes.is_some() { FATTR3_BYTES } else { 0 };
        let handle = self.name_handle.map_or(0, |fh| opaque_bytes(fh.0));
        4 + self.directory_bytes() + 4 + attributes + 4 + handle
    }

    /// Bytes of what READDIR would give too, held against `dircount`.
    #[must_use]
    pub fn directory_bytes(&self) -> usize {
        8 + opaque_bytes(self.name.0) + 8
    }
}

fn opaque_bytes(data: &[u8]) -> usize {
    4 + data.len() + padding(data.len()).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{nfs_fh3, nfsstat3};
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn a_directory_has_the_bytes_of_the_rfc() {
        let entry = |fileid, name, cookie| entry3 { fileid, name: filename3(name), cookie };
        let entries = vec![entry(1, b".", 7), entry(2, b"data", 8)];
        let reply = dirlist3 { entries, eof: true };
        let ok = READDIR3resok { dir_attributes: None, cookieverf: [9; 8], reply };
        let bytes = b"\0\0\0\0\0\0\0\0\x09\x09\x09\x09\x09\x09\x09\x09\
            \0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\x01.\0\0\0\0\0\0\0\0\0\0\x07\
            \0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\x04data\0\0\0\0\0\0\0\x08\
            \0\0\0\0\0\0\0\x01";
        let size =
            4 + resok_bytes(false) + ok.reply.entries.iter().map(entry3::bytes).sum::<usize>();
        assert_eq!(size, bytes.len());
        assert_eq!(encoded(&READDIR3res::Ok(ok.clone())), bytes);
        assert_eq!(decode_whole(bytes), Ok(READDIR3res::Ok(ok)));
    }

    #[test]
    fn an_entry_with_its_handle_takes_the_bytes_it_says() {
        let entry = entryplus3 {
            fileid: 3,
            name: filename3(b"hello"),
            cookie: 4,
            name_attributes: None,
            name_handle: Some(nfs_fh3(b"handle")),
        };
        let reply = dirlistplus3 { entries: vec![entry], eof: false };
        let ok = READDIRPLUS3resok { dir_attributes: None, cookieverf: [0; 8], reply };
        let bytes = encoded(&READDIRPLUS3res::Ok(ok));
        assert_eq!(bytes.len(), 4 + resok_bytes(false) + entry.bytes());
        assert_eq!(entry.bytes(), 4 + entry.directory_bytes() + 4 + 4 + 12);
    }

    #[test]
    fn a_failure_tells_the_directorys_attributes() {
        let fail = READDIR3resfail { obj_attributes: None };
        let result = READDIR3res::Fail(nfsstat3::NFS3ERR_BAD_COOKIE, fail);
        assert_eq!(encoded(&result), b"\0\0\x27\x13\0\0\0\0");
    }
}
