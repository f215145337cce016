//! The lock on our directory on an export: a file that its holder renews.
//!
//! NFSv3 has no locks that end with their holder, and no clock except the server's. So the lock is
//! the file `.fourcorners.lock`, created exclusively and touched by its holder every few seconds. A
//! process that finds it compares its last change with that of the directory, which it has just
//! touched, and takes over a lease that was not renewed for [`SILENCE_MAX`]. Each renewal and each
//! takeover is a SETATTR guarded by the last change that was seen (RFC 1813, section 3.3.2), so
//! that only one of two competing processes gets the lease, and a holder that was stopped for
//! longer learns that it lost the lease.
//!
//! Hosts that measure together share one lease, which names their controller. The host that took it
//! renews it. When the others find it unchanged, one of them renews it; when they find it removed,
//! because the controller has given up the first host, one of them creates it again.

use std::path::Path;
use std::time::Duration;

use crate::folder::{Entry, Lock};
use crate::lease_content::{
    CONTENT_BYTES, Content, LEASE_NAME, LockOwner, Role, SILENCE_MAX, holder,
};
use crate::nfs::folder::shared::failed;
use crate::nfs::{NfsError, NfsFile, Session, random_u64};
use crate::refusal::{Holder, Refusal};
use crate::renewal::{CALL_WITHIN, Renewal, Renewed};
use nfs3::arguments::{createhow3, stable_how};
use nfs3::types::{fattr3, ftype3, nfsstat3, nfstime3, sattr3, set_time};

/// How often taking the lease is repeated if another process removes or takes it meanwhile.
const TRIES: u32 = 4;

/// A lease, returned when dropped.
#[derive(Debug)]
pub(crate) struct Lease(Renewal<LeaseState>);

