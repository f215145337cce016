//! Makes a tree what it is at the start of a run: creates what is missing, and removes what earlier
//! operations left. What no operation of the tree can have created is refused, not removed.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use workload::names::{Expected, Name, NameClass};

use super::access::{At, TreeAccess, TreeDirectory, TreeEntry};
use super::content::Inspection;
use super::directory::TreeProgress;
use super::expected::TreeState;
use super::seen::Seen;
use super::walk::{Judge, Workers, child_of, children, lock, path_of, visit_directories};
use super::{TreeError, TreeLocation};
use crate::folder::Kind;
use crate::names::content::ContentMaker;

/// Names that a thread takes from the list of missing ones together.
const BATCH_NAMES: usize = 64;

/// What a repair has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Names and directories that had to be created: known once the tree was walked.
    pub missing: u64,
    /// Names and directories that were created.
    pub created: u64,
    /// Names that were removed.
    pub removed: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

#[derive(Default)]
struct Counts {
    missing: AtomicU64,
    created: AtomicU64,
    removed: AtomicU64,
    written_bytes: AtomicU64,
}

impl Counts {
    fn repaired(&self) -> Repaired {
        Repaired {
            missing: self.missing.load(Ordering::Relaxed),
            created: self.created.load(Ordering::Relaxed),
            removed: self.removed.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
        }
    }
}

/// Makes the tree what `state` describes. `progress` is called with what is done so far.
pub(crate) fn repair(
    location: &TreeLocation<'_>,
    state: &TreeState,
    (content, inspection): (&ContentMaker, Inspection),
    workers: Workers<'_>,
    progress: TreeProgress<'_>,
) -> Result<Repaired, TreeError> {
    let counts = Counts::default();
    make_directories(location, workers, &counts)?;
    let judge = Judge { location, lookup: state.lookup(), content, inspection };
    let names = judge.lookup.count();
    let seen = Seen::new(state.stream());
    let correct = AtomicU64::new(0);
    let visit = |access: &mut dyn TreeAccess, directory, entries: Vec<TreeEntry>| {
        for entry in &entries {
            let verdict = judge.judge(access, directory, entry)?;
            let at = (directory, &entry.leaf[..]);
            match (verdict.name, verdict.difference) {
                (Some(name), None) => {
                    seen.insert(name);
                    correct.fetch_add(1, Ordering::Relaxed);
                }
                (Some(_), Some(_)) => {
                    remove(location, access, at, entry.kind)?;
                    counts.removed.fetch_add(1, Ordering::Relaxed);
                }
                (None, _) => {
                    let (path, found) = (path_of(location, at), entry.kind.description());
                    return Err(TreeError::Foreign { path, found });
                }
            }
        }
        Ok(())
    };
    visit_directories(location, workers, &visit, &|_| {})?;
    let missing = names.saturating_sub(correct.load(Ordering::Relaxed));
    counts.missing.store(counts.created.load(Ordering::Relaxed) + missing, Ordering::Relaxed);
    if missing > 0 {
        let missing = judge.lookup.names().filter(|(name, _)| !seen.contains(*name));
        create_all(location, workers, missing, (state, content), &counts, progress)?;
    }
    Ok(counts.repaired())
}

/// Removes an entry that an operation left.
fn remove(
    location: &TreeLocation<'_>,
    access: &mut dyn TreeAccess,
    at: At<'_>,
    kind: Kind,
) -> Result<(), TreeError> {
    let removed = match kind {
        Kind::File | Kind::Link => access.remove(at),
        Kind::Directory => access.remove_directory(at),
        _ => {
            let (path, found) = (path_of(location, at), kind.description());
            return Err(TreeError::Foreign { path, found });
        }
    };
    removed.map_err(|source| TreeError::Io {
        action: "remove",
        path: path_of(location, at),
        source,
    })
}

