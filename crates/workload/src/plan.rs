//! The plan: every sweep value, repeat, seed and default resolved. `fourcorners plan` prints it,
//! `run` executes it, and the store keeps it.
//!
//! Runs and what they consist of are in `run.rs`.

use serde::{Deserialize, Serialize};

use crate::metric::Metric;
pub use crate::names::{NameLoad, NameSet};
pub use crate::run::{
    Assignment, Capabilities, EmulatedVolume, FileSet, IoMethod, IoMethodUsed, Phases, Run, Spread,
    Stream, StreamTargets, TargetLane, TargetSpec, WeightedSize, WorkingSet, WriteStability,
};
use crate::search::Search;

/// Everything that `run` executes, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// The origin of the experiment: a file's path as given, or `profile:four-corners`.
    pub source: String,
    /// Settings from the command line, as `KEY=VALUE` in the order given, for display; the steps have
    /// them resolved. Set by the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The targets of operations: at least one, and all with equal capabilities. A single target is
    /// stored without the list, as in older versions.
    #[serde(rename = "target", with = "one_or_list")]
    pub targets: Vec<TargetSpec>,
    /// Their names, in the same order; empty for a single target without a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_names: Vec<String>,
    /// The requested I/O method. For `auto` a probe decides before the first run; the method used
    /// is stored with the results.
    #[serde(rename = "engine")]
    pub io_method: IoMethod,
    /// Pin each worker to a processor, in the order of `sched_getaffinity`.
    pub pin: bool,
    /// Verify that reads return the written data.
    pub verify: bool,
    /// The business metric by which the load was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The seed from which the runs' seeds are derived.
    pub seed: u64,
    /// The seed of the data in the target's files.
    pub data_seed: u64,
    /// What the results must meet, as written. Read by [`crate::condition::parse_requirement`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a plan has few steps, nearly all of them runs")]
pub enum Step {
    /// A fixed run.
    Fixed(Run),
    /// Runs that are chosen from measurements; each is stored as a [`Run`], too.
    Search(Search),
}

impl Plan {
    /// The first target. All have the same capabilities.
    ///
    /// # Panics
    /// The plan has no target.
    pub fn target(&self) -> &TargetSpec {
        self.targets.first().expect("a plan has a target")
    }

    /// The first target, mutable.
    ///
    /// # Panics
    /// The plan has no target.
    pub fn target_mut(&mut self) -> &mut TargetSpec {
        self.targets.first_mut().expect("a plan has a target")
    }

    /// The target, or the number of targets with their names.
    pub fn targets_in_words(&self) -> String {
        match self.targets.as_slice() {
            [only] => only.in_words(),
            several => format!("{} targets ({})", several.len(), self.target_names.join(", ")),
        }
    }

    /// The name of the target at `position`: from the experiment, or what it is.
    pub fn target_name(&self, position: usize) -> String {
        let name = self.target_names.get(position).cloned();
        name.or_else(|| Some(self.targets.get(position)?.in_words())).unwrap_or_default()
    }

