//! From options to a plan: which experiment, which target, and what was assumed for options that
//! the user left out.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use cloud::service_level::ServiceLevel;
use host::Root;
use report::assumed::Assumed;
use settings::Diagnostic;
use units::{Bytes, unknown};
use workload::experiment::{self, Experiment, TargetSettings};
use workload::limit::StatedLimit;
use workload::overrides::Override;
use workload::plan::{IoMethod, Plan, TargetSpec};
use workload::profiles::{self, Group, Profile};
use workload::resolve::{self, PlanTargets, ResolveOptions};

use super::{explain, working_set};
use crate::outcome::Failure;
use crate::{emulated_volume, named_target};

const DEFAULT_PROFILE: &str = "four-corners";
const QUICK_PROFILE: &str = "four-corners-quick";
/// File size of built-in profiles on the emulated volume, which is filled at its throughput limit.
const EMULATED_FILE_SIZE: &str = "64MiB";

/// The time that the load points of the user's own experiment share with `--quick`: less than 30 s,
/// which leaves time for the fill, the probe and the report.
const QUICK_TOTAL_MS: u64 = 24_000;
const QUICK_INTERVAL_MS: u64 = 250;
/// Intervals of a load point with `--quick`: fewer give no result, more are not quick. A quarter of
/// them is warm-up.
const QUICK_INTERVALS: std::ops::RangeInclusive<u64> = 4..=16;

/// Which experiment, on which target. `None` and empty lists are what the user left out.
#[derive(Clone, Debug, Default)]
pub struct ExperimentOptions {
    /// The target as the user names it.
    pub target: Option<String>,
    /// Options of the NFS export or the emulated volume, `KEY=VALUE`.
    pub option: Vec<String>,
    /// The experiment file.
    pub workload: Option<PathBuf>,
    /// The built-in profile.
    pub profile: Option<String>,
    /// Finish within about 30 s.
    pub quick: bool,
    /// Overrides, `KEY=V1,V2,...`.
    pub set: Vec<String>,
    /// The total size of all files, instead of the experiment's.
    pub working_set: Option<Bytes>,
    /// Repeats of each load point.
    pub repeats: Option<u32>,
    /// The precision at which repeats end, a share.
    pub until: Option<String>,
    /// The warm-up, a duration.
    pub warm_up: Option<String>,
    /// The measured window, a duration.
    pub measure: Option<String>,
    /// The reporting period, a duration.
    pub interval: Option<String>,
    /// The seed of the random number generators.
    pub seed: Option<u64>,
    /// How operations reach the kernel.
    pub io_method: Option<IoMethod>,
    /// Pin workers to processors.
    pub pin: bool,
    /// Compare data that is read with data that was written.
    pub verify: bool,
    /// Use the page cache.
    pub buffered: bool,
    /// Replace the load points by scaling experiments that find the bottleneck.
    pub explain: bool,
    /// Limits that the user knows.
    pub known: Vec<StatedLimit>,
    /// Number of hosts that the user named; `None` for this host.
    pub hosts: Option<u32>,
}

/// A plan, and where it comes from.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The experiment as it was written, without overrides.
    pub text: String,
    /// What was assumed.
    pub assumed: Vec<Assumed>,
}

/// A setting that a command applies to an experiment before the user's overrides.
#[derive(Clone, Debug)]
pub(crate) struct Preset {
    /// The flag that problems are reported for.
    flag: &'static str,
    key: &'static str,
    value: String,
}

impl Preset {
    pub(crate) fn new(flag: &'static str, key: &'static str, value: &str) -> Preset {
        Preset { flag, key, value: value.to_owned() }
    }
}

/// An experiment that a command brings itself.
pub(crate) struct BuiltinExperiment {
    /// Its name, used where a file's path is printed otherwise.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// It has a file size for storage with a cache.
    pub(crate) has_default_size: bool,
}

/// Reads and resolves the experiment.
///
/// # Errors
/// The experiment cannot be read or has problems, or the target is not one.
pub fn plan(options: &ExperimentOptions) -> Result<Planned, Failure> {
    let mut planned = resolved(options, ExperimentSource::find(options)?)?;
    if options.explain {
        refuse_repeats(options)?;
        explain::replace(&mut planned.plan, &options.known, options.hosts.is_none())?;
    }
    Ok(planned)
}

