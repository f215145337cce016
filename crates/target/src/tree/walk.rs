//! Walks a tree, directory by directory, and compares each entry with what is expected. Memory is
//! bounded by the largest directory and one bit per name.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use workload::names::{Expected, Name, NameClass, NameTree};

use super::access::{At, TreeAccess, TreeDirectory, TreeEntry};
use super::content::{Inspection, inspect};
use super::differences::{Difference, Differences, Findings, FoundEntries};
use super::expected::{Lookup, TreeState, Wanted};
use super::seen::Seen;
use super::{TreeError, TreeLocation};
use crate::folder::Kind;
use crate::names::content::ContentMaker;

/// A child directory that the tree has: its number in its level, and its name.
pub(super) type Child = (TreeDirectory, Vec<u8>);

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section leaves a consistent state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directories that a directory of the tree contains.
pub(super) fn children(tree: &NameTree, directory: TreeDirectory) -> Vec<Child> {
    let TreeDirectory { level, number } = directory;
    if level >= tree.depth() {
        return Vec::new();
    }
    let all = tree.directories_of_level(level + 1);
    let first = number.saturating_mul(tree.width());
    let child = |number| {
        let mut path = String::new();
        tree.push_directory_path(level + 1, number, &mut path);
        let leaf = path.rsplit('/').next().unwrap_or_default();
        (TreeDirectory { level: level + 1, number }, leaf.as_bytes().to_vec())
    };
    (first..all.min(first.saturating_add(tree.width()))).map(child).collect()
}

/// The position of an entry among the children of its directory, which are ordered by name.
pub(super) fn child_of(children: &[Child], entry: &TreeEntry) -> Option<usize> {
    let found = children.binary_search_by(|(_, leaf)| leaf.cmp(&entry.leaf)).ok();
    found.filter(|_| entry.kind == Kind::Directory)
}

/// The path of an entry, for messages.
pub(super) fn path_of(location: &TreeLocation<'_>, (directory, leaf): At<'_>) -> PathBuf {
    let mut path = String::new();
    location.tree.push_directory_path(directory.level, directory.number, &mut path);
    let directory = match path.is_empty() {
        true => location.root.to_path_buf(),
        false => location.root.join(path),
    };
    directory.join(String::from_utf8_lossy(leaf).as_ref())
}

/// Threads that work on a tree, and the request to stop them.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub(crate) threads: usize,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// The work of a thread, with its access to the tree and a function that returns whether to stop.
type ThreadWork<'a> =
    &'a (dyn Fn(&mut dyn TreeAccess, &dyn Fn() -> bool) -> Result<(), TreeError> + Sync);

/// How often progress is reported.
const MEANWHILE: Duration = Duration::from_millis(100);

impl Workers<'_> {
    /// Runs `work` in every thread with its access to the tree and a function that returns whether to
    /// stop. The first failure stops the others.
    pub(super) fn run(
        self,
        location: &TreeLocation<'_>,
        work: ThreadWork<'_>,
    ) -> Result<(), TreeError> {
        self.run_with(location, work, &mut || {})
    }

    /// The same; `meanwhile` is called in this thread every [`MEANWHILE`].
    pub(super) fn run_with(
        self,
        location: &TreeLocation<'_>,
        work: ThreadWork<'_>,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), TreeError> {
        let failed = AtomicBool::new(false);
        let first = Mutex::new(None);
        let (failed, first) = (&failed, &first);
        // Each thread has a sender, so that their end disconnects the receiver.
        let (sender, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                let mut access = match location.open() {
                    Ok(access) => access,
                    Err(source) => {
                        let path = location.root.to_path_buf();
                        let error = TreeError::Io { action: "open", path, source };
                        lock(first).get_or_insert(error);
                        failed.store(true, Ordering::Relaxed);
                        break;
                    }
                };
                let sender = sender.clone();
                scope.spawn(move || {
                    let _sender = sender;
                    let stop = || failed.load(Ordering::Relaxed) || (self.stop)();
                    if let Err(error) = work(access.as_mut(), &stop) {
                        failed.store(true, Ordering::Relaxed);
                        lock(first).get_or_insert(error);
                    }
                });
            }
            drop(sender);
            while ended.recv_timeout(MEANWHILE) == Err(RecvTimeoutError::Timeout) {
                meanwhile();
            }
        });
        match lock(first).take() {
            Some(error) => Err(error),
            None if (self.stop)() => Err(TreeError::Stopped),
            None => Ok(()),
        }
    }
}

