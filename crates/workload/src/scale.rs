//! Scaling experiments, which find the resource that limits a workload's throughput.

use serde::{Deserialize, Serialize};

use crate::combination;
use crate::keys::{self, Key, Kind, Section};
use crate::limit::PriorKnowledge;
use crate::pattern::AccessPattern;
use crate::run::{Run, Stream, TargetSpec, WeightedSize};

/// More runs than any tested system needed: 7 for the curve and two for each possible change.
pub const RUNS_MAX: u32 = 24;

/// The allowed changes, and what is known beforehand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The number of connections may be changed, because the client is the built-in one.
    pub connections: bool,
    /// Reads may be replaced by writes and vice versa.
    pub direction: bool,
    /// Maximum queue depth per worker.
    pub queue_depth_max: u32,
    /// What is known about limits beforehand, as in the record's environment.
    pub known: PriorKnowledge,
    /// The plan's first target, whose kind and settings imply further limits.
    pub target: TargetSpec,
    /// The plan's other targets, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_targets: Vec<TargetSpec>,
    /// A run that needs at least as many files, threads and as much memory as any of the experiments.
    pub largest: Box<Run>,
}

impl Scale {
    /// The plan's targets, in order.
    pub fn targets(&self) -> Vec<TargetSpec> {
        std::iter::once(&self.target).chain(&self.other_targets).cloned().collect()
    }
}

impl Run {
    /// Whether the run is possible: counts are within the limits of an experiment, each worker has a
    /// connection, and transfers fit the files.
    pub fn is_possible(&self) -> bool {
        let workers = combination::workers_of_connections(&self.streams, self.hosts.max(1));
        let enough = |count: &u32| u64::from(*count) >= workers;
        let few = |count: u32, key: Option<&Key>| match key.map(|key| key.kind) {
            Some(Kind::Count { max, .. }) => u64::from(count) <= max,
            _ => true,
        };
        let connections_key = keys::key(Section::Run, "nconnect");
        let workers_key = keys::key(Section::Stream, "workers");
        self.connections.iter().all(enough)
            && self.connections.iter().all(|count| few(*count, connections_key))
            && self
                .streams
                .iter()
                .all(|stream| few(stream.workers / stream.targets.parts(self.hosts), workers_key))
            && self.streams.iter().all(fits_its_files)
    }
}

/// Whether transfers are whole sectors within the accessed part of a file, each part of the files has
/// one, and each worker of a sequential stream has its own starting point.
fn fits_its_files(stream: &Stream) -> bool {
    let set = stream.working_set;
    let fits = |size: &WeightedSize| {
        size.size_bytes > 0
            && size.size_bytes.is_multiple_of(keys::SECTOR)
            && size.size_bytes <= set.area_bytes
    };
    let workers_fit = || {
        let starts = set.area_bytes / stream.transfer_size_max_bytes().max(1);
        stream.transfer_sizes.len() == 1
            && starts * u64::from(set.files) >= u64::from(stream.workers)
    };
    let stride_fits = match stream.access_pattern {
        AccessPattern::Stride { stride_bytes } => {
            stride_bytes.is_multiple_of(stream.transfer_size_max_bytes().max(1))
        }
        _ => true,
    };
    stream.transfer_sizes.iter().all(fits)
        && stride_fits
        && set.files >= stream.file_use.files_min(stream.workers)
        && (!stream.access_pattern.is_ordered() || workers_fit())
}
