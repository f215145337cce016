//! One experiment as a comparison needs it: what it was made on, what was asked of each load point,
//! and what each repeat measured. Small, so that the record itself can be let go of.

use metrics::interleaved::Interleaved;
use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use workload::op::OpKind;
use workload::plan::{Run, Stream};

use super::facts::{self, Fact};
use super::figure::Figure;
use super::flaws::{self, Flaw};
use super::host_use::{self, HostUse};
use super::plan_keys;
use crate::load_point::by_load_point;
use crate::percentile::Percentile;
use crate::window::{self, Measured, Ops};
use crate::wire::HostCache;

/// A window is cut into at most this many batches where a run stands alone. About thirty are enough
/// for a variance, and the longer they are, the less neighbours resemble each other (B. Schmeiser,
/// Operations Research 30, 1982).
pub const BATCHES_MAX: usize = 32;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The record's name in the store.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// What was sent operations, in words.
    pub target: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// SHA-256 of the plan's stored form.
    pub plan_hash: String,
    /// What it was measured on and with.
    pub facts: Vec<Fact>,
    /// The comparison that it is one side of, where its runs took turns with those of another.
    pub interleaved: Option<Interleaved>,
    /// What a reader must know before believing its numbers, in whole sentences.
    pub caveats: Vec<String>,
    /// Its load points, in the order of their first run.
    pub points: Vec<PointSide>,
}

/// One load point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSide {
    /// The variant's name.
    pub variant: String,
    /// What this load point differs by, `(key, value)`.
    pub parameters: Vec<(String, String)>,
    /// Everything that was asked of it, `(key, value)`.
    pub keys: Vec<(String, String)>,
    /// What was measured, of all operations first.
    pub subjects: Vec<Subject>,
    /// What was wrong with the measurement.
    pub flaws: Vec<Flaw>,
    /// The largest share of the bytes that a cache of this host answered or kept, 0 to 1; `None`
    /// where nobody counted.
    pub cached_share: Option<f64>,
    /// Who used this host's processors; `None` where the host was not read.
    pub host: Option<HostUse>,
}

/// Operations that figures are about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The stream; `None` for all of them together.
    pub stream: Option<String>,
    /// `data` for reads and writes together, or one kind: `read`, `write`, `fsync`.
    pub operations: &'static str,
    /// What was measured of each figure.
    pub samples: Vec<Sample>,
}

/// What was measured of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Which figure.
    pub figure: Figure,
    /// The verdict of the whole comparison rests on it.
    pub main: bool,
    /// Its value in each repeat that has it, in the order of the runs.
    pub repeats: Vec<Repeat>,
    /// Repeats that have no such value: too few samples above a percentile, or no operation.
    pub without: u32,
    /// Of a single run, its value in each batch of intervals; empty where there are repeats.
    pub batches: Vec<f64>,
}

/// The value of a figure in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeat {
    /// The number of the repeat, from 0. Of two interleaved records the same number of a load point
    /// is one block.
    pub number: u32,
    /// When its run began, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// The value, in the figure's unit.
    pub value: f64,
}

impl Sample {
    /// The values of the repeats.
    pub fn values(&self) -> Vec<f64> {
        self.repeats.iter().map(|repeat| repeat.value).collect()
    }

    /// The mean of the repeats; `None` where no repeat has a value.
    pub fn mean(&self) -> Option<f64> {
        let values = self.values();
        let count = values.len() as f64;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
    }
}

impl PointSide {
    /// The load point in words: `random read 8 KiB, queue_depth=4`.
    pub fn in_words(&self) -> String {
        let mut words = self.variant.clone();
        for (key, value) in &self.parameters {
            words.push_str(&format!(", {key}={value}"));
        }
        words
    }
}

impl Side {
    /// Takes from a record what a comparison needs.
    pub fn of(record: &ExperimentRecord) -> Side {
        let groups = by_load_point(&record.runs);
        let cache = HostCache::of(record);
        Side {
            id: record.id.clone(),
            name: record.plan.name.clone(),
            target: record.plan.target.in_words(),
            started_unix_ms: record.started_unix_ms,
            plan_hash: record.plan_hash.clone(),
            facts: facts::of_record(record),
            interleaved: Interleaved::of(&record.environment),
            caveats: caveats(record),
            points: groups.iter().map(|group| point(group, cache)).collect(),
        }
    }
}

/// How it ended, where not as planned, and what failed.
fn caveats(record: &ExperimentRecord) -> Vec<String> {
    let mut caveats = Vec::new();
    match &record.outcome {
        Outcome::Done => {}
        Outcome::Interrupted => caveats.push("was interrupted before its end".to_owned()),
        Outcome::Failed { reason } => {
            caveats.push(format!("failed before its end: {}", reason.lines().next().unwrap_or("")));
        }
        Outcome::Aborted => caveats.push("never said how it ended".to_owned()),
    }
    let failed: u64 = record
        .runs
        .iter()
        .flat_map(|run| &run.intervals)
        .flat_map(|interval| &interval.streams)
        .map(metrics::interval::StreamInterval::failed)
        .sum();
    if failed > 0 {
        caveats.push(format!(
            "had {} failed operations, which are in neither its rates nor its times",
            units::thousands(failed)
        ));
    }
    caveats
}

