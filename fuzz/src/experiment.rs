//! Any text as an experiment file: it is parsed, or refused with positions inside the text; a
//! parsed experiment resolves to a plan whose operations are inside their files.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use workload::experiment::parse_with;
use workload::names::NameStream;
use workload::op::OpStream;
use workload::overrides::Override;
use workload::plan::TargetSpec;
use workload::resolve::{ResolveOptions, resolve};

/// Separates the text of the file and each `--set` in an input.
const SEPARATOR: &str = "\n%%%\n";

/// Tests one input; panics if a property is violated.
pub(crate) fn try_experiment(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let mut parts = input.split(SEPARATOR);
    let text = parts.next().unwrap_or("");
    let overrides: Vec<Override> = parts.map(Override::set).collect();
    let experiment = match parse_with(text, "fuzz.toml", &overrides) {
        Ok(experiment) => experiment,
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal has a diagnostic");
            for problem in problems {
                let source = problem.source.as_deref().unwrap_or(text);
                let part = source.get(problem.span.clone());
                assert!(part.is_some(), "{problem}: the span is outside the text");
                assert!(
                    problem.line > 0 && problem.column > 0,
                    "lines and columns count from 1: {problem}"
                );
            }
            return;
        }
    };
    let options = ResolveOptions::LOCAL;
    let plan = match resolve(&experiment, "fuzz.toml", TargetSpec::Null, &options) {
        Ok(plan) => plan,
        Err(problems) => {
            // The number of hosts and the names of workloads are not known when a file is parsed.
            let is_of_plan = |text: &str| {
                let of_hosts = text.contains("host") || text.contains("worker");
                of_hosts || text.starts_with("a requirement of")
            };
            assert!(problems.iter().all(|one| is_of_plan(&one.message)), "{problems:?}");
            return;
        }
    };
    assert!(plan.runs_max() > 0, "a plan has runs");
    for run in plan.model_runs().take(20) {
        assert!(run.phases.measure_ns.is_multiple_of(run.phases.interval_ns));
        for stream in &run.streams {
            if let Some(names) = NameStream::new(stream, run.seed, plan.data_seed) {
                for step in (0..20).chain(1_000_000..1_000_020) {
                    let op = names.op(stream.workers - 1, step);
                    assert!(names.tree().directory(op.name) < names.tree().directories());
                    assert_eq!(names.at(op.index), op);
                }
                continue;
            }
            let operations = OpStream::new(stream, run.seed);
            for step in 0..20 {
                let op = operations.op(stream.workers - 1, step);
                let end = op.offset_bytes + u64::from(op.size_bytes);
                assert!(op.file < stream.working_set.files && end <= stream.working_set.area_bytes);
            }
        }
    }
}
