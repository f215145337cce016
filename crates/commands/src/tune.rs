//! `tune`: the least concurrency that reaches a target rate. It is a search, so its runs are
//! executed, stored and shown like those of `run`.

use analysis::tune::limit::highest_throughput;
use anyhow::anyhow;
use units::{BytesPerSec, Percent, counted};
use workload::names::NameProblem;
use workload::plan::{Plan, Run, Step, Stream, TargetSpec};
use workload::reach::{Reach, RequiredRate};
use workload::search::{Repeats, Search, SearchMethod};

use crate::measure::experiment::{self, BuiltinExperiment, ExperimentOptions, Planned, Preset};
use crate::named_target::slots;
use crate::outcome::Failure;

/// The default load. The window is long enough to know the rate within a percent on a quiet system,
/// and short enough for ten runs.
const AT_OFFSETS: BuiltinExperiment = BuiltinExperiment {
    name: "tune",
    text: r#"name = "tune"

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
"#,
    has_default_size: true,
};

/// The load of operations on names: empty files, as many as one worker needs for any mix without slots.
const ON_NAMES: BuiltinExperiment = BuiltinExperiment {
    name: "tune",
    text: r#"name = "tune"

[run]
warm_up = "2s"
measure = "10s"
interval = "500ms"

[stream.tune]
names = { files = 20_000, depth = 2, width = 10 }
mix = { stat = "100%" }
queue_depth = 1
workers = 1
"#,
    has_default_size: false,
};

/// The most outstanding operations for a target without slots: more than a tuned system was seen to
/// need. A worker may have four times as many.
const OUTSTANDING_MAX: u32 = 1024;
/// The most outstanding operations of a worker, as in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// More runs than any search in the tests took.
const RUNS_MAX: u32 = 48;

/// The target rate, its conditions, and the load; settings of the load as an experiment file has
/// them. Those that the user left out are those of the experiment.
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
    pub transfer_size: Option<String>,
    /// The share of reads.
    pub read: Option<String>,
    /// The access pattern.
    pub pattern: Option<String>,
    /// Kinds of operations on names with their shares: `create=50%,unlink=50%`, or one kind.
    pub mix: Option<String>,
    /// The most workers.
    pub workers: Option<String>,
    /// Connections to the target.
    pub nconnect: Option<String>,
    /// Number of files.
    pub files: Option<String>,
    /// Size of each file.
    pub file_size: Option<String>,
}

impl Options {
    /// Whether the command line has a mix or a tree, so that the load is on names.
    fn are_names_given(&self, set: &[String]) -> bool {
        let is_on_names = |text: &String| {
            let key = text.split('=').next().unwrap_or_default();
            key.split('.').any(|part| ["names", "mix"].contains(&part.trim()))
        };
        self.mix.is_some() || set.iter().any(is_on_names)
    }

    /// The flags of the load as settings.
    ///
    /// * `on_names` - the files are those of a tree
    fn presets(&self, on_names: bool) -> Vec<Preset> {
        let mix = self.mix.as_ref().map(|mix| mix_table(mix));
        let (files, file_size) = match on_names {
            true => ("names.files", "names.size"),
            false => ("files", "file_size"),
        };
        let flags = [
            ("--mix", "mix", mix.as_ref()),
            ("--transfer-size", "transfer_size", self.transfer_size.as_ref()),
            ("--read", "read", self.read.as_ref()),
            ("--pattern", "pattern", self.pattern.as_ref()),
            ("--workers", "workers", self.workers.as_ref()),
            ("--files", files, self.files.as_ref()),
            ("--file-size", file_size, self.file_size.as_ref()),
            ("--nconnect", "run.nconnect", self.nconnect.as_ref()),
        ];
        let given = flags.into_iter().filter_map(|(flag, key, value)| Some((flag, key, value?)));
        given.map(|(flag, key, value)| Preset::new(flag, key, value)).collect()
    }
}

/// The shares of `--mix` as the table of an experiment: `create=50%,unlink=50%`, or one kind.
fn mix_table(text: &str) -> String {
    if text.trim_start().starts_with('{') {
        return text.to_owned();
    }
    let share = |part: &str| match part.split_once('=') {
        Some((kind, share)) => format!("{} = \"{}\"", kind.trim(), share.trim()),
        None => format!("{} = \"100%\"", part.trim()),
    };
    let shares: Vec<String> = text.split(',').map(share).collect();
    format!("{{ {} }}", shares.join(", "))
}

