//! The directory of all volumes of a service: it is ours, and only one service has it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use files::{FileSystem, Options};

use crate::Error;
use crate::folder::Folder;
use crate::pool::Pool;
use crate::recover::{Recovered, recover};
use crate::storage::{Disk, Tell};

const MARKER: &str = ".fourcorners-volumes";
const FORMAT: &str = "fourcorners volumes 1\n";

/// What `mkfs` leaves in the root of a file system of its own.
const LOST_AND_FOUND: &str = "lost+found";

/// Descriptors that a volume takes besides those of files that are kept open: its three
/// directories, two journals for as long as one replaces the other, what was acknowledged, and
/// one file with its checksums whose promised data is not safe yet.
pub const DESCRIPTORS_PER_VOLUME: usize = 8;

/// Permission bits that let other users than the owner in.
const OTHERS: u32 = 0o077;

/// A directory that is locked for this process. The lock goes with the last volume opened in it.
pub struct Directory {
    lock: Arc<Lock>,
    tell: Arc<Tell>,
    pool: Pool,
}

/// A volume's directories.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) volume: Folder,
    /// The bytes of files.
    pub(crate) data: Folder,
    /// Their checksums.
    pub(crate) sums: Folder,
}

impl Folders {
    /// Those of a volume among all, made where they are missing.
    pub(crate) fn open_in(all: &Folder, name: &str) -> Result<Folders, Error> {
        let inner = |folder: &Folder, name: &str| {
            let path = folder.path().join(name);
            folder.folder(name).map_err(Error::host("open the directory", &path))
        };
        let volume = inner(all, name)?;
        let (data, sums) = (inner(&volume, "data")?, inner(&volume, "sums")?);
        for folder in [&volume, all] {
            folder.sync().map_err(Error::host("sync", folder.path()))?;
        }
        Ok(Folders { volume, data, sums })
    }
}

#[derive(Debug)]
struct Lock {
    folder: Folder,
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
    /// Opens a directory, which is made for its owner alone if it is missing. It must be empty or
    /// ours.
    ///
    /// `tell` is given a line for the operator where a disk fails while volumes are used, once
    /// for each kind of failure; where a journal's end was cut off by a crash; for each block that
    /// is damaged; and where other users may read the directory.
    pub fn open(
        path: &Path,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Directory, Error> {
        let folder = Folder::open_or_make(path).map_err(Error::host("make the directory", path))?;
        let marker = mark(&folder)?;
        if marker.try_lock().is_err() {
            return Err(Error::InUse { path: path.join(MARKER) });
        }
        let mode = folder.mode().map_err(Error::host("inspect", path))?;
        if mode & OTHERS != 0 {
            let path = path.display();
            tell(&format!(
                "{path} is accessible to other users (mode {mode:04o}), regardless of export \
                 rules; to make it private: chmod 700 {path}"
            ));
        }
        let directory = Directory {
            lock: Arc::new(Lock { folder, open: Mutex::default(), _marker: marker }),
            tell: Arc::new(tell),
            pool: Pool::new(),
        };
        directory.names()?;
        Ok(directory)
    }

    /// Keeps at most so many descriptors open for files of all volumes together; others are closed
    /// as new ones are needed. [`DESCRIPTORS_PER_VOLUME`] come on top.
    pub fn set_descriptors(&self, descriptors: usize) {
        self.pool.set_descriptors(descriptors);
    }

    /// The volumes that are kept here, in the order of their names.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let folder = &self.lock.folder;
        let path = folder.path();
        let mut names = Vec::new();
        for entry in folder.names().map_err(Error::host("list", path))? {
            if entry == MARKER || entry == LOST_AND_FOUND {
                continue;
            }
            if !is_name(&entry) {
                return Err(Error::Foreign { path: path.to_owned(), entry });
            }
            let failed = || Error::host("open the directory", &path.join(&entry));
            let kind = folder.kind(&entry).map_err(failed())?;
            if kind.is_symlink() {
                return Err(failed()(folder.link(&entry)));
            }
            if !kind.is_dir() {
                return Err(Error::Foreign { path: path.to_owned(), entry });
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
        let folders = Arc::new(Folders::open_in(&self.lock.folder, name)?);
        let tell = Arc::clone(&self.tell);
        let recovered = recover(&folders, options, &*self.tell)?;
        let Recovered { fs, carryover } = recovered.unwrap_or_else(|| Recovered::nothing(options));
        let path = folders.volume.path().to_owned();
        let disk = Disk::new(folders, self.pool.clone(), carryover, tell, held);
        fs.keep_in(Arc::new(disk)).map_err(|source| Error::Keep { path, source })
    }
}

/// A name that is a directory's everywhere and hides nothing. Those of the configuration are.
fn is_name(name: &str) -> bool {
    let first = name.chars().next();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    first.is_some_and(|c| c != '.' && c != '-') && name.len() <= 200 && name.chars().all(allowed)
}

/// The file that says that the directory is ours; it is made where there is nothing else.
fn mark(folder: &Folder) -> Result<File, Error> {
    let path = folder.path().join(MARKER);
    let mut file = match folder.file(MARKER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names = folder.names().map_err(Error::host("list", folder.path()))?;
            if let Some(entry) = names.into_iter().find(|entry| entry != LOST_AND_FOUND) {
                return Err(Error::Foreign { path: folder.path().to_owned(), entry });
            }
            let made = folder.create(MARKER).and_then(|mut file| {
                file.write_all(FORMAT.as_bytes())?;
                file.sync_all()?;
                folder.sync()?;
                folder.file(MARKER)
            });
            made.map_err(Error::host("write", &path))?
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
