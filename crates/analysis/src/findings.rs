//! Everything that any output says about an experiment, computed once.

use metrics::run_record::{ExperimentRecord, Outcome};
use workload::plan::{EngineChoice, Plan, Step, TargetSpec};
use workload::search::{Search, SearchMethod};

use crate::curve::{self, Curve};
use crate::emulated::{self, EmulatedFindings};
use crate::heat::{self, Heat};
use crate::load_point::{self, Generator, LoadPoint};
use crate::mix::{self, MixCheck};
use crate::search::{self, Searched};
use crate::series::{self, Series};
use crate::steadiness::{self, Steadiness};
use crate::summary::{self, Summary};
use crate::tune::{self, findings::TuneFindings, relevance};
use crate::verdict::known::CPU_COUNT;
use crate::verdict::{self, Known, Verdict, explain};
use crate::warnings::{self, Sighting, WarningGroup};
use crate::wire::{self, HostCache, RunWire};
use crate::witness::{self, Witnessed};

/// What an experiment's records mean. Plain data; a function of the record alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The record's name in the store.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// Where the experiment came from: a file's path, or `profile:four-corners`.
    pub source: String,
    /// What the user laid over the experiment on the command line, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// What was sent operations, in words.
    pub target: String,
    /// SHA-256 of the plan's stored form.
    pub plan_hash: String,
    /// How operations were sent: `io_uring`, `psync`, or `nfs_client`.
    pub engine: &'static str,
    /// Why that engine.
    pub engine_reason: String,
    /// The seed of the plan.
    pub seed: u64,
    /// What the host and the target were, `(name, value)`.
    pub environment: Vec<(String, String)>,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The command that repeats it.
    pub repeat_command: String,
    /// Load points, in the order of their first run.
    pub load_points: Vec<LoadPoint>,
    /// The load points as curves.
    pub curves: Vec<Curve>,
    /// What time and repeats show of each load point, in the order of `load_points`.
    pub steadiness: Vec<Steadiness>,
    /// What became of each search of the plan, in its order.
    pub searches: Vec<Searched>,
    /// The share of reads, asked for and achieved, of each stream that reads and writes.
    pub mixes: Vec<MixCheck>,
    /// Each stream of each run over time.
    pub series: Vec<Series>,
    /// What a tuning found; nothing of other plans.
    pub tune: Option<TuneFindings>,
    /// The verdict on each curve along which the load was raised, and on each point of the others,
    /// in the order of `curves`.
    pub verdicts: Vec<Verdict>,
    /// Response times over time of the runs where a reader looks first.
    pub heats: Vec<Heat>,
    /// An emulated volume's settings beside what was measured; nothing of other targets.
    pub emulated: Option<EmulatedFindings>,
    /// What the kernel counted on the way to the storage in each run that knows it, by load point,
    /// in the order of `load_points`.
    pub wire: Vec<Vec<RunWire>>,
    /// What an independent witness counted; nothing where there was none.
    pub witnessed: Option<Witnessed>,
    /// Everything that a reader must know, by kind.
    pub warnings: Vec<WarningGroup>,
    /// How it ended, where not as planned; what was prepared; and the like, in whole sentences.
    pub notes: Vec<String>,
    /// What a reader needs first.
    pub summary: Summary,
}

/// Analyses a record: same record, same findings, bit for bit.
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
    let of_load_points =
        load_points.iter().zip(&groups).enumerate().flat_map(|(index, (point, records))| {
            warnings::of_load_point(
                index,
                point,
                records,
                &steadiness[index],
                &wire[index],
                generator,
            )
        });
    let mut sightings: Vec<Sighting> =
        warnings::of_experiment(&record.warnings).into_iter().chain(of_load_points).collect();
    let known = Known::of(record);
    let outlines = curve::outlines(&load_points, verdict::certain(&known));
    let is_cached = |point: usize| wire[point].iter().any(RunWire::is_cached);
    let is_evidence =
        |point: &LoadPoint| record.plan.searches().any(|search| explain::is_changed(search, point));
    let verdicts = verdict::verdicts(&outlines, &load_points, &known, is_cached, is_evidence);
    let curves = curve::curves(outlines, &load_points, |point| objective_s(&record.plan, point));
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
        target: record.plan.target.in_words(),
        plan_hash: record.plan_hash.clone(),
        engine: engine_name(record.engine.engine),
        engine_reason: record.engine.reason.clone(),
        seed: record.plan.seed,
        environment: record.environment.clone(),
        started_unix_ms: record.started_unix_ms,
        outcome: record.outcome.clone(),
        repeat_command: repeat_command(record),
        tune,
        emulated: emulated::emulated(&record.plan.target, &load_points, &verdicts),
        verdicts,
        heats: heat::heats(&curves, &groups),
        curves,
        mixes: mix::mixes(&load_points, &groups),
        searches: record.plan.searches().map(|s| search::searched(s, &load_points)).collect(),
        witnessed: witness::witnessed(&record.runs),
        load_points,
        steadiness,
        wire,
        series: series::series(&record.runs),
        warnings,
        notes: notes(record),
    }
}