/// The plan: one search.
///
/// # Errors
/// An option contradicts another or the load, or the rate cannot be reached by any volume.
pub fn plan(options: &Options, experiment: &ExperimentOptions) -> Result<Planned, Failure> {
    refuse(experiment)?;
    let builtin = match options.are_names_given(&experiment.set) {
        true => &ON_NAMES,
        false => &AT_OFFSETS,
    };
    let presets = |on_names| options.presets(on_names);
    let mut planned = experiment::plan_for_tuning(experiment, builtin, presets)?;
    let mut run = only_run(&planned.plan)?;
    run.connections = run.connections.or(planned.plan.target().connections());
    let reach = reach(options, planned.plan.target(), &run)?;
    refuse_small_tree(&run.streams[0], &reach)?;
    let search = Search {
        name: run.variant.clone(),
        template: run.with_queue_depth(reach.outstanding_max),
        method: SearchMethod::Reach(reach),
        repeats: Repeats::ONCE,
        runs_max: RUNS_MAX,
    };
    planned.plan.steps = vec![Step::Search(search)];
    experiment::set_memory(&mut planned.plan)?;
    Ok(planned)
}

/// Refuses options of `run` that a tuning decides.
fn refuse(experiment: &ExperimentOptions) -> Result<(), Failure> {
    let given = [
        ("--working-set", experiment.working_set.is_some()),
        ("--repeats", experiment.repeats.is_some()),
        ("--until", experiment.until.is_some()),
        ("--explain", experiment.explain),
    ];
    let decided =
        |text: &&String| ["search.", "metric."].iter().any(|table| text.starts_with(table));
    if let Some(text) = experiment.set.iter().find(decided) {
        return Err(Failure::input(anyhow!(
            "use --set '{text}': `tune` chooses its load points; leave it out"
        )));
    }
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(anyhow!(
            "use {flag}: `tune` chooses its load points and repeats runs as the noise requires; \
             leave the flag out"
        ))),
    }
}

fn only_run(plan: &Plan) -> Result<Run, Failure> {
    match &plan.steps[..] {
        [Step::Fixed(run)] if run.parameters.is_empty() => Ok(run.clone()),
        _ => Err(Failure::input(anyhow!(
            "tune several loads: the experiment has several values of a setting, or variants"
        ))
        .with_remedy("set one value of each with --set, or measure all of them with `run`")),
    }
}

/// Refuses a tree with fewer names than the operations need that can be outstanding.
fn refuse_small_tree(stream: &Stream, reach: &Reach) -> Result<(), Failure> {
    let Some(load) = &stream.names else { return Ok(()) };
    let outstanding = counted(u64::from(reach.outstanding_max), "operation");
    let (why, key, least) = match load.problem_up_to(stream.workers, reach.outstanding_max) {
        Some(NameProblem::TooFewFiles { files_min }) => {
            ("each uses files that no other adds, changes or removes", "files", files_min)
        }
        Some(NameProblem::ShortNames { name_length_min }) => {
            ("names of that length do not differ", "name_length", u64::from(name_length_min))
        }
        _ => return Ok(()),
    };
    let (found, needed) = match key {
        "files" => (counted(load.tree.files, "file"), counted(least, "file")),
        _ => (counted(u64::from(load.tree.name_length), "byte"), counted(least, "byte")),
    };
    let reason = anyhow!("keep {outstanding} outstanding on a tree with {found}: {why}");
    Err(Failure::input(reason).with_remedy(format!(
        "use at least {needed} (--set names.{key}={least}), or allow fewer operations \
         (--queue-depth-max)"
    )))
}

fn reach(options: &Options, target: &TargetSpec, run: &Run) -> Result<Reach, Failure> {
    let stream = &run.streams[0];
    let operation_bytes = stream.operation_bytes();
    if let RequiredRate::Throughput { bytes_per_s } = options.target_rate
        && operation_bytes <= 0.0
    {
        let rate = BytesPerSec::new(bytes_per_s);
        return Err(Failure::input(anyhow!("reach {rate}: operations of this load move no data"))
            .with_remedy("give the rate in operations, such as `--target-rate 20000/s`"));
    }
    let required = options.target_rate.throughput(operation_bytes);
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
