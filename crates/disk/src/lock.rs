//! The lock on the directory of all volumes: it belongs to fourcorners, and one service uses it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::folder::Folder;

/// Marks a directory as one of fourcorners, and is locked while a service uses it.
pub(crate) const MARKER: &str = ".fourcorners-volumes";
const FORMAT: &str = "fourcorners volumes 1\n";

/// `mkfs` creates it in the root of a new file system.
pub(crate) const LOST_AND_FOUND: &str = "lost+found";

/// The locked directory of all volumes.
#[derive(Debug)]
pub(crate) struct Lock {
    pub(crate) folder: Folder,
    open_volumes: Mutex<BTreeSet<String>>,
    /// Locked while it is open.
    _marker: File,
}

/// Holds the lock, and reserves the name of an open volume.
#[derive(Debug)]
pub(crate) struct VolumeLock {
    lock: Arc<Lock>,
    name: String,
}

impl Drop for VolumeLock {
    fn drop(&mut self) {
        let mut open = self.lock.open_volumes.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&self.name);
    }
}

impl Lock {
    /// Locks a directory that is empty or already marked.
    pub(crate) fn new(folder: Folder, path: &Path) -> Result<Lock, Error> {
        let marker = open_marker(&folder)?;
        if marker.try_lock().is_err() {
            return Err(Error::InUse { path: path.join(MARKER) });
        }
        Ok(Lock { folder, open_volumes: Mutex::default(), _marker: marker })
    }

    /// Reserves a volume's name.
    pub(crate) fn volume(self: &Arc<Lock>, name: &str) -> Result<VolumeLock, Error> {
        let mut open = self.open_volumes.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.insert(name.to_owned()) {
            return Err(Error::Open { name: name.to_owned() });
        }
        Ok(VolumeLock { lock: Arc::clone(self), name: name.to_owned() })
    }
}

/// Opens the marker; creates it in an empty directory.
fn open_marker(folder: &Folder) -> Result<File, Error> {
    let path = folder.path().join(MARKER);
    let mut file = match folder.file(MARKER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names = folder.names().map_err(Error::host("list", folder.path()))?;
            if let Some(entry) = names.into_iter().find(|entry| entry != LOST_AND_FOUND) {
                return Err(Error::Foreign { path: folder.path().to_owned(), entry });
            }
            let created = folder.create(MARKER).and_then(|mut file| {
                file.write_all(FORMAT.as_bytes())?;
                file.sync_all()?;
                folder.sync()?;
                folder.file(MARKER)
            });
            created.map_err(Error::host("write", &path))?
        }
        opened => opened.map_err(Error::host("open", &path))?,
    };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(Error::host("read", &path))?;
    if text != FORMAT {
        let known = FORMAT.trim_end().to_owned();
        return Err(Error::Version { path, found: text.trim_end().to_owned(), known });
    }
    Ok(file)
}
