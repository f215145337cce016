//! The calls on a tree that making, checking and removing it need, for one thread.

use std::io;

use crate::folder::Kind;

/// A directory of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TreeDirectory {
    /// Its level; 0 is the root.
    pub(crate) level: u32,
    /// Its number in the level.
    pub(crate) number: u64,
}

impl TreeDirectory {
    /// The root of a tree.
    pub(crate) const ROOT: TreeDirectory = TreeDirectory { level: 0, number: 0 };

    /// One number for all levels, for caches.
    pub(crate) const fn key(self) -> u64 {
        (self.level as u64) << 56 | self.number
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    /// Its name.
    pub(crate) leaf: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) size_bytes: u64,
}

/// A name in a directory of a tree.
pub(crate) type At<'a> = (TreeDirectory, &'a [u8]);

/// Access to a tree. No call follows a link.
pub(crate) trait TreeAccess: Send {
    /// The entries of a directory without `.` and `..`, in any order.
    fn list(&mut self, directory: TreeDirectory) -> io::Result<Vec<TreeEntry>>;

    fn make_directory(&mut self, at: At<'_>) -> io::Result<()>;

    fn remove_directory(&mut self, at: At<'_>) -> io::Result<()>;

    /// Removes a file or a link.
    fn remove(&mut self, at: At<'_>) -> io::Result<()>;

    /// Creates a file that does not exist with the `size_bytes` that `fill` returns part by part.
    fn create(
        &mut self,
        at: At<'_>,
        size_bytes: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> io::Result<()>;

    /// Gives the file `from` the additional name `to`.
    fn link(&mut self, from: At<'_>, to: At<'_>) -> io::Result<()>;

    fn symlink(&mut self, at: At<'_>, text: &[u8]) -> io::Result<()>;

    /// The text of a symbolic link.
    fn link_text(&mut self, at: At<'_>) -> io::Result<Vec<u8>>;

    /// Reads the first `size_bytes` of a file; `each` gets them part by part with their offsets, until it
    /// returns false. Returns the bytes read.
    fn read(
        &mut self,
        at: At<'_>,
        size_bytes: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> bool,
    ) -> io::Result<u64>;

    /// Makes everything durable that this access has created.
    fn sync(&mut self) -> io::Result<()>;
}
