//! Measures a system as a user would, with the product's own plans and searches.

use std::num::NonZeroU32;

use analysis::verdict::explain::{PossibleChanges, largest};
use metrics::environment::Environment;
use metrics::run_record::ExperimentRecord;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::experiment;
use workload::limit::PriorKnowledge;
use workload::overrides::Override;
use workload::pattern::AccessPattern;
use workload::plan::{
    IoMethod, Phases, Plan, Run, Spread, Step, Stream, StreamTargets, TargetSpec, WeightedSize,
    WorkingSet,
};
use workload::profiles;
use workload::resolve::{self, ResolveOptions};
use workload::scale::{RUNS_MAX, Scale};
use workload::search::{Repeats, Search, SearchMethod};

use super::oracle::{self, Workload};
use super::systems::{Method, OPERATIONS, System, WARM_UP, WINDOW};
use crate::testbed::{Access, Amounts, Testbed};
use crate::world;

/// Minimum length of a window in drain times of the longest queue.
const QUEUES: f64 = 40.0;
/// Maximum number of outstanding operations on a mount, as `run --explain` allows.
const OUTSTANDING_MAX: u32 = 1024;
/// Maximum number of outstanding operations per slot of the built-in client.
const OVER_SLOTS: u32 = 8;
const QUEUE_DEPTH_MAX: u32 = 4096;

/// The record of a measurement by the user.
pub fn measure(system: &System, seed: u64) -> ExperimentRecord {
    let mut testbed = Testbed::new(system.amounts.clone(), seed);
    let plan = plan(system, &prior(system, &testbed));
    let mut record = world::experiment_of(&plan, seed, |run, _| {
        let mut run = run.clone();
        run.phases = phases(system, &run);
        testbed.measure(&run, system.access)
    });
    record.environment = Environment { prior: prior(system, &testbed), ..Environment::default() };
    record
}

fn prior(system: &System, testbed: &Testbed) -> PriorKnowledge {
    let mut prior = PriorKnowledge {
        stated_limits: system.known.clone(),
        processors: NonZeroU32::new(system.amounts.processors),
        ..PriorKnowledge::default()
    };
    match system.access {
        Access::OwnClient => {
            prior.null_round_trip_ns = Some(testbed.null_round_trip_ns().round_ties_even() as u64);
        }
        Access::Mount { .. } => prior.filesystem = Some("nfs".to_owned()),
    }
    prior
}

fn target(system: &System) -> TargetSpec {
    match system.access {
        Access::OwnClient => TargetSpec::Nfs {
            url: format!("nfs://server/volume?slots={}", system.amounts.client_slots),
            connections: Some(system.connections),
        },
        Access::Mount { .. } => TargetSpec::Directory { path: "/mnt/volume".to_owned() },
    }
}

fn plan(system: &System, prior: &PriorKnowledge) -> Plan {
    match system.method {
        Method::Quick => profile("four-corners-quick", &[], system),
        Method::FourCorners => profile("four-corners", &[], system),
        Method::Depths(depths) => {
            let steps = depths.iter().enumerate().map(|(index, depth)| {
                let mut run = run(system, *depth);
                run.index = index as u32;
                Step::Fixed(run)
            });
            with_steps(system, steps.collect())
        }
        Method::Explain => {
            let search = explain(system, prior);
            with_steps(system, vec![Step::Search(search)])
        }
    }
}

fn profile(name: &str, overrides: &[Override], system: &System) -> Plan {
    let text = profiles::profile(name).expect("the profile is built in").text;
    let experiment = experiment::parse_with(text, name, overrides).expect("the profile is valid");
    let options = ResolveOptions::LOCAL;
    let mut plan =
        resolve::resolve(&experiment, name, target(system), &options).expect("the plan is valid");
    for step in &mut plan.steps {
        match step {
            Step::Fixed(run) => run.connections = Some(system.connections),
            Step::Search(search) => search.template.connections = Some(system.connections),
        }
    }
    plan
}

fn with_steps(system: &System, steps: Vec<Step>) -> Plan {
    Plan {
        name: "examined".to_owned(),
        source: "examined".to_owned(),
        overrides: Vec::new(),
        targets: vec![target(system); system.volumes as usize],
        target_names: Vec::new(),
        io_method: IoMethod::Auto,
        pin: false,
        verify: false,
        metric: None,
        seed: 1,
        data_seed: 1,
        requirements: Vec::new(),
        steps,
    }
}

