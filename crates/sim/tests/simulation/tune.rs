//! A tuning finds the concurrency given by Little's law, or the maximum of the target.

use analysis::tune::findings::{Outcome, Tried, TuneFindings};
use metrics::run_record::ExperimentRecord;
use metrics::warning::{Figure, Warning};
use sim::experiment;
use sim::storage::{Demand, Model, ThroughputLimit};
use workload::names::{NameLoad, NameMix, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::plan::{IoMethod, Plan, Step, Stream, TargetSpec, WeightedSize};
use workload::reach::{Reach, RequiredRate};
use workload::search::{Repeats, Search, SearchMethod};

use crate::runs::{CLOSED, MS, S, assert_near, run, stream};

const MIB: f64 = 1_048_576.0;

fn mib(count: f64) -> RequiredRate {
    RequiredRate::Throughput { bytes_per_s: count * MIB }
}

fn limited(time_ns: u64, limit_mib: u64) -> Model {
    let limit = ThroughputLimit { bytes_per_s: limit_mib << 20, burst_bytes: 1 << 20 };
    Model { throughput_limit: Some(limit), ..Model::fixed(time_ns) }
}

/// Tunes for operations of 64 KiB.
fn tune(wanted: RequiredRate, within_permille: u16, model: &Model) -> TuneFindings {
    let reach = Reach {
        required: wanted,
        within_permille,
        outstanding_max: 512,
        response_time_max_ns: None,
        hosts: 1,
    };
    tune_for(reach, model)
}

fn tune_for(reach: Reach, model: &Model) -> TuneFindings {
    analysis::analyze(&record_for(reach, model)).tune.expect("the plan is a tuning")
}

fn record_for(reach: Reach, model: &Model) -> ExperimentRecord {
    let sizes = vec![WeightedSize { size_bytes: 64 << 10, weight: 1 }];
    record_of(Stream { transfer_sizes: sizes, ..stream(CLOSED, 1) }, reach, model)
}

fn record_of(stream: Stream, reach: Reach, model: &Model) -> ExperimentRecord {
    let template = run(vec![stream], 4 * S, 200 * MS);
    let search = Search {
        name: "tune".to_owned(),
        template: template.with_queue_depth(reach.outstanding_max),
        method: SearchMethod::Reach(reach),
        repeats: Repeats::ONCE,
        runs_max: 48,
    };
    let plan = Plan {
        name: "tune".to_owned(),
        source: "tune".to_owned(),
        overrides: Vec::new(),
        targets: vec![TargetSpec::Directory { path: "/simulated".to_owned() }],
        target_names: Vec::new(),
        io_method: IoMethod::Auto,
        pin: false,
        verify: false,
        metric: None,
        seed: 1,
        data_seed: 1,
        requirements: Vec::new(),
        steps: vec![Step::Search(search)],
    };
    experiment(&plan, model, 1)
}

fn throughput(tried: &Tried) -> f64 {
    tried.throughput.expect("reads move data").value
}

fn enough(tune: &TuneFindings) -> u64 {
    match &tune.outcome {
        Outcome::Reached { enough, too_little, open } => {
            assert!(!open, "{:?}", tune.outcome);
            let below = too_little.map_or(0, |less| less.outstanding);
            assert_eq!(below + 1, enough.outstanding, "one less was measured");
            enough.outstanding
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_papers_example_gives_the_papers_result() {
    let model = Model::fixed(1_909_000);
    let found = tune(mib(200.0), 0, &model);
    let arithmetic = found.arithmetic.expect("one operation at a time was measured");
    assert_eq!(arithmetic.rate.get(), 3200.0);
    assert_near(arithmetic.response.0, 1_909_000.0, 1e-3, "response time alone");
    assert_eq!(format!("{:.2}", arithmetic.outstanding), "6.11");
    assert_eq!((arithmetic.outstanding_whole, enough(&found)), (7, 7));
    // Seven give 15 % more than wanted; at a fixed rate exactly the wanted one.
    let paced = found.paced.expect("a paced run was made");
    assert_near(throughput(&paced), 200.0 * MIB, 0.01, "paced");
    assert_near(paced.response_ns.value, 1_909_000.0, 0.01, "response time at the fixed rate");
    // With a tolerance of 3 % six suffice, as in the paper.
    assert_eq!(enough(&tune(mib(200.0), 30, &model)), 6);
}

#[test]
fn only_warnings_that_concern_the_answer_are_reported() {
    let reach = Reach {
        required: mib(200.0),
        within_permille: 0,
        outstanding_max: 512,
        response_time_max_ns: None,
        hosts: 1,
    };
    let mut record = record_for(reach, &limited(1_909_000, 1024));
    // Every run gets every property.
    for run in &mut record.runs {
        run.warnings = vec![
            Warning::NotSteady { figure: Figure::AchievedRate, drift: 0.2, thirds: None },
            Warning::RoundsDiffer { figure: Figure::ResponseTime, excursion: 0.3, slope: 0.2 },
            Warning::FewSamplesForPercentile { percentile: 99.0, samples_above: 2 },
            Warning::HostNoisy { steal: 0.05 },
        ];
    }
    let findings = analysis::analyze(&record);
    let tune = findings.tune.as_ref().expect("the plan is a tuning");
    let concerned = |code: &str| -> Vec<usize> {
        let groups = findings.warnings.iter().filter(|group| group.code == code);
        groups.flat_map(|group| &group.sightings).filter_map(|one| one.load_point).collect()
    };
    let Outcome::Reached { enough, too_little: Some(too_little), .. } = &tune.outcome else {
        panic!("{:?}", tune.outcome)
    };
    let alone = tune.tried.iter().find(|tried| tried.outstanding == 1).expect("it starts there");
    let mut closed = vec![alone.load_point, enough.load_point, too_little.load_point];
    closed.sort_unstable();
    // At a fixed rate the rate is no finding, but the response time is.
    let paced = tune.paced.expect("a paced run was made").load_point;
    assert_eq!(concerned("not_steady"), closed);
    let mut with_paced = closed.clone();
    with_paced.push(paced);
    with_paced.sort_unstable();
    assert_eq!(concerned("rounds_differ"), with_paced);
    assert!(concerned("few_samples_for_percentile").is_empty());
    assert_eq!(concerned("host_noisy").len(), findings.load_points.len());
}

#[test]
fn half_of_a_limit_needs_the_concurrency_of_littles_law_within_three_percent() {
    for (time_ns, limit_mib) in [(5 * MS, 128), (20 * MS, 64), (700_000, 1024), (40 * MS, 256)] {
        let model = limited(time_ns, limit_mib);
        let wanted_mib = limit_mib as f64 / 2.0;
        let found = tune(mib(wanted_mib), 30, &model);
        let little = wanted_mib * 16.0 * time_ns as f64 / 1e9;
        let found_there = enough(&found);
        assert!((found_there as f64 - little).abs() <= 1.0, "{found_there}, not {little}");
        let landed = found.paced.or(found.outcome.enough()).expect("it is reached");
        assert_near(throughput(&landed), wanted_mib * MIB, 0.03, "throughput");
    }
}

#[test]
fn a_queue_is_tuned_although_its_response_time_rises_with_the_load() {
    // Four servers of 1 ms: up to 4,000 ops/s, with queueing below.
    let model = Model::queue(4, Demand::Exponential { mean_ns: 1e6 });
    let found = tune(RequiredRate::Rate { ops_per_s: 2500.0 }, 30, &model);
    assert_eq!(enough(&found), 3);
    let found = tune(RequiredRate::Rate { ops_per_s: 3900.0 }, 30, &model);
    assert_eq!(enough(&found), 4);
}

#[test]
fn a_target_that_cannot_reach_the_rate_is_measured_at_its_maximum() {
    let found = tune(mib(200.0), 30, &limited(5 * MS, 128));
    let Outcome::Saturated { top, last } = found.outcome else { panic!("{:?}", found.outcome) };
    assert_near(throughput(&top), 128.0 * MIB, 0.01, "saturation");
    let estimate = top.throughput.expect("reads move data");
    assert!(estimate.uncertainty.is_some(), "with its uncertainty");
    assert!(last.outstanding > top.outstanding && found.settings.is_none());
    assert!(found.verdict.is_some() && found.quotas.is_empty(), "{:?}", found.verdict);

    let servers = Model::queue(2, Demand::Deterministic { ns: MS });
    let found = tune(RequiredRate::Rate { ops_per_s: 3000.0 }, 30, &servers);
    let Outcome::Saturated { top, .. } = found.outcome else { panic!("{:?}", found.outcome) };
    assert_near(top.rate.value, 2000.0, 0.01, "two servers of 1 ms");
}

#[test]
fn slots_exhausted_below_the_rate_are_reported() {
    let found = tune(RequiredRate::Rate { ops_per_s: 100_000.0 }, 30, &Model::fixed(10 * MS));
    let Outcome::Bounded { top } = found.outcome else { panic!("{:?}", found.outcome) };
    assert_eq!(top.outstanding, 512);
    assert_near(top.rate.value, 51_200.0, 0.01, "the rate still rose");
}

#[test]
fn an_objective_that_the_rate_does_not_allow_has_its_own_verdict() {
    let of = |response_time_max_ns| Reach {
        required: RequiredRate::Rate { ops_per_s: 3500.0 },
        within_permille: 30,
        outstanding_max: 512,
        response_time_max_ns: Some(response_time_max_ns),
        hosts: 3,
    };
    let model = Model::fixed(2 * MS);
    let met = tune_for(of(2 * MS + MS / 2), &model);
    assert_eq!(enough(&met), 7);
    let shares = met.settings.expect("it is reached").shares;
    let each: Vec<(u64, u64)> = shares.iter().map(|s| (s.hosts, s.outstanding)).collect();
    assert_eq!(each, [(1, 3), (2, 2)], "over three hosts");
    let missed = tune_for(of(MS), &model);
    let Outcome::TooSlow { enough, response } = missed.outcome else {
        panic!("{:?}", missed.outcome)
    };
    assert_eq!(enough.outstanding, 7);
    assert_near(response.0, 2e6, 0.01, "response time at the rate");
    assert_eq!(
        missed.best_within_objective, None,
        "one outstanding operation takes longer already"
    );
}

/// Operations on names in a tree that is large enough for any search here.
fn on_names(mix: &[(OpKind, u16)], workers: u32) -> Stream {
    let load = NameLoad {
        tree: TreeShape {
            files: 100_000,
            depth: 1,
            width: 100,
            directories: 100,
            name_length: 12,
            spread: NameSpread::RoundRobin,
            sizes: NameSize::constant(0),
        },
        mix: NameMix::of(mix),
        append_bytes: 0,
        scenario: None,
    };
    assert_eq!(load.problem_up_to(workers, 512), None);
    Stream { names: Some(load), workers, ..stream(CLOSED, 1) }
}

#[test]
fn a_rate_of_operations_on_names_needs_the_concurrency_of_littles_law() {
    let churn = [(OpKind::Create, 500), (OpKind::Unlink, 500)];
    let mixed = [
        (OpKind::Stat, 700),
        (OpKind::Create, 50),
        (OpKind::Unlink, 50),
        (OpKind::Rename, 100),
        (OpKind::Readdir, 100),
    ];
    for (mix, workers, time_ns, ops_per_s) in [
        (&churn[..], 1, 5 * MS, 20_000.0),
        (&mixed, 4, 2 * MS, 10_000.0),
        (&[(OpKind::Stat, 1000)], 1, 700_000, 10_000.0),
    ] {
        let reach = Reach {
            required: RequiredRate::Rate { ops_per_s },
            within_permille: 0,
            outstanding_max: 512,
            response_time_max_ns: None,
            hosts: 1,
        };
        let record = record_of(on_names(mix, workers), reach, &Model::fixed(time_ns));
        let found = analysis::analyze(&record).tune.expect("the plan is a tuning");
        let little = (ops_per_s * time_ns as f64 / 1e9).ceil();
        // Without a tolerance an exact product is reached by rounding or not.
        let enough = found.outcome.enough().expect("it is reached");
        assert!((enough.outstanding as f64 - little).abs() <= 1.0, "{enough:?}, not {little}");
        assert_near(found.arithmetic.expect("it began at 1").outstanding.ceil(), little, 0.02, "N");
        assert_eq!((enough.throughput, found.target_throughput), (None, None), "no data moves");
    }
}

#[test]
fn names_on_a_server_that_is_busy_are_measured_at_its_maximum() {
    // Two servers of 1 ms: 2,000 ops/s, whatever the kinds.
    let churn = on_names(&[(OpKind::Mkdir, 500), (OpKind::Rmdir, 500)], 1);
    let reach = Reach {
        required: RequiredRate::Rate { ops_per_s: 3000.0 },
        within_permille: 30,
        outstanding_max: 512,
        response_time_max_ns: None,
        hosts: 1,
    };
    let servers = Model::queue(2, Demand::Deterministic { ns: MS });
    let found = analysis::analyze(&record_of(churn, reach, &servers)).tune;
    let found = found.expect("the plan is a tuning");
    let Outcome::Saturated { top, .. } = found.outcome else { panic!("{:?}", found.outcome) };
    assert_near(top.rate.value, 2000.0, 0.01, "two servers of 1 ms");
    assert!(found.quotas.is_empty() && found.settings.is_none());
}
