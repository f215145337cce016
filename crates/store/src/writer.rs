//! Writes the events of an experiment to its journal as they happen.

use std::path::{Path, PathBuf};

use metrics::fleet::{FleetHost, HostEvent};
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome, Prepared};
use metrics::service_counters::ServiceCounters;
use metrics::tree_comparison::TreeComparison;
use metrics::warning::Warning;
use record::{frame, interval};
use serde::Serialize;
use workload::plan::Run;

use crate::journal::Journal;
use crate::root::Root;
use crate::scraped::ScrapedWriter;
use crate::{Error, listing};

/// The record of a running experiment. Its journal is locked while this exists, which distinguishes
/// a running experiment from an aborted one.
#[derive(Debug)]
pub struct Writer {
    pub(crate) root: Root,
    pub(crate) id: String,
    pub(crate) directory: PathBuf,
    pub(crate) journal: Journal,
    pub(crate) finished: bool,
}

/// Each of these fails with [`Error::AppendJournal`] if the journal cannot be written, and with
/// [`Error::JournalClosed`] after a failed write that could not be undone. Events written earlier
/// are kept.
impl Writer {
    /// The record's name in the store.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The run directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins the file with metrics of other systems, from these exporters.
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`], [`Error::AppendJournal`].
    pub fn scraped(&self, urls: &[String]) -> Result<ScrapedWriter, Error> {
        ScrapedWriter::create(&self.directory, urls)
    }

    /// Records the I/O method.
    pub fn io_method_chosen(&mut self, used: &ChosenIoMethod) -> Result<(), Error> {
        self.append(frame::ENGINE, used)
    }

    /// Records the hosts that measure.
    pub fn fleet(&mut self, hosts: &[FleetHost]) -> Result<(), Error> {
        self.append(frame::FLEET, &hosts)?;
        // Without it, intervals from the hosts' spools have no owner.
        self.sync()
    }

    /// Records an interval of one host.
    pub fn host_interval(
        &mut self,
        host: u32,
        run_index: u32,
        interval: &Interval,
    ) -> Result<(), Error> {
        self.append_with(frame::HOST_INTERVAL, |out| {
            frame::encode_host_interval(host, run_index, interval, out);
        })
    }

    /// Records an event of one host.
    pub fn host_event(
        &mut self,
        host: u32,
        run_index: u32,
        event: &HostEvent,
    ) -> Result<(), Error> {
        self.append(frame::HOST_EVENT, &(run_index, host, event))
    }

    /// Records a file set that is ready.
    pub fn prepared(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.append(frame::PREPARED, prepared)
    }

    /// Records the start of a run, at `started_unix_ms` milliseconds since 1970.
    pub fn run_started(&mut self, run: &Run, started_unix_ms: u64) -> Result<(), Error> {
        self.append_with(frame::RUN_STARTED, |out| {
            frame::encode_run_started(run, started_unix_ms, out);
        })
    }

    /// Records a complete interval of the run with this index. When this returns, the interval
    /// survives a kill of the process.
    pub fn interval(&mut self, run_index: u32, interval: &Interval) -> Result<(), Error> {
        self.append_with(frame::INTERVAL, |out| interval::encode(run_index, interval, out))
    }

    /// Records a warning about a run, or about the experiment.
    pub fn warning(&mut self, run_index: Option<u32>, warning: &Warning) -> Result<(), Error> {
        self.append(frame::WARNING, &(run_index, warning))
    }

    /// Records the service-side counters of the run with this index.
    pub fn service_counters(
        &mut self,
        run_index: u32,
        counts: &ServiceCounters,
    ) -> Result<(), Error> {
        self.append_with(frame::SERVICE_COUNTERS, |out| {
            frame::encode_counters(run_index, counts, out);
        })
    }

    /// Records the comparison of the trees of the run with this index.
    pub fn trees(&mut self, run_index: u32, trees: &[TreeComparison]) -> Result<(), Error> {
        self.append(frame::TREES, &(run_index, trees))
    }

    /// Records the end of a run, and makes the journal durable.
    pub fn run_finished(&mut self, run_index: u32, outcome: &Outcome) -> Result<(), Error> {
        self.append(frame::RUN_FINISHED, &(run_index, outcome))?;
        self.journal.sync()
    }

    /// Records the end of the experiment, and makes the journal durable.
    pub fn finish(&mut self, outcome: &Outcome) -> Result<(), Error> {
        self.append(frame::FINISHED, outcome)?;
        self.finished = true;
        self.journal.sync()?;
        listing::index_finished(&self.root, &self.id);
        Ok(())
    }

    /// Makes the journal durable.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.journal.sync()
    }

    fn append(&mut self, kind: u8, event: &impl Serialize) -> Result<(), Error> {
        self.append_with(kind, |out| frame::encode(event, out))
    }

    fn append_with(&mut self, kind: u8, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        assert!(!self.finished, "an event follows the end of the experiment");
        self.journal.append(kind, encode)
    }
}
