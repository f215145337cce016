//! Resolves an experiment into a plan: every sweep value, repeat and seed, in the order of the runs.
//!
//! Settings override each other in this order: defaults, the stream, the variant, the command line.
//! A setting with several values is an axis. A key that a variant or the command line sets for
//! several streams is one axis: the streams change together. Load points are the product of a
//! variant's axes; the first axis in the file changes slowest.
//!
//! Combinations of values are checked for every load point (`combination.rs`), so that an
//! impossible one is reported before any run.

use settings::{Diagnostic, Source, SourceSpan, did_you_mean, in_order};

use crate::active_time;
use crate::combination::{self, StreamAt};
use crate::keys::{self, Presence, Section};
use crate::label::Labelled;
use crate::layer::{AxisValue, DEFAULTS_FILE, Layer};
use crate::metric;
use crate::name_load::KEYS_AT_OFFSETS;
use crate::plan::{Plan, Step};
use crate::problem::{missing_key, same_name};
use crate::random;
use crate::replay_load;
use crate::run::{IoMethod, Phases, Run, Stream, TargetSpec};
use crate::search::Repeats;
use crate::search_settings::{self, SearchSettings};
use crate::shared_arrival;
use crate::value::Value;
use crate::written::{Experiment, Setting, StreamOverride, StreamSettings, VariantSettings};

/// A plan with more runs is assumed to be a mistake: it takes a year at 53 minutes per run.
const MOST_RUNS: u64 = 10_000;
const DATA_SEED: u64 = 0xDA7A;
const ORDER_SEED: u64 = 0x04DE;

/// What the command line adds to an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveOptions {
    /// How operations reach the kernel.
    pub io_method: IoMethod,
    /// Pin workers to processors.
    pub pin: bool,
    /// Verify that reads return the written data.
    pub verify: bool,
    /// Number of hosts that the user named; 1 for this host.
    pub hosts: u32,
}

impl ResolveOptions {
    /// Whatever works best, on this host.
    pub const LOCAL: ResolveOptions =
        ResolveOptions { io_method: IoMethod::Auto, pin: false, verify: false, hosts: 1 };
}

/// The targets of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTargets {
    /// The targets, at least one, in the order of the experiment's tables.
    pub specs: Vec<TargetSpec>,
    /// Their names; empty for a single target without a name.
    pub names: Vec<String>,
}

impl From<TargetSpec> for PlanTargets {
    fn from(only: TargetSpec) -> PlanTargets {
        PlanTargets { specs: vec![only], names: Vec::new() }
    }
}

/// Resolves an experiment.
///
/// * `source` - the origin of the experiment: a path, or `profile:four-corners`
///
/// # Errors
/// Every impossible combination of values.
pub fn resolve(
    experiment: &Experiment,
    source: &str,
    targets: impl Into<PlanTargets>,
    options: &ResolveOptions,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let PlanTargets { specs, names } = targets.into();
    let Some(target) = specs.first() else {
        return Err(vec![experiment.span.diagnostic("the experiment has no target", "")]);
    };
    refuse_mixed(experiment, &specs, &mut problems);
    let points = load_points(experiment, Some((target, options.hosts)), &mut problems);
    refuse_unknown_scope(experiment, &points, &mut problems);
    if options.verify && !target.capabilities().moves_data {
        let option = Source::option("--verify", "").span(0..0);
        let wrong = option.diagnostic("the target `null:` stores no data to verify", "");
        problems.push(wrong);
    }
    let is_shared_write = |point: &LoadPoint| {
        // Workers change different names, and each file of a list has one worker.
        let is_divided = |stream: &Stream| stream.names.is_some() || stream.replay.is_some();
        let writes = |stream: &Stream| !is_divided(stream) && stream.read_permille < 1000;
        let mut streams = point.streams.iter().filter(|stream| writes(stream));
        point.hosts > 1 && streams.any(|stream| !stream.file_use.is_separate())
    };
    if options.verify && points.iter().any(is_shared_write) {
        let option = Source::option("--verify", "").span(0..0);
        let wrong = option.diagnostic(
            "several hosts write to the same files, so none knows what a read must return",
            "`--verify` with one host, streams that only read, or a separate part of the files for \
             each host",
        );
        problems.push(wrong.with_hint("`--set sharing=host` gives each host separate files"));
    }
    if options.io_method != IoMethod::Auto && target.capabilities().own_client {
        let option = Source::option("--engine", "").span(0..0);
        problems.push(option.diagnostic(
            "an NFS export is accessed by the built-in client, without an engine",
            "`--engine` only for a directory",
        ));
    }
    let run = RunSettings::of(experiment, &mut problems);
    if !problems.is_empty() {
        return Err(in_order(problems));
    }
    let search = SearchSettings::of(experiment, &mut problems);
    let steps = steps(&experiment.name, &points, &run, search.as_ref());
    let runs_max = steps.iter().map(|step| u64::from(step.runs_max())).sum();
    if runs_max > MOST_RUNS {
        too_many_runs(experiment, runs_max, &mut problems);
        return Err(problems);
    }
    Ok(Plan {
        name: experiment.name.clone(),
        source: source.to_owned(),
        overrides: Vec::new(),
        targets: specs,
        target_names: names,
        io_method: options.io_method,
        pin: options.pin,
        verify: options.verify,
        metric: metric::of(experiment),
        seed: run.seed,
        data_seed: random::derive(run.seed, DATA_SEED),
        requirements: experiment
            .requirements
            .iter()
            .map(|one| one.condition.text.clone())
            .collect(),
        steps,
    })
}

