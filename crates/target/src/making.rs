//! What a directory of ours consists of before a file is in it, and how a making that did not end
//! is recognised and taken back.
//!
//! A directory is made under another name, marked, and moved into place. A kill or a full file
//! system before the move leaves that other directory behind, with at most our own marks in it; it
//! must not make the next run call the volume foreign.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::lock::lock;
use crate::manifest::{MANIFEST_NAME, MANIFEST_NEW_NAME};
use crate::place::OUR_NAME;
use crate::refusal::Refusal;
use crate::storage::{PROBE_NAME, is_mount_root};

/// Everything that stands in a directory of ours beside its data, the mark last: as long as it
/// stands, the directory is known as ours.
pub(crate) const MARKS: [&str; 3] = [PROBE_NAME, MANIFEST_NEW_NAME, MANIFEST_NAME];

/// Where a directory is made before it is moved into `parent`.
pub(crate) fn making_in(parent: &Path) -> PathBuf {
    parent.join(format!("{}{}", making_prefix(), std::process::id()))
}

fn making_prefix() -> String {
    format!(".{OUR_NAME}.new-")
}

/// Whether `path` is a directory of a making that did not end.
pub(crate) fn is_unfinished_making(path: &Path) -> Result<bool, Refusal> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.is_some_and(|name| name.starts_with(&making_prefix())) && holds_only_marks(path)?)
}

/// Whether `path` is a directory, no link and no mount, that is empty or holds nothing but marks of
/// ours: nothing of anybody's is lost in it.
pub(crate) fn holds_only_marks(path: &Path) -> Result<bool, Refusal> {
    if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) || is_mount_root(path) {
        return Ok(false);
    }
    let entries = fs::read_dir(path).map_err(|error| Refusal::io("list", path, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Refusal::io("list", path, error))?;
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !MARKS.iter().any(|mark| name == *mark) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what unfinished makings left in `parent`. One that goes on at this moment is locked, and
/// left alone.
pub(crate) fn remove_unfinished(parent: &Path) -> Result<(), Refusal> {
    let entries = fs::read_dir(parent).map_err(|error| Refusal::io("list", parent, error))?;
    for entry in entries {
        let path = entry.map_err(|error| Refusal::io("list", parent, error))?.path();
        if !is_unfinished_making(&path)? {
            continue;
        }
        match lock(&path) {
            Ok(_lock) => remove_made(&path)?,
            Err(Refusal::InUse { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(())
}

/// Removes the marks in `directory`; those that are not there are no failure.
pub(crate) fn remove_marks(directory: &Path) -> Result<(), Refusal> {
    MARKS.iter().try_for_each(|name| {
        let path = directory.join(name);
        unless_gone(fs::remove_file(&path)).map_err(|error| Refusal::io("remove", &path, error))
    })
}

/// Removes a directory that holds nothing but marks.
fn remove_made(directory: &Path) -> Result<(), Refusal> {
    remove_marks(directory)?;
    unless_gone(fs::remove_dir(directory))
        .map_err(|error| Refusal::io("remove directory", directory, error))
}

/// Takes back a directory whose making failed for `cause`. What cannot be removed is said too.
pub(crate) fn take_back(directory: &Path, cause: Refusal) -> Refusal {
    match remove_made(directory) {
        Ok(()) => cause,
        Err(left) => Refusal::LeftBehind { cause: Box::new(cause), left: Box::new(left) },
    }
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause() -> Refusal {
        Refusal::ReadOnly { path: PathBuf::from("/mnt/vol1") }
    }

    fn made_with(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let making = making_in(parent.path());
        fs::create_dir(&making).unwrap();
        for name in names {
            fs::write(making.join(name), "half").unwrap();
        }
        (parent, making)
    }

    #[test]
    fn a_making_that_failed_leaves_nothing_wherever_it_failed() {
        let moments: [&[&str]; 5] =
            [&[], &[PROBE_NAME], &[MANIFEST_NEW_NAME], &[MANIFEST_NAME], &MARKS];
        for names in moments {
            let (parent, making) = made_with(names);
            let refusal = take_back(&making, cause());
            assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "{names:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_removed_is_reported_by_its_own_error_with_the_cause() {
        let (_parent, making) = made_with(&["thesis.txt"]);
        let said = take_back(&making, cause()).to_string();
        assert!(said.contains("read-only file system"), "{said}");
        assert!(said.contains("remove directory") && said.contains("not empty"), "{said}");
        assert!(making.join("thesis.txt").exists());
    }

    #[test]
    fn a_making_that_goes_on_or_holds_more_than_marks_is_left_alone() {
        let (parent, making) = made_with(&[MANIFEST_NEW_NAME]);
        let locked = lock(&making).unwrap();
        remove_unfinished(parent.path()).unwrap();
        assert!(making.exists());
        drop(locked);
        fs::write(making.join("thesis.txt"), "years of work").unwrap();
        remove_unfinished(parent.path()).unwrap();
        assert!(making.join(MANIFEST_NEW_NAME).exists());
        fs::remove_file(making.join("thesis.txt")).unwrap();
        remove_unfinished(parent.path()).unwrap();
        assert!(!making.exists());
    }
}