fn point(records: &[&RunRecord], cache: HostCache) -> PointSide {
    let run = &records[0].run;
    let measured: Vec<(&RunRecord, Batches<'_>)> = records
        .iter()
        .map(|record| (*record, Batches::of(record)))
        .filter(|(_, batches)| !batches.is_empty())
        .collect();
    let (runs, windows): (Vec<&RunRecord>, Vec<Batches<'_>>) = measured.into_iter().unzip();
    let single = windows.len() == 1;
    let wholes: Vec<Window<'_>> = windows.iter().map(Batches::whole).collect();
    let subjects = subjects(run, &wholes)
        .into_iter()
        .map(|(stream, kinds, name)| {
            let repeats: Vec<Part<'_>> = wholes.iter().map(|w| w.part(stream, kinds)).collect();
            // Of a run that stands alone: how it changes within itself.
            let alone = windows.iter().filter(|_| single).flat_map(|run| &run.windows);
            let batches: Vec<Part<'_>> = alone.map(|w| w.part(stream, kinds)).collect();
            let sample = |(figure, main): (Figure, bool)| {
                let values: Vec<Option<f64>> =
                    repeats.iter().map(|part| part.value(figure)).collect();
                // A batch without a value would leave a hole in the order of time.
                let batches: Option<Vec<f64>> =
                    batches.iter().map(|part| part.value(figure)).collect();
                Sample {
                    figure,
                    main,
                    without: values.iter().filter(|value| value.is_none()).count() as u32,
                    repeats: repeats_of(&runs, &values),
                    batches: batches.unwrap_or_default(),
                }
            };
            Subject {
                stream: stream.map(|s| run.streams[s].name.clone()),
                operations: name,
                samples: figures(run, stream, kinds, &repeats).into_iter().map(sample).collect(),
            }
        })
        .collect();
    PointSide {
        variant: run.variant.clone(),
        parameters: run.parameters.clone(),
        keys: plan_keys::of_run(run),
        subjects,
        flaws: flaws::of_records(records, cache),
        cached_share: flaws::cached_share(records, cache),
        host: host_use::of_records(records),
    }
}

/// The values of the runs that have one.
fn repeats_of(runs: &[&RunRecord], values: &[Option<f64>]) -> Vec<Repeat> {
    let each = runs.iter().zip(values).filter_map(|(record, value)| {
        Some(Repeat {
            number: record.run.repeat,
            began_unix_ms: record.started_unix_ms,
            value: (*value)?,
        })
    });
    each.collect()
}

const DATA: &[OpKind] = &[OpKind::Read, OpKind::Write];

/// All streams together; its kinds, where there are several; each stream, where there are several.
fn subjects(run: &Run, wholes: &[Window]) -> Vec<(Option<usize>, &'static [OpKind], &'static str)> {
    let mut subjects = vec![(None, DATA, "data")];
    let occurs = |kind: &[OpKind]| wholes.iter().any(|window| window.completed(kind) > 0.0);
    let kinds: Vec<(&'static [OpKind], &'static str)> = [
        (&[OpKind::Read] as &[OpKind], OpKind::Read.name()),
        (&[OpKind::Write], OpKind::Write.name()),
        (&[OpKind::Fsync], OpKind::Fsync.name()),
    ]
    .into_iter()
    .filter(|(kind, _)| occurs(kind))
    .collect();
    if kinds.len() > 1 {
        subjects.extend(kinds.into_iter().map(|(kind, name)| (None, kind, name)));
    }
    if run.streams.len() > 1 {
        subjects.extend((0..run.streams.len()).map(|s| (Some(s), DATA, "data")));
    }
    subjects
}

/// The figures of a subject, and which of them are main ones. What follows exactly from another is
/// left out, so that nothing is tested twice: the throughput of one transfer size, and the service
/// time where it is the response time in all `parts`, as in a closed loop without data to make.
fn figures(
    run: &Run,
    stream: Option<usize>,
    kinds: &[OpKind],
    parts: &[Part<'_>],
) -> Vec<(Figure, bool)> {
    let of_interest = |place: usize| stream.is_none_or(|wanted| wanted == place);
    let streams: Vec<&Stream> = run
        .streams
        .iter()
        .enumerate()
        .filter_map(|(s, stream)| of_interest(s).then_some(stream))
        .collect();
    let open = streams.iter().any(|stream| stream.arrival.offered_rate().is_some());
    let closed = streams.iter().any(|stream| stream.arrival.offered_rate().is_none());
    let mut sizes: Vec<u64> =
        streams.iter().flat_map(|s| &s.transfer_sizes).map(|size| size.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let delayed = parts.iter().any(|part| part.ops.response_sum_ns != part.ops.service_sum_ns);
    let whole = stream.is_none() && kinds == DATA;
    Figure::ALL
        .into_iter()
        .filter_map(|figure| {
            let (shown, main) = match figure {
                Figure::AchievedRate => (true, closed),
                Figure::Throughput => (sizes.len() > 1 && kinds != [OpKind::Fsync], false),
                Figure::ResponseMean => (true, open),
                Figure::ResponseP99 => (true, true),
                Figure::ResponseP50 | Figure::ResponseP999 => (true, false),
                Figure::ServiceMean => (open || delayed, false),
                Figure::CpuPerOp => (whole, false),
            };
            shown.then_some((figure, main && whole))
        })
        .collect()
}

/// A window, or a part of it, added up.
struct Window<'a> {
    streams: Vec<Measured<'a>>,
    total: Measured<'a>,
    cpu_ns: f64,
}

/// The window of one run in pieces that follow each other.
struct Batches<'a> {
    windows: Vec<Window<'a>>,
}

impl<'a> Batches<'a> {
    fn of(record: &'a RunRecord) -> Batches<'a> {
        let intervals = window::measured(record);
        let size = intervals.len().div_ceil(BATCHES_MAX).max(1);
        let windows = intervals
            .chunks(size)
            .map(|chunk| {
                let streams: Vec<Measured<'_>> =
                    (0..record.run.streams.len()).map(|s| Measured::of(chunk, s, 0)).collect();
                let cpu_ns: u64 =
                    chunk.iter().map(|i| i.process_user_ns + i.process_system_ns).sum();
                Window { total: together(&streams), streams, cpu_ns: cpu_ns as f64 }
            })
            .collect();
        Batches { windows }
    }

    fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    fn whole(&self) -> Window<'a> {
        let mut windows = self.windows.iter();
        let first = windows.next().expect("windows without intervals are left out");
        let mut streams = first.streams.clone();
        let mut cpu_ns = first.cpu_ns;
        for window in windows {
            for (sum, stream) in streams.iter_mut().zip(&window.streams) {
                sum.add_after(stream);
            }
            cpu_ns += window.cpu_ns;
        }
        Window { total: together(&streams), streams, cpu_ns }
    }
}

fn together<'a>(streams: &[Measured<'a>]) -> Measured<'a> {
    let mut total = streams[0].clone();
    for stream in &streams[1..] {
        total.add_beside(stream);
    }
    total
}