/// Refuses a requirement of a workload or stream that the experiment does not have. A variant that the
/// command line renames keeps the name of the file here, and its requirement applies to no load point.
fn refuse_unknown_scope(
    experiment: &Experiment,
    points: &[LoadPoint],
    problems: &mut Vec<Diagnostic>,
) {
    let streams = experiment.streams.iter().map(|stream| stream.name.as_str());
    let variants = experiment.variants.iter().filter_map(|variant| variant.name.as_deref());
    let described = points.iter().map(|point| point.variant.as_str());
    let mut known: Vec<&str> = Vec::new();
    for name in streams.chain(variants).chain(described) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    for requirement in &experiment.requirements {
        let condition = &requirement.condition;
        if condition.metric.is_of_series() && experiment.metric.is_empty() {
            let wrong = "a requirement of a business metric, and the experiment has none";
            let wrong = requirement.span.diagnostic(wrong, "`metric` and `ort` only with [metric]");
            problems.push(wrong.with_hint("add [metric]"));
        }
        let has_users =
            |point: &LoadPoint| point.streams.iter().any(|stream| stream.arrival.users().is_some());
        if condition.metric.is_of_users() && !points.is_empty() && !points.iter().any(has_users) {
            let wrong = "a requirement of users, and the experiment has none";
            let allowed = format!("`{}` only with `users`", condition.metric.name());
            let wrong = requirement.span.diagnostic(wrong, allowed);
            problems.push(wrong.with_hint("set `users`, `cycle` and `scenario` in a stream"));
        }
        if condition.metric.is_of_all_kinds() && condition.kind.is_some() {
            let wrong = "a requirement of one kind of operation whose value is one of all";
            let allowed = format!("`{}` without a kind", condition.metric.name());
            problems.push(requirement.span.diagnostic(wrong, allowed).with_hint("omit the kind"));
        }
        let Some(scope) = requirement.condition.scope.as_deref() else { continue };
        if known.contains(&scope) {
            continue;
        }
        let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let mut wrong = requirement
            .span
            .diagnostic("a requirement of an unknown workload or stream", names.join(" or "))
            .with_found(format!("`{scope}`"));
        wrong.hint = did_you_mean(scope, known.iter().copied());
        problems.push(wrong);
    }
}

