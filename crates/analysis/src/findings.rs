//! All results of an experiment, computed once for every output.

use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use metrics::warning::Warning;
use workload::condition::{Condition, parse_requirement};
use workload::plan::{Plan, Step};
use workload::search::{Search, SearchMethod};

use crate::curve::{self, Curve};
use crate::emulated::{self, EmulatedFindings};
use crate::fleet::{self, FleetFindings, FleetLoadPoint, HostsOfPoint};
use crate::heat::{self, Heat};
use crate::host_heat::{self, HostHeat};
use crate::kinds_over_time::{self, KindsOverTime};
use crate::load_point::{self, Generator, LoadPoint};
use crate::metric::{self, MetricFindings};
use crate::mix::{self, MixCheck};
use crate::scaling::{self, Scaling};
use crate::scraped::{self, ScrapedFindings};
use crate::search::{self, Searched};
use crate::series::{self, Series};
use crate::server_cache;
use crate::service_check::{self, ServiceCheck};
use crate::steadiness::{self, Steadiness};
use crate::summary::{self, Summary};
use crate::targets::{self, TargetFindings};
use crate::tree_check::{self, TreeCheck};
use crate::tune::{self, findings::TuneFindings, relevance};
use crate::verdict::{self, Known, Verdict, explain};
use crate::warnings::{self, Sighting, WarningGroup};
use crate::wire::{self, HostCache, RunWire};

/// The results of an experiment: plain data, a function of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The record's name in the store.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The source of the experiment: a file path, or `profile:four-corners`.
    pub source: String,
    /// Overrides on the command line, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// The target as the user writes it.
    pub target: String,
    /// SHA-256 of the plan's stored form.
    pub plan_hash: String,
    /// The I/O method: `io_uring`, `psync`, or `nfs_client`.
    pub io_method: &'static str,
    /// Why that I/O method was used.
    pub io_method_reason: String,
    /// The seed of the plan.
    pub seed: u64,
    /// Host and target, `(name, value)`.
    pub environment: Vec<(String, String)>,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// From the start to the end of the last interval, in nanoseconds.
    pub duration_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The command that repeats the experiment.
    pub repeat_command: String,
    /// What the experiment requires of its results.
    pub requirements: Vec<Condition>,
    /// Load points, in the order of their first run.
    pub load_points: Vec<LoadPoint>,
    /// The load points as curves.
    pub curves: Vec<Curve>,
    /// Steadiness of each load point over time and repeats, in the order of `load_points`.
    pub steadiness: Vec<Steadiness>,
    /// The outcome of each search, in the order of the plan.
    pub searches: Vec<Searched>,
    /// The business metric by which the load was chosen; `None` without one.
    pub metric: Option<MetricFindings>,
    /// Planned and achieved share of reads, of each stream that reads and writes.
    pub mixes: Vec<MixCheck>,
    /// Each stream of each run over time.
    pub series: Vec<Series>,
    /// The result of `tune`; `None` for other plans.
    pub tune: Option<TuneFindings>,
    /// The verdict on each curve with increasing load, and on each point of other curves, in the
    /// order of `curves`.
    pub verdicts: Vec<Verdict>,
    /// Response times over time of the most interesting runs.
    pub heats: Vec<Heat>,
    /// Operations on names over time by kind, of the run with the highest rate of each curve.
    pub kinds_over_time: Vec<KindsOverTime>,
    /// The hosts of the same runs over time; none for one host.
    pub host_heats: Vec<HostHeat>,
    /// Settings of the emulated volume with measurements; `None` for other targets.
    pub emulated: Option<EmulatedFindings>,
    /// Kernel counters of each run that has them, by load point, in the order of `load_points`.
    pub wire: Vec<Vec<RunWire>>,
    /// The service-side counters; `None` without them.
    pub service_check: Option<ServiceCheck>,
    /// Trees after the runs; `None` without operations on names.
    pub tree_check: Option<TreeCheck>,
    /// The hosts that measured; `None` if it was only one.
    pub fleet: Option<FleetFindings>,
    /// The targets that were measured; `None` if it was only one.
    pub targets: Option<TargetFindings>,
    /// How rates grow with the number of hosts or targets.
    pub scalings: Vec<Scaling>,
    /// Metrics of other systems, by exporter.
    pub scraped: Vec<ScrapedFindings>,
    /// Warnings by kind.
    pub warnings: Vec<WarningGroup>,
    /// Notes on the experiment as a whole.
    pub notes: Vec<Note>,
    /// The key results.
    pub summary: Summary,
}

