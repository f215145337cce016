//! The lock on our directory: one run, or one `clean`, at a time.
//!
//! A run that uses the same directory through NFS, without a mount, takes a lease instead (see
//! `nfs/folder/lease.rs`). This lock also respects leases; the lease does not see this lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, OFlags, Timespec, Timestamps, UTIME_NOW};

use crate::lease_content::{Content, LEASE_NAME, SILENCE_MAX, holder};
use crate::refusal::Refusal;
use crate::storage::flags;

/// How often locking is repeated if the directory was replaced meanwhile.
const LOCK_TRIES: u32 = 4;

/// The lock on a directory, released when dropped.
#[derive(Debug)]
pub(crate) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Closing is not enough: a child process that another thread has just forked still has the
        // descriptor. Unlocking fails only if the file system has no locks.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks our directory until the result is dropped. If the file system does not support locks (some
/// network file systems), the directory is used without one.
pub(crate) fn lock(directory: &Path) -> Result<DirectoryLock, Refusal> {
    let locked = lock_with(directory, || File::open(directory))?;
    refuse_lease(directory, SILENCE_MAX)?;
    Ok(locked)
}

/// Refuses a directory with a lease that its holder renewed within `silence_max`.
fn refuse_lease(directory: &Path, silence_max: Duration) -> Result<(), Refusal> {
    let path = directory.join(LEASE_NAME);
    let refused = |error| Refusal::io("read", &path, error);
    let mut open = OpenOptions::new();
    // Opening it makes the kernel's NFS client revalidate its attributes.
    let mut lease = match open.read(true).custom_flags(flags(OFlags::NOFOLLOW)).open(&path) {
        Ok(lease) => lease,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(error)),
    };
    // The lease's times are from the clock of its file system, so read that clock: touch our
    // directory.
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let now = Timestamps { last_access: now, last_modification: now };
    rustix::fs::utimensat(CWD, directory, &now, AtFlags::empty())
        .map_err(|error| refused(error.into()))?;
    let changed = |found: fs::Metadata| {
        Duration::new(found.ctime().cast_unsigned(), found.ctime_nsec() as u32)
    };
    let renewed = lease.metadata().map(changed).map_err(refused)?;
    let now = fs::metadata(directory).map(changed).map_err(refused)?;
    let silence = now.saturating_sub(renewed);
    if silence > silence_max {
        return Ok(());
    }
    let mut text = Vec::new();
    lease.read_to_end(&mut text).map_err(refused)?;
    let path = directory.to_path_buf();
    Err(Refusal::InUse { path, holder: Some(holder(Content::parse(&text), silence)) })
}

/// Locks what `open` opens, if it is still what `directory` names: another process may have removed
/// or replaced the directory before it was locked, and then the lock protects nothing.
fn lock_with(
    directory: &Path,
    mut open: impl FnMut() -> io::Result<File>,
) -> Result<DirectoryLock, Refusal> {
    let in_use = || Refusal::InUse { path: directory.to_path_buf(), holder: None };
    for _ in 0..LOCK_TRIES {
        let file = open().map_err(|error| Refusal::io("open", directory, error))?;
        if let Err(rustix::io::Errno::WOULDBLOCK) =
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
        {
            return Err(in_use());
        }
        let locked = file.metadata().map_err(|error| Refusal::io("stat", directory, error))?;
        match fs::metadata(directory) {
            Ok(named) if (named.dev(), named.ino()) == (locked.dev(), locked.ino()) => {
                return Ok(DirectoryLock(file));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Refusal::io("stat", directory, error)),
        }
    }
    Err(in_use())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Opens `directory` and immediately replaces it with another one, the first `times` times.
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
    fn a_directory_replaced_before_it_was_locked_is_locked_again() {
        let (_root, directory) = directory();
        let locked = lock_with(&directory, open_and_replace(&directory, 1)).unwrap();
        let (locked, named) = (locked.0.metadata().unwrap(), directory.metadata().unwrap());
        assert_eq!(locked.ino(), named.ino());
    }

    #[test]
    fn the_lease_of_a_run_through_nfs_blocks_the_lock_until_it_expires() {
        let (_root, directory) = directory();
        let lease = directory.join(LEASE_NAME);
        let text = r#"{"format":"fourcorners lease","host":"h","process":7,"began_unix_ms":1,
            "token":2}"#;
        fs::write(&lease, text).unwrap();
        let refusal = lock(&directory).unwrap_err();
        assert!(refusal.to_string().contains("process 7 on h, last renewed 0 s ago"), "{refusal}");
        // The file system's clock advances in steps.
        while fs::metadata(&directory).unwrap().ctime_nsec()
            == fs::metadata(&lease).unwrap().ctime_nsec()
        {
            fs::write(directory.join("other"), "").unwrap();
            fs::remove_file(directory.join("other")).unwrap();
        }
        refuse_lease(&directory, Duration::ZERO).unwrap();
        fs::remove_file(&lease).unwrap();
        lock(&directory).unwrap();
    }

    #[test]
    fn a_directory_that_is_replaced_repeatedly_is_in_use() {
        let (_root, directory) = directory();
        let refusal = lock_with(&directory, open_and_replace(&directory, u32::MAX)).unwrap_err();
        assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    }
}
