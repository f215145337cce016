//! Creates our directory so that a crash never leaves an unmarked directory with our name: it is
//! created under a temporary name, marked, and renamed.
//!
//! A crash or a full file system before the rename leaves the temporary directory behind, with at
//! most our marks in it. It is recognised, so that the next run removes it and does not count it as
//! the user's file.

use std::io;
use std::path::{Path, PathBuf};

use crate::directory::OUR_NAME;
use crate::folder::Folder;
use crate::lease_content::{LEASE_NAME, LockOwner};
use crate::manifest::{MANIFEST_NAME, MANIFEST_NEW_NAME};
use crate::refusal::Refusal;
use crate::storage::PROBE_NAME;

/// Every file in our directory other than data, in the order of removal: the manifest marks the
/// directory as ours until it is removed, and the lease keeps other runs out until the end.
pub(crate) const MARKS: [&str; 4] = [PROBE_NAME, MANIFEST_NEW_NAME, MANIFEST_NAME, LEASE_NAME];

/// The temporary directory that is created in `parent` and then renamed.
pub(crate) fn temporary_in(folder: &dyn Folder, parent: &Path) -> PathBuf {
    parent.join(format!("{}{}", temporary_prefix(), folder.process_name()))
}

fn temporary_prefix() -> String {
    format!(".{OUR_NAME}.new-")
}

/// Whether `path` is the temporary directory of a creation that did not finish.
pub(crate) fn is_unfinished_creation(folder: &dyn Folder, path: &Path) -> Result<bool, Refusal> {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_temporary = name.is_some_and(|name| name.starts_with(&temporary_prefix()));
    Ok(is_temporary && holds_only_marks(folder, path)?)
}

/// Whether `path` is a directory (no link, no mount) that is empty or contains only our marks, so
/// that removing it loses no user data.
pub(crate) fn holds_only_marks(folder: &dyn Folder, path: &Path) -> Result<bool, Refusal> {
    let find =
        |path: &Path| folder.find_entry(path).map_err(|error| Refusal::io("stat", path, error));
    if !find(path)?.is_some_and(|found| found.is_directory()) || folder.is_root(path) {
        return Ok(false);
    }
    for name in folder.list(path).map_err(|error| Refusal::io("list", path, error))? {
        let is_mark = MARKS.iter().any(|mark| name == *mark);
        if !is_mark || !find(&path.join(name))?.is_none_or(|found| found.is_file()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes unfinished creations from `parent`. One that is still in progress is locked and stays.
pub(crate) fn remove_unfinished(folder: &dyn Folder, parent: &Path) -> Result<(), Refusal> {
    for name in folder.list(parent).map_err(|error| Refusal::io("list", parent, error))? {
        let path = parent.join(name);
        if !is_unfinished_creation(folder, &path)? {
            continue;
        }
        match folder.lock(&path, &LockOwner::this_process()) {
            Ok(_lock) => remove_marked_directory(folder, &path)?,
            Err(Refusal::InUse { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(())
}

/// Removes the marks in `directory`; missing ones are no error.
pub(crate) fn remove_marks(folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
    MARKS.iter().try_for_each(|name| {
        let path = directory.join(name);
        ignore_missing(folder.remove_file(&path))
            .map_err(|error| Refusal::io("remove", &path, error))
    })
}

/// Removes a directory that contains only marks.
fn remove_marked_directory(folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
    remove_marks(folder, directory)?;
    ignore_missing(folder.remove_directory(directory))
        .map_err(|error| Refusal::io("remove directory", directory, error))
}

/// Removes a directory whose creation failed for `cause`. The result also names what could not be
/// removed.
pub(crate) fn undo_creation(folder: &dyn Folder, directory: &Path, cause: Refusal) -> Refusal {
    match remove_marked_directory(folder, directory) {
        Ok(()) => cause,
        Err(left) => Refusal::LeftBehind { cause: Box::new(cause), left: Box::new(left) },
    }
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::posix::folder::LocalFolder;

    fn cause() -> Refusal {
        Refusal::ReadOnly { path: PathBuf::from("/mnt/vol1") }
    }

    fn unfinished_with(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let temporary = temporary_in(&LocalFolder, parent.path());
        fs::create_dir(&temporary).unwrap();
        for name in names {
            fs::write(temporary.join(name), "half").unwrap();
        }
        (parent, temporary)
    }

    #[test]
    fn a_failed_creation_leaves_nothing_wherever_it_failed() {
        let stages: [&[&str]; 5] =
            [&[], &[PROBE_NAME], &[MANIFEST_NEW_NAME], &[MANIFEST_NAME], &MARKS];
        for names in stages {
            let (parent, temporary) = unfinished_with(names);
            let refusal = undo_creation(&LocalFolder, &temporary, cause());
            assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "{names:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_removed_is_reported_with_the_cause_and_its_error() {
        let (_parent, temporary) = unfinished_with(&["thesis.txt"]);
        let message = undo_creation(&LocalFolder, &temporary, cause()).to_string();
        assert!(message.contains("read-only file system"), "{message}");
        assert!(message.contains("remove directory") && message.contains("not empty"), "{message}");
        assert!(temporary.join("thesis.txt").exists());
    }

    #[test]
    fn a_creation_in_progress_or_with_other_files_is_not_removed() {
        let (parent, temporary) = unfinished_with(&[MANIFEST_NEW_NAME]);
        let locked = LocalFolder.lock(&temporary, &LockOwner::this_process()).unwrap();
        remove_unfinished(&LocalFolder, parent.path()).unwrap();
        assert!(temporary.exists());
        drop(locked);
        fs::write(temporary.join("thesis.txt"), "years of work").unwrap();
        remove_unfinished(&LocalFolder, parent.path()).unwrap();
        assert!(temporary.join(MANIFEST_NEW_NAME).exists());
        fs::remove_file(temporary.join("thesis.txt")).unwrap();
        remove_unfinished(&LocalFolder, parent.path()).unwrap();
        assert!(!temporary.exists());
    }
}
