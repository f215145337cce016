//! From an experiment to a plan: every sweep value, repeat and seed resolved, in the order in which
//! runs are done.
//!
//! Settings are laid over one another: defaults, the stream, the variant, the command line. A
//! setting with several values is an axis; where a variant or the command line sets a key of
//! several streams, that is one axis, and the streams change together. Load points are the product
//! of a variant's axes, the first written changing slowest.
//!
//! What values mean together is checked here for every load point (`combination.rs`); an
//! impossible one is the user's mistake, never a panic later.

use std::sync::OnceLock;

use toml::de::DeValue;

use crate::combination::{self, StreamAt};
use crate::diagnostic::{Diagnostic, Place, Source};
use crate::experiment::{
    Experiment, Setting, StreamOverride, StreamSettings, VariantSettings, in_order, missing_key,
    same_name,
};
use crate::keys::{self, Presence, Section};
use crate::label::Labelled;
use crate::plan::{EngineChoice, Phases, Plan, Run, Step, Stream, TargetSpec};
use crate::random;
use crate::reader::Reader;
use crate::search::Repeats;
use crate::searching::{self, Searching};
use crate::value::Value;

/// More runs than this are a slip of the pen: a year at 53 minutes each.
const MOST_RUNS: u64 = 10_000;
const DATA_SEED: u64 = 0xDA7A;
/// The name under which the table's defaults are read.
pub(crate) const DEFAULTS_FILE: &str = "the table of keys";
const ORDER_SEED: u64 = 0x04DE;

/// What the command line adds to an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveOptions {
    /// How operations are sent.
    pub engine: EngineChoice,
    /// Workers are pinned to processors.
    pub pin: bool,
    /// What is read is checked against what was written.
    pub verify: bool,
}

/// Makes the plan. `source` says where the experiment came from: a path, or `profile:four-corners`.
///
/// # Errors
/// Every combination of values that cannot be done.
pub fn resolve(
    experiment: &Experiment,
    source: &str,
    target: TargetSpec,
    options: &ResolveOptions,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let points = load_points(experiment, Some(&target), &mut problems);
    if options.verify && target == TargetSpec::Null {
        let option = Source::option("--verify", "").place(0..0);
        let wrong = option.diagnostic("a null target keeps no data that could be verified", "");
        problems.push(wrong);
    }
    if options.engine != EngineChoice::Auto && target.is_nfs() {
        let option = Source::option("--engine", "").place(0..0);
        problems.push(option.diagnostic(
            "an NFS export has no engine to choose: our own client in user space sends the calls",
            "`--engine` where the target is a directory",
        ));
    }
    let run = RunSettings::of(experiment, &mut problems);
    if !problems.is_empty() {
        return Err(in_order(problems));
    }
    let searching = Searching::of(experiment, &mut problems);
    let steps = steps(&experiment.name, &points, &run, searching.as_ref());
    let runs_max = steps.iter().map(|step| u64::from(step.runs_max())).sum();
    if runs_max > MOST_RUNS {
        too_many_runs(experiment, runs_max, &mut problems);
        return Err(problems);
    }
    Ok(Plan {
        name: experiment.name.clone(),
        source: source.to_owned(),
        overrides: Vec::new(),
        target,
        engine: options.engine,
        pin: options.pin,
        verify: options.verify,
        seed: run.seed,
        data_seed: random::derive(run.seed, DATA_SEED),
        steps,
    })
}

/// Every combination of values that cannot be done.
pub(crate) fn check(experiment: &Experiment) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    load_points(experiment, None, &mut problems);
    let run = Layer::over(&[&experiment.run], Section::Run);
    searching::repeats(&run, &mut problems);
    problems
}

/// What is done with the load points, in order.
fn steps(
    name: &str,
    points: &[LoadPoint],
    run: &RunSettings,
    searching: Option<&Searching>,
) -> Vec<Step> {
    if let Some(searching) = searching {
        let mut index = 0;
        let search = |(number, point): (usize, &LoadPoint)| {
            let template = point.run(index, number, 0, run.seed);
            let search = searching.search(template, point.searched_depth, run.repeats);
            index += search.runs_max as usize;
            Step::Search(search)
        };
        return points.iter().enumerate().map(search).collect();
    }
    if run.repeats.until_permille.is_some() {
        let first = |(number, point): (usize, &LoadPoint)| point.run(0, number, 0, run.seed);
        let points = points.iter().enumerate().map(first).collect();
        return searching::repeated(name, points, run.repeats)
            .map(Step::Search)
            .into_iter()
            .collect();
    }
    order(points.len(), run.repeats.least, run.randomised, run.seed)
        .into_iter()
        .enumerate()
        .map(|(index, (point, repeat))| {
            Step::Fixed(points[point].run(index, point, repeat, run.seed))
        })
        .collect()
}

