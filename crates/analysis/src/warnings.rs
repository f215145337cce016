//! Warnings about an experiment: those recorded by the run, and those that follow from the numbers.

use metrics::run_record::{Outcome, RunRecord};
use metrics::warning::Warning;
use workload::op::OpKind;
use workload::outcome::ErrorKind;

use crate::connections;
use crate::estimate::{INTERVALS_MIN, SAMPLES_ABOVE_MIN};
use crate::fleet::HostsOfPoint;
use crate::load_point::{Generator, LoadPoint, RunSummary, StreamSummary};
use crate::percentile::Percentile;
use crate::steadiness::{RepeatSteadiness, Steadiness, StreamSteadiness};
use crate::wire::RunWire;

/// A worker (or process) that uses more of its processors than this may limit the run. The rest is
/// about what the bookkeeping of an interval takes.
pub(crate) const BUSY_MAX: f64 = 0.90;
/// A schedule delay above this share of the service time changes the response time's first digits.
const DELAY_SHARE_MAX: f64 = 0.10;
/// The percentiles that the summary table shows.
const SHOWN: [f64; 3] = [0.5, 0.99, 0.999];

/// All warnings of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct WarningGroup {
    /// Its mark in tables: `a`, `b`, in order of appearance.
    pub mark: char,
    /// Short name, stable.
    pub code: &'static str,
    /// The load points and streams concerned; at least one.
    pub sightings: Vec<Sighting>,
}

/// One warning about one load point, or about the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// Index into `Findings::load_points`; `None` if it concerns all of them.
    pub load_point: Option<usize>,
    /// The stream, if it concerns one of several.
    pub stream: Option<String>,
    /// Numbers of the repeats concerned, from 0; empty if it concerns all of them together.
    pub repeats: Vec<u32>,
    /// What was found.
    pub warning: Warning,
}

/// Collects the warnings about one load point.
pub(crate) fn of_load_point(
    index: usize,
    load_point: &LoadPoint,
    records: &[&RunRecord],
    steadiness: &Steadiness,
    wire: &[RunWire],
    generator: Generator,
    hosts: Option<HostsOfPoint<'_>>,
) -> Vec<Sighting> {
    let mut gathered = Gathered { load_point: Some(index), sightings: Vec::new() };
    if let Some(hosts) = hosts {
        for (run, record) in load_point.runs.iter().zip(records) {
            for warning in hosts.warnings_of_run(record) {
                gathered.add(None, Some(run.repeat), warning);
            }
        }
        if let Some(warning) = hosts.slower(load_point) {
            gathered.add(None, None, warning);
        }
        // Before those of the total, which do not name the hosts.
        for (repeat, warning) in hosts.cached() {
            gathered.add(None, Some(repeat), warning);
        }
    }
    for (run, record) in load_point.runs.iter().zip(records) {
        let of_connections = connections::warnings(&run.connections);
        for warning in of_run(run, record, hosts).into_iter().chain(of_connections) {
            gathered.add(None, Some(run.repeat), warning);
        }
        for summary in &run.summary.streams {
            let name = stream_name(load_point, summary);
            let mut of_stream = steadiness.streams.iter();
            let mine = of_stream.find(|s| s.repeat == run.repeat && s.stream == summary.name);
            let Some(over_time) = mine else { continue };
            for warning in of_stream_in_run(summary, over_time) {
                gathered.add(name.clone(), Some(run.repeat), warning);
            }
        }
    }
    for summary in &load_point.merged.streams {
        let name = stream_name(load_point, summary);
        for warning in of_stream_merged(summary) {
            gathered.add(name.clone(), None, warning);
        }
    }
    if let Some(warning) = processors_busy(load_point, generator) {
        gathered.add(None, None, warning);
    }
    for run in wire {
        for warning in run.warnings() {
            gathered.add(None, Some(run.repeat), warning);
        }
    }
    for warning in steadiness.repeats.iter().flat_map(RepeatSteadiness::warnings) {
        gathered.add(None, None, warning);
    }
    for (run, record) in load_point.runs.iter().zip(records) {
        for warning in &record.warnings {
            gathered.add_unless_known(run.repeat, warning);
        }
    }
    gathered.sightings
}

/// Warnings about the whole experiment.
pub(crate) fn of_experiment(noticed: &[Warning]) -> Vec<Sighting> {
    let mut gathered = Gathered { load_point: None, sightings: Vec::new() };
    for warning in noticed {
        gathered.add(None, None, warning.clone());
    }
    gathered.sightings
}

/// Groups warnings by kind and gives each kind its mark.
pub(crate) fn group(sightings: Vec<Sighting>) -> Vec<WarningGroup> {
    let mut groups: Vec<WarningGroup> = Vec::new();
    for sighting in sightings {
        let code = sighting.warning.code();
        match groups.iter_mut().find(|g| g.code == code) {
            Some(group) => group.sightings.push(sighting),
            None => {
                // The enum has half as many kinds as there are letters.
                let mark = char::from(b'a' + (groups.len() % 26) as u8);
                groups.push(WarningGroup { mark, code, sightings: vec![sighting] });
            }
        }
    }
    groups
}

struct Gathered {
    load_point: Option<usize>,
    sightings: Vec<Sighting>,
}

impl Gathered {
    /// Adds a warning; one of the same kind and stream in another repeat extends the first one.
    fn add(&mut self, stream: Option<String>, repeat: Option<u32>, warning: Warning) {
        let code = warning.code();
        let same = |s: &&mut Sighting| s.stream == stream && s.warning.code() == code;
        match self.sightings.iter_mut().find(same) {
            Some(known) => known.repeats.extend(repeat.filter(|r| !known.repeats.contains(r))),
            None => self.sightings.push(Sighting {
                load_point: self.load_point,
                stream,
                repeats: repeat.into_iter().collect(),
                warning,
            }),
        }
    }

