//! From arguments to a plan: which experiment, which target, and what was assumed where the user
//! did not say.

use anyhow::Context;
use host::Root;
use workload::diagnostic::Diagnostic;
use workload::experiment::{self, Experiment};
use workload::overrides::Override;
use workload::plan::{EngineChoice, Plan, TargetSpec};
use workload::resolve::{self, ResolveOptions};

use crate::commands::profiles;
use crate::diagnostics;
use crate::emulated;
use crate::exit::{Exit, Failure};
use crate::explain;
use crate::named_target;
use crate::run_args::{Engine, ExperimentArguments};
use crate::terminal::Terminal;

const DEFAULT_PROFILE: &str = "four-corners";
const QUICK_PROFILE: &str = "four-corners-quick";
/// Size of the files of our profiles on the emulated volume: it is filled at its throughput limit.
const EMULATED_FILE_SIZE: &str = "64MiB";

/// What `--quick` makes of an experiment of the user's own: its load points share this time, which
/// leaves some of the 30 s for the fill, the probe and the report.
const QUICK_TOTAL_MS: u64 = 24_000;
const QUICK_INTERVAL_MS: u64 = 250;
/// Intervals of a load point: fewer tell nothing, more are not rough any more. A quarter of them is
/// warm-up.
const QUICK_INTERVALS: std::ops::RangeInclusive<u64> = 4..=16;

/// A plan, and how it came to be.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// The experiment as it was written, without what the arguments lay over it.
    pub(crate) text: String,
    /// What was assumed, as `(what, value and why)`.
    pub(crate) assumed: Vec<(&'static str, String)>,
}

/// A setting that is laid over an experiment before what the user sets.
pub(crate) struct Laid {
    /// What mistakes in it are told of.
    flag: &'static str,
    key: &'static str,
    value: String,
}

impl Laid {
    pub(crate) fn new(flag: &'static str, key: &'static str, value: &str) -> Laid {
        Laid { flag, key, value: value.to_owned() }
    }
}

/// An experiment that a command makes itself.
pub(crate) struct Own {
    /// What it is called where others have the path of their file.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// What the command's flags say.
    pub(crate) laid: Vec<Laid>,
    /// The size of the files is among it.
    pub(crate) file_size_given: bool,
}

/// Reads and resolves the experiment that the arguments mean. Mistakes have been shown when this
/// fails.
pub(crate) fn plan(
    arguments: &ExperimentArguments,
    terminal: &Terminal,
) -> Result<Planned, Failure> {
    let mut planned = plan_written(arguments, Written::find(arguments)?, terminal)?;
    if arguments.explain {
        explain::replace(&mut planned.plan, arguments)?;
    }
    Ok(planned)
}

/// Resolves an experiment of a command's own, with what the arguments lay over it.
pub(crate) fn plan_own(
    arguments: &ExperimentArguments,
    own: Own,
    terminal: &Terminal,
) -> Result<Planned, Failure> {
    let written = Written {
        text: own.text.to_owned(),
        name: own.name.to_owned(),
        is_quick: false,
        is_profile: !own.file_size_given,
        laid_over: own.laid,
        assumed: Vec::new(),
    };
    plan_written(arguments, written, terminal)
}

fn plan_written(
    arguments: &ExperimentArguments,
    mut written: Written,
    terminal: &Terminal,
) -> Result<Planned, Failure> {
    if arguments.target.is_none() && written.is_profile {
        // A volume that caches nothing shows the same with less to fill.
        written.laid_over.push(Laid::new("TARGET", "file_size", EMULATED_FILE_SIZE));
        let why = "because the emulated volume has no cache to be larger than";
        written.assumed.push(("file_size", format!("{EMULATED_FILE_SIZE}, {why}")));
    }
    let mistakes = |mistakes: Vec<Diagnostic>| {
        diagnostics::print(&mistakes, &written.text, terminal);
        Failure::said(Exit::BadInput)
    };
    let overrides = overrides(arguments, &written).map_err(mistakes)?;
    let experiment =
        experiment::parse_with(&written.text, &written.name, &overrides).map_err(mistakes)?;
    let mut assumed = written.assumed.clone();
    let target = target(arguments, &experiment)?;
    if target_name(arguments, &experiment).is_none() {
        assumed.push(("target", "an emulated volume, because none is named".to_owned()));
    }
    let has_seed = experiment.run.iter().any(|setting| setting.key.name == "seed");
    if !has_seed {
        assumed.push(("seed", "1 (--seed)".to_owned()));
    }
    let options = ResolveOptions {
        engine: arguments.engine.map_or(EngineChoice::Auto, Engine::choice),
        pin: arguments.pin,
        verify: arguments.verify,
    };
    let mut plan =
        resolve::resolve(&experiment, &written.name, target, &options).map_err(mistakes)?;
    plan.overrides = users(&overrides, &written);
    let needed = plan.bytes_needed().get();
    if let TargetSpec::Emulated { volume, .. } = &mut plan.target {
        emulated::give_memory(volume, needed, host::facts::memory_bytes(&Root::of_this_host()))?;
    }
    Ok(Planned { plan, text: written.text, assumed })
}