fn too_many_runs(experiment: &Experiment, runs: u64, problems: &mut Vec<Diagnostic>) {
    let wrong = experiment.place.diagnostic(
        "the sweeps and repeats multiply to too many runs",
        format!("at most {MOST_RUNS} runs"),
    );
    problems.push(wrong.with_found(format!("{runs} runs")));
}

/// The settings of `[run]` that hold for the whole plan.
struct RunSettings {
    repeats: Repeats,
    seed: u64,
    randomised: bool,
}

impl RunSettings {
    fn of(experiment: &Experiment, problems: &mut Vec<Diagnostic>) -> RunSettings {
        let layer = Layer::over(&[&experiment.run], Section::Run);
        let count = |name| match layer.value(name, &[]) {
            Some(Value::Count(count)) => *count,
            _ => 1,
        };
        let order = layer.value("order", &[]);
        let randomised = matches!(order, Some(Value::Text(word)) if word == "randomised");
        let repeats = searching::repeats(&layer, problems);
        // The empty list is reported by the checks; here it only must not be taken for a plan.
        if experiment.streams.is_empty() && problems.is_empty() {
            problems.push(experiment.place.diagnostic("the experiment has no stream", ""));
        }
        RunSettings { repeats, seed: count("seed"), randomised }
    }
}

/// The order of runs, as (load point, repeat).
fn order(points: usize, repeats: u32, randomised: bool, seed: u64) -> Vec<(usize, u32)> {
    if !randomised {
        return (0..points).flat_map(|point| (0..repeats).map(move |r| (point, r))).collect();
    }
    // A randomised complete block design (Fisher 1935): each repeat is a block that holds every
    // load point once, so that a drift over time falls on all load points alike.
    let seed = random::derive(seed, ORDER_SEED);
    let mut runs = Vec::new();
    for repeat in 0..repeats {
        let block = random::shuffled(random::derive(seed, u64::from(repeat)), points);
        runs.extend(block.into_iter().map(|point| (point, repeat)));
    }
    runs
}

/// One load point: a run without its place, repeat and seed.
#[derive(Clone, PartialEq)]
struct LoadPoint {
    variant: String,
    parameters: Vec<(String, String)>,
    connections: Option<u32>,
    streams: Vec<Stream>,
    phases: Phases,
    tolerated_errors: u64,
    operation_deadline_ns: u64,
    /// The deepest queue that a search tries, over all workers.
    searched_depth: u32,
}

impl LoadPoint {
    fn run(&self, index: usize, point: usize, repeat: u32, plan_seed: u64) -> Run {
        Run {
            index: u32::try_from(index).expect("a plan has at most 10,000 runs"),
            variant: self.variant.clone(),
            parameters: self.parameters.clone(),
            repeat,
            seed: random::derive(random::derive(plan_seed, point as u64), u64::from(repeat)),
            connections: self.connections,
            streams: self.streams.clone(),
            phases: self.phases,
            tolerated_errors: self.tolerated_errors,
            operation_deadline_ns: self.operation_deadline_ns,
        }
    }
}

/// Settings that hold for one stream (or for the run), the last layer on top.
pub(crate) struct Layer<'e> {
    settings: Vec<&'e Setting>,
}

/// An axis, and which of its values is taken.
pub(crate) type Taken<'e> = (&'e Setting, usize);

impl<'e> Layer<'e> {
    pub(crate) fn over(layers: &[&'e [Setting]], section: Section) -> Layer<'e> {
        let mut layer = Layer { settings: Vec::new() };
        let own = defaults().iter().filter(|setting| setting.key.section == section);
        for setting in own.chain(layers.iter().copied().flatten()) {
            layer.put(setting);
        }
        layer
    }

    fn put(&mut self, setting: &'e Setting) {
        self.settings.retain(|other| other.key.name != setting.key.name);
        self.settings.push(setting);
    }

    pub(crate) fn setting(&self, name: &str) -> Option<&'e Setting> {
        self.settings.iter().copied().find(|setting| setting.key.name == name)
    }

    /// The value at a load point and where it is written; `None` where it is absent or was wrong.
    pub(crate) fn at(&self, name: &str, taken: &[Taken<'_>]) -> Option<(&'e Value, &'e Place)> {
        let setting = self.setting(name)?;
        let axis = taken.iter().find(|(axis, _)| std::ptr::eq(*axis, setting));
        let choice = setting.choices.get(axis.map_or(0, |(_, index)| *index))?;
        Some((&choice.value, &choice.place))
    }

    fn value(&self, name: &str, taken: &[Taken<'_>]) -> Option<&'e Value> {
        self.at(name, taken).map(|(value, _)| value)
    }

    /// Whether the key was written, even if wrongly.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.setting(name).is_some()
    }
}

/// The table's defaults, read as if a user had written them.
fn defaults() -> &'static [Setting] {
    static DEFAULTS: OnceLock<Vec<Setting>> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let mut problems = Vec::new();
        let mut settings = Vec::new();
        for key in keys::KEYS {
            let Presence::Default(text) = key.presence else { continue };
            let source = Source::option(DEFAULTS_FILE, text);
            let node = DeValue::parse(text).expect("defaults are TOML values");
            let mut reader = Reader { source: &source, problems: &mut problems };
            let choices = reader.choices(key, &node);
            settings.push(Setting { key, choices, place: source.place(0..text.len()) });
        }
        assert!(problems.is_empty(), "defaults keep to their own rules: {problems:?}");
        settings
    })
}

