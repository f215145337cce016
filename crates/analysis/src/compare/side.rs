//! The parts of an experiment that a comparison needs: its circumstances, the plan of each load
//! point and the results of each repeat. Small, so that the record itself can be dropped.

use metrics::interleaved::Interleaved;
use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use workload::op::OpKind;
use workload::plan::{Run, Stream};

use super::facts::{self, Fact};
use super::figure::Figure;
use super::flaws::{self, Flaw};
use super::host_use::{self, HostUse};
use super::plan_keys;
use crate::estimate::INTERVALS_MIN;
use crate::fleet::{self, MissingHosts};
use crate::load_point::by_load_point;
use crate::metric::{self, MetricFindings};
use crate::percentile::Percentile;
use crate::run_measured;
use crate::window::{self, Ops, WindowSums};
use crate::wire::{HostCache, RunWire};

/// Most batches of a single run's window. About thirty are enough for a variance, and longer
/// batches are less correlated with their neighbours (B. Schmeiser, Operations Research 30, 1982).
pub const BATCHES_MAX: usize = 32;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The record's name in the store.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The target, in words.
    pub target: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// SHA-256 of the plan's stored form.
    pub plan_hash: String,
    /// Its circumstances.
    pub facts: Vec<Fact>,
    /// The interleaved comparison that it belongs to, if its runs took turns with those of another.
    pub interleaved: Option<Interleaved>,
    /// Caveats about its numbers.
    pub caveats: Vec<SideCaveat>,
    /// Its load points, in the order of their first run.
    pub points: Vec<PointSide>,
    /// Its business metric, if it has one.
    pub metric: Option<MetricFindings>,
}

/// One load point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSide {
    /// The variant's name.
    pub variant: String,
    /// The parameters in which load points differ, `(key, value)`.
    pub parameters: Vec<(String, String)>,
    /// Its whole plan, `(key, value)`.
    pub keys: Vec<(String, String)>,
    /// Its results, those of all operations first.
    pub subjects: Vec<Subject>,
    /// Flaws of the measurement.
    pub flaws: Vec<Flaw>,
    /// The largest share of bytes served by a client cache, 0 to 1; `None` if not counted.
    pub cached_share: Option<f64>,
    /// Use of this host's processors; `None` if not recorded.
    pub host: Option<HostUse>,
}

/// A group of operations with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The stream; `None` for all of them together.
    pub stream: Option<String>,
    /// `data` for reads and writes together, or one kind: `read`, `write`, `fsync`.
    pub operations: &'static str,
    /// Its figures.
    pub samples: Vec<Sample>,
}

/// The values of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The figure.
    pub figure: Figure,
    /// Whether the verdict of the whole comparison depends on it.
    pub main: bool,
    /// Its value in each repeat that has one, in the order of the runs.
    pub repeats: Vec<Repeat>,
    /// Number of repeats without a value: too few samples above a percentile, or no operation.
    pub without: u32,
    /// Its value in each batch of intervals of a single run; empty with repeats.
    pub batches: Vec<f64>,
    /// A single run has no batches because the offered rate changes by plan.
    pub changes_by_plan: bool,
}

/// The value of a figure in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeat {
    /// The number of the repeat, from 0. In two interleaved records, repeats of a load point with
    /// the same number form a block.
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

    /// The mean of the repeats; `None` if no repeat has a value.
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

    /// The hosts that its totals have, if some were lost.
    pub fn missing_hosts(&self) -> Option<MissingHosts> {
        self.flaws.iter().find_map(|flaw| MissingHosts::of_warning(&flaw.warning))
    }
}

impl Side {
    /// Extracts what a comparison needs from a record.
    pub fn of(record: &ExperimentRecord) -> Side {
        let groups = by_load_point(&record.runs);
        let cache = HostCache::of(record);
        Side {
            id: record.id.clone(),
            name: record.plan.name.clone(),
            target: record.plan.targets_in_words(),
            started_unix_ms: record.started_unix_ms,
            plan_hash: record.plan_hash.clone(),
            facts: facts::of_record(record),
            interleaved: record.environment.interleaved.clone(),
            caveats: caveats(record),
            points: groups.iter().map(|group| point(group, record, cache)).collect(),
            metric: metric::of_record(record),
        }
    }
}

/// A caveat about a whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideCaveat {
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed {
        /// The first line of the reason.
        reason: String,
    },
    /// It did not record its end.
    Aborted,
    /// This many operations failed; they are in neither rates nor latencies.
    FailedOperations(u64),
}

/// Its end, if not as planned, and failed operations.
fn caveats(record: &ExperimentRecord) -> Vec<SideCaveat> {
    let mut caveats = match &record.outcome {
        Outcome::Done => Vec::new(),
        Outcome::Interrupted => vec![SideCaveat::Interrupted],
        Outcome::Failed { reason } => {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            vec![SideCaveat::Failed { reason }]
        }
        Outcome::Aborted => vec![SideCaveat::Aborted],
    };
    let failed: u64 = record
        .runs
        .iter()
        .flat_map(|run| &run.intervals)
        .flat_map(|interval| &interval.streams)
        .map(metrics::interval::StreamInterval::failed)
        .sum();
    if failed > 0 {
        caveats.push(SideCaveat::FailedOperations(failed));
    }
    caveats
}

