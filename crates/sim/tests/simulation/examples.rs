//! Every example and every built-in experiment is parsed, planned, simulated and analysed.

use std::path::Path;

use analysis::{Findings, analyze};
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use sim::storage::{Demand, Model, ThroughputLimit};
use workload::experiment::parse;
use workload::plan::{Plan, Step, TargetSpec};
use workload::profiles::PROFILES;
use workload::resolve::{ResolveOptions, resolve};

/// A storage with eight channels of 0.4 ms behind a limit of 512 MiB/s.
fn store() -> Model {
    let limit = ThroughputLimit { bytes_per_s: 512 << 20, burst_bytes: 4 << 20 };
    let queue = Model::queue(8, Demand::Exponential { mean_ns: 4e5 });
    Model { throughput_limit: Some(limit), ..queue }
}

/// The plan of an experiment, each run shortened to at most ten intervals after two of warm-up.
fn plan(text: &str, source: &str) -> Plan {
    let mut experiment = parse(text, source).unwrap_or_else(|wrong| panic!("{source}: {wrong:#?}"));
    experiment.use_one_target();
    let options = ResolveOptions::LOCAL;
    let mut plan = resolve(&experiment, source, TargetSpec::Null, &options)
        .unwrap_or_else(|wrong| panic!("{source}: {wrong:#?}"));
    for step in &mut plan.steps {
        let run = match step {
            Step::Fixed(run) => run,
            Step::Search(search) => &mut search.template,
        };
        let phases = &mut run.phases;
        phases.warm_up_ns = phases.warm_up_ns.min(2 * phases.interval_ns);
        phases.measure_ns = phases.measure_ns.min(10 * phases.interval_ns);
    }
    plan
}

fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    found.sort();
    found
}

fn is_finite(findings: &Findings) -> bool {
    // The debug form of a record contains all numbers; names are not numbers.
    let text = format!("{findings:?}");
    !text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "NaN" || word == "inf")
}

fn assert_sound(plan: &Plan, what: &str) {
    let record = sim::experiment(plan, &store(), 11);
    let findings = analyze(&record);
    assert!(is_finite(&findings), "{what}: {findings:#?}");
    assert!(record.runs.len() >= plan.known_runs().count());
    assert!(record.runs.len() <= plan.runs_max() as usize);
    for point in &findings.load_points {
        let load_point = format!("{what}, {}, {:?}", point.variant, point.parameters);
        for stream in &point.merged.streams {
            assert!(stream.data.completed > 0, "{load_point}: {} did nothing", stream.name);
            assert!(stream.data.response.mean_ns.is_some(), "{load_point}: {}", stream.name);
            assert!(stream.errors.is_empty(), "{load_point}: {:?}", stream.errors);
        }
    }
    for sighting in findings.warnings.iter().flat_map(|group| &group.sightings) {
        // An open curve continues until the target is overloaded; then no window balances.
        let mismatch = matches!(sighting.warning, Warning::LittleMismatch { .. })
            && plan.searches().next().is_none();
        assert!(!mismatch, "{what}: {sighting:?}");
    }
    let again = analyze(&sim::experiment(plan, &store(), 11));
    assert!(again == findings, "{what}: same seed, same findings");
    assert_eq!(format!("{again:?}"), format!("{findings:?}"), "bit for bit");
}

/// Number of warnings of a run that satisfy `wanted`.
pub(crate) fn warnings_of(record: RunRecord, wanted: impl Fn(&Warning) -> bool) -> usize {
    let (_, text) = &examples()[0];
    let mut plan = plan(text, "simulated");
    plan.steps = vec![Step::Fixed(record.run.clone())];
    let experiment = ExperimentRecord {
        runs: vec![record],
        ..sim::experiment(&Plan { steps: Vec::new(), ..plan }, &Model::fixed(1), 1)
    };
    let findings = analyze(&experiment);
    let all = findings.warnings.iter().flat_map(|group| &group.sightings);
    all.filter(|sighting| wanted(&sighting.warning)).count()
}

/// Whether an experiment has operations on names, which the simulated storage has not.
fn has_names(text: &str) -> bool {
    text.contains("\nnames = ")
}

#[test]
fn every_example_is_parsed_planned_simulated_and_analysed() {
    let examples = examples();
    assert!(examples.len() >= 8);
    for (name, text) in examples.into_iter().filter(|(_, text)| !has_names(text)) {
        assert_sound(&plan(&text, &name), &name);
    }
}

#[test]
fn every_built_in_experiment_is_parsed_planned_simulated_and_analysed() {
    for profile in PROFILES.iter().filter(|profile| !has_names(profile.text)) {
        assert_sound(&plan(profile.text, profile.name), profile.name);
    }
}
