//! From arguments to a plan: which experiment, which target, and what was assumed where the user
//! did not say.

use std::path::Path;

use anyhow::{Context, anyhow};
use workload::diagnostic::Diagnostic;
use workload::experiment::{self, Experiment};
use workload::overrides::Override;
use workload::plan::{EngineChoice, Plan, TargetSpec};
use workload::resolve::{self, ResolveOptions};

use crate::args::{Engine, ExperimentArguments};
use crate::commands::profiles;
use crate::diagnostics;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

const DEFAULT_PROFILE: &str = "four-corners";
const QUICK_PROFILE: &str = "four-corners-quick";

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
    /// The target is the scratch directory of the store.
    pub(crate) is_scratch: bool,
    /// What was assumed, as `(what, value and why)`.
    pub(crate) assumed: Vec<(&'static str, String)>,
}

/// Reads and resolves the experiment that the arguments mean. Mistakes have been shown when this
/// fails.
pub(crate) fn plan(
    arguments: &ExperimentArguments,
    store_root: &Path,
    terminal: &Terminal,
) -> Result<Planned, Failure> {
    let written = Written::find(arguments)?;
    let mistakes = |mistakes: Vec<Diagnostic>| {
        diagnostics::print(&mistakes, &written.text, terminal);
        Failure::said(Exit::BadInput)
    };
    let overrides = overrides(arguments, &written).map_err(mistakes)?;
    let experiment =
        experiment::parse_with(&written.text, &written.name, &overrides).map_err(mistakes)?;
    let mut assumed = written.assumed.clone();
    let (target, is_scratch) = target(arguments, &experiment, store_root)?;
    if is_scratch {
        assumed
            .push(("target", "a scratch directory of its own, because none is named".to_owned()));
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
    let plan = resolve::resolve(&experiment, &written.name, target, &options).map_err(mistakes)?;
    Ok(Planned { plan, text: written.text, is_scratch, assumed })
}

/// The text of an experiment and where it came from.
struct Written {
    text: String,
    /// The file as the user named it, or `profile:NAME`.
    name: String,
    /// `--quick` is already in the text.
    is_quick: bool,
    assumed: Vec<(&'static str, String)>,
}

impl Written {
    fn find(arguments: &ExperimentArguments) -> Result<Written, Failure> {
        if let Some(path) = &arguments.workload {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("read experiment {}", path.display()))
                .map_err(Failure::input)?;
            let name = path.display().to_string();
            return Ok(Written { text, name, is_quick: false, assumed: Vec::new() });
        }
        let mut assumed = Vec::new();
        let name = match (&arguments.profile, arguments.quick) {
            (Some(name), true) if name == DEFAULT_PROFILE => QUICK_PROFILE,
            (Some(name), _) => name.as_str(),
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
            is_quick: name == QUICK_PROFILE,
            assumed,
        })
    }
}

/// The arguments that stand for a setting, in the order in which they are laid over each other.
fn overrides(
    arguments: &ExperimentArguments,
    written: &Written,
) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let set: Vec<Override> = arguments.set.iter().map(|text| Override::set(text)).collect();
    let mut all = Vec::new();
    if arguments.quick && !written.is_quick {
        all.extend(quick(written, &set)?);
    }
    all.extend(set);
    let repeats = arguments.repeats.map(|count| count.to_string());
    let seed = arguments.seed.map(|number| number.to_string());
    for (flag, key, value) in [
        ("--repeats", "run.repeats", &repeats),
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

/// Phases that let all load points share the time of a quick run, each measured once.
fn quick(written: &Written, set: &[Override]) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let once = Override::option("--quick", "run.repeats", "1");
    let known = [set, std::slice::from_ref(&once)].concat();
    let experiment = experiment::parse_with(&written.text, &written.name, &known)?;
    let options = ResolveOptions { engine: EngineChoice::Auto, pin: false, verify: false };
    let plan = resolve::resolve(&experiment, &written.name, TargetSpec::Null, &options)?;
    let load_points = plan.runs().count().max(1) as u64;
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

/// The target, and whether it is the scratch directory: the argument goes before the file, the file
/// before scratch.
fn target(
    arguments: &ExperimentArguments,
    experiment: &Experiment,
    store_root: &Path,
) -> Result<(TargetSpec, bool), Failure> {
    let Some(named) = arguments.target.as_ref().or(experiment.target.as_ref()) else {
        let path = store_root.join("scratch");
        let path = path.to_str().map(str::to_owned).ok_or_else(|| {
            let path = path.display();
            Failure::input(anyhow!("use {path} as scratch directory: its name is not UTF-8"))
        })?;
        return Ok((TargetSpec::Directory { path }, true));
    };
    if named == "null:" {
        return Ok((TargetSpec::Null, false));
    }
    if named.is_empty() || named.contains("://") {
        return Err(Failure::input(anyhow!(
            "use target `{named}`: a target is a directory, or `null:` for the generator's ceiling"
        )));
    }
    Ok((TargetSpec::Directory { path: named.clone() }, false))
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