/// A note on the experiment as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed {
        /// The reason, possibly several lines.
        reason: String,
    },
    /// It did not record its end: it was killed, or the host went down.
    Aborted,
    /// Not all planned runs were started.
    RunsMissing {
        /// Runs that were started.
        started: usize,
        /// Planned runs.
        planned: usize,
    },
    /// Hosts were lost while the others continued.
    HostsLost {
        /// Load points whose totals are those of fewer hosts.
        load_points: usize,
        /// All of them.
        of: usize,
    },
}

/// Analyses a record. The same record gives the same findings, bit for bit.
pub fn analyze(record: &ExperimentRecord) -> Findings {
    let groups = load_point::by_load_point(&record.runs);
    let generator = generator(record);
    let load_points: Vec<LoadPoint> =
        groups.iter().map(|group| load_point::load_point(group, generator)).collect();
    let points = load_points.iter().zip(&groups);
    let steadiness: Vec<Steadiness> =
        points.map(|(point, records)| steadiness::steadiness(point, records)).collect();
    let cache = HostCache::of(record);
    let wire: Vec<Vec<RunWire>> = groups
        .iter()
        .map(|records| records.iter().filter_map(|record| wire::of_run(record, cache)).collect())
        .collect();
    let fleet = fleet::findings(record, &groups, generator, cache);
    let targets = targets::findings(record, &groups, generator);
    let of_load_points =
        load_points.iter().zip(&groups).enumerate().flat_map(|(index, (point, records))| {
            warnings::of_load_point(
                index,
                point,
                records,
                &steadiness[index],
                &wire[index],
                generator,
                HostsOfPoint::of(&record.hosts, fleet.as_ref(), index),
            )
        });
    let differing = fleet.as_ref().and_then(fleet::differing);
    let of_all: Vec<Warning> = record.warnings.iter().cloned().chain(differing).collect();
    let of_experiment = warnings::of_experiment(&of_all).into_iter();
    let of_server = server_cache::sightings(record, &groups);
    let mut sightings: Vec<Sighting> =
        of_experiment.chain(of_server).chain(of_load_points).collect();
    let known = Known::of(record);
    let outlines = curve::outlines(&load_points, verdict::certain(&known));
    let is_cached = |point: usize| is_cached(&wire, fleet.as_ref(), point);
    let is_evidence =
        |point: &LoadPoint| record.plan.searches().any(|search| explain::is_changed(search, point));
    let verdicts = verdict::verdicts(&outlines, &load_points, &known, is_cached, is_evidence);
    let curves = curve::curves(
        outlines,
        &load_points,
        |point| objective_s(&record.plan, point),
        |point| search_of(&record.plan, point)?.overload_max(),
    );
    let tune = tune(&record.plan, &load_points, &verdicts);
    if let Some(tune) = &tune {
        sightings.retain(|sighting| relevance::is_relevant(tune, sighting));
    }
    let warnings = warnings::group(sightings);
    Findings {
        summary: summary::summary(&load_points, &curves, &warnings, is_evidence),
        id: record.id.clone(),
        name: record.plan.name.clone(),
        source: record.plan.source.clone(),
        overrides: record.plan.overrides.clone(),
        target: record.plan.targets_in_words(),
        plan_hash: record.plan_hash.clone(),
        io_method: record.io_method.io_method.name(),
        io_method_reason: record.io_method.reason.clone(),
        seed: record.plan.seed,
        environment: record.environment.pairs(),
        started_unix_ms: record.started_unix_ms,
        duration_ns: duration_ns(record),
        outcome: record.outcome.clone(),
        repeat_command: repeat_command(record),
        requirements: requirements(&record.plan),
        tune,
        emulated: emulated::emulated(&record.plan.targets, &load_points, &verdicts),
        verdicts,
        heats: heat::heats(&curves, &groups),
        kinds_over_time: kinds_over_time::kinds_over_time(&curves, &groups),
        host_heats: host_heat::host_heats(&curves, &groups),
        curves,
        metric: metric::findings(record.plan.metric.as_ref(), &load_points),
        mixes: mix::mixes(&load_points, &groups),
        searches: record.plan.searches().map(|s| search::searched(s, &load_points)).collect(),
        service_check: service_check::of_runs(&record.runs),
        tree_check: tree_check::of_runs(&record.runs),
        scalings: scaling::scalings(&load_points),
        steadiness,
        wire,
        series: series::series(&record.runs),
        fleet,
        targets,
        scraped: scraped::of_record(record),
        warnings,
        notes: notes(record, &load_points),
        load_points,
    }
}

