//! Several targets: what each delivered, and how the rate grows with their number.

use crate::records;
use crate::records::{experiment, interval, reads, run, stream};
use analysis::analyze;
use analysis::findings::Findings;
use metrics::interval::{Interval, TargetInterval};
use metrics::run_record::{Outcome, RunRecord};
use workload::plan::{Spread, StreamTargets, TargetSpec};

/// A run on the first targets, each with these reads in every one of six seconds.
fn run_on(rates: &[u64]) -> RunRecord {
    let count = rates.len() as u32;
    let mut stream = stream("data", 4);
    stream.targets = StreamTargets { positions: (0..count).collect(), spread: Spread::All };
    stream.workers = count;
    let mut run = run("reads", vec![stream], 0, 6);
    run.index = count;
    run.parameters = vec![("run.targets".to_owned(), count.to_string())];
    let second = |index: u32| {
        let parts = rates.iter().zip(0..).map(|(rate, target)| TargetInterval {
            stream: 0,
            target,
            sums: reads(*rate, 8192, 100_000 * (u64::from(target) + 1)),
        });
        let targets: Vec<TargetInterval> = parts.collect();
        let mut sums = targets[0].sums.clone();
        targets[1..].iter().for_each(|one| sums.merge(&one.sums));
        let targets = if count > 1 { targets } else { Vec::new() };
        Interval { targets, ..interval(index, vec![sums]) }
    };
    RunRecord {
        intervals: (0..6).map(second).collect(),
        outcome: Outcome::Done,
        ..records::done(run, Vec::new())
    }
}

fn findings(runs: Vec<RunRecord>) -> Findings {
    let mut record = experiment(runs);
    let directory = |name: &str| TargetSpec::Directory { path: format!("/mnt/{name}") };
    record.plan.targets = ["a", "b", "c"].map(directory).to_vec();
    record.plan.target_names = ["a", "b", "c"].map(str::to_owned).to_vec();
    analyze(&record)
}

#[test]
fn a_target_has_the_rate_and_the_times_of_its_part_and_a_single_one_those_of_the_whole() {
    let findings = findings(vec![run_on(&[1_000]), run_on(&[1_000, 500, 250])]);
    let targets = findings.targets.as_ref().expect("there are three");
    assert_eq!(targets.names, ["a", "b", "c"]);
    let figures = |point: usize| -> Vec<(usize, f64, f64)> {
        let each = targets.load_points[point].iter();
        each.map(|one| {
            let data = &one.summary.total.data;
            let (rate, mean) = (data.achieved_rate.unwrap(), data.response.mean_ns.unwrap());
            (one.target, rate.value, mean.value)
        })
        .collect()
    };
    assert_eq!(figures(0), [(0, 1_000.0, 100_000.0)]);
    let expected = [(0, 1_000.0, 100_000.0), (1, 500.0, 200_000.0), (2, 250.0, 300_000.0)];
    assert_eq!(figures(1), expected);
    assert_eq!(findings.target, "3 targets (a, b, c)");
    // The total: (1000 * 100 + 500 * 200 + 250 * 300) / 1750 us.
    let mean = findings.load_points[1].merged.total.data.response.mean_ns.unwrap().value;
    assert!((mean - 275_000_000.0 / 1_750.0).abs() < 1.0, "{mean}");
    assert_eq!(findings.load_points[1].signature.volumes, 3);
}

#[test]
fn efficiency_is_the_rate_for_each_target_over_that_of_the_smallest_number() {
    let findings =
        findings(vec![run_on(&[1_000, 500, 250]), run_on(&[1_000]), run_on(&[900, 900])]);
    let [scaling] = &findings.scalings[..] else { panic!("{:?}", findings.scalings) };
    assert_eq!((scaling.name.as_str(), scaling.counted), ("reads", "targets"));
    let efficiencies: Vec<(u32, f64)> = scaling
        .points
        .iter()
        .map(|point| (point.count, point.efficiency.expect("both are known").value))
        .collect();
    // 1000 / 1000, (1800 / 2) / 1000, (1750 / 3) / 1000.
    let expected = [(1, 1.0), (2, 0.9), (3, 1_750.0 / 3_000.0)];
    for ((count, efficiency), (expected_count, expected)) in efficiencies.iter().zip(expected) {
        assert_eq!(*count, expected_count);
        assert!((efficiency - expected).abs() < 1e-12, "{count}: {efficiency}");
    }
    assert_eq!(scaling.points[0].efficiency.unwrap().uncertainty, None, "it is the reference");
    // Rates without variation: the ratio has none either.
    assert_eq!(scaling.points[1].efficiency.unwrap().uncertainty, Some(0.0));
}

#[test]
fn a_target_at_its_limit_with_one_operation_makes_the_floor_a_pace() {
    // At each depth for each target, the rates of both: the second has a limit of 1,000 or of 4,000.
    let floor_is_pace = |limit: u64| {
        let point = |depth: u32| {
            let mut record = run_on(&[
                (u64::from(depth) * 1_000).min(4_000),
                limit.min(u64::from(depth) * 1_000),
            ]);
            record.run.parameters = vec![("queue_depth".to_owned(), depth.to_string())];
            record.run.streams[0].queue_depth = depth;
            record
        };
        let findings = findings([1, 2, 4, 8, 16, 32].map(point).to_vec());
        let curve = &findings.curves[0];
        assert!(curve.plateau.as_ref().unwrap().is_reached());
        curve.floor.as_ref().unwrap().is_pace
    };
    assert!(floor_is_pace(1_000));
    assert!(!floor_is_pace(4_000));
}

#[test]
fn an_experiment_with_one_target_has_neither() {
    let findings = analyze(&experiment(vec![run_on(&[1_000])]));
    assert!(findings.targets.is_none() && findings.scalings.is_empty());
}