/// Creates the directories that are missing, from the root down, and refuses entries between them
/// that are not the tree's.
fn make_directories(
    location: &TreeLocation<'_>,
    workers: Workers<'_>,
    counts: &Counts,
) -> Result<(), TreeError> {
    let failed =
        |action, at: At<'_>, source| TreeError::Io { action, path: path_of(location, at), source };
    let root = (TreeDirectory::ROOT, &b""[..]);
    let mut access = location.open().map_err(|source| failed("open", root, source))?;
    for level in 0..location.tree.depth() {
        let directories = if level == 0 { 1 } else { location.tree.directories_of_level(level) };
        for number in 0..directories {
            if (workers.stop)() {
                return Err(TreeError::Stopped);
            }
            let directory = TreeDirectory { level, number };
            let entries = access
                .list(directory)
                .map_err(|source| failed("list", (directory, b""), source))?;
            let children = children(location.tree, directory);
            let mut exists = vec![false; children.len()];
            for entry in &entries {
                match child_of(&children, entry) {
                    Some(child) => exists[child] = true,
                    None => {
                        let path = path_of(location, (directory, &entry.leaf));
                        let found = entry.kind.description();
                        return Err(TreeError::Foreign { path, found });
                    }
                }
            }
            for ((_, leaf), _) in children.iter().zip(exists).filter(|(_, exists)| !exists) {
                let at = (directory, &leaf[..]);
                let made = access.make_directory(at);
                made.map_err(|source| failed("make directory", at, source))?;
                counts.created.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

/// Creates the missing names in several threads. Originals come first in the list, and links to them
/// are created when all of them are there.
fn create_all(
    location: &TreeLocation<'_>,
    workers: Workers<'_>,
    missing: impl Iterator<Item = (Name, Expected)> + Send,
    with: (&TreeState, &ContentMaker),
    counts: &Counts,
    progress: TreeProgress<'_>,
) -> Result<(), TreeError> {
    let missing = Mutex::new(missing.peekable());
    for originals in [true, false] {
        let is_next = |next: &(Name, Expected)| !originals || next.0.class == NameClass::Original;
        let work = |access: &mut dyn TreeAccess, stop: &dyn Fn() -> bool| {
            let mut batch = Vec::with_capacity(BATCH_NAMES);
            while !stop() {
                {
                    let mut missing = lock(&missing);
                    let next = std::iter::from_fn(|| missing.next_if(is_next));
                    batch.extend(next.take(BATCH_NAMES));
                }
                if batch.is_empty() {
                    break;
                }
                for (name, expected) in batch.drain(..) {
                    create(location, access, (name, &expected), with, counts)?;
                }
            }
            access.sync().map_err(|source| {
                let path = location.root.to_path_buf();
                TreeError::Io { action: "sync", path, source }
            })
        };
        workers.run_with(location, &work, &mut || progress(counts.repaired()))?;
    }
    Ok(())
}

fn create(
    location: &TreeLocation<'_>,
    access: &mut dyn TreeAccess,
    (name, expected): (Name, &Expected),
    (state, maker): (&TreeState, &ContentMaker),
    counts: &Counts,
) -> Result<(), TreeError> {
    let tree = location.tree;
    let directory = |name| TreeDirectory { level: tree.depth(), number: tree.directory(name) };
    let leaf = tree.leaf(name);
    let at = (directory(name), leaf.as_bytes());
    let created: io::Result<()> = match expected {
        Expected::File { .. } if name.class == NameClass::Link => {
            let original = state.stream().referred(name);
            let original_leaf = tree.leaf(original);
            access.link((directory(original), original_leaf.as_bytes()), at)
        }
        Expected::File { size_bytes, content } => {
            let created = access.create(at, *size_bytes, &mut |offset, part| {
                maker.fill(*content, offset, part);
            });
            counts.written_bytes.fetch_add(*size_bytes, Ordering::Relaxed);
            created
        }
        Expected::Symlink { text } => access.symlink(at, tree.leaf(*text).as_bytes()),
        Expected::Directory => access.make_directory(at),
    };
    created.map_err(|source| TreeError::Io {
        action: "create",
        path: path_of(location, at),
        source,
    })?;
    counts.created.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