impl<'a> Window<'a> {
    fn completed(&self, kinds: &[OpKind]) -> f64 {
        kinds.iter().map(|kind| self.total.kinds[*kind as usize].completed_total() as f64).sum()
    }

    /// What figures about some operations of a stream, or of all streams, are made of.
    fn part(&self, stream: Option<usize>, kinds: &[OpKind]) -> Part<'a> {
        let measured = stream.map_or(&self.total, |s| &self.streams[s]);
        Part {
            ops: measured.together(kinds),
            seconds: measured.length_ns.iter().sum::<f64>() / 1e9,
            cpu_ns: self.cpu_ns,
            completed_by_all: self.completed(&OpKind::ALL),
        }
    }
}

/// Some operations in a window.
struct Part<'a> {
    ops: Ops<'a>,
    seconds: f64,
    /// Of the whole process.
    cpu_ns: f64,
    /// Operations of every kind and stream.
    completed_by_all: f64,
}

impl Part<'_> {
    /// The figure; `None` where nothing was measured of it.
    fn value(&self, figure: Figure) -> Option<f64> {
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let (ops, completed) = (&self.ops, sum(&self.ops.completed));
        let ratio = |above: f64, below: f64| (below > 0.0).then(|| above / below);
        match figure {
            Figure::AchievedRate => ratio(completed, self.seconds),
            Figure::Throughput => ratio(sum(&ops.bytes), self.seconds),
            Figure::ResponseMean => ratio(sum(&ops.response_sum_ns), completed),
            Figure::ServiceMean => ratio(sum(&ops.service_sum_ns), completed),
            Figure::CpuPerOp => ratio(self.cpu_ns, self.completed_by_all),
            Figure::ResponseP50 | Figure::ResponseP99 | Figure::ResponseP999 => {
                let fraction = figure.percentile()?;
                Percentile::of(&ops.response, fraction).value_ns.map(|ns| ns as f64)
            }
        }
    }
}

impl Subject {
    /// `stream log, read`; empty for everything together.
    pub fn in_words(&self) -> String {
        match (&self.stream, self.operations) {
            (None, "data") => String::new(),
            (None, kind) => kind.to_owned(),
            (Some(stream), "data") => format!("stream {stream}"),
            (Some(stream), kind) => format!("stream {stream}, {kind}"),
        }
    }
}