/// Refuses options that scaling experiments decide.
fn refuse_repeats(options: &ExperimentOptions) -> Result<(), Failure> {
    let given = [("--repeats", options.repeats.is_some()), ("--until", options.until.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(explain::refused(&format!(
            "with {flag}: each scaling experiment runs once; leave the flag out"
        ))),
    }
}

/// Resolves the load of a tuning: that of the user's experiment, or of the command's own.
///
/// * `presets` - the values of the command's flags, for a load at offsets (false) or on names (true)
pub(crate) fn plan_for_tuning(
    options: &ExperimentOptions,
    builtin: &BuiltinExperiment,
    presets: impl FnOnce(bool) -> Vec<Preset>,
) -> Result<Planned, Failure> {
    let mut source = match options.workload.is_some() || options.profile.is_some() {
        true => ExperimentSource::find(options)?,
        false => ExperimentSource {
            text: builtin.text.to_owned(),
            name: builtin.name.to_owned(),
            folder: PathBuf::new(),
            is_quick: false,
            has_default_size: builtin.has_default_size,
            on_one_target: false,
            is_tuned: false,
            presets: Vec::new(),
            assumed: Vec::new(),
        },
    };
    source.is_tuned = true;
    // The search decides it, so an experiment need not have one. Users, which are refused, have none.
    source.presets.push(Preset::new("tune", "queue_depth", "1"));
    if source.parse(&source.of_presets()).is_err() {
        source.presets.pop();
    }
    let presets = presets(source.is_on_names());
    source.has_default_size &= presets.iter().all(|preset| preset.key != "file_size");
    source.presets.extend(presets);
    resolved(options, source)
}

/// The built-in profile `name`.
///
/// # Errors
/// There is no profile of this name.
pub fn profile(name: &str) -> Result<&'static Profile, Failure> {
    profiles::profile(name).ok_or_else(|| {
        let known: Vec<&str> = profiles::PROFILES.iter().map(|profile| profile.name).collect();
        Failure::input(anyhow!("there is no profile `{name}`; {}", unknown(name, &known)))
            .with_remedy("`fourcorners profiles` lists them")
    })
}

fn resolved(options: &ExperimentOptions, mut source: ExperimentSource) -> Result<Planned, Failure> {
    if options.target.is_none() && source.has_default_size && options.working_set.is_none() {
        // The volume has no cache that the files would have to exceed.
        source.presets.push(Preset::new("TARGET", "file_size", EMULATED_FILE_SIZE));
        source.assumed.push(Assumed::FileSize(EMULATED_FILE_SIZE.to_owned()));
    }
    let refused = |problems: Vec<Diagnostic>| Failure::problems(&source.text, problems);
    let mut overrides = overrides(options, &source).map_err(refused)?;
    if let Some(total) = options.working_set {
        working_set::refuse_other_sizes(&options.set)?;
        let plan = draft(options, &source, &overrides).map_err(refused)?;
        overrides.extend(working_set::overrides(&plan, total)?);
    }
    let experiment = source.parse(&overrides).map_err(refused)?;
    let mut assumed = source.assumed.clone();
    if source.on_one_target && source.volumes() > 1 && experiment.targets.is_empty() {
        assumed.push(Assumed::OneTarget { volumes: source.volumes() });
    }
    let targets =
        targets(options, &experiment).map_err(|wrong| wrong.into_failure(&source.text))?;
    if target_name(options, &experiment).is_none() && experiment.targets.is_empty() {
        assumed.push(Assumed::EmulatedVolume);
    }
    let has_seed = experiment.run.iter().any(|setting| setting.key.name == "seed");
    if !has_seed {
        assumed.push(Assumed::Seed);
    }
    let resolve_options = ResolveOptions {
        io_method: options.io_method.unwrap_or(IoMethod::Auto),
        pin: options.pin,
        verify: options.verify,
        hosts: options.hosts.unwrap_or(1),
    };
    let mut plan =
        resolve::resolve(&experiment, &source.name, targets, &resolve_options).map_err(refused)?;
    plan.overrides = of_user(&overrides, &source);
    set_memory(&mut plan)?;
    Ok(Planned { plan, text: source.text, assumed })
}

/// Sets the memory of emulated volumes to what the plan's files need.
pub(crate) fn set_memory(plan: &mut Plan) -> Result<(), Failure> {
    let needed: Vec<u64> =
        (0..plan.targets.len()).map(|target| plan.bytes_needed_on(target).get()).collect();
    let host_bytes = host::facts::memory_bytes(&Root::of_this_host());
    let volumes = plan.targets.len() as u64;
    for (target, needed) in plan.targets.iter_mut().zip(needed) {
        if let TargetSpec::Emulated { volume, .. } = target {
            emulated_volume::set_memory(volume, needed, host_bytes.map(|all| all / volumes))?;
        }
    }
    Ok(())
}

