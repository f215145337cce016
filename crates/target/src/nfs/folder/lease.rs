//! The lock on our directory on an export: a file that its holder renews.
//!
//! NFSv3 has no locks that end with their holder, and no clock except the server's. So the lock is
//! the file `.fourcorners.lock`, created exclusively and touched by its holder every few seconds. A
//! process that finds it compares its last change with that of the directory, which it has just
//! touched, and takes over a lease that was not renewed for [`SILENCE_MAX`]. Each renewal and each
//! takeover is a SETATTR guarded by the last change that was seen (RFC 1813, section 3.3.2), so
//! that only one of two competing processes gets the lease, and a holder that was stopped for
//! longer learns that it lost the lease.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::folder::{Entry, Lock};
use crate::lease_content::{Content, LEASE_NAME, SILENCE_MAX, holder};
use crate::nfs::folder::shared::failed;
use crate::nfs::{NfsError, NfsFile, Session, random_u64};
use crate::refusal::{Holder, Refusal};
use crate::threads::ThreadError;
use nfs3::arguments::{createhow3, stable_how};
use nfs3::types::{fattr3, ftype3, nfsstat3, nfstime3, sattr3, set_time};

/// How often the holder renews the lease.
const RENEWED_EVERY: Duration = Duration::from_secs(5);
/// Time limit of a call for the lease: shorter than [`SILENCE_MAX`].
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// How often taking the lease is repeated if another process removes or takes it meanwhile.
const TRIES: u32 = 4;
/// How many bytes of a lease are read.
const CONTENT_BYTES: usize = 4096;

/// A lease, returned when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    state: Arc<Mutex<LeaseState>>,
    /// Dropping it makes the renewing thread return the lease.
    keep: Option<Sender<()>>,
    returned: Mutex<Receiver<()>>,
}

/// What the holder and the renewing thread share.
#[derive(Debug)]
struct LeaseState {
    session: Session,
    directory: NfsFile,
    file: NfsFile,
    content: Content,
    /// The last change of the lease, which was ours.
    changed: nfstime3,
    /// Set when the lease is lost, with the new holder if there is one.
    lost: Option<Option<Holder>>,
}

/// The time between two times of the server's clock; zero if the clock went back.
fn between(earlier: nfstime3, later: nfstime3) -> Duration {
    let ns = |time: nfstime3| u64::from(time.seconds) * 1_000_000_000 + u64::from(time.nseconds);
    Duration::from_nanos(ns(later).saturating_sub(ns(earlier)))
}

/// Attributes of a SETATTR that changes only the times.
fn touch() -> sattr3 {
    let now = set_time::SET_TO_SERVER_TIME;
    sattr3 { atime: now, mtime: now, ..sattr3::UNCHANGED }
}

/// An existing lease.
struct Found {
    file: NfsFile,
    attributes: fattr3,
    holder: Holder,
}

/// Access to the lease of one directory.
struct LeaseFile<'s> {
    session: &'s mut Session,
    directory: &'s NfsFile,
}

