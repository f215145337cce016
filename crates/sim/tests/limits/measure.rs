//! Measures a simulated system as a user would, and analyses it as everybody's records are.

use analysis::bottleneck::explain::{self, May};
use analysis::bottleneck::{self, Known, LimitFinding};
use analysis::load_point::LoadPoint;
use analysis::{analyze, work};
use metrics::run_record::{EngineUsed, ExperimentRecord, Outcome, RunRecord};
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;
use workload::plan::{
    EngineChoice, Phases, Plan, Run, Step, Stream, TargetSpec, WeightedSize, WorkingSet,
};
use workload::random;

use crate::systems::System;

/// Operations of a run, about; fewer where few are outstanding.
const OPERATIONS: f64 = 2500.0;
const INTERVALS: u64 = 10;
/// More experiments than this are not made of one system.
const RUNS_MAX: usize = 24;

/// A run of the system's workload at this queue depth.
fn run(system: &System, queue_depth: u32) -> Run {
    let pattern =
        if system.sequential { AccessPattern::Sequential } else { AccessPattern::Uniform };
    let stream = Stream {
        name: "main".to_owned(),
        read_permille: system.read_permille,
        transfer_sizes: vec![WeightedSize { size_bytes: system.size_bytes, weight: 1 }],
        access_pattern: pattern,
        working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
        queue_depth,
        workers: system.workers,
        arrival: Arrival::Closed { think_time_ns: 0 },
        direct: true,
        dsync: false,
        write_stability: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    };
    Run {
        index: 0,
        variant: "main".to_owned(),
        parameters: vec![("queue_depth".to_owned(), queue_depth.to_string())],
        repeat: 0,
        seed: 1,
        connections: Some(system.connections),
        streams: vec![stream],
        phases: Phases { warm_up_ns: 0, measure_ns: 0, interval_ns: 0 },
        tolerated_errors: 0,
        operation_deadline_ns: u64::MAX,
    }
}

fn simulated(system: &System, mut run: Run, number: usize, seed: u64) -> RunRecord {
    let stream = &run.streams[0];
    let depth = stream.queue_depth_total() as f64;
    let size = stream.transfer_sizes[0].size_bytes as f64;
    // By what is known of the system; a run that takes longer than it must is only dearer.
    let smaller = (system.size_bytes as f64 / size).max(1.0);
    let rate = depth.min(4.0 * smaller * system.knee) / system.floor_s;
    let window_s = OPERATIONS.min(300.0 * depth) / rate;
    // Long enough to see the last operation's wait.
    let window_s = window_s.max(5.0 * depth / (system.knee * smaller).min(depth) * system.floor_s);
    let interval_ns = (window_s / INTERVALS as f64 * 1e9) as u64 + 1;
    run.index = number as u32;
    run.phases =
        Phases { warm_up_ns: 4 * interval_ns, measure_ns: INTERVALS * interval_ns, interval_ns };
    let volumes = run.parameters.iter().find(|(key, _)| key == work::VOLUMES);
    let volumes = volumes.map_or(1, |(_, count)| count.parse().unwrap());
    let connections = run.connections.unwrap();
    let seed = random::derive(seed, number as u64);
    sim::resources::simulate(&run, &system.resources, connections, volumes, seed)
}

/// The load points, through the analysis of records.
fn load_points(records: Vec<RunRecord>) -> Vec<LoadPoint> {
    let plan = Plan {
        name: "simulated".to_owned(),
        source: "simulated".to_owned(),
        target: TargetSpec::Null,
        engine: EngineChoice::Auto,
        pin: false,
        verify: false,
        seed: 1,
        data_seed: 1,
        steps: records.iter().map(|record| Step::Fixed(record.run.clone())).collect(),
    };
    let record = ExperimentRecord {
        id: "simulated".to_owned(),
        plan,
        plan_hash: String::new(),
        engine: EngineUsed { engine: EngineChoice::NfsClient, reason: String::new() },
        environment: vec![("cpu.count".to_owned(), "16".to_owned())],
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs: records,
        outcome: Outcome::Done,
    };
    analyze(&record).load_points
}

/// What is found from one curve.
pub(crate) fn of_one_curve(system: &System, seed: u64) -> LimitFinding {
    let depths = match system.knee {
        far if far > 100.0 && far.is_finite() => vec![1, 8, 64, 512, 2048],
        _ => vec![1, 4, 16, 64, 128],
    };
    let records: Vec<RunRecord> = depths
        .into_iter()
        .enumerate()
        .map(|(number, depth)| simulated(system, run(system, depth), number, seed))
        .collect();
    first(&load_points(records), &system.known)
}

/// What is found with scaling experiments, and how many runs they took.
pub(crate) fn explained(system: &System, seed: u64) -> (LimitFinding, usize) {
    let template = run(system, 1);
    let may = May { connections: true, direction: true, volumes: true, queue_depth_max: 4096 };
    let mut all: Vec<LoadPoint> = Vec::new();
    while let Some(next) = explain::next(&template, may, &all, &system.known) {
        if all.len() >= RUNS_MAX {
            break;
        }
        let record = simulated(system, next, all.len(), seed);
        all.extend(load_points(vec![record]));
    }
    (first(&all, &system.known), all.len())
}

/// The finding of the workload itself.
fn first(load_points: &[LoadPoint], known: &Known) -> LimitFinding {
    let mut found = bottleneck::limits(load_points, known);
    assert!(!found.is_empty(), "{load_points:#?}");
    found.remove(0)
}
