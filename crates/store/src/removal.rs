//! Removes records, and measures the space that they take.
//!
//! A record is first renamed to a hidden name, so that an interrupted removal leaves no half record
//! in the list; the next removal removes what is left.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::root::Root;
use crate::store::sync_directory;
use crate::{Error, journal};

/// Prefix of a run directory's name while it is removed.
const REMOVED: &str = ".removed-";
/// The unit of `st_blocks`: stat(2).
const BLOCK_BYTES: u64 = 512;

/// The space that a file or a directory with its content takes on disk, in bytes. What cannot be read
/// counts as nothing.
pub(crate) fn disk_bytes(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    let own = found.blocks() * BLOCK_BYTES;
    if !found.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| disk_bytes(&entry.path())).fold(own, u64::saturating_add)
}

/// Removes a record, and returns the bytes that it took. A running one is refused.
pub(crate) fn remove(root: &Root, id: &str) -> Result<u64, Error> {
    let directory = root.run_directory(id);
    // Once it has ended, no process writes to a record again.
    if matches!(journal::is_live(&directory.join(journal::NAME)), Ok(true)) {
        return Err(Error::Running { id: id.to_owned() });
    }
    let bytes = disk_bytes(&directory);
    let hidden = root.runs().join(format!("{REMOVED}{id}"));
    let rename = || {
        remove_if_present(&hidden)?;
        fs::rename(&directory, &hidden)?;
        sync_directory(&root.runs())
    };
    rename().map_err(|source| Error::RemoveRecord { path: directory.clone(), source })?;
    let removed = fs::remove_dir_all(&hidden);
    removed.map_err(|source| Error::RemoveRecord { path: hidden.clone(), source })?;
    Ok(bytes)
}

/// Removes what interrupted removals left. A failure is ignored: the next removal tries again.
pub(crate) fn remove_left_over(root: &Root) {
    let entries = fs::read_dir(root.runs()).into_iter().flatten().flatten();
    for entry in entries.filter(|one| one.file_name().to_string_lossy().starts_with(REMOVED)) {
        let _tried_again_later = remove_if_present(&entry.path());
    }
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
