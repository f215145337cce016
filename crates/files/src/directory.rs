//! A directory: names in one map, the order of listing in another.
//!
//! Every entry gets a number when it is made, its cookie, and numbers are never used twice in one
//! directory. A listing goes on after a cookie, whether that entry still exists or not: so an entry
//! that is there from the beginning of a listing to its end is given exactly once, whatever is
//! added and removed meanwhile. The idea is that of the sequential directory offsets of
//! Linux's tmpfs (`simple_offset`), for the same reason.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Cookies of "." and ".."; entries follow.
pub(crate) const DOT: u64 = 1;
pub(crate) const DOT_DOT: u64 = 2;

/// What the memory budget is charged for a name beside its bytes: two nodes of two maps, counted
/// and its two pointers, rounded up.
const ENTRY_BYTES: u64 = 128;

/// The charge of one name.
pub(crate) fn entry_bytes(name: &[u8]) -> u64 {
    ENTRY_BYTES + name.len() as u64
}

#[derive(Clone, Debug)]
struct Place {
    fileid: u64,
    cookie: u64,
}

/// A directory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// The inode that ".." names; the root's is itself.
    pub(crate) parent: u64,
    /// Directories in it, each of which has a ".." that names it.
    pub(crate) subdirectories: u32,
    names: BTreeMap<Arc<[u8]>, Place>,
    /// order[cookie]
    order: BTreeMap<u64, (Arc<[u8]>, u64)>,
    next_cookie: u64,
}

impl Directory {
    pub(crate) fn new(parent: u64) -> Directory {
        Directory {
            parent,
            subdirectories: 0,
            names: BTreeMap::new(),
            order: BTreeMap::new(),
            next_cookie: DOT_DOT + 1,
        }
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<u64> {
        self.names.get(name).map(|place| place.fileid)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds a name that is not there.
    pub(crate) fn insert(&mut self, name: &[u8], fileid: u64) {
        let name: Arc<[u8]> = name.into();
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.order.insert(cookie, (Arc::clone(&name), fileid));
        let before = self.names.insert(name, Place { fileid, cookie });
        debug_assert!(before.is_none(), "the caller looked first");
    }

    /// Lets a name that is there mean another object. It keeps its cookie: the name was there all
    /// the time, so no listing may skip it or give it twice.
    pub(crate) fn replace(&mut self, name: &[u8], fileid: u64) {
        if let Some(place) = self.names.get_mut(name) {
            place.fileid = fileid;
            if let Some((_, listed)) = self.order.get_mut(&place.cookie) {
                *listed = fileid;
            }
        }
    }

    /// Takes a name away.
    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<u64> {
        let place = self.names.remove(name)?;
        self.order.remove(&place.cookie);
        Some(place.fileid)
    }

    /// `(cookie, name, fileid)` of the entries after a cookie, without "." and "..".
    pub(crate) fn after(&self, cookie: u64) -> impl Iterator<Item = (u64, &[u8], u64)> {
        let first = cookie.saturating_add(1);
        self.order.range(first..).map(|(cookie, (name, fileid))| (*cookie, &**name, *fileid))
    }

    /// Bytes as `fattr3.size` shows them: grows with the entries, as on other servers.
    pub(crate) fn size(&self) -> u64 {
        (self.names.len() as u64 / 64 + 1) * 4096
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_to_mean_another_object_keeps_its_cookie() {
        let mut directory = Directory::new(2);
        directory.insert(b"a", 10);
        directory.insert(b"b", 11);
        directory.replace(b"a", 12);
        let listed: Vec<_> =
            directory.after(0).map(|(cookie, _, fileid)| (cookie, fileid)).collect();
        assert_eq!(listed, [(3, 12), (4, 11)]);
    }

    #[test]
    fn a_name_made_again_gets_a_new_cookie() {
        let mut directory = Directory::new(2);
        directory.insert(b"a", 10);
        assert_eq!(directory.remove(b"a"), Some(10));
        directory.insert(b"a", 11);
        assert_eq!(directory.after(0).next(), Some((4, &b"a"[..], 11)));
        assert_eq!(directory.after(u64::MAX).next(), None);
    }
}
