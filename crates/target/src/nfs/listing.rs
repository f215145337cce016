//! Complete directory listings, with as many READDIR or READDIRPLUS calls as necessary.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use nfs3::arguments::{READDIR3args, READDIRPLUS3args};
use nfs3::procedure::NfsProcedure;
use nfs3::request::{NfsArguments, NfsResults};
use nfs3::results::Res3;
use nfs3::types::{Handle, NFS3_COOKIEVERFSIZE, cookieverf3, nfsstat3, post_op_attr};

use super::error::{NfsError, NfsFailure};
use super::fault::{ProtocolFault, Violation};
use super::procedures::results;
use super::session::{NfsFile, Session};

/// Bytes requested per call if the server has no preference.
const LISTING_BYTES: u32 = 64 << 10;
/// How often a listing is restarted because the directory changed and its cookies became invalid.
const RESTARTS_MAX: u32 = 8;

/// Maximum number of entries that are read of one directory: names and attributes of more would
/// need hundreds of MiB, and directories used by fourcorners have few.
pub const ENTRIES_MAX: usize = 1_000_000;

/// A directory entry; listings include `.` and `..` if the server returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its file number.
    pub fileid: u64,
    /// The name.
    pub name: Vec<u8>,
    /// Where the listing continues after it.
    pub cookie: u64,
    /// Its attributes; only from READDIRPLUS, and if the server returns them.
    pub attributes: post_op_attr,
    /// Its handle; only from READDIRPLUS, and if the server returns it.
    pub handle: Option<Handle>,
}

/// One reply of a listing.
struct Part {
    verifier: cookieverf3,
    entries: Vec<DirEntry>,
    eof: bool,
}

impl Session {
    /// READDIR: all names in `dir`.
    ///
    /// # Errors
    /// A call failed.
    pub fn readdir(&mut self, dir: &NfsFile) -> Result<Vec<DirEntry>, NfsError> {
        let count = self.listing_bytes();
        self.read_listing(dir, NfsProcedure::READDIR, |session, cookie, cookieverf| {
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
            session.call(&dir.path, NfsArguments::READDIR(args), take)
        })
    }

    /// READDIRPLUS: all names in `dir` with attributes and handles.
    ///
    /// # Errors
    /// A call failed; servers without this procedure reply NFS3ERR_NOTSUPP.
    pub fn readdirplus(&mut self, dir: &NfsFile) -> Result<Vec<DirEntry>, NfsError> {
        let maxcount = self.listing_bytes();
        self.read_listing(dir, NfsProcedure::READDIRPLUS, |session, cookie, cookieverf| {
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
            session.call(&dir.path, NfsArguments::READDIRPLUS(args), take)
        })
    }

    fn listing_bytes(&self) -> u32 {
        match self.mounted().info.dtpref {
            0 => LISTING_BYTES,
            preferred => preferred.clamp(4096, 1 << 20),
        }
    }

    /// Reads all parts of a listing.
    fn read_listing(
        &mut self,
        dir: &NfsFile,
        procedure: NfsProcedure,
        mut part: impl FnMut(&mut Session, u64, cookieverf3) -> Result<Part, NfsError>,
    ) -> Result<Vec<DirEntry>, NfsError> {
        let mut restarts = 0;
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
                    if error.is_status(nfsstat3::NFS3ERR_BAD_COOKIE) && restarts < RESTARTS_MAX =>
                {
                    restarts += 1;
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
                None => Some(Violation::NoEntries),
                Some(last) => history.violation_of(&next.entries, last),
            };
            (cookie, verifier) =
                (next.entries.last().map_or(cookie, |entry| entry.cookie), next.verifier);
            entries.extend(next.entries);
            let fault = match entries.len() > ENTRIES_MAX {
                true => Some(Violation::Endless(ENTRIES_MAX)),
                false => fault,
            };
            if let Some(violation) = fault {
                let fault = ProtocolFault { procedure, offset_bytes: 0, count_bytes: 0, violation };
                return Err(failed(NfsFailure::Fault(fault)));
            }
            if is_last {
                return Ok(entries);
            }
        }
    }
}

/// The pages of a listing so far, to detect one that repeats.
#[derive(Default)]
struct ListingHistory {
    /// The last cookie of each page.
    cookies: HashSet<u64>,
    /// A hash of each page's names and file numbers.
    pages: HashSet<u64>,
}

impl ListingHistory {
    /// The violation in a page that is not the last, if any.
    fn violation_of(&mut self, entries: &[DirEntry], last_cookie: u64) -> Option<Violation> {
        let mut hasher = DefaultHasher::new();
        entries.iter().for_each(|entry| (&entry.name, entry.fileid).hash(&mut hasher));
        if !self.cookies.insert(last_cookie) {
            return Some(Violation::RepeatedCookie(last_cookie));
        }
        // A single entry may be listed again because it was renamed.
        let is_new = entries.len() < 2 || self.pages.insert(hasher.finish());
        (!is_new).then_some(Violation::RepeatedPage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(names: &[&str]) -> Vec<DirEntry> {
        let entry = |name: &&str| DirEntry {
            fileid: name.len() as u64,
            name: name.as_bytes().to_vec(),
            cookie: 0,
            attributes: None,
            handle: None,
        };
        names.iter().map(entry).collect()
    }

    #[test]
    fn a_listing_repeats_with_a_cookie_or_a_page_of_several_names() {
        let mut history = ListingHistory::default();
        assert_eq!(history.violation_of(&entries(&["a", "bb"]), 1), None);
        assert_eq!(history.violation_of(&entries(&["a", "ccc"]), 2), None);
        let again = history.violation_of(&entries(&["a", "bb"]), 3);
        assert_eq!(again, Some(Violation::RepeatedPage));
        let cookie = history.violation_of(&entries(&["d"]), 2);
        assert_eq!(cookie, Some(Violation::RepeatedCookie(2)));
        assert_eq!(history.violation_of(&entries(&["a"]), 4), None);
        assert_eq!(history.violation_of(&entries(&["a"]), 5), None, "it may be renamed");
    }
}
