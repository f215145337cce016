//! Removes what we made, and only that: the files that the manifest lists, the manifest, and the
//! directory if nothing else is in it. Links are never followed, and a name in the manifest can
//! only mean an entry of the directory.

use std::io;
use std::path::{Path, PathBuf};

use crate::folder::{Folder, Place};
use crate::making::remove_marks;
use crate::manifest::Manifest;
use crate::ours::find_file;
use crate::place::our_directory;
use crate::refusal::Refusal;

/// After so many files it is asked whether the lock is still ours.
const LOOKED_AFTER: usize = 64;

/// What `clean` did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The directory that was ours.
    pub directory: PathBuf,
    /// Files that were removed, the manifest not counted.
    pub removed_files: u64,
    /// Bytes in them.
    pub removed_bytes: u64,
    /// Whether the directory itself was removed.
    pub removed_directory: bool,
    /// What is still there, and why.
    pub left: Vec<Left>,
}

/// Something that was not removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// What.
    pub path: PathBuf,
    /// Why not, in words.
    pub reason: String,
}

/// Cleans the directory of ours that `place` is or holds.
///
/// # Errors
/// There is none ([`Refusal::NothingOfOurs`]), its manifest cannot be understood, another run works
/// in it, or the kernel refused to remove something; the manifest is then still there.
pub fn clean(place: impl Into<Place>) -> Result<Cleaned, Refusal> {
    let place = place.into();
    let (path, folder) = (place.path(), place.folder()?);
    let folder = folder.as_ref();
    let nothing = || Refusal::NothingOfOurs { path: path.clone() };
    let named = match folder.resolve(&path) {
        Ok(named) => named,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Refusal::Missing { path });
        }
        Err(error) => return Err(Refusal::io("find the way to", &path, error)),
    };
    let found = folder.look(&named).map_err(|error| Refusal::io("look at", &named, error))?;
    if !found.is_some_and(|found| found.is_directory()) {
        return Err(Refusal::NotADirectory { path });
    }
    let directory = our_directory(folder, &named)?.ok_or_else(nothing)?;
    let lock = folder.lock(&directory)?;
    let manifest = Manifest::load_in(folder, &directory)?.ok_or_else(nothing)?;

    let mut cleaned = Cleaned {
        directory: directory.clone(),
        removed_files: 0,
        removed_bytes: 0,
        removed_directory: false,
        left: Vec::new(),
    };
    for (count, name) in manifest.files.keys().enumerate() {
        if count.is_multiple_of(LOOKED_AFTER) {
            lock.refuse_lost(&directory)?;
        }
        remove_file_of_ours(folder, &directory.join(name), &manifest, &mut cleaned)?;
    }
    // The manifest last: whatever happens before, the next `clean` knows what is ours.
    remove_marks(folder, &directory)?;
    note_foreign_files(folder, &directory, &mut cleaned)?;
    if cleaned.left.is_empty() && !folder.is_root(&directory) {
        folder
            .remove_directory(&directory)
            .map_err(|error| Refusal::io("remove directory", &directory, error))?;
        cleaned.removed_directory = true;
    }
    Ok(cleaned)
}

fn remove_file_of_ours(
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
            let reason = format!("it is {found}, not the file that we made");
            cleaned.left.push(Left { path, reason });
        }
        Err(Refusal::Replaced { path }) => {
            let reason = "it is not the file that we made, but another in its place".to_owned();
            cleaned.left.push(Left { path, reason });
        }
        Err(refusal) => return Err(refusal),
    }
    Ok(())
}

fn note_foreign_files(
    folder: &dyn Folder,
    directory: &Path,
    cleaned: &mut Cleaned,
) -> Result<(), Refusal> {
    let names = folder.list(directory).map_err(|error| Refusal::io("list", directory, error))?;
    for name in names {
        let path = directory.join(name);
        if !cleaned.left.iter().any(|left| left.path == path) {
            cleaned.left.push(Left { path, reason: "we did not make it".to_owned() });
        }
    }
    cleaned.left.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}
