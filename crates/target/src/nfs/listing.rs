//! Whole directories: READDIR and READDIRPLUS, as many as it takes.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use nfs3::arguments::{READDIR3args, READDIRPLUS3args};
use nfs3::procedure::NfsProcedure;
use nfs3::request::{NfsArguments, NfsResults};
use nfs3::results::Res3;
use nfs3::types::{Handle, NFS3_COOKIEVERFSIZE, cookieverf3, nfsstat3, post_op_attr};

use super::error::{NfsError, NfsFailure};
use super::fault::{FaultyAnswer, ProtocolFault};
use super::procedures::results;
use super::session::{NfsFile, Session};

/// Bytes of results asked for at a time, when the server has no preference.
const LISTING_BYTES: u32 = 64 << 10;
/// How often a listing is begun anew because the directory has changed so much that the server
/// knows its own cookies no more.
const FRESH_STARTS_MAX: u32 = 8;

/// Entries that are read of one directory at most: the names and attributes of more would take
/// hundreds of MiB, and a directory in which fourcorners works has a few.
pub const ENTRIES_MAX: usize = 1_000_000;

/// A name in a directory; `.` and `..` are among them where the server gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The number of what has the name.
    pub fileid: u64,
    /// The name.
    pub name: Vec<u8>,
    /// From where to go on.
    pub cookie: u64,
    /// Its attributes; READDIRPLUS only, and where the server gives them.
    pub attributes: post_op_attr,
    /// Its handle; READDIRPLUS only, and where the server gives it.
    pub handle: Option<Handle>,
}

/// A part of a listing.
struct Part {
    verifier: cookieverf3,
    entries: Vec<DirEntry>,
    eof: bool,
}

impl Session {
    /// READDIR: every name in `dir`.
    ///
    /// # Errors
    /// A call was not done.
    pub fn readdir(&mut self, dir: &NfsFile) -> Result<Vec<DirEntry>, NfsError> {
        let count = self.listing_bytes();
        self.whole(dir, NfsProcedure::READDIR, |session, cookie, cookieverf| {
            let args = READDIR3args { dir: dir.handle.fh(), cookie, cookieverf, count };
            let take = results!(READDIR, ok => Part {
                verifier: ok.cookieverf,
                entries: ok.reply.entries.iter().map(|entry| DirEntry {
                    fileid: entry.fileid,
                    name: entry.name.0.to_vec(),
                    cookie: entry.cookie,
                    attributes: None,
                    handle: None,
                }).collect(),
                eof: ok.reply.eof,
            });
            session.ask(&dir.path, NfsArguments::READDIR(args), take)
        })
    }

    /// READDIRPLUS: every name in `dir` with attributes and handle.
    ///
    /// # Errors
    /// A call was not done; servers without this procedure say NFS3ERR_NOTSUPP.
    pub fn readdirplus(&mut self, dir: &NfsFile) -> Result<Vec<DirEntry>, NfsError> {
        let maxcount = self.listing_bytes();
        self.whole(dir, NfsProcedure::READDIRPLUS, |session, cookie, cookieverf| {
            let dir_fh = dir.handle.fh();
            let args =
                READDIRPLUS3args { dir: dir_fh, cookie, cookieverf, dircount: maxcount, maxcount };
            let take = results!(READDIRPLUS, ok => Part {
                verifier: ok.cookieverf,
                entries: ok.reply.entries.iter().map(|entry| DirEntry {
                    fileid: entry.fileid,
                    name: entry.name.0.to_vec(),
                    cookie: entry.cookie,
                    attributes: entry.name_attributes,
                    handle: entry.name_handle.map(Handle::from),
                }).collect(),
                eof: ok.reply.eof,
            });
            session.ask(&dir.path, NfsArguments::READDIRPLUS(args), take)
        })
    }

    fn listing_bytes(&self) -> u32 {
        match self.mounted().info.dtpref {
            0 => LISTING_BYTES,
            preferred => preferred.clamp(4096, 1 << 20),
        }
    }

    /// All parts of a listing.
    fn whole(
        &mut self,
        dir: &NfsFile,
        procedure: NfsProcedure,
        mut part: impl FnMut(&mut Session, u64, cookieverf3) -> Result<Part, NfsError>,
    ) -> Result<Vec<DirEntry>, NfsError> {
        let mut fresh_starts = 0;
        let mut entries: Vec<DirEntry> = Vec::new();
        let (mut cookie, mut verifier) = (0, [0; NFS3_COOKIEVERFSIZE]);
        let mut history = ListingHistory::default();
        loop {
            let failed =
                |failure| NfsError { procedure: procedure.name(), file: dir.path.clone(), failure };
            if self.mounted().monitor.is_cancelled() {
                return Err(failed(NfsFailure::Cancelled));
            }
            let next = match part(self, cookie, verifier) {
                Ok(next) => next,
                Err(error)
                    if error.is_status(nfsstat3::NFS3ERR_BAD_COOKIE)
                        && fresh_starts < FRESH_STARTS_MAX =>
                {
                    fresh_starts += 1;
                    entries.clear();
                    history = ListingHistory::default();
                    (cookie, verifier) = (0, [0; NFS3_COOKIEVERFSIZE]);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let is_last = next.eof;
            let fault = match next.entries.last().map(|entry| entry.cookie) {
                _ if is_last => None,
                None => Some(FaultyAnswer::NoEntries),
                Some(last) => history.fault_of(&next.entries, last),
            };
            (cookie, verifier) =
                (next.entries.last().map_or(cookie, |entry| entry.cookie), next.verifier);
            entries.extend(next.entries);
            let fault = match entries.len() > ENTRIES_MAX {
                true => Some(FaultyAnswer::Endless(ENTRIES_MAX)),
                false => fault,
            };
            if let Some(answer) = fault {
                let fault = ProtocolFault { procedure, offset_bytes: 0, count_bytes: 0, answer };
                return Err(failed(NfsFailure::Fault(fault)));
            }
            if is_last {
                return Ok(entries);
            }
        }
    }
}

/// What a listing has given so far, to notice one that repeats.
#[derive(Default)]
struct ListingHistory {
    /// The last cookie of each page.
    cookies: HashSet<u64>,
    /// A hash of the names and numbers of each page.
    pages: HashSet<u64>,
}

impl ListingHistory {
    /// What is wrong with a page that is not the last.
    fn fault_of(&mut self, entries: &[DirEntry], last_cookie: u64) -> Option<FaultyAnswer> {
        let mut hasher = DefaultHasher::new();
        entries.iter().for_each(|entry| (&entry.name, entry.fileid).hash(&mut hasher));
        if !self.cookies.insert(last_cookie) {
            return Some(FaultyAnswer::RepeatedCookie(last_cookie));
        }
        // One entry alone may have been renamed and listed again.
        let is_new = entries.len() < 2 || self.pages.insert(hasher.finish());
        (!is_new).then_some(FaultyAnswer::RepeatedPage)
    }
}
