//! Removes what we made, and only that: the files that the manifest lists, the manifest, and the
//! directory if nothing else is in it. Links are never followed, and a name in the manifest can
//! only mean an entry of the directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::directory::find_file;
use crate::lock::lock;
use crate::making::remove_marks;
use crate::manifest::Manifest;
use crate::place::our_directory;
use crate::refusal::Refusal;

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

/// Cleans the directory of ours that `path` is or holds.
///
/// # Errors
/// There is none ([`Refusal::NothingOfOurs`]), its manifest cannot be understood, another run works
/// in it, or the kernel refused to remove something; the manifest is then still there.
pub fn clean(path: &Path) -> Result<Cleaned, Refusal> {
    let nothing = || Refusal::NothingOfOurs { path: path.to_path_buf() };
    let named = match fs::canonicalize(path) {
        Ok(named) => named,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Refusal::Missing { path: path.to_path_buf() });
        }
        Err(error) => return Err(Refusal::io("find the way to", path, error)),
    };
    if !named.is_dir() {
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let directory = our_directory(&named)?.ok_or_else(nothing)?;
    let _lock = lock(&directory)?;
    let manifest = Manifest::load(&directory)?.ok_or_else(nothing)?;

    let mut cleaned = Cleaned {
        directory: directory.clone(),
        removed_files: 0,
        removed_bytes: 0,
        removed_directory: false,
        left: Vec::new(),
    };
    for name in manifest.files.keys() {
        remove_file_of_ours(&directory.join(name), &manifest, &mut cleaned)?;
    }
    // The manifest last: whatever happens before, the next `clean` knows what is ours.
    remove_marks(&directory)?;
    note_foreign_files(&directory, &mut cleaned)?;
    if cleaned.left.is_empty() {
        fs::remove_dir(&directory)
            .map_err(|error| Refusal::io("remove directory", &directory, error))?;
        cleaned.removed_directory = true;
    }
    Ok(cleaned)
}

fn remove_file_of_ours(
    path: &Path,
    manifest: &Manifest,
    cleaned: &mut Cleaned,
) -> Result<(), Refusal> {
    match find_file(path, manifest) {
        Ok(None) => {}
        Ok(Some(found)) => {
            fs::remove_file(path).map_err(|error| Refusal::io("remove", path, error))?;
            cleaned.removed_files += 1;
            cleaned.removed_bytes += found.len();
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

fn note_foreign_files(directory: &Path, cleaned: &mut Cleaned) -> Result<(), Refusal> {
    let entries = fs::read_dir(directory).map_err(|error| Refusal::io("list", directory, error))?;
    for entry in entries {
        let path = entry.map_err(|error| Refusal::io("list", directory, error))?.path();
        if !cleaned.left.iter().any(|left| left.path == path) {
            cleaned.left.push(Left { path, reason: "we did not make it".to_owned() });
        }
    }
    cleaned.left.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}
