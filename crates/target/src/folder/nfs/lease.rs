//! The lock on a directory of ours on an export: a file that its holder keeps young.
//!
//! NFS version 3 has no locks that end with their holder, and no clock but the server's. So the
//! lock is the file `.fourcorners.lock`, made exclusively. Its holder touches it every few seconds;
//! who finds it compares its last change with the directory's that he just touched, and takes over
//! what has been silent for [`SILENT`]. Each touch and each takeover is a SETATTR guarded by the
//! last change that was seen (RFC 1813, section 3.3.2), so that of two who want the lease one gets
//! it, and a holder that was stopped for longer than that learns that he has lost it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use nfs3::arguments::{createhow3, stable_how};
use nfs3::types::{fattr3, ftype3, nfsstat3, nfstime3, sattr3, set_time};
use serde::{Deserialize, Serialize};

use crate::folder::nfs::shared::failed;
use crate::folder::{Entry, Lock};
use crate::lock::LEASE_NAME;
use crate::nfs::{NfsError, NfsFile, Session};
use crate::refusal::{Holder, Refusal};
use crate::threads::ThreadError;

/// How often the holder gives a sign of life.
const RENEWED_EVERY: Duration = Duration::from_secs(5);
/// Who was silent for longer, by the server's clock, is taken for gone.
pub(crate) const SILENT: Duration = Duration::from_secs(30);
/// How long a call for the lease may take: less than what makes a holder silent.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// How often a lease is looked for that is removed just then.
const TRIES: u32 = 4;
/// Most bytes of a lease that are read.
const CONTENT_BYTES: usize = 4096;
const FORMAT: &str = "fourcorners lease";

/// What stands in a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// Says what this file is, to people and to us.
    format: String,
    host: String,
    process: u32,
    /// When the lease was taken, by the holder's clock, in milliseconds since 1970.
    began_unix_ms: u64,
    /// Tells it from every other lease of the same process.
    token: u64,
}

/// This machine's name.
pub(crate) fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn any_number() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

impl Content {
    fn ours() -> Content {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Content {
            format: FORMAT.to_owned(),
            host: this_host(),
            process: std::process::id(),
            began_unix_ms: now.map_or(0, |since| since.as_millis() as u64),
            token: any_number(),
        }
    }

    /// Of what was read; `None` while its holder is writing it.
    fn read(text: &[u8]) -> Option<Content> {
        serde_json::from_slice(text).ok().filter(|content: &Content| content.format == FORMAT)
    }

    fn text(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("names and numbers");
        text.push(b'\n');
        text
    }
}

/// Who holds a lease with this content, if it has any.
fn holder(content: Option<Content>, silent_seconds: u64) -> Holder {
    match content {
        Some(content) => Holder { host: content.host, process: content.process, silent_seconds },
        None => Holder { host: "an unknown host".to_owned(), process: 0, silent_seconds },
    }
}

/// The same of what was read from a lease in a directory of this machine.
pub(crate) fn holder_by(text: &[u8], silent: Duration) -> Holder {
    holder(Content::read(text), silent.as_secs())
}

/// A lease that is held; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    holding: Arc<Mutex<Holding>>,
    /// Its end tells the thread that renews to give the lease back.
    held: Option<Sender<()>>,
    given_back: Mutex<Receiver<()>>,
}

/// What the holder and the thread that renews share.
#[derive(Debug)]
struct Holding {
    session: Session,
    directory: NfsFile,
    file: NfsFile,
    ours: Content,
    /// The last change of the lease, which was ours.
    changed: nfstime3,
    lost: Option<Option<Holder>>,
}

/// The time between two moments of the server's clock, none if it went back.
fn between(earlier: nfstime3, later: nfstime3) -> Duration {
    let ns = |time: nfstime3| u64::from(time.seconds) * 1_000_000_000 + u64::from(time.nseconds);
    Duration::from_nanos(ns(later).saturating_sub(ns(earlier)))
}

/// A moment of life: nothing but the times change.
fn touched() -> sattr3 {
    let now = set_time::SET_TO_SERVER_TIME;
    sattr3 { atime: now, mtime: now, ..sattr3::UNCHANGED }
}

/// What somebody else's lease says.
struct Found {
    file: NfsFile,
    attributes: fattr3,
    holder: Holder,
}

/// A session that looks after one lease.
struct Looking<'s> {
    session: &'s mut Session,
    directory: &'s NfsFile,
}

