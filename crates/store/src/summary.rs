//! A record's summary for the index, read from its run directory without decoding histograms.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use metrics::run_record::Outcome;
use record::frame::Frame;

use crate::{Error, journal, manifest};

/// Length and modification time of a record's two files. Files with the same stamp are not read
/// again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) manifest_bytes: i64,
    pub(crate) manifest_changed_ns: i64,
    pub(crate) journal_bytes: i64,
    pub(crate) journal_changed_ns: i64,
}

/// The summary of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    pub(crate) stamp: Stamp,
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) overrides: Vec<String>,
    pub(crate) target: String,
    pub(crate) plan_hash: String,
    pub(crate) started_unix_ms: u64,
    pub(crate) runs_planned: u32,
    /// `None` if the end was not recorded.
    pub(crate) outcome: Option<Outcome>,
    /// Why the directory cannot be read, if it cannot.
    pub(crate) damage: Option<String>,
    pub(crate) runs: Vec<RunSummary>,
    /// Text computed from the record by a crate that can analyse it; `None` until it is stored.
    pub(crate) digest: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunSummary {
    pub(crate) run_index: u32,
    pub(crate) variant: String,
    pub(crate) load_point: String,
    pub(crate) repeat: u32,
    pub(crate) started_unix_ms: u64,
    pub(crate) intervals: u32,
    pub(crate) outcome: Option<Outcome>,
}

impl Stamp {
    /// The current stamp of a record's files; zeros for a file that is missing or unreadable, which
    /// is reported when it is read.
    pub(crate) fn of(directory: &Path) -> Stamp {
        let stat = |name| match fs::metadata(directory.join(name)) {
            Ok(found) => {
                let changed_ns = found.mtime().saturating_mul(1_000_000_000) + found.mtime_nsec();
                (i64::try_from(found.len()).unwrap_or(i64::MAX), changed_ns)
            }
            Err(_) => (0, 0),
        };
        let (manifest_bytes, manifest_changed_ns) = stat(manifest::NAME);
        let (journal_bytes, journal_changed_ns) = stat(journal::NAME);
        Stamp { manifest_bytes, manifest_changed_ns, journal_bytes, journal_changed_ns }
    }
}

impl Summary {
    /// Reads the record in `directory`. The summary of an unreadable record contains the reason.
    pub(crate) fn read(directory: &Path) -> Summary {
        // The stamp is taken first, so that a journal that grows meanwhile is read again next time.
        let mut summary = Summary { stamp: Stamp::of(directory), ..Summary::default() };
        if let Err(error) = summary.fill(directory) {
            summary.damage = Some(error.to_string());
        }
        summary
    }

    fn fill(&mut self, directory: &Path) -> Result<(), Error> {
        let manifest = manifest::read(&directory.join(manifest::NAME))?;
        self.target = manifest.plan.target().in_words();
        self.runs_planned = manifest.plan.runs_max();
        let has_search = manifest.plan.searches().next().is_some();
        self.name = manifest.plan.name;
        self.source = manifest.plan.source;
        self.overrides = manifest.plan.overrides;
        self.plan_hash = manifest.plan_hash;
        self.started_unix_ms = manifest.started_unix_ms;
        let path = directory.join(journal::NAME);
        let bytes =
            fs::read(&path).map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        for raw in journal::frames(&path, &bytes)? {
            self.add(raw.kind, raw.payload).map_err(|reason| Error::DamagedJournal {
                path: path.clone(),
                offset_bytes: raw.offset_bytes,
                reason: reason.to_owned(),
            })?;
        }
        // The number of runs of a search is known only after its end.
        if has_search && self.outcome == Some(Outcome::Done) {
            self.runs_planned = self.runs.len() as u32;
        }
        Ok(())
    }

    fn add(&mut self, kind: u8, payload: &[u8]) -> Result<(), &'static str> {
        if let Some((host, run_index)) =
            Frame::origin_of_interval(kind, payload).map_err(|malformed| malformed.0)?
        {
            // All hosts of a fleet have nearly as many.
            self.run_of(run_index)?.intervals += u32::from(host == 0);
            return Ok(());
        }
        match Frame::decode(kind, payload).map_err(|malformed| malformed.0)? {
            Frame::RunStarted { started_unix_ms, run } => self.runs.push(RunSummary {
                run_index: run.index,
                load_point: run.load_point(),
                variant: run.variant,
                repeat: run.repeat,
                started_unix_ms,
                intervals: 0,
                outcome: None,
            }),
            Frame::RunFinished { run_index, outcome } => {
                self.run_of(run_index)?.outcome = Some(outcome);
            }
            Frame::Finished(outcome) => self.outcome = Some(outcome),
            Frame::Engine(_)
            | Frame::Prepared(_)
            | Frame::Warning { .. }
            | Frame::ServiceCounters { .. }
            | Frame::Trees { .. }
            | Frame::Fleet(_)
            | Frame::HostEvent { .. } => {}
            Frame::Interval { .. } | Frame::HostInterval { .. } => {
                unreachable!("counted without decoding")
            }
        }
        Ok(())
    }

    fn run_of(&mut self, run_index: u32) -> Result<&mut RunSummary, &'static str> {
        let found = self.runs.iter_mut().rev().find(|run| run.run_index == run_index);
        found.ok_or("its run was not started")
    }

    /// Runs that ended as planned.
    pub(crate) fn runs_done(&self) -> u32 {
        self.runs.iter().filter(|run| run.outcome == Some(Outcome::Done)).count() as u32
    }
}
