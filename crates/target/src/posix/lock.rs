//! The lock on our directory: one run, or one `clean`, at a time.
//!
//! It is a lock of the kernel, which ends with its process. On a file system that other machines
//! reach, it is also a lease (see [`super::lease_file`]), which other hosts and runs through
//! `nfs://` respect. Hosts that measure together share both.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::folder::Lock;
use crate::lease_content::{Content, LockOwner, SILENCE_MAX};
use crate::posix::lease_file::{Found, LeaseFile};
use crate::refusal::Refusal;
use crate::renewal::{CALL_WITHIN, Renewal, Renewed};
use crate::storage::is_local;

/// How often locking is repeated if the directory was replaced meanwhile.
const LOCK_TRIES: u32 = 4;
/// How often converting the lock to a shared one is repeated, and after how long.
const SHARE_TRIES: u32 = 100;
const SHARED_AFTER: Duration = Duration::from_millis(10);

/// The lock on a directory, released when dropped.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    /// Has the kernel's lock. If the file system does not support it (some network file systems),
    /// there is only the lease.
    directory: File,
    lease: Option<Lease>,
    has_claimed: bool,
}

/// The lease file of a locked directory.
#[derive(Debug)]
enum Lease {
    /// It names the owner of the kernel's lock.
    ByKernel(LeaseFile),
    Renewed(Renewal<LeaseFile>),
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        match self.lease.take() {
            // The last host that shares the lock removes the file.
            Some(Lease::ByKernel(file)) => {
                let last = FlockOperation::NonBlockingLockExclusive;
                if rustix::fs::flock(&self.directory, last).is_ok() {
                    remove_within(CALL_WITHIN, file);
                }
            }
            Some(Lease::Renewed(renewal)) => drop(renewal),
            None => {}
        }
        // Closing is not enough: a child process that another thread has just forked still has the
        // descriptor. Unlocking fails only if the file system has no locks.
        let _ = rustix::fs::flock(&self.directory, FlockOperation::Unlock);
    }
}

impl Lock for DirectoryLock {
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal> {
        match &self.lease {
            Some(Lease::Renewed(renewal)) => renewal.lease().refuse_lost(directory),
            // The kernel never revokes its lock.
            Some(Lease::ByKernel(_)) | None => Ok(()),
        }
    }

    fn has_claimed(&self) -> bool {
        self.has_claimed
    }

    fn share(&self, directory: &Path) -> Result<Content, Refusal> {
        let content = match &self.lease {
            Some(Lease::ByKernel(file)) => file.content().clone(),
            Some(Lease::Renewed(renewal)) => renewal.lease().share(),
            None => return Err(Refusal::io("lock", directory, io::ErrorKind::StorageFull)),
        };
        self.convert_to_shared(directory)?;
        Ok(content)
    }
}

impl DirectoryLock {
    /// The kernel first unlocks: another process that only looks whether the directory is in use can have
    /// the lock for a moment.
    fn convert_to_shared(&self, directory: &Path) -> Result<(), Refusal> {
        let mut tries = SHARE_TRIES;
        loop {
            match flock(&self.directory, directory, FlockOperation::NonBlockingLockShared) {
                Err(Refusal::InUse { .. }) if tries > 0 => tries -= 1,
                // The lease file names ourselves.
                Err(Refusal::InUse { path, .. }) => {
                    return Err(Refusal::InUse { path, holder: None });
                }
                shared => return shared,
            }
            thread::sleep(SHARED_AFTER);
        }
    }
}

/// Locks our directory until the result is dropped.
pub(crate) fn lock(directory: &Path, owner: &LockOwner) -> Result<DirectoryLock, Refusal> {
    let mut locked = lock_with(directory, || File::open(directory))?;
    let by_kernel = is_local(&locked.directory);
    let mut content = Content::of(owner);
    content.by_kernel = by_kernel;
    if let Some(file) = LeaseFile::take(&locked.directory, directory, content, SILENCE_MAX)? {
        locked.lease = Some(Lease::of(file, directory)?);
    }
    Ok(locked)
}

/// Shares the lock of another host, whose lease has this content.
pub(crate) fn join(directory: &Path, content: &Content) -> Result<DirectoryLock, Refusal> {
    let file = File::open(directory).map_err(|error| Refusal::io("open", directory, error))?;
    let lease = LeaseFile::join(&file, content);
    let lease = lease.map_err(|error| Refusal::io("read the lock of", directory, error))?;
    // The kernel's lock of the first host protects nothing on a mount of its file system.
    let lease = lease.filter(|lease| !lease.content().by_kernel || is_local(&file));
    let other = || Refusal::OtherDirectory { path: directory.to_path_buf() };
    let lease = lease.ok_or_else(other)?;
    flock(&file, directory, FlockOperation::NonBlockingLockShared)?;
    let lease = Some(Lease::of(lease, directory)?);
    Ok(DirectoryLock { directory: file, lease, has_claimed: false })
}

/// Refuses a directory that another run has locked.
pub(crate) fn refuse_locked(directory: &Path) -> Result<(), Refusal> {
    let locked = lock_with(directory, || File::open(directory))?;
    let locked = &locked.directory;
    let found = Found::open(locked);
    match found.map_err(|error| Refusal::io("read the lock of", directory, error))? {
        None => Ok(()),
        Some(found) => found.refuse_held(locked, directory, is_local(locked), SILENCE_MAX),
    }
}