/// Targets of different kinds need different clients, and a target given twice is one target.
fn refuse_mixed(experiment: &Experiment, specs: &[TargetSpec], problems: &mut Vec<Diagnostic>) {
    let first = specs[0].capabilities();
    for (at, spec) in specs.iter().enumerate().skip(1) {
        let Some(table) = experiment.targets.get(at) else { continue };
        let span = table.location().map_or(&table.span, |(_, span)| span);
        let is_mixed = spec.capabilities() != first || spec.is_emulated() != specs[0].is_emulated();
        let same = specs[..at].iter().position(|other| other == spec && !spec.is_emulated());
        if is_mixed || !first.moves_data {
            let wrong = span.diagnostic(
                format!(
                    "target `{}` is of another kind than `{}`",
                    table.name, experiment.targets[0].name
                ),
                "only directories, only exports (nfs://), or only emulated volumes",
            );
            problems.push(wrong.with_found(format!("`{}`", spec.in_words())));
        } else if let Some(same) = same {
            let known = &experiment.targets[same].name;
            let wrong = format!("target `{}` is target `{known}` again", table.name);
            problems.push(span.diagnostic(wrong, "each location once"));
        }
    }
}

/// Every impossible combination of values.
pub(crate) fn check(experiment: &Experiment) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    load_points(experiment, None, &mut problems);
    let run = Layer::over(&[&experiment.run], Section::Run);
    search_settings::repeats(&run, &mut problems);
    problems
}

/// The steps of the plan, in order.
fn steps(
    name: &str,
    points: &[LoadPoint],
    run: &RunSettings,
    search: Option<&SearchSettings>,
) -> Vec<Step> {
    if let Some(search) = search {
        let mut index = 0;
        let step = |(number, point): (usize, &LoadPoint)| {
            let template = point.run(index, number, 0, run.seed);
            let search = search.search(template, point.searched_depth, run.repeats);
            index += search.runs_max as usize;
            Step::Search(search)
        };
        return points.iter().enumerate().map(step).collect();
    }
    if run.repeats.until_permille.is_some() {
        let first = |(number, point): (usize, &LoadPoint)| point.run(0, number, 0, run.seed);
        let points = points.iter().enumerate().map(first).collect();
        return search_settings::repeated(name, points, run.repeats)
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
    let wrong = experiment
        .span
        .diagnostic("sweeps and repeats give too many runs", format!("at most {MOST_RUNS} runs"));
    problems.push(wrong.with_found(format!("{runs} runs")));
}

/// The settings of `[run]` that apply to the whole plan.
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
        let repeats = search_settings::repeats(&layer, problems);
        // Usually reported by the parser already.
        if experiment.streams.is_empty() && problems.is_empty() {
            problems.push(experiment.span.diagnostic("the experiment has no stream", ""));
        }
        RunSettings { repeats, seed: count("seed"), randomised }
    }
}

/// The order of runs, as (load point, repeat).
fn order(points: usize, repeats: u32, randomised: bool, seed: u64) -> Vec<(usize, u32)> {
    if !randomised {
        return (0..points).flat_map(|point| (0..repeats).map(move |r| (point, r))).collect();
    }
    // A randomised complete block design (Fisher 1935): each repeat is a block with every load
    // point once, so that a drift over time affects all load points equally.
    let seed = random::derive(seed, ORDER_SEED);
    let mut runs = Vec::new();
    for repeat in 0..repeats {
        let block = random::shuffled(random::derive(seed, u64::from(repeat)), points);
        runs.extend(block.into_iter().map(|point| (point, repeat)));
    }
    runs
}

/// One load point: a run without its index, repeat and seed.
#[derive(Clone, PartialEq)]
struct LoadPoint {
    variant: String,
    parameters: Vec<(String, String)>,
    hosts: u32,
    connections: Option<u32>,
    streams: Vec<Stream>,
    phases: Phases,
    tolerated_errors: u64,
    operation_deadline_ns: u64,
    /// The maximum queue depth of a search, over all workers.
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
            hosts: self.hosts,
            connections: self.connections,
            streams: self.streams.clone(),
            phases: self.phases,
            tolerated_errors: self.tolerated_errors,
            operation_deadline_ns: self.operation_deadline_ns,
        }
    }
}