fn point(records: &[&RunRecord], experiment: &ExperimentRecord, cache: HostCache) -> PointSide {
    let run = &records[0].run;
    let all = Measured::of(records, None);
    let each: Vec<Measured<'_>> = match run.streams.len() {
        0 | 1 => Vec::new(),
        several => (0..several).map(|stream| Measured::of(records, Some(stream))).collect(),
    };
    let subjects = subjects(run, &all.wholes)
        .into_iter()
        .map(|(stream, kinds, name)| {
            let measured = stream.map_or(&all, |stream| &each[stream]);
            let repeats: Vec<Part<'_>> = measured.wholes.iter().map(|w| w.part(kinds)).collect();
            let batches: Vec<Part<'_>> = measured.batches.iter().map(|w| w.part(kinds)).collect();
            let sample = |(figure, main): (Figure, bool)| {
                let values: Vec<Option<f64>> =
                    repeats.iter().map(|part| part.value(figure)).collect();
                // A batch without a value would leave a gap in time.
                let batches: Option<Vec<f64>> =
                    batches.iter().map(|part| part.value(figure)).collect();
                Sample {
                    figure,
                    main,
                    without: values.iter().filter(|value| value.is_none()).count() as u32,
                    repeats: repeats_of(&measured.runs, &values),
                    batches: batches.unwrap_or_default(),
                    changes_by_plan: measured.changes_by_plan,
                }
            };
            Subject {
                stream: stream.map(|s| run.streams[s].name.clone()),
                operations: name,
                samples: figures(run, stream, kinds, &repeats).into_iter().map(sample).collect(),
            }
        })
        .collect();
    let wires: Vec<Vec<RunWire>> =
        records.iter().map(|record| fleet::wires(record, &experiment.hosts, cache)).collect();
    PointSide {
        variant: run.variant.clone(),
        parameters: run.parameters.clone(),
        keys: plan_keys::of_run(run, &experiment.plan.targets),
        subjects,
        flaws: flaws::of_records(records, &wires, &experiment.hosts),
        cached_share: flaws::cached_share(&wires),
        host: host_use::of_records(records),
    }
}

/// The values of runs that have one.
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

/// All kinds, one by one.
static EACH: [OpKind; OpKind::COUNT] = OpKind::ALL;
const DATA: &[OpKind] = &OpKind::MAIN;