impl Lease {
    fn of(file: LeaseFile, path: &Path) -> Result<Lease, Refusal> {
        Ok(match file.content().by_kernel {
            true => Lease::ByKernel(file),
            false => Lease::Renewed(Renewal::start(file, path)?),
        })
    }
}

/// Removes the file of the kernel's lock. On a file system that hangs this never returns, so it is
/// given up after `limit`: the file alone blocks nothing.
fn remove_within(limit: Duration, mut file: LeaseFile) {
    let (ended, end) = mpsc::channel::<()>();
    let removing = move || {
        file.remove();
        drop(ended);
    };
    if thread::Builder::new().name("unlock".to_owned()).spawn(removing).is_ok() {
        let _ = end.recv_timeout(limit);
    }
}

/// Takes or converts the kernel's lock, if the file system supports it.
fn flock(file: &File, directory: &Path, operation: FlockOperation) -> Result<(), Refusal> {
    match rustix::fs::flock(file, operation) {
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let holder = Found::open(file).ok().flatten().and_then(|found| found.holder(file).ok());
            Err(Refusal::InUse { path: directory.to_path_buf(), holder })
        }
        _ => Ok(()),
    }
}

/// Locks what `open` opens, if it is still what `directory` names: another process may have removed
/// or replaced the directory before it was locked, and then the lock protects nothing.
fn lock_with(
    directory: &Path,
    mut open: impl FnMut() -> io::Result<File>,
) -> Result<DirectoryLock, Refusal> {
    for _ in 0..LOCK_TRIES {
        let file = open().map_err(|error| Refusal::io("open", directory, error))?;
        flock(&file, directory, FlockOperation::NonBlockingLockExclusive)?;
        let locked = file.metadata().map_err(|error| Refusal::io("stat", directory, error))?;
        match fs::metadata(directory) {
            Ok(named) if (named.dev(), named.ino()) == (locked.dev(), locked.ino()) => {
                return Ok(DirectoryLock { directory: file, lease: None, has_claimed: true });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Refusal::io("stat", directory, error)),
        }
    }
    Err(Refusal::InUse { path: directory.to_path_buf(), holder: None })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rustix::fs::FileType;

    use super::*;
    use crate::lease_content::LEASE_NAME;

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
        let (locked, named) = (locked.directory.metadata().unwrap(), directory.metadata().unwrap());
        assert_eq!(locked.ino(), named.ino());
    }

    fn owner() -> LockOwner {
        LockOwner { host: "h".to_owned(), process: 7 }
    }

    #[test]
    fn the_lease_of_a_run_through_nfs_blocks_the_lock() {
        let (_root, directory) = directory();
        let lease = directory.join(LEASE_NAME);
        let text = r#"{"format":"fourcorners lease","host":"h","process":7,"began_unix_ms":1,
            "token":2}"#;
        fs::write(&lease, text).unwrap();
        for refused in [lock(&directory, &owner()).map(drop), refuse_locked(&directory)] {
            let refusal = refused.unwrap_err().to_string();
            assert!(refusal.contains("process 7 on h, last renewed 0 s ago"), "{refusal}");
        }
        fs::remove_file(&lease).unwrap();
        drop(lock(&directory, &owner()).unwrap());
        assert!(!lease.exists());
    }

    #[test]
    fn a_lock_file_that_is_no_file_is_refused_and_not_waited_for() {
        let (_root, directory) = directory();
        let fifo = directory.join(LEASE_NAME);
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, mode, 0).unwrap();
        for refused in [lock(&directory, &owner()).map(drop), refuse_locked(&directory)] {
            let refusal = refused.unwrap_err().to_string();
            assert!(refusal.contains("is not a regular file: remove it"), "{refusal}");
        }
        assert!(fifo.exists());
    }

    #[test]
    fn the_owner_of_the_kernels_lock_is_named_and_its_file_alone_blocks_nothing() {
        let (_root, directory) = directory();
        let mut locked = lock(&directory, &owner()).unwrap();
        for refused in [lock(&directory, &owner()).map(drop), refuse_locked(&directory)] {
            let refusal = refused.unwrap_err();
            assert!(refusal.to_string().ends_with("another run: process 7 on h"), "{refusal}");
            assert!(!refusal.remedy().contains("expires"), "{}", refusal.remedy());
        }
        // A killed process leaves the file.
        locked.lease = None;
        drop(locked);
        assert!(directory.join(LEASE_NAME).exists());
        refuse_locked(&directory).unwrap();
        drop(lock(&directory, &owner()).unwrap());
        assert!(!directory.join(LEASE_NAME).exists());
    }

    #[test]
    fn a_directory_is_locked_until_the_last_host_that_shares_the_lock_leaves_it() {
        let (_root, directory) = directory();
        let first = lock(&directory, &owner()).unwrap();
        let content = first.share(&directory).unwrap();
        let second = join(&directory, &content).unwrap();
        assert!(first.has_claimed() && !second.has_claimed());
        drop(first);
        let refusal = lock(&directory, &owner()).unwrap_err().to_string();
        assert!(refusal.ends_with("another run: process 7 on h"), "{refusal}");
        drop(second);
        assert!(!directory.join(LEASE_NAME).exists());
        let refusal = join(&directory, &content).unwrap_err();
        assert!(matches!(refusal, Refusal::OtherDirectory { .. }), "{refusal}");
        lock(&directory, &owner()).unwrap();
    }

    #[test]
    fn a_directory_that_is_replaced_repeatedly_is_in_use() {
        let (_root, directory) = directory();
        let refusal = lock_with(&directory, open_and_replace(&directory, u32::MAX)).unwrap_err();
        assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    }
}
