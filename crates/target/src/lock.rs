//! The lock on a directory of ours: one run, or one `clean`, at a time.
//!
//! A run that works in the same directory through NFS, without a mount, holds a lease instead (see
//! `folder/nfs/lease.rs`), and is kept away from too. It does not see a lock of this kind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, OFlags, Timespec, Timestamps, UTIME_NOW};

use crate::folder::nfs::lease::{SILENT, holder_by};
use crate::refusal::Refusal;
use crate::storage::flags;

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
    let locked = lock_with(directory, || File::open(directory))?;
    refuse_lease(directory, SILENT)?;
    Ok(locked)
}

/// Refuses a directory with a lease whose holder was heard of within `silent`.
fn refuse_lease(directory: &Path, silent: Duration) -> Result<(), Refusal> {
    let path = directory.join(LEASE_NAME);
    let refused = |error| Refusal::io("look at", &path, error);
    let mut open = OpenOptions::new();
    // Opening it makes a kernel that has it mounted ask its server.
    let mut lease = match open.read(true).custom_flags(flags(OFlags::NOFOLLOW)).open(&path) {
        Ok(lease) => lease,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused(error)),
    };
    // The clock that the lease has its times from is the directory's, which is ours.
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let now = Timestamps { last_access: now, last_modification: now };
    rustix::fs::utimensat(CWD, directory, &now, AtFlags::empty())
        .map_err(|error| refused(error.into()))?;
    let changed = |found: fs::Metadata| {
        Duration::new(found.ctime().cast_unsigned(), found.ctime_nsec() as u32)
    };
    let heard_of = lease.metadata().map(changed).map_err(refused)?;
    let now = fs::metadata(directory).map(changed).map_err(refused)?;
    let since = now.saturating_sub(heard_of);
    if since > silent {
        return Ok(());
    }
    let mut text = Vec::new();
    lease.read_to_end(&mut text).map_err(refused)?;
    let path = directory.to_path_buf();
    Err(Refusal::InUse { path, holder: Some(holder_by(&text, since)) })
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
    fn a_lease_of_a_run_through_nfs_keeps_others_away_until_it_is_old() {
        let (_root, directory) = directory();
        let lease = directory.join(LEASE_NAME);
        let text = r#"{"format":"fourcorners lease","host":"h","process":7,"began_unix_ms":1,
            "token":2}"#;
        fs::write(&lease, text).unwrap();
        let refusal = lock(&directory).unwrap_err();
        assert!(refusal.to_string().contains("process 7 on h, last heard of 0 s ago"), "{refusal}");
        // The file system's clock goes on by its own steps.
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
    fn a_directory_that_is_replaced_again_and_again_is_in_use() {
        let (_root, directory) = directory();
        let refusal = lock_with(&directory, open_and_replace(&directory, u32::MAX)).unwrap_err();
        assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    }
}