impl LeaseFile<'_> {
    /// The existing lease and its holder; `None` if there is none.
    fn find(&mut self) -> Result<Option<Found>, NfsError> {
        let found = self.session.lookup(self.directory, LEASE_NAME.as_bytes());
        let (file, attributes) = match found {
            Ok((file, Some(attributes))) => (file, attributes),
            Ok((file, None)) => match self.session.getattr(&file) {
                Err(gone) if gone.is_status(nfsstat3::NFS3ERR_STALE) => return Ok(None),
                attributes => (file, attributes?),
            },
            Err(none) if none.is_status(nfsstat3::NFS3ERR_NOENT) => return Ok(None),
            Err(error) => return Err(error),
        };
        // To read the server's clock, touch our directory.
        self.session.setattr(self.directory, touch(), None)?;
        let now = self.session.getattr(self.directory)?.ctime;
        let content = match attributes.ftype {
            ftype3::NF3REG => read_content(self.session, &file)?,
            _ => None,
        };
        let holder = holder(content, between(attributes.ctime, now));
        Ok(Some(Found { file, attributes, holder }))
    }

    /// Creates the lease, or takes over an expired one; `None` if another process was faster.
    fn acquire(&mut self, path: &Path) -> Result<Option<NfsFile>, Refusal> {
        let refused = |error: NfsError| Refusal::io("lock", path, failed(error));
        let exclusive = createhow3::EXCLUSIVE(random_u64().to_be_bytes());
        let name = LEASE_NAME.as_bytes();
        let created = match self.session.create(self.directory, name, exclusive) {
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOTSUPP) => {
                self.session.create(self.directory, name, createhow3::GUARDED(touch()))
            }
            created => created,
        };
        match created {
            Ok((file, _)) => return Ok(Some(file)),
            Err(error) if error.is_status(nfsstat3::NFS3ERR_EXIST) => {}
            Err(error) => return Err(refused(error)),
        }
        let Some(found) = self.find().map_err(refused)? else { return Ok(None) };
        refuse_held(&found, path)?;
        let truncated = sattr3 { size: Some(0), ..touch() };
        match self.session.setattr(&found.file, truncated, Some(found.attributes.ctime)) {
            Ok(_) => Ok(Some(found.file)),
            Err(error)
                if error.is_status(nfsstat3::NFS3ERR_NOT_SYNC)
                    || error.is_status(nfsstat3::NFS3ERR_STALE) =>
            {
                Ok(None)
            }
            Err(error) => Err(refused(error)),
        }
    }
}

/// Refuses a lease that has not expired, or a file that is not a lease.
fn refuse_held(found: &Found, path: &Path) -> Result<(), Refusal> {
    let entry = Entry::from(&found.attributes);
    if !entry.is_file() || entry.links > 1 {
        let found = match entry.is_file() {
            true => "a file with a second hard link",
            false => entry.kind.description(),
        };
        return Err(Refusal::NotARegularFile { path: path.join(LEASE_NAME), found });
    }
    if found.holder.silent_seconds > SILENCE_MAX.as_secs() {
        return Ok(());
    }
    Err(Refusal::InUse { path: path.to_path_buf(), holder: Some(found.holder.clone()) })
}

/// The content of the lease; `None` if it is not valid.
fn read_content(session: &mut Session, file: &NfsFile) -> Result<Option<Content>, NfsError> {
    let mut text = vec![0; CONTENT_BYTES];
    let (bytes, _) = session.read(file, 0, &mut text)?;
    Ok(Content::parse(&text[..bytes]))
}

impl Lease {
    /// Takes the lease of a directory; `path` is its name in messages.
    pub(super) fn take(
        mut session: Session,
        directory: NfsFile,
        path: &Path,
    ) -> Result<Lease, Refusal> {
        session.set_deadline(CALL_WITHIN);
        for _ in 0..TRIES {
            let mut lease = LeaseFile { session: &mut session, directory: &directory };
            if let Some(file) = lease.acquire(path)? {
                let state = LeaseState::begin(session, directory, file);
                let state = state.map_err(|error| Refusal::io("lock", path, failed(error)))?;
                return Lease::keep_renewed(state, path);
            }
        }
        Err(Refusal::InUse { path: path.to_path_buf(), holder: None })
    }

    /// Refuses a directory whose lease is held by another process. Does not take the lease.
    pub(super) fn refuse_held(
        mut session: Session,
        directory: &NfsFile,
        path: &Path,
    ) -> Result<(), Refusal> {
        session.set_deadline(CALL_WITHIN);
        let found = LeaseFile { session: &mut session, directory }.find();
        match found.map_err(|error| Refusal::io("read the lock of", path, failed(error)))? {
            None => Ok(()),
            Some(found) => refuse_held(&found, path),
        }
    }

