//! The directory of all volumes of a service.

use std::path::Path;
use std::sync::Arc;

use files::{FileSystem, Options};

use crate::folder::{Folder, Folders};
use crate::lock::{LOST_AND_FOUND, Lock, MARKER};
use crate::pool::Pool;
use crate::recover::{Recovered, recover};
use crate::storage::Disk;
use crate::{Error, Log};

/// File descriptors of a volume in addition to those of open data files: its three directories, two
/// journals during a rewrite, `acknowledged`, and one data file with its checksums that has stable
/// writes to sync.
pub const DESCRIPTORS_PER_VOLUME: usize = 8;

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;

/// A directory that is locked for this process. The lock is released when the directory and all its
/// open volumes are dropped.
pub struct Directory {
    lock: Arc<Lock>,
    log: Arc<Log>,
    pool: Pool,
}

impl Directory {
    /// Opens a directory, which must be empty or created by this function. A missing directory is
    /// created with access for its owner only.
    ///
    /// `log` receives lines for the operator: when a disk fails while volumes are used, once per
    /// kind of failure; when a crash left an incomplete journal; for each damaged block; and when
    /// other users have access to the directory.
    pub fn open(
        path: &Path,
        log: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Directory, Error> {
        let folder =
            Folder::open_or_create(path).map_err(Error::host("create the directory", path))?;
        let lock = Lock::new(folder, path)?;
        let mode = lock.folder.mode().map_err(Error::host("inspect", path))?;
        if mode & OTHERS != 0 {
            let path = path.display();
            log(&format!(
                "{path} is accessible to other users (mode {mode:04o}), regardless of export \
                 rules; to make it private: chmod 700 {path}"
            ));
        }
        let directory = Directory { lock: Arc::new(lock), log: Arc::new(log), pool: Pool::new() };
        directory.names()?;
        Ok(directory)
    }

    /// Limits the descriptors of open data files, all volumes together; files are closed when
    /// others must be opened. [`DESCRIPTORS_PER_VOLUME`] are additional.
    pub fn set_descriptors(&self, descriptors: usize) {
        self.pool.set_descriptors(descriptors);
    }

    /// The names of the volumes in this directory, sorted.
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
                return Err(failed()(folder.link_error(&entry)));
            }
            if !kind.is_dir() {
                return Err(Error::Foreign { path: path.to_owned(), entry });
            }
            names.push(entry);
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a volume; creates it if it does not exist.
    ///
    /// An existing volume keeps its `fsid`, because handles contain it. Derive the `fsid` of a new
    /// volume from its name and not from its index in a list. `options.unstable` is ignored:
    /// UNSTABLE writes go to the host's page cache, which survives a kill of this process but not a
    /// loss of power.
    ///
    /// Call [`FileSystem::sync`] before replies are sent, and before the volume is dropped.
    pub fn volume(&self, name: &str, options: Options) -> Result<FileSystem, Error> {
        if !is_name(name) {
            return Err(Error::Name { name: name.to_owned() });
        }
        let lock = self.lock.volume(name)?;
        let folders = Arc::new(Folders::open_in(&self.lock.folder, name)?);
        let log = Arc::clone(&self.log);
        let recovered = recover(&folders, options, &*self.log)?;
        let Recovered { fs, carryover } = recovered.unwrap_or_else(|| Recovered::empty(options));
        let path = folders.volume.path().to_owned();
        let disk = Disk::new(folders, self.pool.clone(), carryover, log, lock);
        fs.store_in(Arc::new(disk)).map_err(|source| Error::Store { path, source })
    }
}

/// Whether a name is a valid, visible directory name on any file system. The configuration allows
/// only such names.
fn is_name(name: &str) -> bool {
    let first = name.chars().next();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    first.is_some_and(|c| c != '.' && c != '-') && name.len() <= 200 && name.chars().all(allowed)
}
