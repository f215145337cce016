//! Loads a record from its run directory.

use std::fs;
use std::path::Path;

use metrics::fleet::{self, HostRun};
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, Outcome, RunRecord};
use record::frame::Frame;
use record::interval::Sums;

use crate::manifest::{self, Manifest};
use crate::{Error, journal, scraped};

/// Reads the record in `directory`.
pub(crate) fn load(id: &str, directory: &Path) -> Result<ExperimentRecord, Error> {
    let manifest = manifest::read(&directory.join(manifest::NAME))?;
    let path = directory.join(journal::NAME);
    let bytes = fs::read(&path).map_err(|source| Error::ReadFile { path: path.clone(), source })?;
    let mut record = begin(id, manifest);
    let (scraped, warnings) = scraped::load(directory);
    record.scraped = scraped;
    record.warnings.extend(warnings);
    let mut sums = Sums::default();
    for raw in journal::frames(&path, &bytes)? {
        let damaged = |reason: &str| Error::DamagedJournal {
            path: path.clone(),
            offset_bytes: raw.offset_bytes,
            reason: reason.to_owned(),
        };
        let frame =
            Frame::decode(raw.kind, raw.payload).map_err(|malformed| damaged(malformed.0))?;
        if let Frame::Interval { interval, .. } | Frame::HostInterval { interval, .. } = &frame {
            sums.add(interval).map_err(|malformed| damaged(malformed.0))?;
        }
        apply(&mut record, frame).map_err(damaged)?;
    }
    let with_wire = fleet::are_separate_machines(&record.hosts);
    for run in record.runs.iter_mut().filter(|run| !run.hosts.is_empty()) {
        run.intervals = fleet::totals(&run.hosts, with_wire);
    }
    Ok(record)
}

fn begin(id: &str, manifest: Manifest) -> ExperimentRecord {
    ExperimentRecord {
        scraped: Default::default(),
        hosts: Vec::new(),
        id: id.to_owned(),
        plan_hash: manifest.plan_hash,
        io_method: ChosenIoMethod {
            io_method: manifest.plan.io_method.into(),
            reason: "the experiment ended before an I/O method was chosen".to_owned(),
        },
        plan: manifest.plan,
        environment: manifest.environment,
        started_unix_ms: manifest.started_unix_ms,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs: Vec::new(),
        outcome: Outcome::Aborted,
    }
}

/// Applies a frame of its journal to a record. Totals of several hosts are not part of it.
///
/// # Errors
/// The frame does not follow from those before it.
pub fn apply(record: &mut ExperimentRecord, frame: Frame) -> Result<(), &'static str> {
    match frame {
        Frame::Engine(used) => record.io_method = used,
        Frame::Prepared(prepared) => record.prepared.push(prepared),
        Frame::RunStarted { started_unix_ms, run } => record.runs.push(RunRecord {
            // A run may use only the first hosts of a fleet.
            hosts: vec![HostRun::default(); record.hosts.len().min(run.hosts as usize)],
            run: *run,
            started_unix_ms,
            intervals: Vec::new(),
            warnings: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome: Outcome::Aborted,
        }),
        Frame::Interval { run_index, interval } => {
            run_of(record, run_index)?.intervals.push(*interval);
        }
        Frame::Fleet(hosts) => record.hosts = hosts,
        Frame::HostInterval { host, run_index, interval } => {
            let intervals = &mut host_of(record, run_index, host)?.intervals;
            if interval.index as usize != intervals.len() {
                return Err("an interval of its host is missing");
            }
            intervals.push(*interval);
        }
        Frame::HostEvent { host, run_index, event } => {
            host_of(record, run_index, host)?.events.push(event);
        }
        Frame::Warning { run_index: None, warning } => record.warnings.push(warning),
        Frame::Warning { run_index: Some(run_index), warning } => {
            run_of(record, run_index)?.warnings.push(warning);
        }
        Frame::RunFinished { run_index, outcome } => run_of(record, run_index)?.outcome = outcome,
        Frame::ServiceCounters { run_index, counts } => {
            run_of(record, run_index)?.service_counters = Some(counts);
        }
        Frame::Trees { run_index, trees } => run_of(record, run_index)?.trees = trees,
        Frame::Finished(outcome) => record.outcome = outcome,
    }
    Ok(())
}

/// A host's part of the run with this index.
fn host_of(
    record: &mut ExperimentRecord,
    run_index: u32,
    host: u32,
) -> Result<&mut HostRun, &'static str> {
    let host = run_of(record, run_index)?.hosts.get_mut(host as usize);
    host.ok_or("its host does not belong to the fleet")
}

/// The run with this index; nearly always the last.
fn run_of(record: &mut ExperimentRecord, run_index: u32) -> Result<&mut RunRecord, &'static str> {
    let found = record.runs.iter_mut().rev().find(|run| run.run.index == run_index);
    found.ok_or("its run was not started")
}
