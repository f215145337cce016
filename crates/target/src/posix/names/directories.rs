//! The directories of a tree that are open, by their numbers: a bounded cache of descriptors. Paths
//! are resolved below the tree's root without following links, once for each opening.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Descriptors that may share a set of the cache.
const WAYS: usize = 8;

/// An open directory. It stays open until [`Directories::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held(u32);

#[derive(Debug)]
struct Entry {
    number: u64,
    descriptor: Option<OwnedFd>,
    /// Operations that use it now.
    users: u32,
    /// When it was used last, in uses of the cache.
    used: u64,
}

/// Open directories of a tree.
#[derive(Debug)]
pub(crate) struct Directories {
    root: OwnedFd,
    /// Sets of [`WAYS`] cached directories; then those that found their set in use.
    entries: Vec<Entry>,
    sets: usize,
    uses: u64,
}

impl Directories {
    /// Keeps at most `cached` directories below `root` open, and `held` more while they are used.
    pub(crate) fn new(root: OwnedFd, cached: usize, held: usize) -> Directories {
        let sets = (cached / WAYS).max(1);
        let entry = |_| Entry { number: u64::MAX, descriptor: None, users: 0, used: 0 };
        let entries = (0..sets * WAYS + held).map(entry).collect();
        Directories { root, entries, sets, uses: 0 }
    }

    /// The tree's root.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The descriptor of a directory in use.
    pub(crate) fn descriptor(&self, held: Held) -> BorrowedFd<'_> {
        let entry = &self.entries[held.0 as usize];
        entry.descriptor.as_ref().map_or(self.root.as_fd(), OwnedFd::as_fd)
    }

    /// Opens directory `number` unless it is open; `path` writes its path below the root.
    pub(crate) fn hold<'p>(
        &mut self,
        number: u64,
        path: impl FnOnce() -> &'p CStr,
    ) -> Result<Held, Errno> {
        self.uses += 1;
        let set = (workload::random::mix64(number) % self.sets as u64) as usize * WAYS;
        let ways = set..set + WAYS;
        let found = ways.clone().find(|index| {
            let entry = &self.entries[*index];
            entry.number == number && entry.descriptor.is_some()
        });
        let index = match found {
            Some(index) => index,
            None => {
                let free = |index: &usize| self.entries[*index].users == 0;
                let oldest = ways.filter(free).min_by_key(|index| self.entries[*index].used);
                let spare = || (self.sets * WAYS..self.entries.len()).find(free);
                let index = oldest.or_else(spare).ok_or(Errno::MFILE)?;
                // Closes the one that was there first, so that their number stays bounded.
                self.entries[index].descriptor = None;
                let descriptor = open_below(self.root.as_fd(), path())?;
                let entry = &mut self.entries[index];
                (entry.number, entry.descriptor) = (number, Some(descriptor));
                index
            }
        };
        let entry = &mut self.entries[index];
        entry.users += 1;
        entry.used = self.uses;
        Ok(Held(index as u32))
    }

    /// Ends a use.
    pub(crate) fn release(&mut self, held: Held) {
        let index = held.0 as usize;
        let entry = &mut self.entries[index];
        entry.users -= 1;
        if index >= self.sets * WAYS {
            entry.descriptor = None;
        }
    }
}

/// Opens a directory below `root`. No part of the path may be a link.
pub(crate) fn open_below(root: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and containers that forbid the call.
        Err(Errno::NOSYS | Errno::PERM) => open_by_parts(root, path, flags),
        opened => opened,
    }
}

/// The same, part by part.
fn open_by_parts(root: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut directory: Option<OwnedFd> = None;
    for part in path.to_bytes().split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        if part == b".." {
            return Err(Errno::XDEV);
        }
        let above = directory.as_ref().map_or(root, OwnedFd::as_fd);
        directory = Some(rustix::fs::openat(above, part, flags, Mode::empty())?);
    }
    directory.map_or_else(|| rustix::fs::openat(root, c".", flags, Mode::empty()), Ok)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn tree() -> (tempfile::TempDir, Directories) {
        let path = tempfile::tempdir().unwrap();
        for number in 0..40 {
            std::fs::create_dir(path.path().join(format!("d{number}"))).unwrap();
        }
        let root = File::open(path.path()).unwrap().into();
        (path, Directories::new(root, 16, 4))
    }

    fn inode(directories: &Directories, held: Held) -> u64 {
        rustix::fs::fstat(directories.descriptor(held)).unwrap().st_ino
    }

    #[test]
    fn at_most_the_cached_directories_stay_open_and_each_is_the_right_one() {
        let (path, mut directories) = tree();
        for use_number in 0..500 {
            let number = workload::random::below(workload::random::at(3, use_number), 40);
            let name = std::ffi::CString::new(format!("d{number}")).unwrap();
            let held = directories.hold(number, || &name).unwrap();
            let expected = std::fs::metadata(path.path().join(format!("d{number}"))).unwrap();
            assert_eq!(inode(&directories, held), std::os::unix::fs::MetadataExt::ino(&expected));
            directories.release(held);
            let open = directories.entries.iter().filter(|entry| entry.descriptor.is_some());
            assert!(open.count() <= 16);
        }
    }

    #[test]
    fn a_directory_in_use_is_not_closed_for_another() {
        let (_path, mut directories) = tree();
        let mut all = Vec::new();
        for number in 0..40u64 {
            let name = std::ffi::CString::new(format!("d{number}")).unwrap();
            match directories.hold(number, || &name) {
                Ok(held) => all.push((number, held, inode(&directories, held))),
                Err(error) => {
                    assert_eq!(error, Errno::MFILE);
                    break;
                }
            }
        }
        assert!(all.len() >= 12, "{} held", all.len());
        for (_, held, before) in all {
            assert_eq!(inode(&directories, held), before);
            directories.release(held);
        }
    }

    #[test]
    fn a_link_in_place_of_a_directory_is_not_followed() {
        let (path, mut directories) = tree();
        std::os::unix::fs::symlink("d1", path.path().join("link")).unwrap();
        let link = directories.hold(99, || c"link").unwrap_err();
        assert!(matches!(link, Errno::LOOP | Errno::NOTDIR), "{link:?}");
        assert_eq!(directories.hold(98, || c"d1/../..").unwrap_err(), Errno::XDEV);
        let parts =
            open_by_parts(directories.root(), c"link", OFlags::NOFOLLOW | OFlags::DIRECTORY);
        assert!(matches!(parts, Err(Errno::LOOP | Errno::NOTDIR)), "{parts:?}");
        assert!(open_by_parts(directories.root(), c"d1", OFlags::DIRECTORY).is_ok());
    }
}
