//! A mounted folder: its connections, and lookups from paths to handles.

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

/// Permission bits of new files.
const FILE_MODE: u32 = 0o644;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) mounted: Arc<Mounted>,
    /// The path of the mounted folder; every path begins with it.
    pub(super) root: PathBuf,
    /// Connections that are not in use.
    idle: Mutex<Vec<Session>>,
    /// Cache of directories that were looked up; emptied when one is moved or removed.
    directories: Mutex<HashMap<PathBuf, NfsFile>>,
}

/// The I/O error for a failed procedure. The caller adds the path.
pub(crate) fn failed(error: NfsError) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", error.procedure, error.failure))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section leaves a consistent state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The folder that `session` has mounted, with the path `root`.
    pub(super) fn new(session: Session, root: PathBuf) -> Shared {
        let mounted = Arc::clone(session.mounted());
        let idle = Mutex::new(vec![session]);
        Shared { mounted, root, idle, directories: Mutex::default() }
    }

    /// Runs `work` with a connection that no other thread uses meanwhile.
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

    /// Fails if the user has cancelled.
    pub(super) fn refuse_cancelled(&self) -> io::Result<()> {
        match self.mounted.monitor.is_cancelled() {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Closes all idle connections but one.
    pub(super) fn disconnect_idle(&self) {
        lock(&self.idle).truncate(1);
    }

    /// The names between the mounted folder and `path`.
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

    /// The handle of a directory. If it is not a directory, the server reports that on use.
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

    /// Runs `work` with the directory and name of an entry. If the directory was removed since it
    /// was looked up, it is looked up again, once.
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

    /// The entry at `path` with its attributes; `None` if there is none.
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

    /// The folder above the mounted one, if lookups lead there and back.
    pub(super) fn above_root(&self) -> io::Result<Option<NfsFile>> {
        let root = &self.mounted.root;
        let Some(name) = self.root.file_name() else { return Ok(None) };
        let lookups = self.with(|session| {
            let (above, _) = session.lookup(root, b"..")?;
            let (back, _) = session.lookup(&above, name.as_bytes())?;
            Ok((above, back))
        });
        match lookups {
            Ok((above, back)) => {
                Ok((above.handle != root.handle && back.handle == root.handle).then_some(above))
            }
            // Servers differ in the error for a lookup above the root of an export.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted) =>
            {
                Err(error)
            }
            Err(_) => Ok(None),
        }
    }

    /// Creates a file; fails if it exists.
    pub(super) fn create(&self, path: &Path) -> io::Result<NfsFile> {
        let attributes = sattr3 { mode: Some(FILE_MODE), ..sattr3::UNCHANGED };
        let created = self.at(path, |session, directory, name| {
            session.create(directory, name, createhow3::GUARDED(attributes))
        })?;
        Ok(created.0)
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
            // NFSv3 has no creation time.
            created_unix_ns: None,
            handle: None,
        }
    }
}

pub(super) fn entry((file, attributes): &(NfsFile, fattr3)) -> Entry {
    Entry { handle: Some(file.handle), ..Entry::from(attributes) }
}

#[cfg(test)]
mod tests {
    use nfs3::types::{nfstime3, specdata3};

    use super::*;

    #[test]
    fn an_entry_has_the_type_and_the_numbers_of_its_attributes() {
        let time = nfstime3 { seconds: 1, nseconds: 2 };
        let attributes = |ftype| fattr3 {
            ftype,
            mode: 0o644,
            nlink: 2,
            uid: 3,
            gid: 4,
            size: 5,
            used: 6,
            rdev: specdata3 { specdata1: 0, specdata2: 0 },
            fsid: 7,
            fileid: 8,
            atime: time,
            mtime: time,
            ctime: time,
        };
        let of = |ftype| Entry::from(&attributes(ftype));
        for (ftype, kind) in [
            (ftype3::NF3REG, Kind::File),
            (ftype3::NF3DIR, Kind::Directory),
            (ftype3::NF3LNK, Kind::Link),
            (ftype3::NF3BLK, Kind::BlockDevice),
            (ftype3::NF3CHR, Kind::CharacterDevice),
            (ftype3::NF3SOCK, Kind::PipeOrSocket),
            (ftype3::NF3FIFO, Kind::PipeOrSocket),
        ] {
            assert_eq!(of(ftype).kind, kind);
        }
        let found = of(ftype3::NF3REG);
        assert_eq!((found.links, found.size_bytes, found.allocated_bytes), (2, 5, 6));
        assert_eq!((found.inode, found.created_unix_ns, found.handle), (8, None, None));
    }
}
