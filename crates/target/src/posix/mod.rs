//! A directory as a target, through the kernel's file system: with io_uring ([`ring`]) or blocking
//! calls ([`psync`]).

pub mod names;
pub mod psync;
pub mod ring;

pub(crate) mod folder;
mod lease_file;
pub(crate) mod lock;
mod missing_mount;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use workload::plan::{Capabilities, FileSet, IoMethodUsed, Stream};

use crate::TargetError;
use crate::names::{NameAccess, NameOpener, NameWork};
use crate::run_target::{Opener, RunTarget, WorkerShare};

/// Directories of trees that all workers of this process keep open together, at least 8 for each
/// thread: half of the usual limit on open files.
const OPEN_DIRECTORIES: u64 = 512;

/// The directory with the streams' files.
#[derive(Clone, Debug)]
pub struct PosixTarget {
    directory: PathBuf,
}

impl PosixTarget {
    /// The files in `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> PosixTarget {
        PosixTarget { directory: directory.into() }
    }
}

impl RunTarget for PosixTarget {
    fn capabilities(&self) -> Capabilities {
        Capabilities::POSIX
    }

    fn opener(&self, worker: &WorkerShare<'_>) -> Option<Opener> {
        let stream = worker.stream;
        let access = FileAccess {
            paths: self.local_paths(stream),
            write: stream.read_permille < 1000,
            direct: stream.direct,
            dsync: stream.dsync,
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
        };
        Some(match worker.io_method {
            IoMethodUsed::Psync => Opener::Psync(access),
            _ => Opener::Ring(access),
        })
    }

    fn name_opener(&self, worker: &WorkerShare<'_>, work: NameWork) -> Option<NameOpener> {
        let blocking = worker.io_method == IoMethodUsed::Psync;
        let threads = if blocking { worker.stream.queue_depth } else { 1 };
        let all = u64::from(worker.workers) * u64::from(threads);
        let access = NameAccess {
            root: self.directory.join(&work.tree),
            work,
            open_directories: (OPEN_DIRECTORIES / all.max(1)).clamp(8, 128) as usize,
        };
        Some(match blocking {
            true => NameOpener::Psync(access),
            false => NameOpener::Ring(access),
        })
    }

    fn local_paths(&self, stream: &Stream) -> Vec<PathBuf> {
        let of_set = |set: FileSet| {
            let path = |index| self.directory.join(set.file_name(index));
            (0..set.files).map(path).collect::<Vec<PathBuf>>()
        };
        stream.file_sets().into_iter().flat_map(of_set).collect()
    }
}

/// The files that a worker uses, and how they are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// The files, indexed by `Op::file`.
    pub paths: Vec<PathBuf>,
    /// Whether any operation writes.
    pub write: bool,
    /// Whether to open with O_DIRECT.
    pub direct: bool,
    /// Whether to open with O_DSYNC.
    pub dsync: bool,
    /// Largest transfer, in bytes.
    pub transfer_size_max_bytes: u64,
}

impl FileAccess {
    /// Opens every file.
    ///
    /// # Errors
    /// The first file that cannot be opened, with the kernel's error.
    pub fn open(&self) -> Result<Vec<File>, TargetError> {
        // A link in place of a file would lead out of the marked directory.
        let mut flags = OFlags::NOFOLLOW;
        if self.direct {
            flags |= OFlags::DIRECT;
        }
        if self.dsync {
            flags |= OFlags::DSYNC;
        }
        self.paths.iter().map(|path| self.open_one(path, flags)).collect()
    }

    fn open_one(&self, path: &Path, flags: OFlags) -> Result<File, TargetError> {
        let text = || path.display().to_string();
        let file = OpenOptions::new()
            .read(true)
            .write(self.write)
            .custom_flags(flags.bits() as i32)
            .open(path)
            .map_err(|source| TargetError::Open { path: text(), source })?;
        let found = file.metadata().map_err(|source| TargetError::Open { path: text(), source })?;
        // With a second hard link it would also be a file of the user.
        if !found.is_file() || found.nlink() != 1 {
            return Err(TargetError::NotRegular { path: text() });
        }
        Ok(file)
    }
}
