//! What must hold for every text that is given as an experiment: it is read or refused with places
//! that lie inside of it, and what can be planned can be done.
//!
//! Included by the fuzz target and by the test that replays the corpus, so that both do the same.

use workload::experiment::parse_with;
use workload::op::OpStream;
use workload::overrides::Override;
use workload::plan::{EngineChoice, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

/// Stands between the file's text and each `--set` in an input.
const SEPARATOR: &str = "\n%%%\n";

/// Reads one input; panics where the parser or what follows it breaks its word.
pub(crate) fn try_experiment(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let mut parts = input.split(SEPARATOR);
    let text = parts.next().unwrap_or("");
    let overrides: Vec<Override> = parts.map(Override::set).collect();
    let experiment = match parse_with(text, "fuzz.toml", &overrides) {
        Ok(experiment) => experiment,
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal says why");
            for problem in problems {
                let counted_in = problem.source.as_deref().unwrap_or(text);
                let part = counted_in.get(problem.span.clone());
                assert!(part.is_some(), "{problem} lies outside of its text");
                assert!(problem.line > 0 && problem.column > 0, "places count from 1: {problem}");
            }
            return;
        }
    };
    let options = ResolveOptions { engine: EngineChoice::Auto, pin: false, verify: false };
    let plan = resolve(&experiment, "fuzz.toml", TargetSpec::Null, &options)
        .expect("what parses also resolves");
    assert!(plan.runs_max() > 0, "a plan has something to do");
    for run in plan.model_runs().take(20) {
        assert!(run.phases.measure_ns.is_multiple_of(run.phases.interval_ns));
        for stream in &run.streams {
            let operations = OpStream::new(stream, run.seed);
            for step in 0..20 {
                let op = operations.op(stream.workers - 1, step);
                let end = op.offset_bytes + u64::from(op.size_bytes);
                assert!(op.file < stream.working_set.files && end <= stream.working_set.area_bytes);
            }
        }
    }
}
