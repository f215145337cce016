//! Runs that replay a list.

use workload::experiment;
use workload::plan::{Run, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

/// A run that replays the `lines` of a list on two files.
///
/// * `settings` - of the stream and, after them, of the run
pub(crate) fn replaying(lines: &str, settings: &str) -> Run {
    let count = lines.lines().count();
    let list = format!("fourcorners replay 1\nfile 0 a\nfile 1 b\n{lines}end {count}\n");
    let text = format!("name = 't'\n[stream.app]\n{settings}");
    let experiment = experiment::parse_with_files(&text, "t", &[], &|_| Ok(list.clone()));
    let experiment = experiment.unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let plan = resolve(&experiment, "t", TargetSpec::Null, &ResolveOptions::LOCAL);
    let plan = plan.unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let run = plan.known_runs().next().expect("it has a run");
    run.clone()
}
