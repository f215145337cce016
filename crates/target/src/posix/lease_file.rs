//! The lease file of a directory on a mounted file system.
//!
//! If other machines reach the file system, the lease is the lock between them, as on an export
//! (`nfs/folder/lease.rs`), with the same content: the kernel's NFS client keeps a lock on a
//! directory on its own host. On a file system of this machine, the kernel's lock ends with its
//! process, and the file only names the owner.
//!
//! A mounted file system has no SETATTR with a guard. Of two hosts that take over an expired lease
//! at the same instant both may succeed; the first then finds the other's lease at its next renewal.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, Timespec, Timestamps, UTIME_NOW};

use crate::lease_content::{CONTENT_BYTES, Content, LEASE_NAME, Role, holder};
use crate::refusal::{Holder, Refusal};
use crate::renewal::Renewed;

/// How often taking the lease is repeated if another process removes or takes it meanwhile.
const TRIES: u32 = 4;
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
/// The file system's clock, not ours.
const TOUCH: Timestamps = Timestamps { last_access: NOW, last_modification: NOW };

/// A lease that this host has taken or joined.
#[derive(Debug)]
pub(super) struct LeaseFile {
    directory: File,
    content: Content,
    role: Role,
    /// The last change of the lease that the thread that renews it has seen.
    seen: Option<Duration>,
    /// This host renewed the lease last.
    is_renewed: bool,
    /// Set when the lease is lost, with the new holder if there is one.
    lost: Option<Option<Holder>>,
}

/// An existing lease file.
pub(super) struct Found {
    file: File,
    /// `None` while its holder is still writing it.
    content: Option<Content>,
    /// Its last change, by the file system's clock, since 1970.
    changed: Duration,
}

fn changed(found: &Metadata) -> Duration {
    Duration::new(found.ctime().cast_unsigned(), found.ctime_nsec() as u32)
}

impl Found {
    /// The lease file in `directory`; `None` if there is none.
    pub(super) fn open(directory: &File) -> io::Result<Option<Found>> {
        // The kernel's NFS client may remember that there is none: ask the server whether the
        // directory has changed. Opening the file makes it revalidate that too.
        let sync = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        let _ = rustix::fs::statx(directory, "", sync, StatxFlags::BASIC_STATS);
        // Opening a FIFO would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(directory, LEASE_NAME, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            opened => File::from(opened?),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(format!("{LEASE_NAME} is not a regular file: remove it")));
        }
        let mut text = Vec::new();
        (&file).take(CONTENT_BYTES as u64).read_to_end(&mut text)?;
        let changed = changed(&file.metadata()?);
        Ok(Some(Found { file, content: Content::parse(&text), changed }))
    }

    /// Who holds the lease.
    pub(super) fn holder(&self, directory: &File) -> io::Result<Holder> {
        let silence = match &self.content {
            Some(content) if content.by_kernel => Duration::ZERO,
            _ => self.silence(directory)?,
        };
        Ok(holder(self.content.clone(), silence))
    }

    /// Time since the lease was renewed. Its times are from the clock of the file system, so that
    /// clock is read: by touching our directory.
    fn silence(&self, directory: &File) -> io::Result<Duration> {
        rustix::fs::futimens(directory, &TOUCH)?;
        Ok(changed(&directory.metadata()?).saturating_sub(self.changed))
    }

    /// Refuses a lease that was renewed within `silence_max`.
    ///
    /// * `by_kernel` - the caller has the kernel's lock, and only this machine reaches the directory
    pub(super) fn refuse_held(
        &self,
        directory: &File,
        path: &Path,
        by_kernel: bool,
        silence_max: Duration,
    ) -> Result<(), Refusal> {
        if by_kernel && self.content.as_ref().is_some_and(|content| content.by_kernel) {
            // Its owner no longer has the kernel's lock.
            return Ok(());
        }
        let refused = |error| Refusal::io("read the lock of", path, error);
        if self.silence(directory).map_err(refused)? > silence_max {
            return Ok(());
        }
        let holder = self.holder(directory).map_err(refused)?;
        Err(Refusal::InUse { path: path.to_path_buf(), holder: Some(holder) })
    }

    /// Removes the file, unless it was changed or replaced meanwhile.
    fn remove(&self, directory: &File) -> io::Result<()> {
        if let Some(now) = Found::open(directory)?
            && now.changed == self.changed
            && now.file.metadata()?.ino() == self.file.metadata()?.ino()
        {
            remove(directory)?;
        }
        Ok(())
    }
}

fn remove(directory: &File) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, LEASE_NAME, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates the lease file; fails if it exists. Whole or not at all.
fn create(directory: &File, content: &Content) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    let mut file = File::from(rustix::fs::openat(directory, LEASE_NAME, flags, mode)?);
    let written = file.write_all(&content.text()).and_then(|()| match content.by_kernel {
        true => Ok(()),
        // Other hosts must find it.
        false => file.sync_all(),
    });
    written.inspect_err(|_| {
        // Otherwise it expires.
        let _ = remove(directory);
    })
}

