//! The directory of all volumes of a service: it is ours, and only one service has it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use files::{FileSystem, Options};

use crate::Error;
use crate::recover::recover;
use crate::storage::{Disk, Tell};

const MARKER: &str = ".fourcorners-volumes";
const FORMAT: &str = "fourcorners volumes 1\n";

/// What `mkfs` leaves in the root of a file system of its own.
const LOST_AND_FOUND: &str = "lost+found";

/// A directory that is locked for this process. The lock goes with the last volume opened in it.
pub struct Directory {
    lock: Arc<Lock>,
    tell: Arc<Tell>,
}

#[derive(Debug)]
struct Lock {
    path: PathBuf,
    open: Mutex<BTreeSet<String>>,
    /// Locked as long as it is open.
    _marker: File,
}

/// A volume's hold on the lock and on its name.
#[derive(Debug)]
pub(crate) struct Held {
    lock: Arc<Lock>,
    name: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lock.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

impl Directory {
    /// Opens a directory, which is made if it is not there. It must be empty or ours.
    ///
    /// `tell` is given a line for the operator where a disk fails while volumes are used, once
    /// for each kind of failure, and where a journal's end was cut off by a crash.
    pub fn open(
        path: &Path,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Directory, Error> {
        fs::create_dir_all(path).map_err(Error::host("make the directory", path))?;
        let marker = mark(path)?;
        if marker.try_lock().is_err() {
            return Err(Error::InUse { path: path.join(MARKER) });
        }
        let directory = Directory {
            lock: Arc::new(Lock { path: path.to_owned(), open: Mutex::default(), _marker: marker }),
            tell: Arc::new(tell),
        };
        directory.names()?;
        Ok(directory)
    }

    /// The volumes that are kept here, in the order of their names.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let path = &self.lock.path;
        let mut names = Vec::new();
        for entry in entries(path)? {
            if entry == MARKER || entry == LOST_AND_FOUND {
                continue;
            }
            if !is_name(&entry) || !path.join(&entry).is_dir() {
                return Err(Error::Foreign { path: path.clone(), entry });
            }
            names.push(entry);
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a volume; makes it, with a root as `options` say, if it is not there.
    ///
    /// Of a volume that is there the `fsid` stays what it was when it was made, since handles hold
    /// it: give each volume one that depends on its name and not on its place in a list.
    /// `options.unstable` is not looked at: UNSTABLE writes reach the host's page cache, which a
    /// kill of this process does not lose and a loss of power does.
    ///
    /// Call [`FileSystem::sync`] before replies are sent, and as the last thing of all.
    pub fn volume(&self, name: &str, options: Options) -> Result<FileSystem, Error> {
        if !is_name(name) {
            return Err(Error::Name { name: name.to_owned() });
        }
        let mut open = self.lock.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.insert(name.to_owned()) {
            return Err(Error::Open { name: name.to_owned() });
        }
        drop(open);
        let held = Held { lock: Arc::clone(&self.lock), name: name.to_owned() };
        let folder = self.lock.path.join(name);
        let data = folder.join("data");
        fs::create_dir_all(&data).map_err(Error::host("make the directory", &data))?;
        for path in [&folder, &self.lock.path] {
            sync(path)?;
        }
        let fs = match recover(&folder, options, &*self.tell)? {
            Some(fs) => fs,
            None => FileSystem::new(options),
        };
        let disk = Disk::new(folder.clone(), Arc::clone(&self.tell), held);
        fs.keep_in(Arc::new(disk)).map_err(|source| Error::Keep { path: folder, source })
    }
}

/// A name that is a directory's everywhere and hides nothing. Those of the configuration are.
fn is_name(name: &str) -> bool {
    let first = name.chars().next();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    first.is_some_and(|c| c != '.' && c != '-') && name.len() <= 200 && name.chars().all(allowed)
}

/// The file that says that the directory is ours; it is made where there is nothing else.
fn mark(path: &Path) -> Result<File, Error> {
    let marker = path.join(MARKER);
    if !marker.exists() {
        let foreign = entries(path)?.into_iter().find(|entry| entry != LOST_AND_FOUND);
        if let Some(entry) = foreign {
            return Err(Error::Foreign { path: path.to_owned(), entry });
        }
        let made = File::create_new(&marker)
            .and_then(|mut file| file.write_all(FORMAT.as_bytes()).and(file.sync_all()));
        made.map_err(Error::host("write", &marker))?;
        sync(path)?;
    }
    let mut text = String::new();
    let mut file = File::open(&marker).map_err(Error::host("open", &marker))?;
    file.read_to_string(&mut text).map_err(Error::host("read", &marker))?;
    if text != FORMAT {
        let known = FORMAT.trim_end().to_owned();
        return Err(Error::Version { path: marker, found: text.trim_end().to_owned(), known });
    }
    Ok(file)
}

/// Names in a directory. One that is no text is shown as it can be, which is no name of ours.
pub(crate) fn entries(path: &Path) -> Result<Vec<String>, Error> {
    let list = || -> std::io::Result<Vec<String>> {
        fs::read_dir(path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    };
    list().map_err(Error::host("list", path))
}

fn sync(path: &Path) -> Result<(), Error> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::host("sync", path))
}