/// The text of an experiment and where it came from.
struct Written {
    text: String,
    /// The file as the user named it, or `profile:NAME`.
    name: String,
    /// `--quick` is already in the text.
    is_quick: bool,
    /// It is one of ours, and so is the size of its files.
    is_profile: bool,
    laid_over: Vec<Laid>,
    assumed: Vec<(&'static str, String)>,
}

impl Written {
    fn find(arguments: &ExperimentArguments) -> Result<Written, Failure> {
        if let Some(path) = &arguments.workload {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("read experiment {}", path.display()))
                .map_err(Failure::input)?;
            let name = path.display().to_string();
            return Ok(Written {
                text,
                name,
                is_quick: false,
                is_profile: false,
                laid_over: Vec::new(),
                assumed: Vec::new(),
            });
        }
        let mut assumed = Vec::new();
        let name = match (&arguments.profile, arguments.quick) {
            (Some(name), true) => experiment::quick_profile(name).unwrap_or(name),
            (Some(name), false) => name.as_str(),
            (None, quick) => {
                let name = if quick { QUICK_PROFILE } else { DEFAULT_PROFILE };
                let why = "because no experiment is named (-w, -p)";
                assumed.push(("experiment", format!("the profile {name}, {why}")));
                name
            }
        };
        Ok(Written {
            text: profiles::text(name)?.to_owned(),
            name: format!("profile:{name}"),
            is_quick: name.ends_with(experiment::QUICK),
            is_profile: true,
            laid_over: Vec::new(),
            assumed,
        })
    }
}

/// The arguments that stand for a setting, in the order in which they are laid over each other.
fn overrides(
    arguments: &ExperimentArguments,
    written: &Written,
) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let ours =
        written.laid_over.iter().map(|laid| Override::option(laid.flag, laid.key, &laid.value));
    let users = arguments.set.iter().map(|text| Override::set(text));
    let set: Vec<Override> = ours.chain(users).collect();
    let mut all = Vec::new();
    if arguments.quick && !written.is_quick {
        all.extend(quick(arguments, written, &set)?);
    }
    all.extend(set);
    let repeats = arguments.repeats.map(|count| count.to_string());
    let seed = arguments.seed.map(|number| number.to_string());
    for (flag, key, value) in [
        ("--repeats", "run.repeats", &repeats),
        ("--until", "run.until", &arguments.until),
        ("--warm-up", "run.warm_up", &arguments.warm_up),
        ("--measure", "run.measure", &arguments.measure),
        ("--interval", "run.interval", &arguments.interval),
        ("--seed", "run.seed", &seed),
    ] {
        all.extend(value.iter().map(|value| Override::option(flag, key, value)));
    }
    if arguments.buffered {
        all.push(Override::option("--buffered", "direct", "false"));
    }
    Ok(all)
}

/// What the user laid over the experiment: not what the command itself did.
fn users(overrides: &[Override], written: &Written) -> Vec<String> {
    let is_ours = |one: &&Override| written.laid_over.iter().any(|laid| laid.flag == one.flag);
    overrides.iter().filter(|one| !is_ours(one)).map(Override::assignment).collect()
}

/// Phases that let all load points share the time of a quick run, each measured once.
fn quick(
    arguments: &ExperimentArguments,
    written: &Written,
    set: &[Override],
) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let once = Override::option("--quick", "run.repeats", "1");
    let known = [set, std::slice::from_ref(&once)].concat();
    let experiment = experiment::parse_with(&written.text, &written.name, &known)?;
    let options = ResolveOptions { engine: EngineChoice::Auto, pin: false, verify: false };
    // A target that cannot be used is told when the plan is made.
    let target = target(arguments, &experiment).unwrap_or(TargetSpec::Null);
    let plan = resolve::resolve(&experiment, &written.name, target, &options)?;
    let load_points = u64::from(plan.runs_max().max(1));
    let intervals = (QUICK_TOTAL_MS / load_points / QUICK_INTERVAL_MS)
        .clamp(*QUICK_INTERVALS.start(), *QUICK_INTERVALS.end());
    let phase = |key: &str, intervals: u64| {
        Override::option("--quick", key, &format!("{}ms", intervals * QUICK_INTERVAL_MS))
    };
    Ok(vec![
        once,
        phase("run.interval", 1),
        phase("run.warm_up", intervals / 4),
        phase("run.measure", intervals - intervals / 4),
    ])
}

/// What the user calls the target: the argument goes before the file.
fn target_name<'a>(
    arguments: &'a ExperimentArguments,
    experiment: &'a Experiment,
) -> Option<&'a str> {
    arguments.target.as_deref().or(experiment.target.as_deref())
}

fn target(arguments: &ExperimentArguments, experiment: &Experiment) -> Result<TargetSpec, Failure> {
    named_target::spec(target_name(arguments, experiment), &arguments.option)
}

impl Engine {
    const fn choice(self) -> EngineChoice {
        match self {
            Engine::Auto => EngineChoice::Auto,
            Engine::IoUring => EngineChoice::IoUring,
            Engine::Psync => EngineChoice::Psync,
        }
    }
}
