//! Removes only what we created: the files that the manifest lists, the manifest, and the directory
//! if nothing else is in it. Links are never followed, and a name in the manifest can only refer to
//! an entry of the directory.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use workload::names::{NameTree, TreeShape};

use crate::creation::remove_marks;
use crate::folder::Folder;
use crate::inventory::find_file;
use crate::lease_content::LockOwner;
use crate::location::TargetLocation;
use crate::manifest::Manifest;
use crate::refusal::Refusal;
use crate::tree::{TreeLocation, Workers};
use crate::working_directory::our_directory;

/// How many files are removed between two checks that the lock is still ours.
const FILES_PER_LOCK_CHECK: usize = 64;

/// The result of `clean`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The directory that was ours.
    pub directory: PathBuf,
    /// Files that were removed, not counting the manifest.
    pub removed_files: u64,
    /// Their size in bytes.
    pub removed_bytes: u64,
    /// Our files that were not selected, and remain.
    pub kept_files: u64,
    /// Whether the directory itself was removed.
    pub removed_directory: bool,
    /// What was not removed.
    pub not_removed: Vec<NotRemoved>,
}

/// A file or directory that was not removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRemoved {
    /// Its path.
    pub path: PathBuf,
    /// The reason, in words.
    pub reason: String,
}

/// Cleans our directory at or in `location`.
///
/// # Errors
/// There is none ([`Refusal::NothingToClean`]), its manifest is invalid, another run uses it, or the
/// kernel refused to remove something; then the manifest is still there.
pub fn clean(location: impl Into<TargetLocation>) -> Result<Cleaned, Refusal> {
    clean_selected(&location.into(), |_| true)
}

/// Removes only our files with these names. If no other file is ours, the directory is cleaned
/// whole.
///
/// # Errors
/// As [`clean`].
pub fn clean_files(
    location: impl Into<TargetLocation>,
    names: &BTreeSet<String>,
) -> Result<Cleaned, Refusal> {
    clean_selected(&location.into(), |name| names.contains(name))
}

fn clean_selected(
    location: &TargetLocation,
    is_selected: impl Fn(&str) -> bool,
) -> Result<Cleaned, Refusal> {
    let (path, folder) = (location.path(), location.folder()?);
    let folder = folder.as_ref();
    let nothing = || Refusal::NothingToClean { path: path.clone() };
    let named = match folder.resolve(&path) {
        Ok(named) => named,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Refusal::Missing { path });
        }
        Err(error) => return Err(Refusal::io("resolve", &path, error)),
    };
    let found = folder.find_entry(&named).map_err(|error| Refusal::io("stat", &named, error))?;
    if !found.is_some_and(|found| found.is_directory()) {
        return Err(Refusal::NotADirectory { path });
    }
    let directory = our_directory(folder, &named)?.ok_or_else(nothing)?;
    let lock = folder.lock(&directory, &LockOwner::this_process())?;
    let mut manifest = Manifest::load_in(folder, &directory)?.ok_or_else(nothing)?;
    let selected: Vec<String> =
        manifest.files.keys().filter(|name| is_selected(name)).cloned().collect();
    let trees: Vec<String> =
        manifest.trees.keys().filter(|name| is_selected(name)).cloned().collect();

    let mut cleaned = Cleaned {
        directory: directory.clone(),
        removed_files: 0,
        removed_bytes: 0,
        kept_files: (manifest.files.len() - selected.len() + manifest.trees.len() - trees.len())
            as u64,
        removed_directory: false,
        not_removed: Vec::new(),
    };
    for (count, name) in selected.iter().enumerate() {
        if count.is_multiple_of(FILES_PER_LOCK_CHECK) {
            lock.refuse_lost(&directory)?;
        }
        remove_our_file(folder, &directory.join(name), &manifest, &mut cleaned)?;
    }
    for name in &trees {
        lock.refuse_lost(&directory)?;
        remove_our_tree(folder, &directory.join(name), &manifest.trees[name].shape, &mut cleaned)?;
    }
    if cleaned.kept_files > 0 {
        // A file that is listed and missing is filled again.
        manifest.files.retain(|name, _| !selected.contains(name));
        manifest.trees.retain(|name, _| !trees.contains(name));
        manifest.save_in(folder, &directory)?;
        return Ok(cleaned);
    }
    // The manifest is removed last, so that the next `clean` knows our files if this one fails.
    remove_marks(folder, &directory)?;
    list_foreign_files(folder, &directory, &mut cleaned)?;
    if cleaned.not_removed.is_empty() && !folder.is_root(&directory) {
        folder
            .remove_directory(&directory)
            .map_err(|error| Refusal::io("remove directory", &directory, error))?;
        cleaned.removed_directory = true;
    }
    Ok(cleaned)
}

