//! What a directory of ours consists of before a file is in it, and how a making that did not end
//! is recognised and taken back.
//!
//! A directory is made under another name, marked, and moved into place. A kill or a full file
//! system before the move leaves that other directory behind, with at most our own marks in it; it
//! must not make the next run call the volume foreign.

use std::io;
use std::path::{Path, PathBuf};

use crate::folder::Folder;
use crate::lock::LEASE_NAME;
use crate::manifest::{MANIFEST_NAME, MANIFEST_NEW_NAME};
use crate::place::OUR_NAME;
use crate::refusal::Refusal;
use crate::storage::PROBE_NAME;

/// Everything that stands in a directory of ours beside its data, in the order of its removal: as
/// long as the manifest stands, the directory is known as ours, and as long as the lease stands,
/// nobody else begins with it.
pub(crate) const MARKS: [&str; 4] = [PROBE_NAME, MANIFEST_NEW_NAME, MANIFEST_NAME, LEASE_NAME];

/// Where a directory is made before it is moved into `parent`.
pub(crate) fn making_in(folder: &dyn Folder, parent: &Path) -> PathBuf {
    parent.join(format!("{}{}", making_prefix(), folder.maker()))
}

fn making_prefix() -> String {
    format!(".{OUR_NAME}.new-")
}

/// Whether `path` is a directory of a making that did not end.
pub(crate) fn is_unfinished_making(folder: &dyn Folder, path: &Path) -> Result<bool, Refusal> {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_named_so = name.is_some_and(|name| name.starts_with(&making_prefix()));
    Ok(is_named_so && holds_only_marks(folder, path)?)
}

/// Whether `path` is a directory, no link and no mount, that is empty or holds nothing but marks of
/// ours: nothing of anybody's is lost in it.
pub(crate) fn holds_only_marks(folder: &dyn Folder, path: &Path) -> Result<bool, Refusal> {
    let look = |path: &Path| folder.look(path).map_err(|error| Refusal::io("look at", path, error));
    if !look(path)?.is_some_and(|found| found.is_directory()) || folder.is_root(path) {
        return Ok(false);
    }
    for name in folder.list(path).map_err(|error| Refusal::io("list", path, error))? {
        let is_mark = MARKS.iter().any(|mark| name == *mark);
        if !is_mark || !look(&path.join(name))?.is_none_or(|found| found.is_file()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what unfinished makings left in `parent`. One that goes on at this moment is locked, and
/// left alone.
pub(crate) fn remove_unfinished(folder: &dyn Folder, parent: &Path) -> Result<(), Refusal> {
    for name in folder.list(parent).map_err(|error| Refusal::io("list", parent, error))? {
        let path = parent.join(name);
        if !is_unfinished_making(folder, &path)? {
            continue;
        }
        match folder.lock(&path) {
            Ok(_lock) => remove_made(folder, &path)?,
            Err(Refusal::InUse { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(())
}

/// Removes the marks in `directory`; those that are not there are no failure.
pub(crate) fn remove_marks(folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
    MARKS.iter().try_for_each(|name| {
        let path = directory.join(name);
        unless_gone(folder.remove_file(&path)).map_err(|error| Refusal::io("remove", &path, error))
    })
}

/// Removes a directory that holds nothing but marks.
fn remove_made(folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
    remove_marks(folder, directory)?;
    unless_gone(folder.remove_directory(directory))
        .map_err(|error| Refusal::io("remove directory", directory, error))
}

/// Takes back a directory whose making failed for `cause`. What cannot be removed is said too.
pub(crate) fn take_back(folder: &dyn Folder, directory: &Path, cause: Refusal) -> Refusal {
    match remove_made(folder, directory) {
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
    use std::fs;

    use super::*;
    use crate::folder::local::Local;

    fn cause() -> Refusal {
        Refusal::ReadOnly { path: PathBuf::from("/mnt/vol1") }
    }

    fn made_with(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let making = making_in(&Local, parent.path());
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
            let refusal = take_back(&Local, &making, cause());
            assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "{names:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_removed_is_reported_by_its_own_error_with_the_cause() {
        let (_parent, making) = made_with(&["thesis.txt"]);
        let said = take_back(&Local, &making, cause()).to_string();
        assert!(said.contains("read-only file system"), "{said}");
        assert!(said.contains("remove directory") && said.contains("not empty"), "{said}");
        assert!(making.join("thesis.txt").exists());
    }

    #[test]
    fn a_making_that_goes_on_or_holds_more_than_marks_is_left_alone() {
        let (parent, making) = made_with(&[MANIFEST_NEW_NAME]);
        let locked = Local.lock(&making).unwrap();
        remove_unfinished(&Local, parent.path()).unwrap();
        assert!(making.exists());
        drop(locked);
        fs::write(making.join("thesis.txt"), "years of work").unwrap();
        remove_unfinished(&Local, parent.path()).unwrap();
        assert!(making.join(MANIFEST_NEW_NAME).exists());
        fs::remove_file(making.join("thesis.txt")).unwrap();
        remove_unfinished(&Local, parent.path()).unwrap();
        assert!(!making.exists());
    }
}