/// All load points of all variants.
///
/// * `known` - the target and the number of hosts that the user named
fn load_points(
    experiment: &Experiment,
    known: Option<(&TargetSpec, u32)>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<LoadPoint> {
    let (target, named_hosts) = known.unzip();
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
    let search = SearchSettings::of(experiment, problems);
    for variant in &variants {
        variant.find_missing(problems);
        if let Some(search) = &search {
            let before = problems.len();
            search.check(&run, &variant.layers, problems);
            drop_repeated(problems, before);
        }
    }
    let mut points = Vec::new();
    let shared = Shared { run: &run, target, named_hosts, search: search.as_ref() };
    for variant in &variants {
        let before = points.len();
        variant.load_points(&shared, &mut points, problems);
        drop_known(&mut points, before, variant, problems);
    }
    points
}

/// Drops load points from `before` on that equal one of an earlier variant, because the command line
/// made the variants equal. Different load points with equal names are reported.
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
                let span = variant.settings.map_or(&variant.experiment.span, |one| &one.span);
                let wrong = same_name(span, &point.variant);
                if !problems.contains(&wrong) {
                    problems.push(wrong);
                }
            }
        }
    }
}

/// The settings of each stream of a variant; `overrides` take precedence.
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

/// What all load points share.
struct Shared<'g, 'e> {
    run: &'g Layer<'e>,
    target: Option<&'g TargetSpec>,
    /// Hosts that the user named; `None` if that is not known.
    named_hosts: Option<u32>,
    /// None without a search.
    search: Option<&'g SearchSettings>,
}