impl Looking<'_> {
    /// What the lease says, and how long it has been silent; `None` if there is none.
    fn look(&mut self) -> Result<Option<Found>, NfsError> {
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
        // The directory is ours, and nothing but its times changes.
        self.session.setattr(self.directory, touched(), None)?;
        let now = self.session.getattr(self.directory)?.ctime;
        let content = match attributes.ftype {
            ftype3::NF3REG => read(self.session, &file)?,
            _ => None,
        };
        let silent_seconds = between(attributes.ctime, now).as_secs();
        let holder = holder(content, silent_seconds);
        Ok(Some(Found { file, attributes, holder }))
    }

    /// Makes the lease, or takes over one whose holder is gone; `None` if somebody else was faster
    /// and it has to be looked at again.
    fn get(&mut self, path: &Path) -> Result<Option<NfsFile>, Refusal> {
        let refused = |error: NfsError| Refusal::io("lock", path, failed(error));
        let exclusive = createhow3::EXCLUSIVE(any_number().to_be_bytes());
        let name = LEASE_NAME.as_bytes();
        let made = match self.session.create(self.directory, name, exclusive) {
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOTSUPP) => {
                self.session.create(self.directory, name, createhow3::GUARDED(touched()))
            }
            made => made,
        };
        match made {
            Ok((file, _)) => return Ok(Some(file)),
            Err(error) if error.is_status(nfsstat3::NFS3ERR_EXIST) => {}
            Err(error) => return Err(refused(error)),
        }
        let Some(found) = self.look().map_err(refused)? else { return Ok(None) };
        refuse_alive(&found, path)?;
        let emptied = sattr3 { size: Some(0), ..touched() };
        match self.session.setattr(&found.file, emptied, Some(found.attributes.ctime)) {
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

/// Refuses a lease whose holder is alive, or that is none.
fn refuse_alive(found: &Found, path: &Path) -> Result<(), Refusal> {
    let entry = Entry::from(&found.attributes);
    if !entry.is_file() || entry.links > 1 {
        let found = if entry.is_file() { "a file with a second name" } else { entry.kind.words() };
        return Err(Refusal::NotARegularFile { path: path.join(LEASE_NAME), found });
    }
    if found.holder.silent_seconds > SILENT.as_secs() {
        return Ok(());
    }
    Err(Refusal::InUse { path: path.to_path_buf(), holder: Some(found.holder.clone()) })
}

/// What stands in the lease; `None` if nothing that is one.
fn read(session: &mut Session, file: &NfsFile) -> Result<Option<Content>, NfsError> {
    let mut text = vec![0; CONTENT_BYTES];
    let (bytes, _) = session.read(file, 0, &mut text)?;
    Ok(Content::read(&text[..bytes]))
}

impl Lease {
    /// Takes the lease of a directory that the user knows as `path`.
    pub(super) fn take(
        mut session: Session,
        directory: NfsFile,
        path: &Path,
    ) -> Result<Lease, Refusal> {
        session.set_deadline(CALL_WITHIN);
        for _ in 0..TRIES {
            let mut looking = Looking { session: &mut session, directory: &directory };
            if let Some(file) = looking.get(path)? {
                let holding = Holding::begin(session, directory, file);
                let holding = holding.map_err(|error| Refusal::io("lock", path, failed(error)))?;
                return Lease::keep(holding, path);
            }
        }
        Err(Refusal::InUse { path: path.to_path_buf(), holder: None })
    }

    /// Refuses a directory whose lease somebody keeps, and takes nothing.
    pub(super) fn refuse_alive(
        mut session: Session,
        directory: &NfsFile,
        path: &Path,
    ) -> Result<(), Refusal> {
        session.set_deadline(CALL_WITHIN);
        let found = Looking { session: &mut session, directory }.look();
        match found.map_err(|error| Refusal::io("look at the lock of", path, failed(error)))? {
            None => Ok(()),
            Some(found) => refuse_alive(&found, path),
        }
    }

    /// Keeps it young from now on.
    fn keep(holding: Holding, path: &Path) -> Result<Lease, Refusal> {
        let holding = Arc::new(Mutex::new(holding));
        let (held, end) = mpsc::channel::<()>();
        let (giving_back, given_back) = mpsc::channel();
        let kept = Arc::clone(&holding);
        let renewing = move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(RENEWED_EVERY) {
                // A server that cannot be reached is asked again: what counts is whether somebody
                // else has taken the lease meanwhile.
                let _ = lock(&kept).renew();
            }
            lock(&kept).give_back();
            // Nobody waits any more where giving back took too long.
            let _ = giving_back.send(());
        };
        let spawned = thread::Builder::new().name("lease".to_owned()).spawn(renewing);
        spawned.map_err(|source| {
            let error = ThreadError { number: 1, requested: 1, source };
            Refusal::io("keep the lock of", path, std::io::Error::other(error))
        })?;
        Ok(Lease { holding, held: Some(held), given_back: Mutex::new(given_back) })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.held.take());
        // A server that is gone keeps nobody from ending: the lease then grows old by itself.
        let given_back = self.given_back.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = given_back.recv_timeout(CALL_WITHIN);
    }
}