    /// Adds the run's own warnings, unless the analysis derives the same one from the window's
    /// numbers.
    fn add_unless_known(&mut self, repeat: u32, warning: &Warning) {
        let code = warning.code();
        let computed = |s: &Sighting| {
            s.warning.code() == code && (s.repeats.is_empty() || s.repeats.contains(&repeat))
        };
        if !self.sightings.iter().any(computed) {
            self.add(None, Some(repeat), warning.clone());
        }
    }
}

/// The stream's name if a load point has several.
fn stream_name(load_point: &LoadPoint, summary: &StreamSummary) -> Option<String> {
    (load_point.merged.streams.len() > 1).then(|| summary.name.clone())
}

fn of_run(run: &RunSummary, record: &RunRecord, hosts: Option<HostsOfPoint<'_>>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let intervals = run.summary.intervals;
    let stored = record.warnings.iter().any(|w| matches!(w, Warning::EndedEarly { .. }));
    if run.outcome != Outcome::Done && !stored {
        let why = match &run.outcome {
            Outcome::Failed { reason } => reason.as_str(),
            Outcome::Interrupted => "interrupted by the user",
            Outcome::Aborted => "its end is not recorded (killed, or the host failed)",
            Outcome::Done => unreachable!("excluded above"),
        };
        let reason =
            format!("{intervals} of {} intervals were measured; {why}", run.intervals_planned);
        warnings.push(Warning::EndedEarly { reason });
    }
    // Streams that are never active together have no total.
    let total = Some(&run.summary.total);
    let total = total.filter(|total| total.covers.as_ref().is_none_or(|time| !time.is_empty()));
    let shortest = run.summary.streams.iter().chain(total).map(|stream| stream.intervals).min();
    let shortest = shortest.unwrap_or(intervals);
    if (shortest as usize) < INTERVALS_MIN {
        warnings.push(Warning::WindowTooShort { intervals: shortest });
    }
    let errors = all_errors(record);
    if !errors.is_empty() {
        let warning = Warning::ErrorsSeen { errors };
        warnings.push(match hosts {
            Some(hosts) => hosts.with_failures(record, warning),
            None => warning,
        });
    }
    warnings
}

/// Failures of the whole run including the warm-up, where an error affects the later numbers.
fn all_errors(record: &RunRecord) -> Vec<(String, String, u64)> {
    let mut counts = [[0; ErrorKind::COUNT]; OpKind::COUNT];
    let streams = record.intervals.iter().flat_map(|interval| &interval.streams);
    for (kind, counted) in streams.flat_map(|stream| stream.kinds.entries()) {
        for (sum, count) in counts[kind as usize].iter_mut().zip(counted.failed) {
            *sum += count;
        }
    }
    let of_kind = |(kind, counts): (OpKind, [u64; ErrorKind::COUNT])| {
        let errors = ErrorKind::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
        errors.map(move |(error, count)| (kind.name().to_owned(), error.name().to_owned(), count))
    };
    OpKind::ALL.into_iter().zip(counts).flat_map(of_kind).collect()
}

fn of_stream_in_run(summary: &StreamSummary, over_time: &StreamSteadiness) -> Vec<Warning> {
    match summary.overload {
        // With a growing backlog, steadiness is not examined.
        Some(overload) => vec![Warning::Overloaded {
            offered_rate: overload.offered_rate.get(),
            achieved_rate: overload.achieved_rate.get(),
            backlog: summary.backlog_end,
        }],
        None => over_time.warnings(summary.offered_rate.is_some()),
    }
}

/// Workers that share processors can use all of them although none has its own.
fn processors_busy(load_point: &LoadPoint, generator: Generator) -> Option<Warning> {
    let (used, processors) = (load_point.merged.cpu_used?.value, generator.processors?);
    (used >= BUSY_MAX * f64::from(processors))
        .then_some(Warning::ProcessorsBusy { used, processors })
}

fn of_stream_merged(summary: &StreamSummary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(busy) =
        summary.worker_busy_max.map(|busy| busy.value).filter(|busy| *busy > BUSY_MAX)
    {
        warnings.push(Warning::GeneratorBusy { busy });
    }
    let service_mean = summary.data.service.mean_ns.map(|mean| mean.value);
    let delay_mean = summary.schedule_delay_mean_ns.map(|delay| delay.value);
    if let (Some(delay_mean_ns), Some(service_mean_ns)) = (delay_mean, service_mean)
        && delay_mean_ns > DELAY_SHARE_MAX * service_mean_ns
    {
        warnings.push(Warning::ScheduleDelayHigh { delay_mean_ns, service_mean_ns });
    }
    // Failed operations were outstanding too, but they count in neither rate nor times.
    let checks = [summary.little_service, summary.little_response];
    if summary.errors.is_empty()
        && let Some(check) = checks.into_iter().flatten().find(|check| !check.holds())
    {
        warnings.push(Warning::LittleMismatch {
            outstanding_mean: check.counted,
            expected: check.expected,
        });
    }
    let shown = SHOWN.iter().filter_map(|fraction| summary.data.response.percentile(*fraction));
    // A load point without any measurement has its own warning.
    let measured = summary.data.response.samples > 0;
    let few = |p: &&Percentile| measured && p.samples_above < SAMPLES_ABOVE_MIN;
    if let Some(few) = shown.into_iter().find(few) {
        warnings.push(Warning::FewSamplesForPercentile {
            percentile: few.fraction * 100.0,
            samples_above: few.samples_above,
        });
    }
    warnings
}
