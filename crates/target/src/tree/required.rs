//! The tree that a stream needs.

use workload::data::DataPattern;
use workload::names::{NameLoad, NameSet, NameStream};
use workload::plan::{Run, Stream};
use workload::random;

use super::expected::TreeState;
use crate::manifest::TreeRecord;
use crate::names::content::ContentMaker;

/// The tree that a stream needs on one target, as it is at the start of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RequiredTree {
    /// The stream's name.
    pub stream: String,
    /// The names and the operations on them.
    pub load: NameLoad,
    /// The lanes of operations on the target: the stream's workers, or its users.
    pub lanes: u32,
    /// The queue depth of each worker; 0 for users.
    pub queue_depth: u32,
    /// The content of files.
    pub data: DataPattern,
}

impl RequiredTree {
    /// The tree of a stream on a target, if it has operations on names.
    pub fn of(stream: &Stream) -> Option<RequiredTree> {
        let (lanes, queue_depth) = stream.name_lanes();
        Some(RequiredTree {
            stream: stream.name.clone(),
            load: stream.names.clone()?,
            lanes,
            queue_depth,
            data: stream.data,
        })
    }

    /// The trees that the streams of a run need on one target, by its position.
    pub fn of_run(run: &Run, target: u32) -> Vec<RequiredTree> {
        let is_there = |stream: &&Stream| stream.targets.positions.contains(&target);
        let streams = run.streams.iter().filter(is_there);
        streams.filter_map(|stream| Self::of(&stream.on_target(run.hosts, target))).collect()
    }

    /// The name of the tree in our directory. It contains everything that paths and contents depend
    /// on, so that trees with equal names have equal paths.
    pub fn name(&self, data_seed: u64) -> String {
        format!("{}-{:016x}.tree", self.stream, self.fingerprint(data_seed))
    }

    fn fingerprint(&self, data_seed: u64) -> u64 {
        let shape = format!("{:?} {:?}", self.load.tree, self.data);
        shape.bytes().fold(data_seed, |number, byte| random::mix64(number ^ u64::from(byte)))
    }

    /// Its record in the manifest.
    pub(crate) fn record(&self, data_seed: u64) -> TreeRecord {
        let (shape, data) = (self.load.tree.clone(), self.data);
        TreeRecord { stream: self.stream.clone(), shape, data_seed, data }
    }

    /// The names and operations; `run_seed` decides only the order of operations.
    pub fn names(&self, run_seed: u64, data_seed: u64) -> NameStream {
        NameStream::of(&self.load, self.lanes, self.queue_depth, run_seed, data_seed)
    }

    /// The content of its files.
    pub fn content(&self, data_seed: u64) -> ContentMaker {
        ContentMaker::new(data_seed, self.data)
    }

    /// The tree at the start of a run.
    pub fn at_start(&self, data_seed: u64) -> TreeState {
        TreeState::at_start(self.names(0, data_seed))
    }

    /// Inodes that the tree takes at most: its names, those that exist only during a run, its
    /// directories and its root.
    pub fn inodes_max(&self) -> u64 {
        let names = self.names(0, 0);
        // A user's scenario can remove all names that it adds at its end.
        let window =
            names.window_steps().max(if self.queue_depth == 0 { names.block() } else { 0 });
        let during_a_run = window * u64::from(self.lanes);
        self.name_set().inodes() + during_a_run + 1
    }

    /// Bytes that the files of the tree have at the start.
    pub fn bytes(&self) -> u64 {
        self.name_set().bytes()
    }

    /// Names that the tree has at the start, without its directories.
    pub fn names_at_start(&self) -> u64 {
        self.name_set().population.total()
    }

    /// Names and directories that the tree has at the start, without its root.
    pub fn entries_at_start(&self) -> u64 {
        self.names_at_start().saturating_add(self.name_set().directories())
    }

    fn name_set(&self) -> NameSet {
        NameSet::of(&self.stream, &self.load, self.lanes, self.queue_depth)
    }
}
