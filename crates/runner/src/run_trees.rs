//! The trees of a run's operations on names: made what they are at the start of a run, and compared
//! with the arithmetic after it. Of several hosts, one does this for all of them.

use engine::run::RunEnd;
use metrics::run_record::Outcome;
use metrics::tree_comparison::{ComparedTree, NotCompared, TreeComparison, TreeResult};
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::refusal::Refusal;
use target::tree::{Differences, RequiredTree, TreeState};
use workload::names::NameStream;
use workload::plan::{Run, Stream};

/// Returns whether the user has asked to stop. It is called after each part of a tree, so that a caller
/// sees progress.
pub type Stopped<'s> = &'s (dyn Fn() -> bool + Sync);

/// Which trees are known to be what a run needs at its start.
#[derive(Debug, Default)]
pub struct RunTrees {
    /// Each with its target's position.
    at_start: Vec<(usize, RequiredTree)>,
    /// The content of files is read, too.
    verify: bool,
    /// Runs of another plan change the same trees.
    is_shared: bool,
}

impl RunTrees {
    /// The trees that the prepare phase has made.
    pub fn of(directories: &[TargetDirectory], verify: bool) -> RunTrees {
        let of_target = |(target, directory): (usize, &TargetDirectory)| {
            let trees: Vec<_> =
                directory.trees().iter().map(|tree| (target, tree.clone())).collect();
            trees
        };
        let at_start = directories.iter().enumerate().flat_map(of_target).collect();
        RunTrees { at_start, verify, is_shared: false }
    }

    /// Trees that runs of another plan may change between two runs.
    pub(crate) fn shared(verify: bool) -> RunTrees {
        RunTrees { at_start: Vec::new(), verify, is_shared: true }
    }

    /// No tree is known yet.
    ///
    /// * `verify` - comparisons read the content of files, too
    pub fn unknown(verify: bool) -> RunTrees {
        RunTrees { verify, ..RunTrees::default() }
    }

    /// Notes that a tree of the target at this position is what a run needs at its start.
    pub fn made(&mut self, directory: &TargetDirectory, tree: RequiredTree, target: usize) {
        self.forget(directory, &tree, target);
        self.at_start.push((target, tree));
    }

    /// Makes the trees of a run what they are at its start.
    ///
    /// # Errors
    /// A tree contains what is not ours, something cannot be created, or the user stopped it.
    pub fn make(
        &mut self,
        directories: &[TargetDirectory],
        run: &Run,
        stopped: Stopped<'_>,
    ) -> Result<(), FillError> {
        for (target, directory) in directories.iter().enumerate() {
            for tree in RequiredTree::of_run(run, target as u32) {
                if !self.is_shared && self.at_start.contains(&(target, tree.clone())) {
                    continue;
                }
                directory.restore_tree(&tree, stopped, &mut |_| {})?;
                self.made(directory, tree, target);
            }
        }
        Ok(())
    }

    /// Notes that the operations of a run change its trees.
    pub fn changed_by(&mut self, directories: &[TargetDirectory], run: &Run) {
        for (target, directory) in directories.iter().enumerate() {
            for tree in RequiredTree::of_run(run, target as u32) {
                self.forget(directory, &tree, target);
            }
        }
    }

    fn forget(&mut self, directory: &TargetDirectory, tree: &RequiredTree, target: usize) {
        let path = directory.tree_path(tree);
        self.at_start.retain(|(at, known)| *at != target || directory.tree_path(known) != path);
    }

    /// Compares the trees of a run that has ended with what its operations must have left. A
    /// difference is wrong data.
    pub fn compare(
        &mut self,
        directories: &[TargetDirectory],
        run: &Run,
        stopped: Stopped<'_>,
        mut end: RunEnd,
    ) -> (RunEnd, Vec<TreeComparison>) {
        self.changed_by(directories, run);
        let mut comparisons = Vec::new();
        for (position, stream, target) in trees_of(run) {
            let Some(directory) = directories.get(target as usize) else { continue };
            let result = match end.outcome {
                Outcome::Done => {
                    self.compare_one(run, stream, (position, target), directory, stopped, &mut end)
                }
                _ => TreeResult::NotCompared(NotCompared::RunEndedEarly),
            };
            let stream = stream.name.clone();
            comparisons.push(TreeComparison { stream, target, result });
        }
        (end, comparisons)
    }

    fn compare_one(
        &self,
        run: &Run,
        stream: &Stream,
        at: (usize, u32),
        directory: &TargetDirectory,
        stopped: Stopped<'_>,
        end: &mut RunEnd,
    ) -> TreeResult {
        let on_target = stream.on_target(run.hosts, at.1);
        let state = match state_after(run, &on_target, at, directory, end) {
            Ok(state) => state,
            Err(reason) => return TreeResult::NotCompared(reason),
        };
        let Some(tree) = RequiredTree::of(&on_target) else {
            return TreeResult::NotCompared(NotCompared::Incomplete);
        };
        match directory.compare_tree(&tree, &state, self.verify, stopped) {
            Ok(found) => {
                let compared = compared(&found, self.verify);
                if compared.differences > 0 {
                    end.mismatches.push(format!("after the run, {found}"));
                    end.mismatches.extend(found.described);
                }
                TreeResult::Compared(compared)
            }
            Err(refusal) => {
                end.outcome = failed(&refusal, stopped);
                TreeResult::NotCompared(NotCompared::Incomplete)
            }
        }
    }
}

/// The streams of a run with operations on names, each with its position and with each of its targets.
fn trees_of(run: &Run) -> impl Iterator<Item = (usize, &Stream, u32)> {
    let streams = run.streams.iter().enumerate().filter(|(_, stream)| stream.names.is_some());
    streams.flat_map(|(position, stream)| {
        stream.targets.positions.iter().map(move |target| (position, stream, *target))
    })
}

/// The trees of a run that are not compared.
pub fn not_compared(run: &Run, reason: NotCompared) -> Vec<TreeComparison> {
    let of = |(_, stream, target): (usize, &Stream, u32)| TreeComparison {
        stream: stream.name.clone(),
        target,
        result: TreeResult::NotCompared(reason),
    };
    trees_of(run).map(of).collect()
}

fn compared(found: &Differences, with_content: bool) -> ComparedTree {
    ComparedTree {
        files: found.found.files,
        directories: found.found.directories,
        symbolic_links: found.found.symbolic_links,
        unknown: found.found.unknown,
        differences: found.total(),
        with_content,
    }
}

fn failed(refusal: &Refusal, stopped: Stopped<'_>) -> Outcome {
    match stopped() {
        true => Outcome::Interrupted,
        false => Outcome::Failed { reason: refusal.to_string() },
    }
}

/// What the tree of a stream on a target must contain after a run.
fn state_after(
    run: &Run,
    stream: &Stream,
    (position, target): (usize, u32),
    directory: &TargetDirectory,
    end: &RunEnd,
) -> Result<TreeState, NotCompared> {
    let names = NameStream::new(stream, run.seed, directory.data_seed());
    let names = names.ok_or(NotCompared::Incomplete)?;
    let mut ends: Vec<_> =
        end.lanes.iter().filter(|lane| (lane.stream, lane.target) == (position, target)).collect();
    if ends.len() as u64 != names.lanes() {
        return Err(NotCompared::HostLost);
    }
    ends.sort_by_key(|lane| lane.lane);
    let steps = ends.into_iter().map(|lane| lane.steps.clone()).collect::<Option<Vec<_>>>();
    Ok(TreeState::after(names, steps.ok_or(NotCompared::TooManyFailed)?))
}
