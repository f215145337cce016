//! `run --metrics` and `--metrics-file`: the counters of a run for Prometheus, while it runs.
//!
//! A listener sums up the events and publishes the sums after each; a thread that serves HTTP and
//! one that writes the file read the last published sums. Neither is on the path of an operation or
//! of an event.

mod address;
mod latest;
mod server;
mod text;
mod text_file;
mod totals;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use runner::event::{Event, Listener, ListenerError};
use workload::plan::Plan;

use crate::keep::{output_file, refuse_unwritable};
use crate::outcome::Failure;
pub use address::parse_address;
use latest::Latest;
use server::Server;
use text_file::TextFile;
use totals::RunTotals;

/// Where the counters of a run are published.
#[derive(Clone, Debug, Default)]
pub struct MetricsOptions {
    /// Where they are served over HTTP.
    pub address: Option<SocketAddr>,
    /// The file for node_exporter's textfile collector.
    pub file: Option<PathBuf>,
}

/// Publishes the counters of a run until it is dropped.
#[derive(Debug)]
pub struct RunMetrics {
    totals: RunTotals,
    latest: Arc<Latest>,
    server: Option<Server>,
    file: Option<TextFile>,
}

impl RunMetrics {
    /// Starts publishing; `None` if it is not requested.
    ///
    /// # Errors
    /// The address is in use or not of this host, or the file cannot be written.
    pub fn start(options: &MetricsOptions, plan: &Plan) -> Result<Option<RunMetrics>, Failure> {
        if options.address.is_none() && options.file.is_none() {
            return Ok(None);
        }
        if let Some(path) = &options.file {
            refuse_file(path)?;
        }
        let totals = RunTotals::new(plan);
        let latest = Arc::new(Latest::new(totals.clone()));
        let server = options
            .address
            .map(|address| Server::start(address, Arc::clone(&latest)))
            .transpose()?;
        let file = options
            .file
            .as_deref()
            .map(|path| TextFile::start(path, Arc::clone(&latest)))
            .transpose()?;
        Ok(Some(RunMetrics { totals, latest, server, file }))
    }

    /// The address of `/metrics`.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.as_ref().map(Server::address)
    }

    /// Stops publishing. The file keeps the final counters.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.latest.close();
        self.file.take().map_or(Ok(()), TextFile::finish)
    }
}

fn refuse_file(path: &Path) -> Result<(), Failure> {
    if output_file::is_stdout(path) {
        return Err(Failure::input(anyhow!("write metrics to `-`: name a file")));
    }
    refuse_unwritable(path)
}

impl Listener for RunMetrics {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        self.totals.count(event);
        // These are frequent and change no counter.
        if !matches!(event, Event::PrepareProgress { .. } | Event::Warning { .. }) {
            self.latest.publish(self.totals.clone());
        }
        Ok(())
    }
}

impl Drop for RunMetrics {
    fn drop(&mut self) {
        self.latest.close();
        if let Some(file) = self.file.take() {
            // The failure of the run is being reported already.
            let _ = file.finish();
        }
    }
}
