//! `--metrics-file`: a file for node_exporter's textfile collector, replaced after each interval.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context;
use exposition::writer::Format;

use super::latest::Latest;
use super::totals::RunTotals;
use crate::keep::output_file;
use crate::outcome::Failure;

/// The thread that writes the file, so that a slow file system delays no event.
#[derive(Debug)]
pub(super) struct TextFile {
    path: PathBuf,
    thread: JoinHandle<io::Result<()>>,
}

impl TextFile {
    /// Writes the file and starts the thread that replaces it.
    pub(super) fn start(path: &Path, latest: Arc<Latest>) -> Result<TextFile, Failure> {
        let path = path.to_owned();
        let to = path.clone();
        let thread = std::thread::Builder::new()
            .name("metrics-file".to_owned())
            .spawn(move || write_until_closed(&to, &latest))
            .context("start the thread that writes metrics")
            .map_err(Failure::internal)?;
        Ok(TextFile { path, thread })
    }

    /// Waits until the final counters are written; they must have been published.
    ///
    /// # Errors
    /// The file could not be written.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let written = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("a bug")));
        written
            .with_context(|| format!("write metrics to {}", self.path.display()))
            .map_err(Failure::target)
    }
}

/// Tries again after a failure, because only the last state counts; returns how the last write
/// ended.
fn write_until_closed(path: &Path, latest: &Latest) -> io::Result<()> {
    let mut seen = 0;
    let mut written = Ok(());
    while let Some((version, totals)) = latest.newer_than(seen) {
        seen = version;
        written = write(path, &totals);
    }
    written
}

fn write(path: &Path, totals: &RunTotals) -> io::Result<()> {
    let text = totals.exposition(Format::Prometheus);
    output_file::replace_often(path, |out| out.write_all(text.as_bytes()))
}
