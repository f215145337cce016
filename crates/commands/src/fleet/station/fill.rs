//! The files of a plan on this host: what is missing, and this host's part of the fill.
//!
//! The host that claimed the directory creates the missing files, fills its part, and records in the
//! manifest what the others report as durable.

use std::time::{Duration, Instant};

use engine::drive::Stop;
use runner::prepare::{PrepareError, check_existing};
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::manifest::{DurableBytes, FilledBy, Manifest};
use target::refusal::Refusal;
use target::split_fill::FillWatcher;
use workload::plan::{FileSet, Plan, Stream};

use super::{Station, StationContext, send_report};
use crate::fleet::request::{FillBegun, FillPart, PartFilled, Report, SetToFill};
use crate::measure::verdict;
use crate::outcome::Failure;
use crate::refusal;

/// Shortest time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

impl Station {
    /// Checks the files that exist, and creates those that are missing.
    pub(in crate::fleet) fn begin_fill(
        &mut self,
        sequence: u32,
        target: usize,
        writers: &[FilledBy],
        context: &StationContext<'_>,
    ) -> Result<FillBegun, Failure> {
        let stop = context.signals.stop(sequence);
        let directory = directory_of(&mut self.directories, target)?;
        let sets = missing_sets(directory, &self.plan, writers, &stop)
            .map_err(|error| verdict::of_error(error.into(), self.plan.target()))?;
        self.is_written = sets.iter().map(|set| !set.missing.is_empty()).collect();
        Ok(FillBegun { sets, manifest: directory.manifest().clone() })
    }

    /// Fills a part of the missing files. On the host that claimed the directory, it ends after the parts
    /// of all other hosts.
    pub(in crate::fleet) fn fill_part(
        &mut self,
        sequence: u32,
        target: usize,
        part: FillPart,
        context: &StationContext<'_>,
    ) -> Result<Vec<PartFilled>, Failure> {
        let stop = context.signals.stop(sequence);
        let directory = directory_of(&mut self.directories, target)?;
        let has_claimed = part.manifest.is_none();
        if let Some(manifest) = part.manifest {
            directory.join_fill(manifest);
        }
        let mut watcher = PartWatcher { context, has_claimed, set: 0, reported: None };
        let mut result = fill_files(directory, &part.files, &stop, &mut watcher);
        if has_claimed {
            result = record_others(directory, result, sequence, context);
        }
        result.map_err(|error| {
            verdict::of_error(PrepareError::from(error).into(), self.plan.target())
        })
    }

    /// Checks the file sets that were written to, and returns the manifest.
    pub(in crate::fleet) fn end_fill(&mut self, target: usize) -> Result<Manifest, Failure> {
        let directory = directory_of(&mut self.directories, target)?;
        let sets = directory.file_sets().iter().zip(&self.is_written);
        for (set, _) in sets.filter(|(_, is_written)| **is_written) {
            directory.check(set).map_err(refusal::failure)?;
        }
        Ok(directory.manifest().clone())
    }
}

/// The directory of a target, by its position in the plan.
pub(super) fn directory_of(
    directories: &mut [TargetDirectory],
    target: usize,
) -> Result<&mut TargetDirectory, Failure> {
    let none = || Failure::internal(anyhow::anyhow!("the target has no files"));
    directories.get_mut(target).ok_or_else(none)
}

fn missing_sets(
    directory: &mut TargetDirectory,
    plan: &Plan,
    writers: &[FilledBy],
    stop: &Stop,
) -> Result<Vec<SetToFill>, PrepareError> {
    check_existing(directory)?;
    let mut sets = Vec::new();
    for set in directory.file_sets().to_vec() {
        if is_read_by_others(plan, &set) {
            check_writers(directory, &set, writers)?;
        }
        let missing = directory.create_missing(&set, writers, &|| stop.is_requested())?;
        let missing = missing.into_iter().map(|file| (file.index, file.bytes)).collect();
        sets.push(SetToFill { set, missing });
    }
    Ok(sets)
}

/// Whether a stream has each host read files of `set` that another host wrote.
fn is_read_by_others(plan: &Plan, set: &FileSet) -> bool {
    let is_same = |of: FileSet| FileSet { files: set.files, ..of } == *set;
    let is_of = |stream: &Stream| stream.file_sets().into_iter().any(is_same);
    let mut streams = plan.model_streams();
    streams.any(|stream| stream.file_use.filled_by_others.is_some() && is_of(stream))
}

/// Refuses files that another host wrote than the one that fills them; with `--refill` they are written
/// again.
fn check_writers(
    directory: &mut TargetDirectory,
    set: &FileSet,
    writers: &[FilledBy],
) -> Result<(), Refusal> {
    if directory.refill() {
        return directory.discard_of_other_writers(set, writers);
    }
    let Some((index, filled_by)) = directory.find_of_other_writer(set, writers) else {
        return Ok(());
    };
    let filled_by = filled_by.map(|by| by.host.clone());
    let expected = writers[FileSet::filling_host(index, writers.len())].host.clone();
    Err(Refusal::OtherWriter { path: directory.file_path(set, index), filled_by, expected })
}

/// Fills `files[set]` of every set.
fn fill_files(
    directory: &mut TargetDirectory,
    files: &[Vec<u32>],
    stop: &Stop,
    watcher: &mut PartWatcher<'_>,
) -> Result<Vec<PartFilled>, FillError> {
    let mut filled = Vec::new();
    let sets = directory.file_sets().to_vec();
    for (number, (set, indexes)) in sets.iter().zip(files).enumerate() {
        if indexes.is_empty() {
            continue;
        }
        let begun = Instant::now();
        watcher.set = number as u32;
        let stopped = || stop.is_requested();
        let written_bytes = directory.fill_files(set, indexes, &stopped, watcher)?;
        let took_ns = begun.elapsed().as_nanos() as u64;
        filled.push(PartFilled { set: number as u32, written_bytes, took_ns });
    }
    Ok(filled)
}

/// Records what the other hosts report as durable until the last of them has ended.
fn record_others(
    directory: &mut TargetDirectory,
    mut result: Result<Vec<PartFilled>, FillError>,
    sequence: u32,
    context: &StationContext<'_>,
) -> Result<Vec<PartFilled>, FillError> {
    let report_failure = || send_report(context.outbox, &Report::PartFailed);
    if result.is_err() {
        report_failure();
    }
    while let Some(files) = context.signals.await_durable(sequence) {
        if let Err(refusal) = directory.record_durable(&files)
            && result.is_ok()
        {
            result = Err(refusal.into());
            report_failure();
        }
    }
    result
}

/// Reports the progress of this host's part.
struct PartWatcher<'a> {
    context: &'a StationContext<'a>,
    /// This host records what is durable; the others report it.
    has_claimed: bool,
    /// The set that is filled.
    set: u32,
    /// When progress was last reported.
    reported: Option<Instant>,
}

impl FillWatcher for PartWatcher<'_> {
    fn progress(&mut self, written_bytes: u64, total_bytes: u64) {
        let now = Instant::now();
        let is_due = self.reported.is_none_or(|last| now.duration_since(last) >= REPORT_EVERY);
        if is_due || written_bytes == total_bytes {
            self.reported = Some(now);
            let report = Report::Filling { set: self.set, written_bytes };
            send_report(self.context.outbox, &report);
        }
    }

    fn durable(&mut self, files: &[DurableBytes]) -> Vec<DurableBytes> {
        if self.has_claimed {
            return self.context.signals.take_durable();
        }
        if !files.is_empty() {
            send_report(self.context.outbox, &Report::Durable { files: files.to_vec() });
        }
        Vec::new()
    }
}
