//! An NFS export as the target of runs.

use std::sync::Arc;

use workload::plan::{Capabilities, FileSet, IoMethod, IoMethodUsed, Stream, WriteStability};

use super::files::UNCOMMITTED_MAX;
use super::{Mounted, NfsAccess, NfsFile};
use crate::run_target::{Opener, RunTarget, WorkerShare};

/// Files on an export.
#[derive(Clone, Debug)]
pub struct NfsTarget {
    /// The export.
    pub mounted: Arc<Mounted>,
    /// The file sets of the runs, with their files.
    pub files: Vec<(FileSet, Vec<NfsFile>)>,
}

impl NfsTarget {
    /// The files of a stream, indexed by `Op::file`. Streams that need different numbers of files
    /// of the same set share the larger set.
    fn files_of(&self, stream: &Stream) -> Option<&[NfsFile]> {
        let needed = stream.file_set();
        let same = |(set, _): &&(FileSet, Vec<NfsFile>)| {
            *set == FileSet { files: set.files, ..needed.clone() }
        };
        let (_, files) = self.files.iter().find(same)?;
        files.get(..needed.files as usize)
    }

    /// The numbers of the worker's connections. The workers divide the connections of this process
    /// evenly; each has at least one.
    fn connections_of(&self, worker: &WorkerShare<'_>) -> std::ops::Range<u32> {
        let workers = worker.workers;
        let requested = worker.connections.or(self.mounted.url.nconnect).unwrap_or(workers);
        let all = u64::from(requested.max(workers));
        let first = |number: u32| (all * u64::from(number) / u64::from(workers)) as u32;
        first(worker.number)..first(worker.number + 1)
    }
}

impl RunTarget for NfsTarget {
    fn capabilities(&self) -> Capabilities {
        Capabilities::NFS
    }

    fn opener(&self, worker: &WorkerShare<'_>) -> Option<Opener> {
        let stream = worker.stream;
        Some(Opener::Nfs(Box::new(NfsAccess {
            mounted: Arc::clone(&self.mounted),
            connections: self.connections_of(worker),
            files: self.files_of(stream)?.iter().map(|file| file.handle).collect(),
            stability: stream.write_stability.unwrap_or(WriteStability::Unstable),
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
            keep_read_data: worker.verify,
            rewrite: worker.rewrite.clone(),
            uncommitted_max: UNCOMMITTED_MAX,
        })))
    }

    fn fixed_io_method(&self, _requested: IoMethod) -> Option<(IoMethodUsed, &'static str)> {
        let reason = "an NFS export is accessed by the built-in NFS client, so there was nothing \
                      to probe";
        Some((IoMethodUsed::NfsClient, reason))
    }
}
