//! The lock on a directory of ours: one run, or one `clean`, at a time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::refusal::Refusal;

/// The name of the lease that is a lock where a file system has no locks of its own.
pub(crate) const LEASE_NAME: &str = ".fourcorners.lock";
/// A directory that is replaced while it is locked is locked again this often.
const LOCK_TRIES: u32 = 4;

/// A directory that is locked for as long as this lives.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a child process that was just forked elsewhere and
        // has not begun its program yet. Without locks on the file system there is none to release.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks a directory of ours for as long as the answer lives. Where the file system has no such
/// locks (some network file systems), the directory is used without.
pub(crate) fn lock(directory: &Path) -> Result<Locked, Refusal> {
    lock_with(directory, || File::open(directory))
}

/// Locks what `open` opens, as long as it is still what `directory` names: between the opening and
/// the lock another process may have removed or replaced it, and a lock on what nobody else can
/// open keeps nobody away.
fn lock_with(
    directory: &Path,
    mut open: impl FnMut() -> io::Result<File>,
) -> Result<Locked, Refusal> {
    let in_use = || Refusal::InUse { path: directory.to_path_buf(), holder: None };
    for _ in 0..LOCK_TRIES {
        let file = open().map_err(|error| Refusal::io("open", directory, error))?;
        if let Err(rustix::io::Errno::WOULDBLOCK) =
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
        {
            return Err(in_use());
        }
        let locked = file.metadata().map_err(|error| Refusal::io("look at", directory, error))?;
        match fs::metadata(directory) {
            Ok(named) if (named.dev(), named.ino()) == (locked.dev(), locked.ino()) => {
                return Ok(Locked(file));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Refusal::io("look at", directory, error)),
        }
    }
    Err(in_use())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Opens `directory` and at once puts another one in its place, the first `times`.
    fn open_and_replace(directory: &Path, times: u32) -> impl FnMut() -> io::Result<File> {
        let mut left = times;
        move || {
            let file = File::open(directory)?;
            if left > 0 {
                fs::rename(directory, directory.with_file_name(format!("away-{left}")))?;
                fs::create_dir(directory)?;
                left -= 1;
            }
            Ok(file)
        }
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("fourcorners");
        fs::create_dir(&directory).unwrap();
        (root, directory)
    }

    #[test]
    fn a_directory_that_was_replaced_before_its_lock_is_locked_again_under_its_name() {
        let (_root, directory) = directory();
        let locked = lock_with(&directory, open_and_replace(&directory, 1)).unwrap();
        let (locked, named) = (locked.0.metadata().unwrap(), directory.metadata().unwrap());
        assert_eq!(locked.ino(), named.ino());
    }

    #[test]
    fn a_directory_that_is_replaced_again_and_again_is_in_use() {
        let (_root, directory) = directory();
        let refusal = lock_with(&directory, open_and_replace(&directory, u32::MAX)).unwrap_err();
        assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    }
}