fn run(system: &System, queue_depth: u32) -> Run {
    let access_pattern =
        if system.sequential { AccessPattern::Sequential } else { AccessPattern::Uniform };
    let stream = Stream {
        name: "main".to_owned(),
        read_permille: system.read_permille,
        transfer_sizes: vec![WeightedSize { size_bytes: system.size_bytes, weight: 1 }],
        access_pattern,
        working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth,
        workers: system.workers * system.hosts * system.volumes,
        arrival: Arrival::Closed { think_time_ns: 0 },
        // O_DIRECT bypasses the page cache.
        active: ActiveTime::WHOLE_RUN,
        direct: system.amounts.client_cache == 0.0,
        dsync: false,
        write_stability: None,
        targets: StreamTargets { positions: (0..system.volumes).collect(), spread: Spread::All },
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    };
    Run {
        hosts: system.hosts,
        index: 0,
        variant: "main".to_owned(),
        parameters: vec![("queue_depth".to_owned(), queue_depth.to_string())],
        repeat: 0,
        seed: 1,
        connections: match system.access {
            Access::OwnClient => Some(system.connections),
            Access::Mount { .. } => None,
        },
        streams: vec![stream],
        phases: Phases { warm_up_ns: 0, measure_ns: 0, interval_ns: 0 },
        tolerated_errors: 0,
        operation_deadline_ns: u64::MAX,
    }
}

fn explain(system: &System, prior: &PriorKnowledge) -> Search {
    let mut template = run(system, 1);
    template.parameters.clear();
    let own_client = system.access == Access::OwnClient;
    let outstanding = match own_client {
        true => system.amounts.client_slots.saturating_mul(system.connections) * OVER_SLOTS,
        false => OUTSTANDING_MAX,
    };
    let parts = system.hosts * system.volumes;
    let outstanding = outstanding.saturating_mul(parts);
    let queue_depth_max = outstanding.div_ceil(template.streams[0].workers).min(QUEUE_DEPTH_MAX);
    let may = PossibleChanges { connections: own_client, direction: true, queue_depth_max };
    let scale = Scale {
        connections: may.connections,
        direction: may.direction,
        queue_depth_max,
        known: prior.clone(),
        target: target(system),
        other_targets: vec![target(system); system.volumes as usize - 1],
        largest: Box::new(largest(&template, may)),
    };
    Search {
        name: "main".to_owned(),
        template,
        method: SearchMethod::Scale(scale),
        repeats: Repeats::ONCE,
        runs_max: RUNS_MAX,
    }
}

/// Phases with as many intervals as the default profile, long enough for the operations of a
/// window.
fn phases(system: &System, run: &Run) -> Phases {
    let stream = &run.streams[0];
    let depth = stream.queue_depth_total() as f64;
    let connections = match system.access {
        Access::OwnClient => match run.connections {
            Some(count) => count * run.connection_parts(),
            None => stream.workers,
        },
        Access::Mount { connections } => connections * run.connection_parts(),
    };
    // Hosts and volumes add up.
    let several = |rate: Option<f64>, count: u32| rate.map(|rate| rate * f64::from(count.max(1)));
    let amounts = Amounts {
        volume: several(system.amounts.volume, stream.targets.count()),
        egress: several(system.amounts.egress, run.hosts),
        link: several(system.amounts.link, run.hosts),
        processors: system.amounts.processors * run.hosts.max(1),
        ..system.amounts.clone()
    };
    let work = Workload {
        reads: f64::from(stream.read_permille) / 1000.0,
        size_bytes: stream.transfer_sizes[0].size_bytes as f64,
        sequential: stream.access_pattern == AccessPattern::Sequential,
        connections: f64::from(connections),
        workers: f64::from(stream.workers),
    };
    let ceiling = oracle::ceilings(&amounts, &work);
    let ceiling = ceiling.into_iter().map(|(_, rate)| rate).fold(f64::INFINITY, f64::min);
    let (unloaded_s, _) = oracle::unloaded_s(&amounts, &work);
    let rate = (depth / unloaded_s).min(ceiling);
    let operations = OPERATIONS.max(QUEUES * depth);
    let interval_ns = (operations / rate / WINDOW as f64 * 1e9) as u64 + 1;
    Phases { warm_up_ns: WARM_UP * interval_ns, measure_ns: WINDOW * interval_ns, interval_ns }
}
