//! An NFS export as the target of runs.

use std::sync::Arc;

use nfs3::types::Handle;
use workload::plan::{Capabilities, FileSet, IoMethod, IoMethodUsed, Stream, WriteStability};

use super::files::UNCOMMITTED_MAX;
use super::names::NfsNameAccess;
use super::{Mounted, NfsAccess, NfsFile};
use crate::names::{NameOpener, NameWork};
use crate::run_target::{Opener, RunTarget, WorkerShare};

/// Files on an export.
#[derive(Clone, Debug)]
pub struct NfsTarget {
    /// The export.
    pub mounted: Arc<Mounted>,
    /// The file sets of the runs, with their files.
    pub files: Vec<(FileSet, Vec<NfsFile>)>,
    /// Our directory, which contains the trees.
    pub directory: Handle,
}

impl NfsTarget {
    /// The files of a stream, indexed by `Op::file`. Streams that need different numbers of files
    /// of the same set share the larger set.
    fn files_of(&self, stream: &Stream) -> Option<Vec<Handle>> {
        let of_set = |needed: FileSet| {
            let same = |(set, _): &&(FileSet, Vec<NfsFile>)| {
                *set == FileSet { files: set.files, ..needed.clone() }
            };
            let (_, files) = self.files.iter().find(same)?;
            let files = files.get(..needed.files as usize)?;
            Some(files.iter().map(|file| file.handle))
        };
        let sets: Option<Vec<_>> = stream.file_sets().into_iter().map(of_set).collect();
        Some(sets?.into_iter().flatten().collect())
    }

    /// The numbers of the worker's connections.
    fn connections_of(&self, worker: &WorkerShare<'_>) -> std::ops::Range<u32> {
        let requested = worker.connections.or(self.mounted.url.nconnect);
        connections(requested.unwrap_or(worker.workers), worker.number, worker.workers)
    }
}

/// The numbers of the connections of worker `number`: the workers divide those of this process
/// evenly, and each has at least one.
fn connections(requested: u32, number: u32, workers: u32) -> std::ops::Range<u32> {
    let all = u64::from(requested.max(workers));
    let first = |number: u32| (all * u64::from(number) / u64::from(workers)) as u32;
    first(number)..first(number + 1)
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
            files: self.files_of(stream)?,
            stability: stream.write_stability.unwrap_or(WriteStability::Unstable),
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
            keep_read_data: worker.verify,
            rewrite: worker.rewrite.clone(),
            uncommitted_max: UNCOMMITTED_MAX,
        })))
    }

    fn name_opener(&self, worker: &WorkerShare<'_>, work: NameWork) -> Option<NameOpener> {
        let connections = self.connections_of(worker);
        let of = (worker.stream, worker.verify);
        let (mounted, directory) = (&self.mounted, self.directory);
        let access = NfsNameAccess::new(mounted, connections, of, work, directory);
        Some(NameOpener::Nfs(Box::new(access)))
    }

    fn fixed_io_method(&self, _requested: IoMethod) -> Option<(IoMethodUsed, &'static str)> {
        let reason = "an NFS export is accessed by the built-in NFS client, so there was nothing \
                      to probe";
        Some((IoMethodUsed::NfsClient, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_divide_the_connections_and_each_has_at_least_one() {
        let of = |requested, workers: u32| -> Vec<std::ops::Range<u32>> {
            (0..workers).map(|number| connections(requested, number, workers)).collect()
        };
        assert_eq!(of(8, 3), [0..2, 2..5, 5..8]);
        assert_eq!(of(16, 2), [0..8, 8..16]);
        assert_eq!(of(1, 3), [0..1, 1..2, 2..3]);
    }
}
