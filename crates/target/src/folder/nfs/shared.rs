//! A mounted folder: its connections, and the way from a path to what the server knows.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nfs3::arguments::createhow3;
use nfs3::types::{fattr3, ftype3, sattr3};

use crate::folder::{Entry, Kind};
use crate::nfs::session::Mounted;
use crate::nfs::{NfsError, NfsFile, Session};

/// Permission bits of files that are made.
const FILE_MODE: u32 = 0o644;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) mounted: Arc<Mounted>,
    /// The name of the mounted folder; every path begins with it.
    pub(super) root: PathBuf,
    /// Connections that nobody uses at the moment.
    idle: Mutex<Vec<Session>>,
    /// Directories that were looked up, until one is moved or removed.
    directories: Mutex<HashMap<PathBuf, NfsFile>>,
}

/// What a procedure's failure is to the rules, which know kinds and say the path themselves.
pub(crate) fn failed(error: NfsError) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", error.procedure, error.failure))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// What `session` has mounted, known as `root`.
    pub(super) fn new(session: Session, root: PathBuf) -> Shared {
        let mounted = Arc::clone(session.mounted());
        let idle = Mutex::new(vec![session]);
        Shared { mounted, root, idle, directories: Mutex::default() }
    }

    /// Does something over a connection that nobody else uses meanwhile.
    pub(super) fn with<R>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<R, NfsError>,
    ) -> io::Result<R> {
        let idle = lock(&self.idle).pop();
        let mut session = idle.unwrap_or_else(|| Session::of(&self.mounted));
        let done = work(&mut session);
        lock(&self.idle).push(session);
        done.map_err(failed)
    }

    /// Refuses to continue once the user has asked to end.
    pub(super) fn refuse_cancelled(&self) -> io::Result<()> {
        match self.mounted.monitor.is_cancelled() {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Ends all idle connections but one.
    pub(super) fn disconnect_idle(&self) {
        lock(&self.idle).truncate(1);
    }

    /// The names that lead from the mounted folder to `path`.
    fn names<'p>(&self, path: &'p Path) -> io::Result<Vec<&'p OsStr>> {
        let elsewhere = || {
            let root = self.root.display();
            io::Error::new(io::ErrorKind::InvalidInput, format!("it is not on {root}"))
        };
        let inside = path.strip_prefix(&self.root).map_err(|_| elsewhere())?;
        inside
            .components()
            .map(|component| match component {
                Component::Normal(name) => Ok(name),
                _ => Err(elsewhere()),
            })
            .collect()
    }

    /// The handle of a directory; whether it is one is for the server to say when it is used.
    pub(super) fn directory(&self, path: &Path) -> io::Result<NfsFile> {
        if let Some(known) = lock(&self.directories).get(path) {
            return Ok(known.clone());
        }
        let mut directory = self.mounted.root.clone();
        for name in self.names(path)? {
            directory = self.with(|session| session.lookup(&directory, name.as_bytes()))?.0;
        }
        lock(&self.directories).insert(path.to_path_buf(), directory.clone());
        Ok(directory)
    }

    pub(super) fn forget_directories(&self) {
        lock(&self.directories).clear();
    }

    /// Does something with an entry, by its directory and name. A directory that was removed since
    /// it was looked up is looked up again, once.
    pub(super) fn at<R>(
        &self,
        path: &Path,
        work: impl Fn(&mut Session, &NfsFile, &[u8]) -> Result<R, NfsError>,
    ) -> io::Result<R> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let attempt = || {
            let directory = self.directory(above)?;
            self.with(|session| work(session, &directory, name.as_bytes()))
        };
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => {
                self.forget_directories();
                attempt()
            }
            outcome => outcome,
        }
    }

    /// What is at `path`, with its attributes; `None` if nothing is.
    pub(super) fn find(&self, path: &Path) -> io::Result<Option<(NfsFile, fattr3)>> {
        let root = &self.mounted.root;
        let found = if path == self.root {
            self.with(|session| Ok((root.clone(), session.getattr(root)?)))
        } else {
            self.at(path, |session, directory, name| {
                let (file, attributes) = session.lookup(directory, name)?;
                let attributes = match attributes {
                    Some(attributes) => attributes,
                    None => session.getattr(&file)?,
                };
                Ok((file, attributes))
            })
        };
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder above the mounted one, if the server shows the way there and back.
    pub(super) fn above_root(&self) -> io::Result<Option<NfsFile>> {
        let root = &self.mounted.root;
        let Some(name) = self.root.file_name() else { return Ok(None) };
        let there_and_back = self.with(|session| {
            let (above, _) = session.lookup(root, b"..")?;
            let (back, _) = session.lookup(&above, name.as_bytes())?;
            Ok((above, back))
        });
        match there_and_back {
            Ok((above, back)) => {
                Ok((above.handle != root.handle && back.handle == root.handle).then_some(above))
            }
            // Above the root of an export is nothing, which servers say in their own ways.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted) =>
            {
                Err(error)
            }
            Err(_) => Ok(None),
        }
    }

    /// A file that was not there before.
    pub(super) fn create(&self, path: &Path) -> io::Result<NfsFile> {
        let attributes = sattr3 { mode: Some(FILE_MODE), ..sattr3::UNCHANGED };
        let made = self.at(path, |session, directory, name| {
            session.create(directory, name, createhow3::GUARDED(attributes))
        })?;
        Ok(made.0)
    }
}

impl From<&fattr3> for Entry {
    fn from(found: &fattr3) -> Entry {
        Entry {
            kind: match found.ftype {
                ftype3::NF3REG => Kind::File,
                ftype3::NF3DIR => Kind::Directory,
                ftype3::NF3LNK => Kind::Link,
                ftype3::NF3BLK => Kind::BlockDevice,
                ftype3::NF3CHR => Kind::CharacterDevice,
                ftype3::NF3SOCK | ftype3::NF3FIFO => Kind::PipeOrSocket,
            },
            links: u64::from(found.nlink),
            size_bytes: found.size,
            allocated_bytes: found.used,
            inode: found.fileid,
            // NFSv3 has no moment of creation.
            created_unix_ns: None,
            handle: None,
        }
    }
}

pub(super) fn entry((file, attributes): &(NfsFile, fattr3)) -> Entry {
    Entry { handle: Some(file.handle), ..Entry::from(attributes) }
}