/// What the holder and the renewing thread share.
#[derive(Debug)]
struct LeaseState {
    session: Session,
    directory: NfsFile,
    file: NfsFile,
    content: Content,
    role: Role,
    /// The last change of the lease that was seen.
    changed: nfstime3,
    /// That change was ours.
    is_renewed: bool,
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
    silence: Duration,
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
        let silence = between(attributes.ctime, now);
        Ok(Some(Found { file, attributes, holder: holder(content, silence), silence }))
    }

    /// Creates the lease; `None` if it exists.
    fn create(&mut self) -> Result<Option<NfsFile>, NfsError> {
        let exclusive = createhow3::EXCLUSIVE(random_u64().to_be_bytes());
        let name = LEASE_NAME.as_bytes();
        let created = match self.session.create(self.directory, name, exclusive) {
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOTSUPP) => {
                self.session.create(self.directory, name, createhow3::GUARDED(touch()))
            }
            created => created,
        };
        match created {
            Ok((file, _)) => Ok(Some(file)),
            Err(error) if error.is_status(nfsstat3::NFS3ERR_EXIST) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates the lease, or takes over an expired one; `None` if another process was faster.
    fn acquire(&mut self, path: &Path) -> Result<Option<NfsFile>, Refusal> {
        let refused = |error: NfsError| Refusal::io("lock", path, failed(error));
        if let Some(file) = self.create().map_err(refused)? {
            return Ok(Some(file));
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
    if found.silence.as_secs() > SILENCE_MAX.as_secs() {
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

/// Writes the content of a lease that was just created or acquired; the time of that change.
fn write_content(
    session: &mut Session,
    file: &NfsFile,
    content: &Content,
) -> Result<nfstime3, NfsError> {
    // An exclusive CREATE sets no attributes.
    session.setattr(file, sattr3 { mode: Some(0o644), ..touch() }, None)?;
    session.write(file, 0, &content.text(), stable_how::FILE_SYNC)?;
    Ok(session.getattr(file)?.ctime)
}

impl Lease {
    /// Takes the lease of a directory; `path` is its name in messages.
    pub(super) fn take(
        mut session: Session,
        directory: NfsFile,
        path: &Path,
        owner: &LockOwner,
    ) -> Result<Lease, Refusal> {
        session.set_deadline(CALL_WITHIN);
        for _ in 0..TRIES {
            let mut lease = LeaseFile { session: &mut session, directory: &directory };
            if let Some(file) = lease.acquire(path)? {
                let state = LeaseState::begin(session, directory, file, Content::of(owner));
                let state = state.map_err(|error| Refusal::io("lock", path, failed(error)))?;
                return Renewal::start(state, path).map(Lease);
            }
        }
        Err(Refusal::InUse { path: path.to_path_buf(), holder: None })
    }

    /// Shares the lease that another host has taken with this content.
    pub(super) fn join(
        mut session: Session,
        directory: NfsFile,
        path: &Path,
        content: &Content,
    ) -> Result<Lease, Refusal> {
        session.set_deadline(CALL_WITHIN);
        let mut find = || match session.lookup(&directory, LEASE_NAME.as_bytes()) {
            Err(none) if none.is_status(nfsstat3::NFS3ERR_NOENT) => Ok(None),
            Err(error) => Err(error),
            Ok((file, _)) => {
                let changed = session.getattr(&file)?.ctime;
                Ok(Some((read_content(&mut session, &file)?, file, changed)))
            }
        };
        match find().map_err(|error| Refusal::io("read the lock of", path, failed(error)))? {
            Some((Some(found), file, changed)) if found == *content => {
                let state = LeaseState {
                    session,
                    directory,
                    file,
                    content: found,
                    role: Role::Other,
                    changed,
                    is_renewed: false,
                    lost: None,
                };
                Renewal::start(state, path).map(Lease)
            }
            _ => Err(Refusal::OtherDirectory { path: path.to_path_buf() }),
        }
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
}

impl Lock for Lease {
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal> {
        let mut lease = self.0.lease();
        let verified = match lease.role {
            Role::Alone | Role::First => lease.renew(),
            Role::Other => lease.check_name(),
        };
        verified.map_err(|error| Refusal::io("renew the lock of", directory, failed(error)))?;
        match &lease.lost {
            None => Ok(()),
            Some(holder) => {
                Err(Refusal::TakenOver { path: directory.to_path_buf(), holder: holder.clone() })
            }
        }
    }

    fn has_claimed(&self) -> bool {
        self.0.lease().role != Role::Other
    }

    fn share(&self, _directory: &Path) -> Result<Content, Refusal> {
        let mut lease = self.0.lease();
        lease.role = Role::First;
        Ok(lease.content.clone())
    }
}

impl LeaseState {
    /// Writes the holder into a lease that was just acquired.
    fn begin(
        mut session: Session,
        directory: NfsFile,
        file: NfsFile,
        content: Content,
    ) -> Result<LeaseState, NfsError> {
        let changed = write_content(&mut session, &file, &content)?;
        let (role, is_renewed, lost) = (Role::Alone, true, None);
        Ok(LeaseState { session, directory, file, content, role, changed, is_renewed, lost })
    }

    /// Renews the lease on a host that shares it, if no host has changed it since the last call.
    /// Normally the host that took it has, so this costs one LOOKUP.
    fn renew_unchanged(&mut self) -> Result<(), NfsError> {
        if self.lost.is_some() {
            return Ok(());
        }
        let before = self.changed;
        self.find_or_create()?;
        if self.changed != before {
            return Ok(());
        }
        // That change may be a takeover.
        self.check_name()?;
        if self.lost.is_some() {
            return Ok(());
        }
        match self.session.setattr(&self.file, touch(), Some(self.changed)) {
            Ok(Some(after)) => (self.changed, self.is_renewed) = (after.ctime, true),
            Ok(None) => {}
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOT_SYNC) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Finds the lease by its name. Creates it if it was removed.
    fn find_or_create(&mut self) -> Result<(), NfsError> {
        let before = self.changed;
        match self.session.lookup(&self.directory, LEASE_NAME.as_bytes()) {
            Ok((file, attributes)) => {
                self.changed = match attributes {
                    Some(attributes) => attributes.ctime,
                    None => self.session.getattr(&file)?.ctime,
                };
                self.is_renewed &= self.changed == before;
                self.file = file;
            }
            Err(none) if none.is_status(nfsstat3::NFS3ERR_NOENT) => {
                let session = &mut self.session;
                if let Some(file) = (LeaseFile { session, directory: &self.directory }).create()? {
                    self.changed = write_content(&mut self.session, &file, &self.content)?;
                    (self.file, self.is_renewed) = (file, true);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether the lease has our content, on a host that shares it.
    fn check_name(&mut self) -> Result<(), NfsError> {
        if self.lost.is_some() {
            return Ok(());
        }
        self.find_or_create()?;
        match read_content(&mut self.session, &self.file)? {
            Some(content) if content != self.content => {
                self.lost = Some(Some(holder(Some(content), Duration::ZERO)));
            }
            // Without content, another host is just creating it.
            _ => {}
        }
        Ok(())
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

    /// Notes that the lease was removed, if `error` shows that. A shared one is created again.
    fn note_removed(&mut self, error: NfsError) -> Result<(), NfsError> {
        let removed =
            [nfsstat3::NFS3ERR_STALE, nfsstat3::NFS3ERR_NOENT, nfsstat3::NFS3ERR_BADHANDLE];
        if !removed.iter().any(|status| error.is_status(*status)) {
            return Err(error);
        }
        if self.role != Role::Alone {
            return self.check_name();
        }
        self.lost = Some(None);
        Ok(())
    }
}

impl Renewed for LeaseState {
    fn renew_or_note(&mut self) {
        let _ = match self.role {
            Role::Alone | Role::First => self.renew(),
            Role::Other => self.renew_unchanged(),
        };
    }

    fn remove(&mut self) {
        if self.role == Role::Other && !self.is_renewed {
            return;
        }
        let name = LEASE_NAME.as_bytes();
        let Ok((file, _)) = self.session.lookup(&self.directory, name) else { return };
        self.file = file;
        // A lease that was just renewed is not taken over before it is removed.
        let renewed = self.check_content().and_then(|()| self.renew());
        if renewed.is_ok() && self.lost.is_none() {
            let _ = self.session.remove(&self.directory, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use nfs3::types::{Handle, specdata3};

    use super::*;

    #[test]
    fn silence_is_zero_if_the_clock_went_back() {
        let at = |seconds, nseconds| nfstime3 { seconds, nseconds };
        assert_eq!(between(at(10, 999_999_999), at(11, 0)), Duration::from_nanos(1));
        assert_eq!(between(at(11, 0), at(10, 0)), Duration::ZERO);
    }

    #[test]
    fn a_lease_is_held_until_it_was_silent_for_longer_than_allowed() {
        let time = nfstime3 { seconds: 0, nseconds: 0 };
        let attributes = fattr3 {
            ftype: ftype3::NF3REG,
            mode: 0o644,
            nlink: 1,
            uid: 0,
            gid: 0,
            size: 0,
            used: 0,
            rdev: specdata3 { specdata1: 0, specdata2: 0 },
            fsid: 1,
            fileid: 2,
            atime: time,
            mtime: time,
            ctime: time,
        };
        let refusal = |ftype, nlink, silent_s| {
            let silence = Duration::from_secs(silent_s);
            let found = Found {
                file: NfsFile {
                    handle: Handle::new(b"lease").expect("it is short"),
                    path: String::new(),
                },
                attributes: fattr3 { ftype, nlink, ..attributes },
                holder: holder(None, silence),
                silence,
            };
            refuse_held(&found, Path::new("nfs://filer/vol"))
        };
        let regular = |silent_s| refusal(ftype3::NF3REG, 1, silent_s);
        assert!(matches!(regular(0), Err(Refusal::InUse { holder: Some(_), .. })));
        assert!(matches!(regular(30), Err(Refusal::InUse { holder: Some(_), .. })));
        assert!(regular(31).is_ok());
        // Neither is a lease, however long it is silent.
        for (ftype, nlink) in [(ftype3::NF3REG, 2), (ftype3::NF3LNK, 1), (ftype3::NF3DIR, 2)] {
            let refused = refusal(ftype, nlink, 31);
            assert!(matches!(refused, Err(Refusal::NotARegularFile { .. })), "{refused:?}");
        }
    }
}
