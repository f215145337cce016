//! Where the files of a run are, and what of it each worker opens.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use target::TargetError;
use target::nfs::files::{NfsAccess, UNCOMMITTED_MAX};
use target::nfs::{Mounted, NfsFile};
use target::posix::FileAccess;
use workload::plan::{FileSet, Stream, WriteStability};

use crate::run::{EngineError, Request};

/// What operations are sent to.
#[derive(Clone, Debug)]
pub enum Place {
    /// Nothing: operations complete at once.
    Null,
    /// The directory that holds the streams' files, through the kernel's file system.
    Directory(PathBuf),
    /// Files on an export of NFS, through a client of our own.
    Nfs(NfsPlace),
}

/// Files on an export.
#[derive(Clone, Debug)]
pub struct NfsPlace {
    /// The export.
    pub mounted: Arc<Mounted>,
    /// The files of each set that some run works on.
    pub files: Vec<(FileSet, Vec<NfsFile>)>,
}

impl NfsPlace {
    /// The files of a stream, in the order of `Op::file`. Streams with different numbers of the
    /// same files share the larger set.
    fn files_of(&self, stream: &Stream) -> Option<&[NfsFile]> {
        let wanted = stream.file_set();
        let same = |(set, _): &&(FileSet, Vec<NfsFile>)| {
            *set == FileSet { files: set.files, ..wanted.clone() }
        };
        let (_, files) = self.files.iter().find(same)?;
        files.get(..wanted.files as usize)
    }

    /// Connections that this process has to the export in a run with so many workers, and with
    /// `wanted` of them if the run says so.
    fn connections(&self, wanted: Option<u32>, workers: u32) -> u32 {
        wanted.or(self.mounted.url.nconnect).unwrap_or(workers).max(workers)
    }
}

/// What one worker opens.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    Null,
    Files(FileAccess),
    Nfs(Box<NfsAccess>),
}

impl Access {
    /// Connections that the worker will have.
    pub(crate) fn connections(&self) -> usize {
        match self {
            Access::Nfs(access) => access.connections.len(),
            Access::Null | Access::Files(_) => 0,
        }
    }
}

impl Request<'_> {
    /// What the workers of a stream open, but for their connections.
    pub(crate) fn access(&self, stream: &Stream) -> Result<Access, EngineError> {
        Ok(match &self.place {
            Place::Null => Access::Null,
            Place::Directory(directory) => Access::Files(FileAccess {
                paths: file_paths(directory, stream),
                write: stream.read_permille < 1000,
                direct: stream.direct,
                dsync: stream.dsync,
                transfer_size_max_bytes: stream.transfer_size_max_bytes(),
            }),
            Place::Nfs(place) => {
                let missing = || EngineError::NoFiles { stream: stream.name.clone() };
                let files = place.files_of(stream).ok_or_else(missing)?;
                Access::Nfs(Box::new(NfsAccess {
                    mounted: Arc::clone(&place.mounted),
                    connections: 0..0,
                    files: files.iter().map(|file| file.handle).collect(),
                    stability: stream.write_stability.unwrap_or(WriteStability::Unstable),
                    transfer_size_max_bytes: stream.transfer_size_max_bytes(),
                    keep_read_data: self.verify,
                    rewrite: None,
                    uncommitted_max: UNCOMMITTED_MAX,
                }))
            }
        })
    }

    /// The numbers of the connections of worker `number` of `workers` on this host: they are dealt
    /// out as evenly as they go.
    pub(crate) fn share(&self, number: u32, workers: u32) -> std::ops::Range<u32> {
        let Place::Nfs(place) = &self.place else { return 0..0 };
        let wanted = self.assignment.run.connections;
        let all = u64::from(place.connections(wanted, workers));
        let from = |number: u32| (all * u64::from(number) / u64::from(workers)) as u32;
        from(number)..from(number + 1)
    }
}

/// Which files of a directory a run works on, to be recognised at its end. Those of an export are
/// held by their handles, which no other file can have.
pub(crate) struct Identities(Vec<(PathBuf, (u64, u64))>);

impl Identities {
    pub(crate) fn of(request: &Request<'_>) -> Result<Identities, EngineError> {
        let Place::Directory(directory) = &request.place else {
            return Ok(Identities(Vec::new()));
        };
        let mut all = Vec::new();
        for stream in &request.assignment.run.streams {
            for path in file_paths(directory, stream) {
                let found = identity(&path).map_err(|source| EngineError::Target {
                    stream: stream.name.clone(),
                    lane: 0,
                    source: TargetError::Open { path: path.display().to_string(), source },
                })?;
                all.push((path, found));
            }
        }
        Ok(Identities(all))
    }

    /// What happened to the first file that is not there any more, in words.
    pub(crate) fn replaced(&self) -> Option<String> {
        let gone = |(path, before): &&(PathBuf, (u64, u64))| {
            identity(path).map_or(true, |now| now != *before)
        };
        let (path, _) = self.0.iter().find(gone)?;
        Some(format!("{} was removed or replaced while the run worked on it", path.display()))
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// The files of a stream in its directory, in the order of `Op::file`.
pub fn file_paths(directory: &Path, stream: &Stream) -> Vec<PathBuf> {
    let set = stream.file_set();
    (0..set.files).map(|index| directory.join(set.file_name(index))).collect()
}