    /// The fixed runs, in order; without those of searches.
    pub fn known_runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fixed(run) => Some(run),
            Step::Search(_) => None,
        })
    }

    /// The searches, in order.
    pub fn searches(&self) -> impl Iterator<Item = &Search> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fixed(_) => None,
            Step::Search(search) => Some(search),
        })
    }

    /// Runs that need at least as many files, threads and as much memory as any run of the plan: the
    /// fixed ones, and for each search those with the largest load.
    pub fn model_runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().flat_map(|step| match step {
            Step::Fixed(run) => std::slice::from_ref(run),
            Step::Search(search) => search.model_runs(),
        })
    }

    /// The streams of [`Plan::model_runs`].
    pub fn model_streams(&self) -> impl Iterator<Item = &Stream> {
        self.model_runs().flat_map(|run| &run.streams)
    }

    /// The number of runs; with searches, the maximum.
    pub fn runs_max(&self) -> u32 {
        self.steps.iter().map(Step::runs_max).fold(0, u32::saturating_add)
    }

    /// The step that the run with this index belongs to.
    pub fn step_of(&self, run_index: u32) -> Option<&Step> {
        self.steps.iter().find(|step| match step {
            Step::Fixed(run) => run.index == run_index,
            Step::Search(search) => search.owns(run_index),
        })
    }

    /// The trees of names of all runs on one target, by its position. Runs with the same tree share it.
    pub fn name_sets(&self, target: usize) -> Vec<NameSet> {
        let mut sets: Vec<NameSet> = Vec::new();
        for (run, stream) in
            self.model_runs().flat_map(|run| run.streams.iter().map(move |stream| (run, stream)))
        {
            let target = target as u32;
            let Some(load) = &stream.names else { continue };
            if !stream.targets.positions.contains(&target) {
                continue;
            }
            let workers = stream.on_target(run.hosts, target).workers;
            let needed = NameSet::of(&stream.name, load, workers, stream.queue_depth);
            let is_same =
                |set: &&mut NameSet| set.stream == needed.stream && set.tree == needed.tree;
            match sets.iter_mut().find(is_same) {
                Some(set) => set.population = set.population.max(&needed.population),
                None => sets.push(needed),
            }
        }
        sets
    }

    /// The file sets of all runs on one target, by its position. Runs that need different numbers of the
    /// same files share the larger set.
    pub fn file_sets(&self, target: usize) -> Vec<FileSet> {
        let mut sets: Vec<FileSet> = Vec::new();
        let is_there =
            |stream: &&Stream| stream.targets.positions.iter().any(|at| *at as usize == target);
        for needed in self.model_streams().filter(is_there).flat_map(Stream::file_sets) {
            let same = |set: &&mut FileSet| **set == FileSet { files: set.files, ..needed.clone() };
            match sets.iter_mut().find(same) {
                Some(set) => set.files = set.files.max(needed.files),
                None => sets.push(needed),
            }
        }
        sets
    }
}

impl Step {
    /// Maximum number of runs.
    pub const fn runs_max(&self) -> u32 {
        match self {
            Step::Fixed(_) => 1,
            Step::Search(search) => search.runs_max,
        }
    }

    /// Maximum time of its runs, in nanoseconds.
    pub fn time_max_ns(&self) -> u64 {
        match self {
            Step::Fixed(run) => run.phases.total_ns(),
            Step::Search(search) => {
                let longest = search.model_runs().iter().map(|run| run.phases.total_ns()).max();
                longest.unwrap_or(0).saturating_mul(u64::from(search.runs_max))
            }
        }
    }
}

impl Plan {
    /// The time of all runs without the fill; with searches, the maximum.
    pub fn time_max(&self) -> std::time::Duration {
        let ns = self.steps.iter().map(Step::time_max_ns).fold(0, u64::saturating_add);
        std::time::Duration::from_nanos(ns)
    }

    /// Total size of the files on one target, by its position.
    pub fn bytes_needed_on(&self, target: usize) -> units::Bytes {
        let files = self.file_sets(target).into_iter().map(|set| set.total_bytes());
        let names = self.name_sets(target).into_iter().map(|set| set.bytes());
        units::Bytes::new(files.chain(names).fold(0, u64::saturating_add))
    }

    /// Total size of all files on all targets.
    pub fn bytes_needed(&self) -> units::Bytes {
        let all = (0..self.targets.len()).map(|target| self.bytes_needed_on(target).get());
        units::Bytes::new(all.fold(0, u64::saturating_add))
    }
}

/// Stores a list with one element as that element.
mod one_or_list {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::TargetSpec;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        One(TargetSpec),
        List(Vec<TargetSpec>),
    }

    pub(super) fn serialize<S: Serializer>(
        targets: &[TargetSpec],
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match targets {
            [one] => one.serialize(out),
            list => list.serialize(out),
        }
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Vec<TargetSpec>, D::Error> {
        match Stored::deserialize(from)? {
            Stored::One(one) => Ok(vec![one]),
            Stored::List(list) if list.is_empty() => {
                Err(D::Error::custom("a plan without a target"))
            }
            Stored::List(list) => Ok(list),
        }
    }
}