/// The mean response time that the search of a load point is to meet, in seconds.
fn objective_s(plan: &Plan, point: &LoadPoint) -> Option<f64> {
    let of_search = |search: &&Search| point.runs.iter().any(|run| search.owns(run.index));
    let objective_ns = plan.searches().find(of_search)?.response_time_max_ns()?;
    Some(objective_ns as f64 / 1e9)
}

/// The first tuning of the plan, if it has one.
fn tune(plan: &Plan, load_points: &[LoadPoint], verdicts: &[Verdict]) -> Option<TuneFindings> {
    let of = |search: &Search| match &search.method {
        SearchMethod::Reach(reach) => tune::findings::findings(
            &plan.target,
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

    /// The verdict that is about a load point.
    pub fn verdict_of(&self, load_point: usize) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.load_points.contains(&load_point))
    }

    /// The marks of the warnings that concern a load point (and, if given, one of its streams), in
    /// order.
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

fn generator(record: &ExperimentRecord) -> Generator {
    let count = record.environment.iter().find(|(name, _)| name == CPU_COUNT);
    let processors = count.and_then(|(_, value)| value.parse().ok()).filter(|count| *count > 0);
    Generator::of(&record.plan, record.engine.engine, processors)
}

pub(crate) const fn engine_name(engine: EngineChoice) -> &'static str {
    match engine {
        EngineChoice::Auto => "auto",
        EngineChoice::IoUring => "io_uring",
        EngineChoice::Psync => "psync",
        EngineChoice::NfsClient => "nfs_client",
    }
}

/// The command line that made the record, where it was kept; else one that does the same plan.
fn repeat_command(record: &ExperimentRecord) -> String {
    if let Some((_, line)) = record.environment.iter().find(|(name, _)| name == COMMAND_LINE) {
        return line.clone();
    }
    let mut words = vec!["fourcorners".to_owned(), "run".to_owned()];
    // The emulated volume is what a command without a target measures.
    if !matches!(record.plan.target, TargetSpec::Emulated { .. }) {
        words.push(quoted(&record.plan.target.in_words()));
    }
    let source = &record.plan.source;
    match source.strip_prefix("profile:") {
        Some(profile) => words.extend(["--profile".to_owned(), quoted(profile)]),
        None => words.extend(["--workload".to_owned(), quoted(source)]),
    }
    words.join(" ")
}

/// The environment's entry that holds the command line as the user gave it.
const COMMAND_LINE: &str = "command.line";

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn notes(record: &ExperimentRecord) -> Vec<String> {
    let mut notes = Vec::new();
    match &record.outcome {
        Outcome::Done => {}
        Outcome::Interrupted => {
            notes.push(
                "The experiment was interrupted; what was measured until then is shown.".into(),
            );
        }
        Outcome::Failed { reason } => notes.push(format!(
            "The experiment failed; what was measured until then is shown. Reason: {reason}"
        )),
        Outcome::Aborted => notes.push(
            "The experiment never said how it ended: it was killed, or the host went down. Every \
             complete interval is shown."
                .into(),
        ),
    }
    let planned = record.plan.known_runs().count();
    let is_known = |index: u32| matches!(record.plan.step_of(index), Some(Step::Fixed(_)));
    let begun = record.runs.iter().filter(|record| is_known(record.run.index)).count();
    if begun < planned {
        notes.push(format!("{begun} of {planned} planned runs were begun."));
    }
    notes
}
