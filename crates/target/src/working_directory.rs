//! Finds the directory that a run uses: the named one if it carries our mark, the marked one inside
//! it, or one that may be created. Reads only.

use std::io;
use std::path::{Path, PathBuf};

use crate::creation::{holds_only_marks, is_unfinished_creation};
use crate::directory::OUR_NAME;
use crate::folder::{Entry, Folder, Kind};
use crate::manifest::Manifest;
use crate::refusal::{Overrides, Refusal};

/// Entries that a file system or filer creates in an otherwise empty volume.
const HARMLESS: [&str; 5] = ["lost+found", ".snapshot", ".snapshots", ".zfs", ".Trash-0"];

/// The directory that a run uses.
pub(crate) struct WorkingDirectory {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
}

/// Whether the working directory exists and is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It does not exist.
    New,
    /// It has our name, no mark and no files: its creation was interrupted, or `clean` kept it for
    /// a user's file that has since been removed.
    Unmarked,
    /// It carries our mark.
    Ours,
}

/// Finds the working directory for the `path` that the user named.
pub(crate) fn find_working_directory(
    folder: &dyn Folder,
    path: &Path,
    overrides: Overrides,
) -> Result<WorkingDirectory, Refusal> {
    let found = match folder.resolve_entry(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return directory_to_create(folder, path, overrides);
        }
        Err(error) => return Err(Refusal::io("stat", path, error)),
    };
    if found.kind == Kind::BlockDevice {
        return Err(Refusal::BlockDevice { path: path.to_path_buf() });
    }
    if !found.is_directory() {
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let named = folder.resolve(path).map_err(|error| Refusal::io("resolve", path, error))?;
    if let Some(ours) = our_directory(folder, &named)? {
        return Ok(WorkingDirectory { path: ours, state: State::Ours });
    }
    let inside = named.join(OUR_NAME);
    let state = match folder.find_entry(&inside) {
        Ok(None) => State::New,
        Ok(Some(_)) if holds_only_marks(folder, &inside)? => State::Unmarked,
        Ok(Some(_)) => return Err(Refusal::Unmarked { path: inside }),
        Err(error) => return Err(Refusal::io("stat", &inside, error)),
    };
    if !overrides.among_foreign_files {
        refuse_foreign_files(folder, path, &named)?;
    }
    Ok(WorkingDirectory { path: inside, state })
}

fn directory_to_create(
    folder: &dyn Folder,
    path: &Path,
    overrides: Overrides,
) -> Result<WorkingDirectory, Refusal> {
    let missing = || Refusal::Missing { path: path.to_path_buf() };
    let no_parent = || Refusal::NoParent { path: path.to_path_buf() };
    if folder.find_entry(path).is_ok_and(|found| found.is_some()) {
        // A dangling link: creating its target would write to an unexpected path.
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let name = path.file_name().ok_or_else(missing)?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = folder.resolve(parent).map_err(|_| no_parent())?;
    let is_directory = |found: Option<Entry>| found.is_some_and(|found| found.is_directory());
    if !folder.find_entry(&parent).is_ok_and(is_directory) {
        return Err(no_parent());
    }
    if !overrides.create {
        return Err(missing());
    }
    Ok(WorkingDirectory { path: parent.join(name), state: State::New })
}

/// `named` (free of links) if it is marked, or the marked directory inside it.
///
/// # Errors
/// A manifest cannot be read.
pub(crate) fn our_directory(folder: &dyn Folder, named: &Path) -> Result<Option<PathBuf>, Refusal> {
    if Manifest::load_in(folder, named)?.is_some() {
        return Ok(Some(named.to_path_buf()));
    }
    let inside = named.join(OUR_NAME);
    let found = folder.find_entry(&inside).map_err(|error| Refusal::io("stat", &inside, error))?;
    let is_directory = found.is_some_and(|found| found.is_directory());
    if is_directory && Manifest::load_in(folder, &inside)?.is_some() {
        return Ok(Some(inside));
    }
    Ok(None)
}

fn refuse_foreign_files(folder: &dyn Folder, path: &Path, named: &Path) -> Result<(), Refusal> {
    let names = folder.list(named).map_err(|error| Refusal::io("list", named, error))?;
    let mut foreign = Vec::new();
    for name in names {
        // The caller has checked that a directory of our name is empty.
        let known = name == OUR_NAME || HARMLESS.iter().any(|harmless| name == *harmless);
        if !known && !is_unfinished_creation(folder, &named.join(&name))? {
            foreign.push(name);
        }
    }
    foreign.sort();
    match foreign.first() {
        None => Ok(()),
        Some(first) => Err(Refusal::ForeignFiles {
            path: path.to_path_buf(),
            count: foreign.len(),
            example: first.to_string_lossy().into_owned(),
            mount_root: folder.is_root(named),
        }),
    }
}