/// One variant with the resolved settings of its streams.
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

    /// The settings with several values, in the order in which they apply.
    fn axes(&self, run: &Layer<'e>) -> Vec<&'e Setting> {
        let mut axes: Vec<&Setting> = Vec::new();
        let streams = self.layers.iter().flat_map(|layer| &layer.settings);
        // The metric changes fastest, so that its load points follow each other.
        let of_metric = metric::values(self.experiment);
        for setting in run.settings.iter().chain(streams).chain(&of_metric) {
            if setting.choices.len() > 1 && !axes.iter().any(|axis| std::ptr::eq(*axis, *setting)) {
                axes.push(setting);
            }
        }
        axes
    }

    /// The name of an axis in tables, with the stream's name if it is one of several.
    fn axis_name(&self, axis: &Setting) -> String {
        let key = axis.key.name;
        if axis.key.section == Section::Metric
            && let Some(metric) = metric::of(self.experiment)
        {
            return metric.name;
        }
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

    /// The metric's name, and its value at a load point.
    fn value_of_metric(&self, axis_values: &[AxisValue<'_>]) -> Option<(String, u64)> {
        let values = metric::values(self.experiment)?;
        let axis = axis_values.iter().find(|(axis, _)| std::ptr::eq(*axis, values));
        match values.choices.get(axis.map_or(0, |(_, index)| *index))?.value {
            Value::Count(value) => Some((metric::of(self.experiment)?.name, value)),
            _ => None,
        }
    }

    /// Where the arrival process of each stream is set; of a default, the position of the stream.
    fn arrivals(&self, run: &Layer<'e>) -> Vec<&'e SourceSpan> {
        let is_written = |span: &&SourceSpan| span.file.as_ref() != DEFAULTS_FILE;
        let streams = self.experiment.streams.iter().zip(&self.layers);
        let of_stream = streams.map(|(stream, layer)| {
            let setting = run.setting("arrival").or_else(|| layer.setting("arrival"));
            setting.map(|setting| &setting.span).filter(is_written).unwrap_or(&stream.span)
        });
        of_stream.collect()
    }

    fn find_missing(&self, problems: &mut Vec<Diagnostic>) {
        for (stream, layer) in self.experiment.streams.iter().zip(&self.layers) {
            for key in keys::keys_of(Section::Stream) {
                let is_needed = match (layer.is_on_names(), key.name) {
                    (true, "names") => true,
                    (true, "mix") => !layer.has_users(),
                    (true, "cycle" | "scenario") => layer.has_users(),
                    (true, "queue_depth") => !layer.has_users(),
                    (true, name) if KEYS_AT_OFFSETS.contains(&name) => false,
                    (_, name) if layer.is_replay() && KEYS_AT_OFFSETS.contains(&name) => false,
                    _ => key.presence == Presence::Required,
                };
                if !is_needed || layer.is_written(key.name) {
                    continue;
                }
                let wrong = missing_key(&stream.span, key, &format!("stream `{}`", stream.name));
                // Several variants can lack the same key.
                if !problems.contains(&wrong) {
                    problems.push(wrong);
                }
            }
        }
    }

    fn load_points(
        &self,
        shared: &Shared<'_, 'e>,
        points: &mut Vec<LoadPoint>,
        problems: &mut Vec<Diagnostic>,
    ) {
        let Shared { run, target, named_hosts, search } = *shared;
        let axes = self.axes(run);
        let names: Vec<String> = axes.iter().map(|axis| self.axis_name(axis)).collect();
        let count: usize = axes.iter().map(|axis| axis.choices.len()).product();
        for number in 0..count {
            let axis_values = nth_combination(&axes, number);
            let parameters = axis_values.iter().zip(&names).map(|((axis, index), name)| {
                (name.clone(), axis.choices[*index].value.to_string())
            });
            let mut parameters: Vec<(String, String)> = parameters.collect();
            let of_metric = self.value_of_metric(&axis_values);
            if let Some((name, value)) = &of_metric
                && !parameters.iter().any(|(known, _)| known == name)
            {
                parameters.push((name.clone(), value.to_string()));
            }
            let before = problems.len();
            let hosts = combination::hosts(run, &axis_values, named_hosts, problems);
            let targets_used = combination::targets_used(run, &axis_values);
            let target_names: Vec<String> =
                self.experiment.targets.iter().map(|target| target.name.clone()).collect();
            let named = self.experiment.streams.iter().zip(&self.layers);
            let named: Vec<_> = named.map(|(one, layer)| (one.name.as_str(), layer)).collect();
            let replay_end_ns = replay_load::end_ns(&named, &axis_values);
            let phases = combination::phases(run, &axis_values, replay_end_ns, problems);
            let shared = shared_arrival::parts(run, &named, &axis_values, problems);
            let streams: Vec<Option<Stream>> = named
                .iter()
                .enumerate()
                .map(|(position, (name, layer))| {
                    let at = StreamAt {
                        name,
                        layer,
                        axis_values: &axis_values,
                        target,
                        hosts,
                        named_hosts,
                        target_names: &target_names,
                        targets_used,
                        shared_arrival: shared.as_ref().and_then(|all| all.get(position)),
                        phases,
                    };
                    combination::stream(&at, problems)
                })
                .collect();
            let streams: Option<Vec<Stream>> = streams.into_iter().collect();
            let number = |name| match run.value(name, &axis_values) {
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
                let span = self.settings.map_or(&self.experiment.span, |variant| &variant.span);
                let depth = streams.iter().map(Stream::queue_depth_total).max().unwrap_or(1);
                if let Some((_, value)) = &of_metric {
                    let arrivals = self.arrivals(run);
                    metric::scale(&mut streams, *value, &arrivals, problems);
                }
                if let Some(search) = search {
                    search.check_streams(&streams, &phases, problems);
                    streams.iter_mut().for_each(|stream| search.widen(stream));
                }
                let connections = combination::connections(run, &axis_values, target, problems);
                let whole = combination::WholeRun { streams: &streams, target, connections, hosts };
                whole.check(span, problems);
                active_time::check_all(&streams, &phases, span, problems);
                points.push(LoadPoint {
                    searched_depth: u32::try_from(depth).unwrap_or(u32::MAX),
                    variant: self.name.clone(),
                    parameters,
                    hosts,
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
fn nth_combination<'e>(axes: &[&'e Setting], number: usize) -> Vec<AxisValue<'e>> {
    let mut rest = number;
    let mut axis_values: Vec<AxisValue<'e>> = axes
        .iter()
        .rev()
        .map(|axis| {
            let index = rest % axis.choices.len();
            rest /= axis.choices.len();
            (*axis, index)
        })
        .collect();
    axis_values.reverse();
    axis_values
}

/// Drops repeated problems from `before` on: many load points can have the same one.
fn drop_repeated(problems: &mut Vec<Diagnostic>, before: usize) {
    let new = problems.split_off(before);
    for problem in new {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}