impl Lock for Lease {
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal> {
        let mut holding = lock(&self.holding);
        let renewed = holding.renew();
        renewed.map_err(|error| Refusal::io("renew the lock of", directory, failed(error)))?;
        let path: PathBuf = directory.to_path_buf();
        match &holding.lost {
            None => Ok(()),
            Some(holder) => Err(Refusal::TakenOver { path, holder: holder.clone() }),
        }
    }
}

fn lock(holding: &Mutex<Holding>) -> MutexGuard<'_, Holding> {
    holding.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Holding {
    /// Writes who holds the lease from now on.
    fn begin(mut session: Session, directory: NfsFile, file: NfsFile) -> Result<Holding, NfsError> {
        let ours = Content::ours();
        // An exclusively made file has no attributes of its own yet.
        session.setattr(&file, sattr3 { mode: Some(0o644), ..touched() }, None)?;
        session.write(&file, 0, &ours.text(), stable_how::FILE_SYNC)?;
        let changed = session.getattr(&file)?.ctime;
        Ok(Holding { session, directory, file, ours, changed, lost: None })
    }

    /// Gives a sign of life, or finds out that the lease is lost.
    fn renew(&mut self) -> Result<(), NfsError> {
        if self.lost.is_some() {
            return Ok(());
        }
        match self.session.setattr(&self.file, touched(), Some(self.changed)) {
            // Nobody else can have changed it within the one procedure.
            Ok(Some(after)) => self.changed = after.ctime,
            Ok(None) => return self.look_again(),
            // Not as we left it: somebody else changed it, or a call of ours was done twice.
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOT_SYNC) => return self.look_again(),
            Err(error) => return self.gone(error),
        }
        Ok(())
    }

    /// The change first and the content after it: what is ours then was ours at the change.
    fn look_again(&mut self) -> Result<(), NfsError> {
        let looked = self.session.getattr(&self.file);
        let looked = looked.and_then(|found| Ok((found, read(&mut self.session, &self.file)?)));
        let (found, content) = match looked {
            Ok(looked) => looked,
            Err(error) => return self.gone(error),
        };
        if content.as_ref() == Some(&self.ours) {
            self.changed = found.ctime;
        } else {
            self.lost = Some(content.map(|content| holder(Some(content), 0)));
        }
        Ok(())
    }

    fn gone(&mut self, error: NfsError) -> Result<(), NfsError> {
        let is_gone =
            [nfsstat3::NFS3ERR_STALE, nfsstat3::NFS3ERR_NOENT, nfsstat3::NFS3ERR_BADHANDLE];
        if is_gone.iter().any(|status| error.is_status(*status)) {
            self.lost = Some(None);
            return Ok(());
        }
        Err(error)
    }

    /// Removes the lease, if it is still this one. What fails here ends with the lease's age.
    fn give_back(&mut self) {
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
    fn a_lease_comes_back_as_it_was_written_and_half_of_it_is_none() {
        let ours = Content::ours();
        let text = ours.text();
        assert_eq!(Content::read(&text), Some(ours));
        assert_eq!(Content::read(&text[..text.len() / 2]), None);
        assert_eq!(Content::read(b"{\"format\":\"a cake\"}"), None);
    }

    #[test]
    fn silence_is_counted_by_one_clock_and_is_none_if_that_went_back() {
        let at = |seconds, nseconds| nfstime3 { seconds, nseconds };
        assert_eq!(between(at(10, 999_999_999), at(11, 0)), Duration::from_nanos(1));
        assert_eq!(between(at(11, 0), at(10, 0)), Duration::ZERO);
    }
}