/// The text of an experiment and where it comes from.
struct ExperimentSource {
    text: String,
    /// The file as the user named it, or `profile:NAME`.
    name: String,
    /// The folder of its file; empty, for the current one, if it has none.
    folder: PathBuf,
    /// The text is a quick profile already.
    is_quick: bool,
    /// It is a built-in experiment with a file size for storage with a cache.
    has_default_size: bool,
    /// A profile whose streams all use the target of the command line, instead of its volumes.
    on_one_target: bool,
    /// The command decides the load.
    is_tuned: bool,
    presets: Vec<Preset>,
    assumed: Vec<Assumed>,
}

impl ExperimentSource {
    /// Reads the experiment; files that it names are relative to its own file, or to the current
    /// directory if it has none.
    fn parse(&self, overrides: &[Override]) -> Result<Experiment, Vec<Diagnostic>> {
        let read_file = |path: &str| {
            let path = self.folder.join(path);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut experiment =
            experiment::parse_with_files(&self.text, &self.name, overrides, &read_file)?;
        let is_written = experiment.targets.iter().any(|target| target.location().is_some());
        if self.on_one_target && !is_written {
            experiment.use_one_target();
        }
        if self.is_tuned {
            return experiment.for_tuning();
        }
        Ok(experiment)
    }

    fn of_presets(&self) -> Vec<Override> {
        let preset = |one: &Preset| Override::option(one.flag, one.key, &one.value);
        self.presets.iter().map(preset).collect()
    }

    /// Whether a stream has operations on names; false if the experiment has problems.
    fn is_on_names(&self) -> bool {
        self.parse(&self.of_presets()).is_ok_and(|experiment| {
            let mut settings = experiment.streams.iter().flat_map(|stream| &stream.settings);
            settings.any(|setting| setting.key.name == "names")
        })
    }

    /// The number of volumes that a profile names.
    fn volumes(&self) -> usize {
        let parsed = experiment::parse(&self.text, &self.name);
        parsed.map_or(0, |experiment| experiment.targets.len())
    }

    fn find(options: &ExperimentOptions) -> Result<ExperimentSource, Failure> {
        if let Some(path) = &options.workload {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("read experiment {}", path.display()))
                .map_err(Failure::input)?;
            let name = path.display().to_string();
            return Ok(ExperimentSource {
                text,
                name,
                folder: path.parent().map(PathBuf::from).unwrap_or_default(),
                is_quick: false,
                has_default_size: false,
                on_one_target: false,
                is_tuned: false,
                presets: Vec::new(),
                assumed: Vec::new(),
            });
        }
        let mut assumed = Vec::new();
        let name = match (&options.profile, options.quick) {
            (Some(name), true) => profiles::quick_profile(name).unwrap_or(name),
            (Some(name), false) => name.as_str(),
            (None, quick) => {
                let name = if quick { QUICK_PROFILE } else { DEFAULT_PROFILE };
                assumed.push(Assumed::Profile(name.to_owned()));
                name
            }
        };
        let profile = profile(name)?;
        Ok(ExperimentSource {
            text: profile.text.to_owned(),
            name: format!("profile:{name}"),
            folder: PathBuf::new(),
            is_quick: name.ends_with(profiles::QUICK),
            has_default_size: profile.group == Group::Synthetic,
            on_one_target: options.target.is_some(),
            is_tuned: false,
            presets: Vec::new(),
            assumed,
        })
    }
}

/// Presets and flags that override settings, in the order in which they are applied.
fn overrides(
    options: &ExperimentOptions,
    source: &ExperimentSource,
) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let mut set = source.of_presets();
    set.extend(options.set.iter().map(|text| Override::set(text)));
    let mut all = Vec::new();
    if options.quick && !source.is_quick {
        all.extend(quick(options, source, &set)?);
    }
    all.extend(set);
    let repeats = options.repeats.map(|count| count.to_string());
    let seed = options.seed.map(|number| number.to_string());
    for (flag, key, value) in [
        ("--repeats", "run.repeats", &repeats),
        ("--until", "run.until", &options.until),
        ("--warm-up", "run.warm_up", &options.warm_up),
        ("--measure", "run.measure", &options.measure),
        ("--interval", "run.interval", &options.interval),
        ("--seed", "run.seed", &seed),
    ] {
        all.extend(value.iter().map(|value| Override::option(flag, key, value)));
    }
    if options.buffered {
        all.push(Override::option("--buffered", "direct", "false"));
    }
    Ok(all)
}

