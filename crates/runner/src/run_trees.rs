//! The trees of a run's operations on names: made what they are at the start of a run, and compared
//! with the arithmetic after it.

use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::run_record::Outcome;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::refusal::Refusal;
use target::tree::{RequiredTree, TreeState};
use workload::names::NameStream;
use workload::plan::{Run, Stream};

/// Which trees are known to be what a run needs at its start.
#[derive(Debug, Default)]
pub(crate) struct RunTrees {
    /// Each with its target's position.
    at_start: Vec<(usize, RequiredTree)>,
    /// The content of files is read, too.
    verify: bool,
    /// Runs of another plan change the same trees.
    is_shared: bool,
}

impl RunTrees {
    /// The trees that the prepare phase has made.
    pub(crate) fn of(directories: &[TargetDirectory], verify: bool) -> RunTrees {
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

    /// Makes the trees of a run what they are at its start.
    pub(crate) fn make(
        &mut self,
        directories: &[TargetDirectory],
        run: &Run,
        stop: &Stop,
    ) -> Result<(), FillError> {
        for (target, directory) in directories.iter().enumerate() {
            for tree in RequiredTree::of_run(run, target as u32) {
                let required = (target, tree);
                if !self.is_shared && self.at_start.contains(&required) {
                    continue;
                }
                directory.restore_tree(&required.1, &|| stop.is_requested(), &mut |_| {})?;
                self.forget(directory, &required.1, target);
                self.at_start.push(required);
            }
        }
        Ok(())
    }

    fn forget(&mut self, directory: &TargetDirectory, tree: &RequiredTree, target: usize) {
        let path = directory.tree_path(tree);
        self.at_start.retain(|(at, known)| *at != target || directory.tree_path(known) != path);
    }

    /// Compares the trees of a run that has ended with what its operations must have left. A
    /// difference is wrong data.
    pub(crate) fn compare(
        &mut self,
        directories: &[TargetDirectory],
        run: &Run,
        stop: &Stop,
        mut end: RunEnd,
    ) -> RunEnd {
        for (position, stream) in run.streams.iter().enumerate() {
            for target in &stream.targets.positions {
                let Some(directory) = directories.get(*target as usize) else { continue };
                let on_target = stream.on_target(run.hosts, *target);
                let Some(tree) = RequiredTree::of(&on_target) else { continue };
                self.forget(directory, &tree, *target as usize);
                if end.outcome != Outcome::Done {
                    continue;
                }
                let state = state_after(run, &on_target, (position, *target), directory, &end);
                // More operations failed than are kept: what they left is not known.
                let Some(state) = state else { continue };
                let stopped = || stop.is_requested();
                match directory.compare_tree(&tree, &state, self.verify, &stopped) {
                    Ok(found) if found.total() == 0 => {}
                    Ok(found) => {
                        end.mismatches.push(format!("after the run, {found}"));
                        end.mismatches.extend(found.described);
                    }
                    Err(refusal) => end.outcome = failed(&refusal, stop),
                }
            }
        }
        end
    }
}

fn failed(refusal: &Refusal, stop: &Stop) -> Outcome {
    match stop.is_requested() {
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
) -> Option<TreeState> {
    let names = NameStream::new(stream, run.seed, directory.data_seed())?;
    let mut ends: Vec<_> =
        end.lanes.iter().filter(|lane| (lane.stream, lane.target) == (position, target)).collect();
    ends.sort_by_key(|lane| lane.lane);
    let steps = ends.into_iter().map(|lane| lane.steps.clone()).collect::<Option<Vec<_>>>()?;
    (steps.len() as u64 == names.lanes()).then(|| TreeState::after(names, steps))
}