fn remove_our_file(
    folder: &dyn Folder,
    path: &Path,
    manifest: &Manifest,
    cleaned: &mut Cleaned,
) -> Result<(), Refusal> {
    match find_file(folder, path, manifest) {
        Ok(None) => {}
        Ok(Some(found)) => {
            folder.remove_file(path).map_err(|error| Refusal::io("remove", path, error))?;
            cleaned.removed_files += 1;
            cleaned.removed_bytes += found.size_bytes;
        }
        Err(Refusal::NotARegularFile { path, found }) => {
            let reason = format!("it is {found}, not the file that fourcorners created");
            cleaned.not_removed.push(NotRemoved { path, reason });
        }
        Err(Refusal::Replaced { path }) => {
            let reason = "it is not the file that fourcorners created: it was replaced".to_owned();
            cleaned.not_removed.push(NotRemoved { path, reason });
        }
        Err(refusal) => return Err(refusal),
    }
    Ok(())
}

/// Removes the names and directories of a tree. What its operations cannot have created is kept.
fn remove_our_tree(
    folder: &dyn Folder,
    root: &Path,
    shape: &TreeShape,
    cleaned: &mut Cleaned,
) -> Result<(), Refusal> {
    let found = folder.find_entry(root).map_err(|error| Refusal::io("stat", root, error))?;
    let Some(found) = found else { return Ok(()) };
    if !found.is_directory() {
        let reason =
            format!("it is {}, not the tree that fourcorners created", found.kind.description());
        cleaned.not_removed.push(NotRemoved { path: root.to_path_buf(), reason });
        return Ok(());
    }
    let tree = NameTree::new(shape);
    let location = TreeLocation { folder, root, tree: &tree };
    let workers = Workers { threads: folder.transfer_threads(), stop: &|| false };
    let removed = crate::tree::remove(&location, workers)?;
    cleaned.removed_files += removed.files;
    cleaned.removed_bytes += removed.bytes;
    if removed.foreign.is_empty() {
        return folder
            .remove_directory(root)
            .map_err(|error| Refusal::io("remove directory", root, error));
    }
    let kept = |(path, found): (PathBuf, &str)| NotRemoved {
        path,
        reason: format!("it is {found}, which fourcorners did not create"),
    };
    cleaned.not_removed.extend(removed.foreign.into_iter().map(kept));
    let reason = "it contains what fourcorners did not create".to_owned();
    cleaned.not_removed.push(NotRemoved { path: root.to_path_buf(), reason });
    Ok(())
}

fn list_foreign_files(
    folder: &dyn Folder,
    directory: &Path,
    cleaned: &mut Cleaned,
) -> Result<(), Refusal> {
    let names = folder.list(directory).map_err(|error| Refusal::io("list", directory, error))?;
    for name in names {
        let path = directory.join(name);
        if !cleaned.not_removed.iter().any(|one| one.path == path) {
            cleaned
                .not_removed
                .push(NotRemoved { path, reason: "we did not create it".to_owned() });
        }
    }
    cleaned.not_removed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}
