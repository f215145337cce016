//! READDIR and READDIRPLUS: RFC 1813, sections 3.3.16 and 3.3.17.
//!
//! A page contains as many entries as fit into the reply, measured in XDR bytes.

use crate::attributes::{Attributes, Created};
use crate::caller::{R, X};
use crate::directory::{DOT, DOT_DOT};
use crate::handle::HANDLE_BYTES;
use crate::inode::Inode;
use crate::{Caller, Error, FileSystem, Handle};

/// `fattr3` in XDR: 5 words, size and used, rdev, fsid, fileid, three times.
const FATTR3: u64 = 5 * 4 + 2 * 8 + 8 + 8 + 8 + 3 * 8;
/// `post_op_attr` with attributes.
const POST_OP_ATTR: u64 = 4 + FATTR3;
/// The reply without its entries: attributes of the directory, cookie verifier, end of the list,
/// and `eof`.
const FRAME: u64 = POST_OP_ATTR + 8 + 4 + 4;
/// `post_op_fh3` with a handle: two words, and the handle, whose length is a multiple of 4.
const POST_OP_HANDLE: u64 = 4 + 4 + HANDLE_BYTES as u64;

/// `entry3` in XDR, with the word that announces it.
fn entry_xdr(name: &[u8]) -> u64 {
    4 + 8 + 4 + (name.len() as u64).next_multiple_of(4) + 8
}

/// The bytes that count against `dircount` of READDIRPLUS: only fileid, name and cookie.
fn directory_information(name: &[u8]) -> u64 {
    8 + name.len() as u64 + 8
}

/// `entry3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Inode number.
    pub fileid: u64,
    /// The name, borrowed from the directory.
    pub name: &'a [u8],
    /// Resumes the listing after this entry.
    pub cookie: u64,
}

/// `entryplus3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPlus<'a> {
    /// As in READDIR.
    pub entry: Entry<'a>,
    /// Handle and attributes; `None` if the caller may list the directory but not search it.
    pub object: Option<Created>,
}

/// The result of READDIR and READDIRPLUS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<E> {
    /// In the order of their cookies.
    pub entries: Vec<E>,
    /// True if these are the last entries.
    pub eof: bool,
    /// The client sends it with a cookie.
    pub verifier: [u8; 8],
    /// Of the directory.
    pub attributes: Attributes,
}

impl FileSystem {
    /// READDIR: the entries after `cookie` (0: from the beginning), as many as fit into a reply of
    /// `count` bytes: first "." and "..", then names in the order of their creation.
    ///
    /// An entry that exists during a whole listing is returned exactly once, whatever is added and
    /// removed meanwhile. Fails with BAD_COOKIE for a cookie of an earlier volume, and with
    /// TOOSMALL if no entry fits.
    pub fn readdir(
        &self,
        directory: Handle,
        cookie: u64,
        verifier: [u8; 8],
        count: u32,
        caller: &Caller<'_>,
    ) -> Result<Page<Entry<'_>>, Error> {
        let inode = self.may_list(directory, cookie, verifier, caller)?;
        let mut left = u64::from(count).checked_sub(FRAME).ok_or(Error::TooSmall)?;
        let mut page = self.page(inode);
        for entry in entries(inode, cookie)? {
            let Some(rest) = left.checked_sub(entry_xdr(entry.name)) else {
                page.eof = false;
                break;
            };
            left = rest;
            page.entries.push(entry);
        }
        page.or_too_small()
    }

    /// READDIRPLUS: the same with handles and attributes. `directory_count` limits the bytes of
    /// names, numbers and cookies, except that one entry is always returned; `count` limits the
    /// whole reply.
    pub fn readdirplus(
        &self,
        directory: Handle,
        cookie: u64,
        verifier: [u8; 8],
        directory_count: u32,
        count: u32,
        caller: &Caller<'_>,
    ) -> Result<Page<EntryPlus<'_>>, Error> {
        let inode = self.may_list(directory, cookie, verifier, caller)?;
        let mut left = u64::from(count).checked_sub(FRAME).ok_or(Error::TooSmall)?;
        let mut names_left = u64::from(directory_count);
        let searchable = caller.may(inode, X);
        let mut page = self.page(inode);
        for entry in entries(inode, cookie)? {
            // Space for the object is reserved even if it is not returned, so that a page has the
            // same entries for every caller.
            let xdr = entry_xdr(entry.name) + POST_OP_ATTR + POST_OP_HANDLE;
            let names = directory_information(entry.name);
            if xdr > left || (names > names_left && !page.entries.is_empty()) {
                page.eof = false;
                break;
            }
            left -= xdr;
            names_left = names_left.saturating_sub(names);
            let object = searchable.then(|| self.created(self.table.existing(entry.fileid)));
            page.entries.push(EntryPlus { entry, object });
        }
        page.or_too_small()
    }

    fn may_list(
        &self,
        directory: Handle,
        cookie: u64,
        verifier: [u8; 8],
        caller: &Caller<'_>,
    ) -> Result<&Inode, Error> {
        let inode = self.table.get(directory)?;
        inode.directory()?;
        if !caller.may(inode, R) {
            return Err(Error::Acces);
        }
        if cookie != 0 && verifier != self.cookie_verifier() {
            return Err(Error::BadCookie);
        }
        Ok(inode)
    }

    /// Cookies are valid as long as the directory exists, so the verifier never changes.
    fn cookie_verifier(&self) -> [u8; 8] {
        self.birth.to_be_bytes()
    }

    fn page<E>(&self, directory: &Inode) -> Page<E> {
        Page {
            entries: Vec::new(),
            eof: true,
            verifier: self.cookie_verifier(),
            attributes: directory.attributes(self.options.fsid),
        }
    }
}

impl<E> Page<E> {
    fn or_too_small(self) -> Result<Page<E>, Error> {
        if self.entries.is_empty() && !self.eof { Err(Error::TooSmall) } else { Ok(self) }
    }
}

/// All entries after a cookie, including "." and "..".
fn entries(inode: &Inode, cookie: u64) -> Result<impl Iterator<Item = Entry<'_>>, Error> {
    let directory = inode.directory()?;
    let dots = [(DOT, &b"."[..], inode.fileid), (DOT_DOT, &b".."[..], directory.parent)];
    let dots = dots.into_iter().filter(move |(dot, ..)| *dot > cookie);
    let all = dots.chain(directory.after(cookie));
    Ok(all.map(|(cookie, name, fileid)| Entry { fileid, name, cookie }))
}
