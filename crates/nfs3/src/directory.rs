//! The results of READDIR and READDIRPLUS.
//!
//! Source: RFC 1813, sections 3.3.16 and 3.3.17. Names are the RFC's.
#![expect(non_camel_case_types, reason = "the names of RFC 1813")]

use crate::results::{READ3resfail, Res3};
use crate::types::{cookieverf3, filename3, nfsstat3, post_op_attr, post_op_fh3};
use crate::xdr::{Reader, Writer, Xdr, XdrError, xdr_struct};

/// READDIR.
pub type READDIR3res<'a> = Res3<READDIR3resok<'a>, READDIR3resfail>;
/// READDIRPLUS.
pub type READDIRPLUS3res<'a> = Res3<READDIRPLUS3resok<'a>, READDIRPLUS3resfail>;
/// Failure of READDIR: the directory's attributes.
pub type READDIR3resfail = READ3resfail;
/// Failure of READDIRPLUS: the directory's attributes.
pub type READDIRPLUS3resfail = READ3resfail;

xdr_struct! {
    /// An entry, without the pointer to the next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct entry3<'a> {
        /// File ID of the object.
        fileid: u64,
        /// The name.
        name: filename3<'a>,
        /// Resumes the listing after this entry.
        cookie: u64,
    }

    /// An entry with attributes and handle, without the pointer to the next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct entryplus3<'a> {
        /// File ID of the object.
        fileid: u64,
        /// The name.
        name: filename3<'a>,
        /// Resumes the listing after this entry.
        cookie: u64,
        /// Its attributes.
        name_attributes: post_op_attr,
        /// Its handle.
        name_handle: post_op_fh3<'a>,
    }

    /// Success of READDIR.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.16
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct READDIR3resok<'a> {
        /// The directory's attributes.
        dir_attributes: post_op_attr,
        /// The client sends it with a cookie.
        cookieverf: cookieverf3,
        /// The entries.
        reply: dirlist3<'a>,
    }

    /// Success of READDIRPLUS.
    //= https://www.rfc-editor.org/rfc/rfc1813#section-3.3.17
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct READDIRPLUS3resok<'a> {
        /// The directory's attributes.
        dir_attributes: post_op_attr,
        /// The client sends it with a cookie.
        cookieverf: cookieverf3,
        /// The entries.
        reply: dirlistplus3<'a>,
    }
}

/// What the results of READDIR or READDIRPLUS contain besides the entries, which are checked and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// How many entries there are.
    pub entries: u64,
    /// The cookie of the last entry; 0 without entries.
    pub cookie: u64,
    /// The client sends it with a cookie.
    pub verifier: cookieverf3,
    /// Whether the directory ends here.
    pub eof: bool,
}

impl Listing {
    /// Decodes the results of READDIRPLUS if `plus`, otherwise of READDIR, without allocating.
    ///
    /// # Errors
    /// They are invalid.
    pub fn decode(body: &[u8], plus: bool) -> Result<Result<Listing, nfsstat3>, XdrError> {
        let mut reader = Reader::new(body);
        match nfsstat3::decode(&mut reader)? {
            nfsstat3::NFS3_OK => {}
            failed => {
                READDIR3resfail::decode(&mut reader)?;
                reader.finish()?;
                return Ok(Err(failed));
            }
        }
        post_op_attr::decode(&mut reader)?;
        let verifier = cookieverf3::decode(&mut reader)?;
        let (mut entries, mut cookie) = (0, 0);
        while reader.bool()? {
            entries += 1;
            cookie = match plus {
                true => entryplus3::decode(&mut reader)?.cookie,
                false => entry3::decode(&mut reader)?.cookie,
            };
        }
        let eof = reader.bool()?;
        reader.finish()?;
        Ok(Ok(Listing { entries, cookie, verifier, eof }))
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

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(encoded(&READDIR3res::Ok(ok.clone())), bytes);
        let listing = Listing { entries: 2, cookie: 8, verifier: [9; 8], eof: true };
        assert_eq!(Listing::decode(bytes, false), Ok(Ok(listing)));
        assert!(Listing::decode(&bytes[..bytes.len() - 1], false).is_err());
        assert_eq!(decode_whole(bytes), Ok(READDIR3res::Ok(ok)));
    }

    #[test]
    fn a_failure_contains_the_directorys_attributes() {
        let fail = READDIR3resfail { obj_attributes: None };
        let result = READDIR3res::Fail(nfsstat3::NFS3ERR_BAD_COOKIE, fail);
        assert_eq!(encoded(&result), b"\0\0\x27\x13\0\0\0\0");
        let failed = nfsstat3::NFS3ERR_BAD_COOKIE;
        assert_eq!(Listing::decode(&encoded(&result), true), Ok(Err(failed)));
    }
}