impl LeaseFile {
    /// Takes the lease of a directory; `path` is its name in messages. `None` if the file system is
    /// too full for the file: `clean` works there too.
    pub(super) fn take(
        directory: &File,
        path: &Path,
        content: Content,
        silence_max: Duration,
    ) -> Result<Option<LeaseFile>, Refusal> {
        let refused = |error| Refusal::io("lock", path, error);
        for _ in 0..TRIES {
            match create(directory, &content) {
                Ok(()) => {
                    let directory = directory.try_clone().map_err(refused)?;
                    return Ok(Some(LeaseFile {
                        directory,
                        content,
                        role: Role::Alone,
                        seen: None,
                        is_renewed: true,
                        lost: None,
                    }));
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::AlreadyExists => {}
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => return Ok(None),
                    _ => return Err(refused(error)),
                },
            }
            if let Some(found) = Found::open(directory).map_err(refused)? {
                found.refuse_held(directory, path, content.by_kernel, silence_max)?;
                found.remove(directory).map_err(refused)?;
            }
        }
        Err(Refusal::InUse { path: path.to_path_buf(), holder: None })
    }

    /// Shares the lease that another host has taken with this content; `None` if it is not there.
    pub(super) fn join(directory: &File, content: &Content) -> io::Result<Option<LeaseFile>> {
        match Found::open(directory)? {
            Some(found) if found.content.as_ref() == Some(content) => Ok(Some(LeaseFile {
                directory: directory.try_clone()?,
                content: content.clone(),
                role: Role::Other,
                seen: Some(found.changed),
                is_renewed: false,
                lost: None,
            })),
            _ => Ok(None),
        }
    }

    pub(super) const fn content(&self) -> &Content {
        &self.content
    }

    /// Lets other hosts join.
    pub(super) fn share(&mut self) -> Content {
        self.role = Role::First;
        self.content.clone()
    }

    /// The lease file if it is still ours; otherwise notes that it is lost. A shared one that was
    /// removed is created again.
    fn find_ours(&mut self) -> io::Result<Option<Found>> {
        if self.lost.is_some() {
            return Ok(None);
        }
        let found = Found::open(&self.directory)?;
        let content = found.as_ref().and_then(|found| found.content.as_ref());
        if content == Some(&self.content) {
            return Ok(found);
        }
        match (content, self.role) {
            (None, Role::First | Role::Other) => {
                // If it exists, another host is just creating it.
                self.is_renewed |=
                    found.is_none() && create(&self.directory, &self.content).is_ok();
            }
            (content, _) => {
                let of = |content: &Content| holder(Some(content.clone()), Duration::ZERO);
                self.lost = Some(content.map(of));
            }
        }
        Ok(None)
    }

    fn touch(&mut self, found: &Found) -> io::Result<()> {
        rustix::fs::futimens(&found.file, &TOUCH)?;
        // The next call of another host's renewal must see this change.
        self.seen = Some(changed(&found.file.metadata()?));
        self.is_renewed = true;
        Ok(())
    }

    /// Fails if another process has taken over the lease. Renews it on the host that took it.
    pub(super) fn refuse_lost(&mut self, path: &Path) -> Result<(), Refusal> {
        let renewed = self.find_ours().and_then(|found| match found {
            Some(found) if self.role != Role::Other => self.touch(&found),
            _ => Ok(()),
        });
        renewed.map_err(|error| Refusal::io("renew the lock of", path, error))?;
        match &self.lost {
            None => Ok(()),
            Some(holder) => {
                Err(Refusal::TakenOver { path: path.to_path_buf(), holder: holder.clone() })
            }
        }
    }
}

impl Renewed for LeaseFile {
    fn renew_or_note(&mut self) {
        let Ok(Some(found)) = self.find_ours() else { return };
        let is_unchanged = self.seen.replace(found.changed) == Some(found.changed);
        self.is_renewed &= is_unchanged;
        if self.role != Role::Other || is_unchanged {
            let _ = self.touch(&found);
        }
    }