/// Handles the entries of a directory.
type Visit<'v> = &'v (
        dyn Fn(&mut dyn TreeAccess, TreeDirectory, Vec<TreeEntry>) -> Result<(), TreeError> + Sync
    );

/// Calls `visit` for every directory of the last level with its entries, in several threads. `missing`
/// is called for those that do not exist.
pub(super) fn visit_directories(
    location: &TreeLocation<'_>,
    workers: Workers<'_>,
    visit: Visit<'_>,
    missing: &(dyn Fn(TreeDirectory) + Sync),
) -> Result<(), TreeError> {
    let next = AtomicU64::new(0);
    let level = location.tree.depth();
    workers.run(location, &|access, stop| {
        while !stop() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= location.tree.directories() {
                break;
            }
            let directory = TreeDirectory { level, number };
            match access.list(directory) {
                Ok(entries) => visit(access, directory, entries)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing(directory),
                Err(source) => {
                    let path = path_of(location, (directory, b""));
                    return Err(TreeError::Io { action: "list", path, source });
                }
            }
        }
        Ok(())
    })
}

/// Compares entries with what is expected.
pub(super) struct Judge<'a> {
    pub(super) location: &'a TreeLocation<'a>,
    pub(super) lookup: Lookup<'a>,
    pub(super) content: &'a ContentMaker,
    /// How much of each file is read.
    pub(super) inspection: Inspection,
}

/// What an entry is.
pub(super) struct Verdict {
    /// The name that it has, if it is one of this directory's.
    pub(super) name: Option<Name>,
    pub(super) difference: Option<Difference>,
    /// Details for a message.
    pub(super) detail: String,
    /// A failed operation may have changed it, so that nothing was compared.
    pub(super) is_unknown: bool,
}

impl Judge<'_> {
    pub(super) fn judge(
        &self,
        access: &mut dyn TreeAccess,
        directory: TreeDirectory,
        entry: &TreeEntry,
    ) -> Result<Verdict, TreeError> {
        let tree = self.location.tree;
        let name = tree.parse(&entry.leaf).filter(|name| tree.directory(*name) == directory.number);
        let surplus = |name| Verdict {
            name,
            difference: Some(Difference::Surplus),
            detail: format!("{} that no operation left", entry.kind.description()),
            is_unknown: false,
        };
        let Some(name) = name else { return Ok(surplus(None)) };
        let options = match self.lookup.find(name) {
            Wanted::Nothing => return Ok(surplus(Some(name))),
            Wanted::Unknown => {
                let (name, detail) = (Some(name), String::new());
                return Ok(Verdict { name, difference: None, detail, is_unknown: true });
            }
            Wanted::Exactly(expected) => [Some(expected), None],
            Wanted::Either(first, last) => [last, first],
        };
        let mut verdict = surplus(Some(name));
        for expected in options.into_iter().flatten() {
            verdict = self.compare(access, directory, entry, name, &expected)?;
            if verdict.difference.is_none() {
                break;
            }
        }
        Ok(verdict)
    }

    fn compare(
        &self,
        access: &mut dyn TreeAccess,
        directory: TreeDirectory,
        entry: &TreeEntry,
        name: Name,
        expected: &Expected,
    ) -> Result<Verdict, TreeError> {
        let at = (directory, &entry.leaf[..]);
        let is = |difference, detail: String| Verdict {
            name: Some(name),
            difference,
            detail,
            is_unknown: false,
        };
        let required = match expected {
            Expected::File { .. } => Kind::File,
            Expected::Symlink { .. } => Kind::Link,
            Expected::Directory => Kind::Directory,
        };
        if entry.kind != required {
            let (found, required) = (entry.kind.description(), required.description());
            let detail = format!("{found} instead of {required}");
            return Ok(is(Some(Difference::WrongKind), detail));
        }
        let failed = |source| {
            let path = path_of(self.location, at);
            TreeError::Io { action: "read", path, source }
        };
        match expected {
            Expected::File { size_bytes, .. } if *size_bytes != entry.size_bytes => {
                let detail = format!("{} bytes instead of {size_bytes}", entry.size_bytes);
                Ok(is(Some(Difference::WrongSize), detail))
            }
            // Its content is that of an original, which is read under its first name.
            Expected::File { .. } if name.class == NameClass::Link => Ok(is(None, String::new())),
            Expected::File { size_bytes, content } => {
                let wrong =
                    inspect(access, at, *size_bytes, self.inspection, (self.content, *content));
                match wrong.map_err(failed)? {
                    None => Ok(is(None, String::new())),
                    Some(detail) => Ok(is(Some(Difference::WrongContent), detail)),
                }
            }
            Expected::Symlink { text } => {
                let text = self.location.tree.leaf(*text);
                let found = access.link_text(at).map_err(failed)?;
                if found == text.as_bytes() {
                    return Ok(is(None, String::new()));
                }
                let detail = format!(
                    "its text is `{}` instead of `{}`",
                    String::from_utf8_lossy(&found),
                    text.as_str()
                );
                Ok(is(Some(Difference::WrongContent), detail))
            }
            Expected::Directory => Ok(is(None, String::new())),
        }
    }
}

