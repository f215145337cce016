//! The prepare phase: checks the files that exist, writes those that are missing, checks the sets
//! that it wrote to.
//!
//! The first check refuses a target before a long fill; the second covers the files as they will be
//! read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::drive::Stop;
use metrics::run_record::{Prepared, PreparedAmount};
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::refusal::Refusal;
use target::tree::{Repaired, RequiredTree};
use workload::plan::FileSet;

use crate::announce::Announcer;
use crate::event::{Event, Phase};

/// Shortest time between two progress events.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Why the prepare phase ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Files were changed, and `--refill` was not given.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The fill ended early.
    #[error(transparent)]
    Fill(#[from] FillError),
}

impl PrepareError {
    /// Whether the user ended it.
    pub(crate) fn is_interrupted(&self) -> bool {
        match self {
            PrepareError::Fill(FillError::Stopped) => true,
            PrepareError::Refused(refusal) | PrepareError::Fill(FillError::Refused(refusal)) => {
                refusal.is_interrupted()
            }
            PrepareError::Fill(_) => false,
        }
    }
}

/// Makes all files of the plan ready, in the directory of each target.
///
/// # Errors
/// A file is refused, cannot be written, or the user stopped the fill.
pub fn prepare(
    directories: &mut [TargetDirectory],
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<(), PrepareError> {
    announcer.send(&Event::PhaseStarted { run_index: None, phase: Phase::Prepare });
    for directory in &mut *directories {
        check_existing(directory)?;
    }
    directories.iter_mut().try_for_each(|directory| fill_missing(directory, stop, announcer))
}

fn fill_missing(
    directory: &mut TargetDirectory,
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<(), PrepareError> {
    let sets = directory.file_sets().to_vec();
    let mut written = Vec::new();
    for set in &sets {
        let prepared = fill(directory, set, stop, announcer)?;
        if prepared.written_bytes > 0 {
            written.push(set);
        }
        announcer.send(&Event::PrepareFinished(prepared));
    }
    for tree in directory.trees().to_vec() {
        let made = make_tree(directory, &tree, stop, announcer)?;
        announcer.send(&Event::PrepareFinished(made));
    }
    // The others were checked above.
    written.into_iter().try_for_each(|set| directory.check(set))?;
    Ok(())
}

/// Checks the files that exist; with `--refill`, invalid ones are marked as missing.
///
/// # Errors
/// The first file that is not as we wrote it.
pub fn check_existing(directory: &mut TargetDirectory) -> Result<(), PrepareError> {
    for set in directory.file_sets().to_vec() {
        if directory.refill() {
            directory.discard_invalid(&set)?;
        } else {
            directory.check(&set)?;
        }
    }
    Ok(())
}

fn make_tree(
    directory: &mut TargetDirectory,
    tree: &RequiredTree,
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<Prepared, FillError> {
    // Without a store the fill is pointless.
    let is_store_lost = AtomicBool::new(false);
    let stopped = || stop.is_requested() || is_store_lost.load(Ordering::Relaxed);
    make_tree_with(directory, tree, &stopped, &mut |done, total| {
        let stream = tree.stream.clone();
        announcer.send(&Event::PrepareProgress { stream, done, total });
        is_store_lost.store(announcer.failure().is_some(), Ordering::Relaxed);
    })
}

/// Takes how much of a tree was created, and how much has to be.
pub type OnTreeProgress<'p> = &'p mut dyn FnMut(PreparedAmount, PreparedAmount);

/// Makes a tree what it is at the start of a run; `on_progress` is called at times, and at the end if
/// something was created.
///
/// # Errors
/// It contains what is not ours, something cannot be created, or `stopped` returned true.
pub fn make_tree_with(
    directory: &mut TargetDirectory,
    tree: &RequiredTree,
    stopped: &(dyn Fn() -> bool + Sync),
    on_progress: OnTreeProgress<'_>,
) -> Result<Prepared, FillError> {
    let began = Instant::now();
    let (tree_bytes, tree_names) = (tree.bytes(), tree.entries_at_start());
    let mut reported = began;
    let mut progress = |done: Repaired| {
        let now = Instant::now();
        if now.duration_since(reported) < PROGRESS_EVERY {
            return;
        }
        reported = now;
        let share = u128::from(tree_bytes) * u128::from(done.missing);
        let bytes = u64::try_from(share / u128::from(tree_names.max(1))).unwrap_or(u64::MAX);
        let done_now = PreparedAmount { bytes: done.written_bytes, names: done.created };
        let bytes = bytes.max(done.written_bytes);
        on_progress(done_now, PreparedAmount { bytes, names: done.missing });
    };
    let made = directory.make_tree(tree, stopped, &mut progress)?;
    if made.created > 0 {
        let all = PreparedAmount { bytes: made.written_bytes, names: made.created };
        on_progress(all, all);
    }
    let took_ns = began.elapsed().as_nanos() as u64;
    Ok(Prepared { stream: tree.stream.clone(), written_bytes: made.written_bytes, took_ns })
}

fn fill(
    directory: &mut TargetDirectory,
    set: &FileSet,
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<Prepared, FillError> {
    let began = Instant::now();
    let mut reported: Option<Instant> = None;
    // Without a store the fill is pointless.
    let is_store_lost = AtomicBool::new(false);
    let mut progress = |written_bytes: u64, total_bytes: u64| {
        let now = Instant::now();
        let due = reported.is_none_or(|last| now.duration_since(last) >= PROGRESS_EVERY);
        if due || written_bytes == total_bytes {
            reported = Some(now);
            let stream = set.stream.clone();
            let [done, total] = [written_bytes, total_bytes].map(PreparedAmount::of_bytes);
            announcer.send(&Event::PrepareProgress { stream, done, total });
            is_store_lost.store(announcer.failure().is_some(), Ordering::Relaxed);
        }
    };
    let stopped = || stop.is_requested() || is_store_lost.load(Ordering::Relaxed);
    let written_bytes = directory.fill(set, &stopped, &mut progress)?;
    let took_ns = began.elapsed().as_nanos() as u64;
    Ok(Prepared { stream: set.stream.clone(), written_bytes, took_ns })
}