/// All load points of all variants.
fn load_points(
    experiment: &Experiment,
    target: Option<&TargetSpec>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<LoadPoint> {
    let run = Layer::over(&[&experiment.run], Section::Run);
    let repeats = match run.value("repeats", &[]) {
        Some(Value::Count(count)) => *count,
        _ => 1,
    };
    let variants: Vec<Option<&VariantSettings>> = if experiment.variants.is_empty() {
        vec![None]
    } else {
        experiment.variants.iter().map(Some).collect()
    };
    let variants: Vec<Variant<'_>> =
        variants.into_iter().map(|variant| Variant::of(experiment, variant)).collect();
    let runs = variants
        .iter()
        .map(|variant| {
            let lengths = variant.axes(&run).into_iter().map(|axis| axis.choices.len() as u64);
            lengths.fold(1, u64::saturating_mul)
        })
        .fold(0, u64::saturating_add)
        .saturating_mul(repeats);
    if runs > MOST_RUNS {
        too_many_runs(experiment, runs, problems);
        return Vec::new();
    }
    let searching = Searching::of(experiment, problems);
    for variant in &variants {
        variant.find_missing(problems);
        if let Some(searching) = &searching {
            let before = problems.len();
            searching.check(&variant.layers, problems);
            drop_repeated(problems, before);
        }
    }
    let mut points = Vec::new();
    let given = Given { run: &run, target, searching: searching.as_ref() };
    for variant in &variants {
        let before = points.len();
        variant.load_points(&given, &mut points, problems);
        drop_known(&mut points, before, variant, problems);
    }
    points
}

/// Drops the load points after `before` that an earlier variant has too, because the command line
/// made the variants equal. Those that differ in all but their names are a mistake.
fn drop_known(
    points: &mut Vec<LoadPoint>,
    before: usize,
    variant: &Variant<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let new = points.split_off(before);
    let namesakes: Vec<LoadPoint> =
        points.iter().filter(|point| point.variant == variant.name).cloned().collect();
    for point in new {
        match namesakes.iter().find(|known| known.parameters == point.parameters) {
            None => points.push(point),
            Some(known) if *known == point => {}
            Some(_) => {
                let place = variant.settings.map_or(&variant.experiment.place, |one| &one.place);
                let wrong = same_name(place, &point.variant);
                if !problems.contains(&wrong) {
                    problems.push(wrong);
                }
            }
        }
    }
}

/// The settings of each stream of a variant, with `overrides` on top.
fn stream_layers<'e>(
    experiment: &'e Experiment,
    variant: Option<&'e VariantSettings>,
    overrides: &'e [StreamOverride],
) -> Vec<Layer<'e>> {
    let of_stream = |stream: &'e StreamSettings| {
        let mut layer = Layer::over(&[&stream.settings], Section::Stream);
        let names_it =
            |only: &Option<String>| only.as_ref().is_none_or(|name| *name == stream.name);
        if let Some(variant) = variant.filter(|variant| names_it(&variant.stream)) {
            variant.settings.iter().for_each(|setting| layer.put(setting));
        }
        for one in overrides.iter().filter(|one| names_it(&one.stream)) {
            layer.put(&one.setting);
        }
        layer
    };
    experiment.streams.iter().map(of_stream).collect()
}

/// What holds for all load points.
struct Given<'g, 'e> {
    run: &'g Layer<'e>,
    target: Option<&'g TargetSpec>,
    searching: Option<&'g Searching>,
}

/// The streams of one variant with all layers laid over them.
struct Variant<'e> {
    experiment: &'e Experiment,
    settings: Option<&'e VariantSettings>,
    name: String,
    /// One for each stream.
    layers: Vec<Layer<'e>>,
}

