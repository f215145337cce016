//! `tune`: the least concurrency that reaches a target rate. It is a search, so its runs are
//! executed, stored and shown like those of `run`.

use analysis::tune::limit::highest_throughput;
use anyhow::anyhow;
use units::Percent;
use workload::plan::{Plan, Run, Step, TargetSpec};
use workload::reach::{Reach, RequiredRate};
use workload::search::{Repeats, Search, SearchMethod};

use crate::measure::experiment::{self, BuiltinExperiment, ExperimentOptions, Planned, Preset};
use crate::named_target::slots;
use crate::outcome::Failure;

/// The default load. The window is long enough to know the rate within a percent on a quiet system,
/// and short enough for ten runs.
const EXPERIMENT: &str = r#"name = "tune"

[run]
warm_up = "2s"
measure = "10s"
interval = "500ms"

[stream.tune]
read = "100%"
transfer_size = "64KiB"
pattern = "sequential"
files = 4
file_size = "256MiB"
queue_depth = 1
workers = 1
"#;

/// The most outstanding operations for a target without slots: more than a tuned system was seen to
/// need. A worker may have four times as many.
const OUTSTANDING_MAX: u32 = 1024;
/// The most outstanding operations of a worker, as in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// More runs than any search in the tests took.
const RUNS_MAX: u32 = 48;

/// The target rate, its conditions, and the load; settings of the load as an experiment file has
/// them.
#[derive(Clone, Debug)]
pub struct Options {
    /// The rate to reach.
    pub target_rate: RequiredRate,
    /// A rate this much lower still counts as reached.
    pub within: Percent,
    /// The mean response time that the rate must be reached with, in nanoseconds.
    pub response_time_max_ns: Option<u64>,
    /// The most outstanding operations, over all workers.
    pub outstanding_max: Option<u32>,
    /// Client hosts that the printed settings are split across; `None` for those that measure.
    pub clients: Option<u32>,
    /// Bytes of an operation.
    pub transfer_size: String,
    /// The share of reads.
    pub read: String,
    /// The access pattern.
    pub pattern: String,
    /// The most workers.
    pub workers: String,
    /// Connections to the target.
    pub nconnect: Option<String>,
    /// Number of files.
    pub files: String,
    /// Size of each file.
    pub file_size: Option<String>,
}

/// The plan: one search.
///
/// # Errors
/// An option contradicts another, or the rate cannot be reached by any volume.
pub fn plan(options: &Options, experiment: &ExperimentOptions) -> Result<Planned, Failure> {
    refuse(experiment)?;
    let mut presets = vec![
        Preset::new("--transfer-size", "transfer_size", &options.transfer_size),
        Preset::new("--read", "read", &options.read),
        Preset::new("--pattern", "pattern", &options.pattern),
        Preset::new("--workers", "workers", &options.workers),
        Preset::new("--files", "files", &options.files),
    ];
    let size = options.file_size.as_ref();
    presets.extend(size.map(|size| Preset::new("--file-size", "file_size", size)));
    let nconnect = options.nconnect.as_ref();
    presets.extend(nconnect.map(|count| Preset::new("--nconnect", "run.nconnect", count)));
    let builtin = BuiltinExperiment {
        name: "tune",
        text: EXPERIMENT,
        presets,
        file_size_given: size.is_some(),
    };
    let mut planned = experiment::plan_builtin(experiment, builtin)?;
    let mut run = only_run(&planned.plan)?;
    run.connections = run.connections.or(planned.plan.target().connections());
    let reach = reach(options, planned.plan.target(), &run)?;
    let search = Search {
        name: run.variant.clone(),
        template: run.with_queue_depth(reach.outstanding_max),
        method: SearchMethod::Reach(reach),
        repeats: Repeats::ONCE,
        runs_max: RUNS_MAX,
    };
    planned.plan.steps = vec![Step::Search(search)];
    Ok(planned)
}

/// Refuses options of `run` that a tuning decides.
fn refuse(experiment: &ExperimentOptions) -> Result<(), Failure> {
    let given = [
        ("--workload", experiment.workload.is_some()),
        ("--profile", experiment.profile.is_some()),
        ("--working-set", experiment.working_set.is_some()),
        ("--repeats", experiment.repeats.is_some()),
        ("--until", experiment.until.is_some()),
        ("--explain", experiment.explain),
    ];
    let is_on_names = |text: &String| {
        let key = text.split('=').next().unwrap_or_default().trim();
        let key = key.rsplit_once("tune.").map_or(key, |(_, key)| key);
        ["names", "mix"].contains(&key.split('.').next().unwrap_or_default())
    };
    if let Some(text) = experiment.set.iter().find(|text| is_on_names(text)) {
        return Err(Failure::input(anyhow!(
            "use --set '{text}': `tune` finds the concurrency of reads and writes at offsets, because \
             the settings that it prints for other tools have no operations on names; measure \
             them with `run -w FILE` and a [search] with method = \"queue-depth\", which finds where \
             their rate stops rising"
        )));
    }
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(anyhow!(
            "use {flag}: `tune` has its own experiment (--transfer-size, --read, --pattern, --set) \
             and repeats runs as the noise requires; leave the flag out"
        ))),
    }
}

fn only_run(plan: &Plan) -> Result<Run, Failure> {
    match &plan.steps[..] {
        [Step::Fixed(run)] if run.parameters.is_empty() => Ok(run.clone()),
        _ => Err(Failure::input(anyhow!(
            "tune one load at a time: several values of a setting are a sweep, which `run` does"
        ))),
    }
}

fn reach(options: &Options, target: &TargetSpec, run: &Run) -> Result<Reach, Failure> {
    let stream = &run.streams[0];
    let required = options.target_rate.throughput(stream.transfer_size_mean_bytes());
    if let TargetSpec::Emulated { .. } = target
        && required > highest_throughput()
    {
        return Err(Failure::input(anyhow!(
            "reach {required}: no service level gives a volume more than {}",
            highest_throughput()
        )));
    }
    let slots = slots(target, run)?;
    if let Some(count) = options.outstanding_max.filter(|count| *count < run.hosts) {
        return Err(Failure::input(anyhow!(
            "keep {count} operations outstanding on {} hosts: each has at least one; raise \
             --queue-depth-max, or name fewer hosts",
            run.hosts
        )));
    }
    let by_workers = stream.workers.saturating_mul(QUEUE_DEPTH_MAX);
    let most = slots.map_or(by_workers, |slots| slots.min(by_workers));
    let outstanding_max = match options.outstanding_max {
        None => slots.unwrap_or(OUTSTANDING_MAX).min(by_workers),
        Some(count) if count <= most => count,
        Some(count) => {
            let why = match slots.filter(|slots| *slots == most) {
                Some(slots) => format!(
                    "the connections have slots for {slots} calls, so more operations would only \
                     queue in the client; raise the slots (-o slots=, -o nconnect=)"
                ),
                None => {
                    format!("a worker has at most {QUEUE_DEPTH_MAX}; use more workers (--workers)")
                }
            };
            return Err(Failure::input(anyhow!("keep {count} operations outstanding: {why}")));
        }
    };
    Ok(Reach {
        required: options.target_rate,
        within_permille: options.within.permille(),
        outstanding_max,
        response_time_max_ns: options.response_time_max_ns,
        hosts: options.clients.unwrap_or(run.hosts),
    })
}