/// Compares a tree with what is expected.
pub(crate) fn compare(
    location: &TreeLocation<'_>,
    state: &TreeState,
    content: &ContentMaker,
    inspection: Inspection,
    workers: Workers<'_>,
) -> Result<Differences, TreeError> {
    let seen = Seen::new(state.stream());
    let findings = Findings::default();
    let judge = Judge { location, lookup: state.lookup(), content, inspection };
    compare_structure(location, &findings)?;
    let visit = |access: &mut dyn TreeAccess, directory, entries: Vec<TreeEntry>| {
        let mut found = FoundEntries::default();
        for entry in &entries {
            found.add(entry.kind);
            let verdict = judge.judge(access, directory, entry)?;
            if let Some(name) = verdict.name {
                seen.insert(name);
            }
            found.unknown += u64::from(verdict.is_unknown);
            if let Some(difference) = verdict.difference {
                let path = path_of(location, (directory, &entry.leaf));
                let describe = || format!("`{}`: {}", path.display(), verdict.detail);
                findings.add(difference, describe);
            }
        }
        findings.compared(entries.len() as u64, found);
        Ok(())
    };
    visit_directories(location, workers, &visit, &|_| {})?;
    for (name, _) in judge.lookup.names().filter(|(name, _)| !seen.contains(*name)) {
        findings.compared(1, FoundEntries::default());
        findings.add(Difference::Missing, || {
            let mut path = String::new();
            location.tree.push_path(name, &mut path);
            format!("`{}`: it does not exist", location.root.join(path).display())
        });
    }
    Ok(findings.into_differences())
}

/// Compares the directories above the last level.
fn compare_structure(location: &TreeLocation<'_>, findings: &Findings) -> Result<(), TreeError> {
    let failed = |directory, source| TreeError::Io {
        action: "list",
        path: path_of(location, (directory, b"")),
        source,
    };
    let mut access = location.open().map_err(|source| failed(TreeDirectory::ROOT, source))?;
    for level in 0..location.tree.depth() {
        let directories = if level == 0 { 1 } else { location.tree.directories_of_level(level) };
        for number in 0..directories {
            let directory = TreeDirectory { level, number };
            let entries = match access.list(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                listed => listed.map_err(|source| failed(directory, source))?,
            };
            let children = children(location.tree, directory);
            let mut found = FoundEntries::default();
            let mut exists = vec![false; children.len()];
            for entry in &entries {
                found.add(entry.kind);
                if let Some(child) = child_of(&children, entry) {
                    exists[child] = true;
                    continue;
                }
                let path = path_of(location, (directory, &entry.leaf));
                let kind = entry.kind.description();
                let describe = || format!("`{}`: {kind} that no operation left", path.display());
                findings.add(Difference::Surplus, describe);
            }
            findings.compared(children.len() as u64, found);
            for ((_, leaf), _) in children.iter().zip(exists).filter(|(_, exists)| !exists) {
                let path = path_of(location, (directory, leaf));
                let describe = || format!("`{}`: it does not exist", path.display());
                findings.add(Difference::Missing, describe);
            }
        }
    }
    Ok(())
}
