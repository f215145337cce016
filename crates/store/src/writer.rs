//! Takes what happens while an experiment is done, and has it in the journal before it returns.

use std::path::{Path, PathBuf};

use metrics::interval::Interval;
use metrics::run_record::{EngineUsed, Outcome, Prepared};
use metrics::warning::Warning;
use metrics::witness::WitnessCounts;
use workload::plan::Run;

use crate::journal::Journal;
use crate::{Error, Store, frame};

/// The record of an experiment that is being done. Its journal is locked for as long as this lives,
/// which tells a live experiment from an aborted one.
#[derive(Debug)]
pub struct Writer {
    pub(crate) store: Store,
    pub(crate) id: String,
    pub(crate) directory: PathBuf,
    pub(crate) journal: Journal,
    pub(crate) finished: bool,
}

/// All of these fail with [`Error::AppendJournal`] where the file cannot be written, and with
/// [`Error::JournalClosed`] where it could not be before; what was taken earlier is kept.
impl Writer {
    /// The record's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The run directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The engine was settled.
    pub fn engine_chosen(&mut self, used: &EngineUsed) -> Result<(), Error> {
        self.append(frame::ENGINE, |out| frame::encode_engine(used, out))
    }

    /// A file set is ready.
    pub fn prepared(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.append(frame::PREPARED, |out| frame::encode_prepared(prepared, out))
    }

    /// A run begins, at `started_unix_ms` milliseconds since 1970.
    pub fn run_started(&mut self, run: &Run, started_unix_ms: u64) -> Result<(), Error> {
        self.append(frame::RUN_STARTED, |out| frame::encode_run_started(run, started_unix_ms, out))
    }

    /// An interval of the run numbered `run_index` is complete. It survives a kill of the process
    /// from here on.
    pub fn interval(&mut self, run_index: u32, interval: &Interval) -> Result<(), Error> {
        self.append(frame::INTERVAL, |out| crate::interval::encode(run_index, interval, out))
    }

    /// Something was noticed about a run, or about the experiment.
    pub fn warning(&mut self, run_index: Option<u32>, warning: &Warning) -> Result<(), Error> {
        self.append(frame::WARNING, |out| frame::encode_warning(run_index, warning, out))
    }

    /// A witness told what it counted in the run numbered `run_index`.
    pub fn witnessed(&mut self, run_index: u32, counts: &WitnessCounts) -> Result<(), Error> {
        self.append(frame::WITNESSED, |out| frame::encode_witnessed(run_index, counts, out))
    }

    /// The run numbered `run_index` ended. Everything so far is made durable.
    pub fn run_finished(&mut self, run_index: u32, outcome: &Outcome) -> Result<(), Error> {
        self.append(frame::RUN_FINISHED, |out| {
            frame::encode_run_finished(run_index, outcome, out);
        })?;
        self.journal.sync()
    }

    /// The experiment ended; nothing follows.
    pub fn finish(&mut self, outcome: &Outcome) -> Result<(), Error> {
        self.append(frame::FINISHED, |out| frame::encode_outcome(outcome, out))?;
        self.finished = true;
        self.journal.sync()?;
        self.store.note_finished(&self.id);
        Ok(())
    }

    fn append(&mut self, kind: u8, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        assert!(!self.finished, "nothing happens after the end of the experiment");
        self.journal.append(kind, encode)
    }
}