/// The requirements of a plan. Those that this version cannot read are left out: the version that planned
/// them knew more metrics.
fn requirements(plan: &Plan) -> Vec<Condition> {
    plan.requirements.iter().filter_map(|text| parse_requirement(text).ok()).collect()
}

/// The search that a load point belongs to.
fn search_of<'p>(plan: &'p Plan, point: &LoadPoint) -> Option<&'p Search> {
    let of_search = |search: &&Search| point.runs.iter().any(|run| search.owns(run.index));
    plan.searches().find(of_search)
}

/// The objective for the mean response time of a load point's search, in seconds.
fn objective_s(plan: &Plan, point: &LoadPoint) -> Option<f64> {
    let objective_ns = search_of(plan, point)?.response_time_max_ns()?;
    Some(objective_ns as f64 / 1e9)
}

/// The first tuning of the plan, if it has one.
fn tune(plan: &Plan, load_points: &[LoadPoint], verdicts: &[Verdict]) -> Option<TuneFindings> {
    let of = |search: &Search| match &search.method {
        SearchMethod::Reach(reach) => tune::findings::findings(
            plan.target(),
            reach,
            &search.template,
            load_points,
            verdicts,
            |p| p.runs.iter().any(|run| search.owns(run.index)),
        ),
        _ => None,
    };
    plan.searches().find_map(of)
}

impl Findings {
    /// The verdicts on the workloads of the experiment, without those measured only as evidence.
    pub fn answers(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.is_evidence)
    }

    /// Whether a cache of a measuring host served reads or writes of a load point.
    pub fn is_cached(&self, load_point: usize) -> bool {
        is_cached(&self.wire, self.fleet.as_ref(), load_point)
    }

    /// Whether most operations of a load point are on names: results then begin with operations per
    /// second rather than bytes.
    pub fn is_on_names(&self) -> bool {
        self.load_points.iter().any(|point| point.merged.total.is_on_names())
    }

    /// The verdict on a load point.
    pub fn verdict_of(&self, load_point: usize) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.load_points.contains(&load_point))
    }

    /// How many load points did not reach the precision of `--until`.
    pub fn not_converged(&self) -> usize {
        self.searches.iter().map(|one| one.not_converged.len()).sum()
    }

    /// Whether a load point was overloaded, except those of an open curve, which continues until it
    /// overloads the target, those of a business metric, whose criterion judges them, and those of a
    /// tuning, which tries rates that a queue depth cannot reach.
    pub fn is_overloaded(&self) -> bool {
        let is_expected = |index: usize| {
            let open =
                |search: &Searched| search.load_points.contains(&index) && search.goes_to_overload;
            let series = self.metric.iter().flat_map(|found| &found.series);
            let mut of_metric = series.flat_map(|series| &series.points);
            self.searches.iter().any(open) || of_metric.any(|point| point.load_point == index)
        };
        let overloaded = self.warnings.iter().filter(|group| group.code == "overloaded");
        let mut sightings = overloaded.flat_map(|group| &group.sightings);
        self.tune.is_none()
            && sightings.any(|sighting| !sighting.load_point.is_some_and(is_expected))
    }

    /// The marks of the warnings about a load point and, if given, one of its streams, in order.
    pub fn marks(&self, load_point: usize, stream: Option<&str>) -> String {
        let concerns = |group: &&WarningGroup| {
            group.sightings.iter().any(|s| {
                let of_stream =
                    stream.is_none() || s.stream.is_none() || s.stream.as_deref() == stream;
                s.load_point.is_none_or(|concerned| concerned == load_point) && of_stream
            })
        };
        self.warnings.iter().filter(concerns).map(|group| group.mark).collect()
    }
}