impl<'e> Variant<'e> {
    fn of(experiment: &'e Experiment, variant: Option<&'e VariantSettings>) -> Variant<'e> {
        let layers = stream_layers(experiment, variant, &experiment.overrides);
        let name = match variant {
            None => experiment.name.clone(),
            Some(variant) => {
                let written = stream_layers(experiment, Some(variant), &[]);
                Labelled { experiment, variant, written: &written, layers: &layers }.name()
            }
        };
        Variant { experiment, settings: variant, name, layers }
    }

    /// The settings with several values, in the order in which they were laid.
    fn axes(&self, run: &Layer<'e>) -> Vec<&'e Setting> {
        let mut axes: Vec<&Setting> = Vec::new();
        let streams = self.layers.iter().flat_map(|layer| &layer.settings);
        for setting in run.settings.iter().chain(streams) {
            if setting.choices.len() > 1 && !axes.iter().any(|axis| std::ptr::eq(*axis, *setting)) {
                axes.push(setting);
            }
        }
        axes
    }

    /// What an axis is called in tables: with the stream's name where it is one of several streams.
    fn axis_name(&self, axis: &Setting) -> String {
        let key = axis.key.name;
        if axis.key.section == Section::Run {
            return format!("run.{key}");
        }
        let uses = |layer: &Layer<'_>| layer.settings.iter().any(|own| std::ptr::eq(*own, axis));
        let streams = self.experiment.streams.iter().zip(&self.layers);
        let users: Vec<&str> = streams
            .filter(|(_, layer)| uses(layer))
            .map(|(stream, _)| stream.name.as_str())
            .collect();
        match users.as_slice() {
            [only] if self.layers.len() > 1 => format!("{only}.{key}"),
            _ => key.to_owned(),
        }
    }

    fn find_missing(&self, problems: &mut Vec<Diagnostic>) {
        for (stream, layer) in self.experiment.streams.iter().zip(&self.layers) {
            for key in keys::keys_of(Section::Stream) {
                if key.presence != Presence::Required || layer.is_written(key.name) {
                    continue;
                }
                let wrong = missing_key(&stream.place, key, &format!("stream `{}`", stream.name));
                // The same gap shows in every variant that does not fill it.
                if !problems.contains(&wrong) {
                    problems.push(wrong);
                }
            }
        }
    }

    fn load_points(
        &self,
        given: &Given<'_, 'e>,
        points: &mut Vec<LoadPoint>,
        problems: &mut Vec<Diagnostic>,
    ) {
        let Given { run, target, searching } = *given;
        let axes = self.axes(run);
        let names: Vec<String> = axes.iter().map(|axis| self.axis_name(axis)).collect();
        let count: usize = axes.iter().map(|axis| axis.choices.len()).product();
        for number in 0..count {
            let taken = nth_combination(&axes, number);
            let parameters = taken.iter().zip(&names).map(|((axis, index), name)| {
                (name.clone(), axis.choices[*index].value.to_string())
            });
            let before = problems.len();
            let phases = combination::phases(run, &taken, problems);
            let streams: Vec<Option<Stream>> = self
                .experiment
                .streams
                .iter()
                .zip(&self.layers)
                .map(|(stream, layer)| {
                    let at = StreamAt { name: &stream.name, layer, taken: &taken, target };
                    combination::stream(&at, problems)
                })
                .collect();
            let streams: Option<Vec<Stream>> = streams.into_iter().collect();
            let number = |name| match run.value(name, &taken) {
                Some(Value::Count(number) | Value::Duration(number)) => Some(*number),
                _ => None,
            };
            if let (
                Some(phases),
                Some(mut streams),
                Some(tolerated_errors),
                Some(operation_deadline_ns),
            ) = (phases, streams, number("tolerated_errors"), number("operation_deadline"))
            {
                let place = self.settings.map_or(&self.experiment.place, |variant| &variant.place);
                let depth = streams.iter().map(Stream::queue_depth_total).max().unwrap_or(1);
                if let Some(searching) = searching {
                    streams.iter_mut().for_each(|stream| searching.widen(stream));
                }
                let connections = combination::connections(run, &taken, target, problems);
                combination::whole_run(place, &streams, target, connections, problems);
                points.push(LoadPoint {
                    searched_depth: u32::try_from(depth).unwrap_or(u32::MAX),
                    variant: self.name.clone(),
                    parameters: parameters.collect(),
                    connections,
                    streams,
                    phases,
                    tolerated_errors,
                    operation_deadline_ns,
                });
            }
            drop_repeated(problems, before);
        }
    }
}

/// Combination `number` of the axes' values; the last axis changes fastest.
fn nth_combination<'e>(axes: &[&'e Setting], number: usize) -> Vec<Taken<'e>> {
    let mut rest = number;
    let mut taken: Vec<Taken<'e>> = axes
        .iter()
        .rev()
        .map(|axis| {
            let index = rest % axis.choices.len();
            rest /= axis.choices.len();
            (*axis, index)
        })
        .collect();
    taken.reverse();
    taken
}

/// Drops those after `before` that are already known: many load points share a mistake.
fn drop_repeated(problems: &mut Vec<Diagnostic>, before: usize) {
    let new = problems.split_off(before);
    for problem in new {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}