/// The user's overrides, without the command's presets.
fn of_user(overrides: &[Override], source: &ExperimentSource) -> Vec<String> {
    let is_preset = |one: &&Override| source.presets.iter().any(|preset| preset.flag == one.flag);
    overrides.iter().filter(|one| !is_preset(one)).map(Override::assignment).collect()
}

/// The plan with only these overrides, from which others follow.
fn draft(
    options: &ExperimentOptions,
    source: &ExperimentSource,
    overrides: &[Override],
) -> Result<Plan, Vec<Diagnostic>> {
    let experiment = source.parse(overrides)?;
    let resolve_options =
        ResolveOptions { hosts: options.hosts.unwrap_or(1), ..ResolveOptions::LOCAL };
    // An unusable target is reported when the plan is made.
    let targets = targets(options, &experiment).unwrap_or_else(|_| TargetSpec::Null.into());
    resolve::resolve(&experiment, &source.name, targets, &resolve_options)
}

/// Phases with which all load points share the time of a quick run, each measured once.
fn quick(
    options: &ExperimentOptions,
    source: &ExperimentSource,
    set: &[Override],
) -> Result<Vec<Override>, Vec<Diagnostic>> {
    let once = Override::option("--quick", "run.repeats", "1");
    let known = [set, std::slice::from_ref(&once)].concat();
    let plan = draft(options, source, &known)?;
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

/// The target's name: the argument takes precedence over the file.
fn target_name<'a>(options: &'a ExperimentOptions, experiment: &'a Experiment) -> Option<&'a str> {
    options.target.as_deref().or(experiment.target.as_deref())
}

/// Why the targets of an experiment cannot be used.
enum WrongTargets {
    Options(Failure),
    File(Vec<Diagnostic>),
}

impl WrongTargets {
    fn into_failure(self, text: &str) -> Failure {
        match self {
            WrongTargets::Options(failure) => failure,
            WrongTargets::File(problems) => Failure::problems(text, problems),
        }
    }
}

/// The target of the command line or of the file, or the tables of targets in the file.
fn targets(
    options: &ExperimentOptions,
    experiment: &Experiment,
) -> Result<PlanTargets, WrongTargets> {
    if experiment.targets.is_empty() {
        let spec = named_target::spec(target_name(options, experiment), &options.option);
        return spec.map(PlanTargets::from).map_err(WrongTargets::Options);
    }
    if let Some(named) = &options.target {
        let message = anyhow!("target `{named}`: the experiment has [target.NAME] tables");
        let failure = Failure::input(message)
            .with_remedy("leave the target out on the command line, or use another experiment");
        return Err(WrongTargets::Options(failure));
    }
    let (mut specs, mut problems) = (Vec::new(), Vec::new());
    for table in &experiment.targets {
        match table_spec(table, &options.option) {
            Ok(spec) => specs.push(spec),
            Err(problem) => problems.push(*problem),
        }
    }
    let names = experiment.targets.iter().map(|table| table.name.clone()).collect();
    match problems.is_empty() {
        true => Ok(PlanTargets { specs, names }),
        false => Err(WrongTargets::File(problems)),
    }
}

/// The target of a table.
fn table_spec(table: &TargetSettings, option: &[String]) -> Result<TargetSpec, Box<Diagnostic>> {
    if let Some((location, span)) = table.location() {
        let wrong = |failure: Failure| span.diagnostic(failure.reason_in_words(), "").into();
        return named_target::spec(Some(location), option).map_err(wrong);
    }
    let wrong = |why: String| Box::new(table.span.diagnostic(why, "another `quota`"));
    let spec = named_target::spec(None, option);
    let mut spec = spec.map_err(|failure| wrong(failure.reason_in_words()))?;
    if let (TargetSpec::Emulated { volume, .. }, Some(quota), Some(level)) =
        (&mut spec, table.quota_bytes(), table.service_level())
    {
        let level = ServiceLevel::ALL.into_iter().find(|one| one.name() == level);
        let level = level.unwrap_or(ServiceLevel::Ultra);
        *volume = emulated_volume::volume_of(level, Bytes::new(quota)).map_err(wrong)?;
    }
    Ok(spec)
}
