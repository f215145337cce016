//! Several targets in one experiment: what each of them delivered.

use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, RunRecord};
use workload::plan::Run;

use crate::load_point::{self, Generator, Summary};

/// The targets of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFindings {
    /// Their names, by position.
    pub names: Vec<String>,
    /// What each delivered, in the order of the load points.
    pub load_points: Vec<Vec<TargetSummary>>,
}

/// A target's part of a load point.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetSummary {
    /// The target's position.
    pub target: usize,
    /// What was measured on it, over all repeats.
    pub summary: Summary,
}

/// The targets of a record; `None` if it has one.
pub(crate) fn findings(
    record: &ExperimentRecord,
    groups: &[Vec<&RunRecord>],
    generator: Generator,
) -> Option<TargetFindings> {
    let targets = record.plan.targets.len();
    if targets < 2 {
        return None;
    }
    let names = (0..targets).map(|target| record.plan.target_name(target)).collect();
    let load_points = groups.iter().map(|records| of_load_point(records, targets, generator));
    Some(TargetFindings { names, load_points: load_points.collect() })
}

/// A load point's summary on each target that it uses, computed as that of all targets together.
fn of_load_point(
    records: &[&RunRecord],
    targets: usize,
    generator: Generator,
) -> Vec<TargetSummary> {
    let of_target = |target: usize| {
        let parts: Vec<RunRecord> =
            records.iter().filter_map(|record| part(record, target as u32)).collect();
        let parts: Vec<&RunRecord> = parts.iter().collect();
        let summary = || load_point::load_point(&parts, generator).merged;
        (!parts.is_empty()).then(|| TargetSummary { target, summary: summary() })
    };
    (0..targets).filter_map(of_target).collect()
}

/// A run as if only `target` had been measured; `None` if the run did not use it.
fn part(record: &RunRecord, target: u32) -> Option<RunRecord> {
    let run = &record.run;
    let streams: Vec<u32> = (0u32..)
        .zip(&run.streams)
        .filter(|(_, stream)| stream.targets.positions.contains(&target))
        .map(|(at, _)| at)
        .collect();
    if streams.is_empty() {
        return None;
    }
    let on_target = |at: &u32| run.streams[*at as usize].on_target(run.hosts, target);
    Some(RunRecord {
        run: Run { streams: streams.iter().map(on_target).collect(), ..run.clone() },
        intervals: record.intervals.iter().map(|one| interval(one, &streams, target)).collect(),
        started_unix_ms: record.started_unix_ms,
        hosts: Vec::new(),
        warnings: record.warnings.clone(),
        service_counters: record.service_counters,
        trees: record.trees.clone(),
        outcome: record.outcome.clone(),
    })
}

fn interval(whole: &Interval, streams: &[u32], target: u32) -> Interval {
    let sums = |stream: &u32| {
        let part = whole.targets.iter().find(|one| one.stream == *stream && one.target == target);
        match part {
            Some(part) => part.sums.clone(),
            // A run with one target has no parts.
            None if whole.targets.is_empty() => {
                whole.streams.get(*stream as usize).cloned().unwrap_or_default()
            }
            None => Default::default(),
        }
    };
    Interval {
        index: whole.index,
        start_ns: whole.start_ns,
        end_ns: whole.end_ns,
        streams: streams.iter().map(sums).collect(),
        ..Interval::default()
    }
}