/// Whether a cache served the load point, by the counters of all hosts together or of one of them.
fn is_cached(wire: &[Vec<RunWire>], fleet: Option<&FleetFindings>, load_point: usize) -> bool {
    let in_total = wire.get(load_point).is_some_and(|runs| runs.iter().any(RunWire::is_cached));
    let on_hosts = fleet.and_then(|fleet| fleet.load_points.get(load_point));
    in_total || on_hosts.is_some_and(FleetLoadPoint::is_cached)
}

fn duration_ns(record: &ExperimentRecord) -> u64 {
    const NS_PER_MS: u64 = 1_000_000;
    let end_ns = |run: &RunRecord| {
        let before_ms = run.started_unix_ms.saturating_sub(record.started_unix_ms);
        let intervals_ns = run.intervals.last().map_or(0, |interval| interval.end_ns);
        before_ms.saturating_mul(NS_PER_MS).saturating_add(intervals_ns)
    };
    record.runs.iter().map(end_ns).max().unwrap_or(0)
}

fn generator(record: &ExperimentRecord) -> Generator {
    let processors = record.environment.prior.processors.map(u32::from);
    Generator::of(&record.plan, record.io_method.io_method, processors)
}

/// The command line that made the record, if stored; otherwise one that runs the same plan.
fn repeat_command(record: &ExperimentRecord) -> String {
    if let Some(line) = &record.environment.command_line {
        return line.clone();
    }
    let mut words = vec!["fourcorners".to_owned(), "run".to_owned()];
    // Without a target, `run` measures the emulated volume.
    // Several targets are in the experiment.
    let [only] = record.plan.targets.as_slice() else {
        return with_source(words, &record.plan.source);
    };
    if !only.is_emulated() {
        words.push(quoted(&only.in_words()));
    }
    with_source(words, &record.plan.source)
}

fn with_source(mut words: Vec<String>, source: &str) -> String {
    match source.strip_prefix("profile:") {
        Some(profile) => words.extend(["--profile".to_owned(), quoted(profile)]),
        None => words.extend(["--workload".to_owned(), quoted(source)]),
    }
    words.join(" ")
}

/// A word quoted for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn notes(record: &ExperimentRecord, load_points: &[LoadPoint]) -> Vec<Note> {
    let mut notes: Vec<Note> = match &record.outcome {
        Outcome::Done => Vec::new(),
        Outcome::Interrupted => vec![Note::Interrupted],
        Outcome::Failed { reason } => vec![Note::Failed { reason: reason.clone() }],
        Outcome::Aborted => vec![Note::Aborted],
    };
    let planned = record.plan.known_runs().count();
    let is_known = |index: u32| matches!(record.plan.step_of(index), Some(Step::Fixed(_)));
    let started = record.runs.iter().filter(|record| is_known(record.run.index)).count();
    if started < planned {
        notes.push(Note::RunsMissing { started, planned });
    }
    let lost = load_points.iter().filter(|point| !point.is_whole()).count();
    if lost > 0 {
        notes.push(Note::HostsLost { load_points: lost, of: load_points.len() });
    }
    notes
}