    fn remove(&mut self) {
        let by_kernel = self.content.by_kernel;
        let is_kept_by_others = !by_kernel && self.role == Role::Other && !self.is_renewed;
        // One that was removed is not created again.
        self.role = Role::Alone;
        if !is_kept_by_others && let Ok(Some(mut found)) = self.find_ours() {
            // A lease that was just renewed is not taken over before it is removed. If it cannot be
            // renewed, the file may be another one by now.
            if !by_kernel {
                if self.touch(&found).is_err() {
                    return;
                }
                found.changed = self.seen.unwrap_or(found.changed);
            }
            let _ = found.remove(&self.directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::lease_content::{LockOwner, SILENCE_MAX};

    /// A volume that several hosts have mounted: each has its own descriptor of the directory.
    fn volume() -> (tempfile::TempDir, [File; 2]) {
        let volume = tempfile::tempdir().expect("make a directory");
        let mount = || File::open(volume.path()).expect("open it");
        let hosts = [mount(), mount()];
        (volume, hosts)
    }

    fn content(host: &str) -> Content {
        Content::of(&LockOwner { host: host.to_owned(), process: 7 })
    }

    fn take(directory: &File, host: &str, silence_max: Duration) -> Result<LeaseFile, Refusal> {
        let taken = LeaseFile::take(directory, Path::new("/mnt"), content(host), silence_max);
        taken.map(|taken| taken.expect("there is space"))
    }

    /// Waits until the file system's clock, which advances in steps, is past the last renewal.
    fn pass_a_step(volume: &Path) {
        let of = |path: &Path| changed(&fs::metadata(path).expect("it exists"));
        let other = volume.join("other");
        loop {
            fs::write(&other, "").expect("there is space");
            if of(&other) > of(&volume.join(LEASE_NAME)) {
                break;
            }
        }
    }

    fn last_change(volume: &Path) -> Duration {
        changed(&fs::metadata(volume.join(LEASE_NAME)).expect("there is a lease"))
    }

    #[test]
    fn a_second_host_is_refused_with_the_first_until_the_lease_is_returned() {
        let (volume, [first, second]) = volume();
        let mut lease = take(&first, "a", SILENCE_MAX).expect("it is free");
        let refusal = take(&second, "b", SILENCE_MAX).expect_err("it is in use").to_string();
        assert!(refusal.contains("process 7 on a, last renewed 0 s ago"), "{refusal}");
        lease.refuse_lost(volume.path()).expect("it is ours");
        lease.remove();
        let _second = take(&second, "b", SILENCE_MAX).expect("it is free");
    }

    #[test]
    fn an_expired_lease_is_taken_over_and_its_holder_neither_renews_nor_removes_it() {
        let (volume, [first, second]) = volume();
        let mut lease = take(&first, "a", SILENCE_MAX).expect("it is free");
        pass_a_step(volume.path());
        let mut taken = take(&second, "b", Duration::ZERO).expect("it has expired");
        let before = last_change(volume.path());
        pass_a_step(volume.path());
        lease.renew_or_note();
        assert_eq!(last_change(volume.path()), before);
        let refusal = lease.refuse_lost(volume.path()).expect_err("it is lost").to_string();
        assert!(refusal.contains("it is held by process 7 on b"), "{refusal}");
        lease.remove();
        taken.refuse_lost(volume.path()).expect("it is still there");
    }

    #[test]
    fn a_host_that_joined_renews_the_lease_only_when_the_first_does_not() {
        let (volume, [first, second]) = volume();
        let mut lease = take(&first, "a", SILENCE_MAX).expect("it is free");
        let join = |content: Content| LeaseFile::join(&second, &content).expect("read it");
        assert!(join(content("a")).is_none(), "a lease with another token");
        let mut joined = join(lease.share()).expect("its lease");
        pass_a_step(volume.path());
        lease.renew_or_note();
        let renewed = last_change(volume.path());
        pass_a_step(volume.path());
        joined.renew_or_note();
        assert_eq!(last_change(volume.path()), renewed, "the first renewed it");
        // The first is gone.
        joined.renew_or_note();
        assert!(last_change(volume.path()) > renewed);
        joined.refuse_lost(volume.path()).expect("it is held");
        joined.remove();
        assert!(!volume.path().join(LEASE_NAME).exists());
    }

    #[test]
    fn a_shared_lease_that_one_host_removed_is_created_again_by_another() {
        let (volume, [first, second]) = volume();
        let mut lease = take(&first, "a", SILENCE_MAX).expect("it is free");
        let shared = lease.share();
        let mut joined = LeaseFile::join(&second, &shared).expect("read it").expect("its lease");
        // A host that was given up, and does not renew the lease, leaves it.
        LeaseFile::join(&second, &shared).expect("read it").expect("its lease").remove();
        lease.refuse_lost(volume.path()).expect("it is there");
        lease.remove();
        joined.renew_or_note();
        joined.refuse_lost(volume.path()).expect("it is there again");
        let refusal = take(&first, "b", SILENCE_MAX).expect_err("it is in use").to_string();
        assert!(refusal.contains("process 7 on a"), "{refusal}");
        // Another run was faster.
        joined.remove();
        let _other = take(&first, "b", SILENCE_MAX).expect("it is free");
        let mut late = LeaseFile { content: shared, role: Role::Other, ..joined };
        late.renew_or_note();
        let refusal = late.refuse_lost(volume.path()).expect_err("it is lost").to_string();
        assert!(refusal.contains("it is held by process 7 on b"), "{refusal}");
    }
}