/// All streams together; each kind, if there are several; each stream, if there are several.
fn subjects(
    run: &Run,
    wholes: &[Window<'_>],
) -> Vec<(Option<usize>, &'static [OpKind], &'static str)> {
    let mut subjects = vec![(None, DATA, "data")];
    let occurs = |kind: &[OpKind]| wholes.iter().any(|window| window.completed(kind) > 0.0);
    let kinds: Vec<(&'static [OpKind], &'static str)> = EACH
        .iter()
        .map(|kind| (std::slice::from_ref(kind), kind.name()))
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

/// The figures of a subject, and which of them are main ones. Figures that follow exactly from
/// others are left out, so that nothing is tested twice: the throughput with one transfer size, and
/// the service time if it equals the response time in all `parts`, as in a closed loop without data
/// generation.
fn figures(
    run: &Run,
    stream: Option<usize>,
    kinds: &[OpKind],
    parts: &[Part<'_>],
) -> Vec<(Figure, bool)> {
    let of_interest = |index: usize| stream.is_none_or(|wanted| wanted == index);
    let streams: Vec<&Stream> = run
        .streams
        .iter()
        .enumerate()
        .filter_map(|(s, stream)| of_interest(s).then_some(stream))
        .collect();
    let open = streams.iter().any(|stream| stream.arrival.is_open());
    let closed = streams.iter().any(|stream| !stream.arrival.is_open());
    let mut sizes: Vec<u64> =
        streams.iter().flat_map(|s| &s.transfer_sizes).map(|size| size.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let on_names = streams.iter().any(|stream| stream.names.is_some());
    let delayed = parts.iter().any(|part| part.ops.response_sum_ns != part.ops.service_sum_ns);
    let whole = stream.is_none() && kinds == DATA;
    Figure::ALL
        .into_iter()
        .filter_map(|figure| {
            let (shown, main) = match figure {
                Figure::AchievedRate => (true, closed),
                Figure::Throughput => ((sizes.len() > 1 || on_names) && moves_data(kinds), false),
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

/// Whether operations of one of these kinds move data.
fn moves_data(kinds: &[OpKind]) -> bool {
    kinds.iter().any(|kind| kind.reads_data() || kind.writes_data())
}

/// One stream of a load point's runs, or all streams together, over the time in which it is active.
struct Measured<'a> {
    /// The runs that have whole intervals.
    runs: Vec<&'a RunRecord>,
    /// The window of each.
    wholes: Vec<Window<'a>>,
    /// Consecutive parts of the window of a single run, which differ by chance only; empty if there are
    /// several runs or no such parts.
    batches: Vec<Window<'a>>,
    /// A single run has no such parts because the offered rate changes by plan.
    changes_by_plan: bool,
}

impl<'a> Measured<'a> {
    /// * `stream` - `None` for all together
    fn of(records: &[&'a RunRecord], stream: Option<usize>) -> Measured<'a> {
        let intervals = |record: &'a RunRecord| match stream.map(|at| &record.run.streams[at]) {
            Some(stream) => window::of_stream(record, stream),
            None => window::common(record),
        };
        let measured: Vec<(&RunRecord, Vec<&Interval>)> = records
            .iter()
            .map(|record| (*record, intervals(record)))
            .filter(|(_, intervals)| !intervals.is_empty())
            .collect();
        let batches: Option<Vec<Window<'a>>> = match &measured[..] {
            [(record, intervals)] => {
                batch_size(streams_of(&record.run, stream), intervals).map(|size| {
                    let whole = match changes_by_plan(&record.run, stream) {
                        // An incomplete period has another load.
                        true => intervals.len() / size * size,
                        false => intervals.len(),
                    };
                    let batches = intervals[..whole].chunks(size);
                    batches.map(|batch| Window::of(record, stream, batch)).collect()
                })
            }
            _ => Some(Vec::new()),
        };
        let whole = |(record, intervals): &(&'a RunRecord, Vec<&'a Interval>)| {
            Window::of(record, stream, intervals)
        };
        Measured {
            wholes: measured.iter().map(whole).collect(),
            runs: measured.into_iter().map(|(record, _)| record).collect(),
            changes_by_plan: batches.is_none(),
            batches: batches.unwrap_or_default(),
        }
    }
}

fn streams_of(run: &Run, stream: Option<usize>) -> &[Stream] {
    stream.map_or(&run.streams[..], |at| &run.streams[at..=at])
}

/// Whether the offered rate of a stream, or of any, changes by plan.
fn changes_by_plan(run: &Run, stream: Option<usize>) -> bool {
    streams_of(run, stream).iter().any(|stream| stream.arrival.is_varying())
}

/// The number of intervals in each batch. Where the offered rate changes by plan, batches are whole
/// periods, so that they differ by chance only; `None` if the rate does not repeat often enough.
fn batch_size(streams: &[Stream], intervals: &[&Interval]) -> Option<usize> {
    /// Expected arrivals of two intervals are equal if they differ by no more: absolute, and as a share.
    const ROUNDING: f64 = 1e-6;
    let least = intervals.len().div_ceil(BATCHES_MAX).max(1);
    let varying = streams.iter().filter(|stream| stream.arrival.is_varying());
    let due: Vec<Vec<f64>> =
        varying.filter_map(|stream| run_measured::due(&stream.arrival, intervals)).collect();
    let is_equal = |a: f64, b: f64| (a - b).abs() <= ROUNDING * (1.0 + a.max(b));
    let repeats = |period: usize| {
        due.iter().all(|due| due.iter().zip(&due[period..]).all(|(a, b)| is_equal(*a, *b)))
    };
    let period = (1..=intervals.len() / INTERVALS_MIN).find(|period| repeats(*period));
    match due.is_empty() {
        true => Some(least),
        false => period.map(|period| least.div_ceil(period) * period),
    }
}

/// The sums of a stream, or of all, over a window or a part of it.
struct Window<'a> {
    sums: WindowSums<'a>,
    /// Of the whole process.
    cpu_ns: f64,
}

impl<'a> Window<'a> {
    fn of(record: &RunRecord, stream: Option<usize>, intervals: &[&'a Interval]) -> Window<'a> {
        let streams = match stream {
            Some(stream) => stream..stream + 1,
            None => 0..record.run.streams.len(),
        };
        let mut each = streams.map(|stream| WindowSums::of(intervals, stream, 0));
        let mut sums = each.next().unwrap_or_default();
        each.for_each(|stream| sums.add_stream(&stream));
        let cpu_ns: u64 = intervals.iter().map(|i| i.process_user_ns + i.process_system_ns).sum();
        Window { sums, cpu_ns: cpu_ns as f64 }
    }

    fn completed(&self, kinds: &[OpKind]) -> f64 {
        let of_kind = |kind: &OpKind| self.sums.kind(*kind).map_or(0, Ops::completed_total);
        kinds.iter().map(|kind| of_kind(kind) as f64).sum()
    }

    /// The sums that figures of some operations are computed from.
    fn part(&self, kinds: &[OpKind]) -> Part<'a> {
        Part {
            ops: self.sums.together(kinds),
            seconds: self.sums.length_ns.iter().sum::<f64>() / 1e9,
            cpu_ns: self.cpu_ns,
            completed_by_all: self.completed(&OpKind::ALL),
        }
    }
}

/// Sums of some operations in a window.
struct Part<'a> {
    ops: Ops<'a>,
    seconds: f64,
    /// Of the whole process.
    cpu_ns: f64,
    /// Operations of every kind.
    completed_by_all: f64,
}

impl Part<'_> {
    /// The figure; `None` if it was not measured.
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
