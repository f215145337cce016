//! What scaling experiments are to find out: which resource limits a workload's rate.

use serde::{Deserialize, Serialize};

use crate::keys::{self, Key, Kind, Section};
use crate::pattern::AccessPattern;
use crate::plan::{Run, Stream, TargetSpec, WeightedSize};

/// More runs than any system in the tests needed: 7 for the curve, and two for each of the changes
/// of circumstances that there are.
pub const RUNS_MAX: u32 = 24;

/// What may be changed, and what is known before anything was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The number of connections may be changed: the client is our own.
    pub connections: bool,
    /// Operations of the other direction may be sent.
    pub direction: bool,
    /// No worker has more operations outstanding than this.
    pub queue_depth_max: u32,
    /// What the environment says of limits: `cpu.count`, `filesystem.type`,
    /// `target.null_round_trip_ns` and each `known.` entry. As in the record.
    pub known: Vec<(String, String)>,
    /// What is sent operations: its kind and its settings say more.
    pub target: TargetSpec,
    /// A run that needs as much as the largest of the experiments: files, memory, threads.
    pub largest: Box<Run>,
}

impl Run {
    /// Whether it can be done: no count is above what an experiment may ask for, each worker has a
    /// connection, and what a stream asks for fits its files.
    pub fn is_possible(&self) -> bool {
        let workers: u64 = self.streams.iter().map(|stream| u64::from(stream.workers)).sum();
        let enough = |count: &u32| u64::from(*count) >= workers;
        let few = |count: u32, key: Option<&Key>| match key.map(|key| key.kind) {
            Some(Kind::Count { max, .. }) => u64::from(count) <= max,
            _ => true,
        };
        let connections_key = keys::key(Section::Run, "nconnect");
        let workers_key = keys::key(Section::Stream, "workers");
        self.connections.iter().all(enough)
            && self.connections.iter().all(|count| few(*count, connections_key))
            && self.streams.iter().all(|stream| few(stream.workers, workers_key))
            && self.streams.iter().all(fits_its_files)
    }
}

/// Transfers are whole sectors within the part of a file that is touched, and each worker of a
/// sequential stream has a place of its own to begin at.
fn fits_its_files(stream: &Stream) -> bool {
    let set = stream.working_set;
    let fits = |size: &WeightedSize| {
        size.size_bytes > 0
            && size.size_bytes.is_multiple_of(keys::SECTOR)
            && size.size_bytes <= set.area_bytes
    };
    let begins = || {
        let places = set.area_bytes / stream.transfer_size_max_bytes().max(1);
        stream.transfer_sizes.len() == 1
            && places * u64::from(set.files) >= u64::from(stream.workers)
    };
    stream.transfer_sizes.iter().all(fits)
        && (stream.access_pattern != AccessPattern::Sequential || begins())
}
