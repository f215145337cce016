//! The trees of operations on names after the runs of an experiment.
//!
//! Not for: the comparison of a tree, which needs the target (`target::tree`).

use metrics::run_record::RunRecord;
use metrics::tree_comparison::{ComparedTree, NotCompared, TreeResult};

/// The comparisons of trees with their operations, over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCheck {
    /// Runs with trees.
    pub runs: u32,
    /// Those of them in which every tree was compared.
    pub runs_compared: u32,
    /// Those of them in which a tree differs.
    pub runs_that_differ: u32,
    /// What was found in the trees of one run together, in that with the most files. Its differences
    /// are those of all runs, and so are the names of which nothing is known.
    pub found: ComparedTree,
    /// Runs in which a tree was not compared, by the first reason, in the order of
    /// [`NotCompared::ALL`].
    pub not_compared: [u32; NotCompared::ALL.len()],
}

/// The comparisons of all runs; `None` without operations on names, and in records of older versions.
pub(crate) fn of_runs(runs: &[RunRecord]) -> Option<TreeCheck> {
    let mut check = TreeCheck::default();
    let (mut differences, mut unknown) = (0u64, 0u64);
    let mut with_content = true;
    for record in runs.iter().filter(|record| !record.trees.is_empty()) {
        check.runs += 1;
        let mut reason = None;
        let mut of_run = ComparedTree::default();
        for tree in &record.trees {
            // A record from elsewhere may contain any values.
            match tree.result {
                TreeResult::Compared(found) => {
                    of_run.files = of_run.files.saturating_add(found.files);
                    of_run.directories = of_run.directories.saturating_add(found.directories);
                    of_run.symbolic_links =
                        of_run.symbolic_links.saturating_add(found.symbolic_links);
                    of_run.differences = of_run.differences.saturating_add(found.differences);
                    unknown = unknown.saturating_add(found.unknown);
                    with_content &= found.with_content;
                }
                TreeResult::NotCompared(why) => reason = reason.or(Some(why)),
            }
        }
        match reason {
            None => check.runs_compared += 1,
            Some(reason) => check.not_compared[reason as usize] += 1,
        }
        check.runs_that_differ += u32::from(of_run.differences > 0);
        differences = differences.saturating_add(of_run.differences);
        if of_run.files >= check.found.files {
            check.found = of_run;
        }
    }
    check.found = ComparedTree { differences, unknown, with_content, ..check.found };
    (check.runs > 0).then_some(check)
}

#[cfg(test)]
mod tests {
    use metrics::run_record::Outcome;
    use metrics::tree_comparison::TreeComparison;
    use workload::experiment::parse;
    use workload::plan::TargetSpec;
    use workload::resolve::{ResolveOptions, resolve};

    use super::*;

    fn record(results: &[TreeResult]) -> RunRecord {
        let text = "name = \"n\"\n[stream.s]\nread = \"100%\"\ntransfer_size = \"4KiB\"\n\
                    pattern = \"random\"\nfiles = 1\nfile_size = \"1MiB\"\nqueue_depth = 1\n";
        let experiment = parse(text, "n.toml").expect("it is complete");
        let options = ResolveOptions::LOCAL;
        let plan = resolve(&experiment, "n.toml", TargetSpec::Null, &options).expect("it fits");
        let tree = |result: &TreeResult| TreeComparison {
            stream: "s".to_owned(),
            target: 0,
            result: result.clone(),
        };
        RunRecord {
            run: plan.known_runs().next().expect("a run").clone(),
            started_unix_ms: 0,
            intervals: Vec::new(),
            hosts: Vec::new(),
            warnings: Vec::new(),
            service_counters: None,
            trees: results.iter().map(tree).collect(),
            outcome: Outcome::Done,
        }
    }

    #[test]
    fn the_trees_of_a_run_are_added_and_runs_are_not() {
        assert_eq!(of_runs(&[record(&[])]), None);
        let tree = |files, differences| {
            TreeResult::Compared(ComparedTree {
                files,
                directories: 3,
                symbolic_links: 1,
                unknown: 2,
                differences,
                with_content: true,
            })
        };
        let lost = TreeResult::NotCompared(NotCompared::HostLost);
        let runs = [
            record(&[tree(10, 0), tree(5, 0)]),
            record(&[tree(12, 4)]),
            record(&[tree(1, 0), lost]),
            record(&[]),
        ];
        let check = of_runs(&runs).expect("three runs have trees");
        assert_eq!((check.runs, check.runs_compared, check.runs_that_differ), (3, 2, 1));
        assert_eq!(check.not_compared, [0, 0, 1, 0]);
        let found = ComparedTree {
            files: 15,
            directories: 6,
            symbolic_links: 2,
            unknown: 8,
            differences: 4,
            with_content: true,
        };
        assert_eq!(check.found, found);
    }
}