    /// Starts the thread that renews the lease.
    fn keep_renewed(state: LeaseState, path: &Path) -> Result<Lease, Refusal> {
        let state = Arc::new(Mutex::new(state));
        let (keep, end) = mpsc::channel::<()>();
        let (send_returned, returned) = mpsc::channel();
        let renewed = Arc::clone(&state);
        let renewing = move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(RENEWED_EVERY) {
                // Errors are ignored: while the server is unreachable, no other process can take
                // the lease either.
                let _ = lock(&renewed).renew();
            }
            lock(&renewed).remove();
            // The receiver is gone if this took too long.
            let _ = send_returned.send(());
        };
        let spawned = thread::Builder::new().name("lease".to_owned()).spawn(renewing);
        spawned.map_err(|source| {
            let error = ThreadError { number: 1, requested: 1, source };
            Refusal::io("keep the lock of", path, std::io::Error::other(error))
        })?;
        Ok(Lease { state, keep: Some(keep), returned: Mutex::new(returned) })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.keep.take());
        // If the server does not reply in time, the lease expires.
        let returned = self.returned.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = returned.recv_timeout(CALL_WITHIN);
    }
}

impl Lock for Lease {
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        let renewed = state.renew();
        renewed.map_err(|error| Refusal::io("renew the lock of", directory, failed(error)))?;
        let path: PathBuf = directory.to_path_buf();
        match &state.lost {
            None => Ok(()),
            Some(holder) => Err(Refusal::TakenOver { path, holder: holder.clone() }),
        }
    }
}

fn lock(state: &Mutex<LeaseState>) -> MutexGuard<'_, LeaseState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LeaseState {
    /// Writes this process into the lease as its holder.
    fn begin(
        mut session: Session,
        directory: NfsFile,
        file: NfsFile,
    ) -> Result<LeaseState, NfsError> {
        let content = Content::of_this_process();
        // An exclusive CREATE sets no attributes.
        session.setattr(&file, sattr3 { mode: Some(0o644), ..touch() }, None)?;
        session.write(&file, 0, &content.text(), stable_how::FILE_SYNC)?;
        let changed = session.getattr(&file)?.ctime;
        Ok(LeaseState { session, directory, file, content, changed, lost: None })
    }

    /// Renews the lease, or notes that it is lost.
    fn renew(&mut self) -> Result<(), NfsError> {
        if self.lost.is_some() {
            return Ok(());
        }
        match self.session.setattr(&self.file, touch(), Some(self.changed)) {
            // The SETATTR is atomic, so these attributes are ours.
            Ok(Some(after)) => self.changed = after.ctime,
            Ok(None) => return self.check_content(),
            // Changed by another process, or by our own repeated call.
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOT_SYNC) => {
                return self.check_content();
            }
            Err(error) => return self.note_removed(error),
        }
        Ok(())
    }

    /// Whether the lease still has our content. Its attributes are read first: if the content is
    /// ours afterwards, the lease was ours at that change.
    fn check_content(&mut self) -> Result<(), NfsError> {
        let read = self.session.getattr(&self.file);
        let read = read.and_then(|found| Ok((found, read_content(&mut self.session, &self.file)?)));
        let (found, content) = match read {
            Ok(read) => read,
            Err(error) => return self.note_removed(error),
        };
        if content.as_ref() == Some(&self.content) {
            self.changed = found.ctime;
        } else {
            self.lost = Some(content.map(|content| holder(Some(content), Duration::ZERO)));
        }
        Ok(())
    }

    /// Notes that the lease was removed, if `error` shows that.
    fn note_removed(&mut self, error: NfsError) -> Result<(), NfsError> {
        let removed =
            [nfsstat3::NFS3ERR_STALE, nfsstat3::NFS3ERR_NOENT, nfsstat3::NFS3ERR_BADHANDLE];
        if removed.iter().any(|status| error.is_status(*status)) {
            self.lost = Some(None);
            return Ok(());
        }
        Err(error)
    }

    /// Removes the lease file if it is still ours. If this fails, the lease expires.
    fn remove(&mut self) {
        let _ = self.renew();
        if self.lost.is_some() {
            return;
        }
        let name = LEASE_NAME.as_bytes();
        let named = self.session.lookup(&self.directory, name);
        if named.is_ok_and(|(file, _)| file.handle == self.file.handle) {
            let _ = self.session.remove(&self.directory, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_zero_if_the_clock_went_back() {
        let at = |seconds, nseconds| nfstime3 { seconds, nseconds };
        assert_eq!(between(at(10, 999_999_999), at(11, 0)), Duration::from_nanos(1));
        assert_eq!(between(at(11, 0), at(10, 0)), Duration::ZERO);
    }
}
