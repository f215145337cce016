//! Removes a tree: every name that its operations can have created, and its directories. What is
//! not the tree's is kept and reported.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::access::{At, TreeAccess, TreeDirectory, TreeEntry};
use super::walk::{Workers, child_of, children, lock, path_of, visit_directories};
use super::{TreeError, TreeLocation};
use crate::folder::Kind;

/// The result of removing a tree.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// Files and links.
    pub(crate) files: u64,
    /// Their size in bytes.
    pub(crate) bytes: u64,
    /// Entries that are not the tree's, and what they are.
    pub(crate) foreign: Vec<(PathBuf, &'static str)>,
}

/// Removes the tree, except for its root.
pub(crate) fn remove(
    location: &TreeLocation<'_>,
    workers: Workers<'_>,
) -> Result<Removed, TreeError> {
    let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let foreign = Mutex::new(Vec::new());
    let tree = location.tree;
    let visit = |access: &mut dyn TreeAccess, directory: TreeDirectory, entries: Vec<TreeEntry>| {
        for entry in &entries {
            let at = (directory, &entry.leaf[..]);
            let is_ours = tree
                .parse(&entry.leaf)
                .is_some_and(|name| tree.directory(name) == directory.number);
            let removed = match entry.kind {
                Kind::File | Kind::Link if is_ours => access.remove(at),
                Kind::Directory if is_ours => access.remove_directory(at),
                _ => {
                    let one = (path_of(location, at), entry.kind.description());
                    lock(&foreign).push(one);
                    continue;
                }
            };
            match removed {
                Ok(()) if entry.kind == Kind::Directory => {}
                Ok(()) => {
                    files.fetch_add(1, Ordering::Relaxed);
                    bytes.fetch_add(entry.size_bytes, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    lock(&foreign).push((path_of(location, at), "a directory that is not empty"));
                }
                Err(source) => {
                    let path = path_of(location, at);
                    return Err(TreeError::Io { action: "remove", path, source });
                }
            }
        }
        Ok(())
    };
    visit_directories(location, workers, &visit, &|_| {})?;
    let mut foreign = foreign.into_inner().unwrap_or_default();
    remove_directories(location, &mut foreign)?;
    foreign.sort();
    foreign.dedup();
    Ok(Removed { files: files.into_inner(), bytes: bytes.into_inner(), foreign })
}

/// Removes the directories, from the last level up.
fn remove_directories(
    location: &TreeLocation<'_>,
    foreign: &mut Vec<(PathBuf, &'static str)>,
) -> Result<(), TreeError> {
    let failed =
        |action, at: At<'_>, source| TreeError::Io { action, path: path_of(location, at), source };
    let root = (TreeDirectory::ROOT, &b""[..]);
    let mut access = location.open().map_err(|source| failed("open", root, source))?;
    for level in (0..location.tree.depth()).rev() {
        let directories = if level == 0 { 1 } else { location.tree.directories_of_level(level) };
        for number in 0..directories {
            let directory = TreeDirectory { level, number };
            let children = children(location.tree, directory);
            let entries = match access.list(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                listed => listed.map_err(|source| failed("list", (directory, b""), source))?,
            };
            for entry in &entries {
                let at = (directory, &entry.leaf[..]);
                if child_of(&children, entry).is_none() {
                    foreign.push((path_of(location, at), entry.kind.description()));
                    continue;
                }
                match access.remove_directory(at) {
                    Ok(()) => {}
                    // It contains what is not ours, which is reported already.
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                    Err(source) => return Err(failed("remove directory", at, source)),
                }
            }
        }
    }
    Ok(())
}
