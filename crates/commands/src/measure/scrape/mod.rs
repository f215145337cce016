//! `run --scrape`: metrics of other systems, stored while runs are measured.
//!
//! Each exporter has a thread, which reads it after each interval. A slow exporter misses scrapes,
//! which are counted; it delays neither the run nor the other exporters.

mod url;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use exposition::http;
use exposition::reader::{self, Sample};
use metrics::scraped::Scrape;
use runner::event::{Event, Listener, ListenerError};
use store::{ScrapedSample, ScrapedWriter, Writer};

use crate::outcome::Failure;
use crate::{http_get, unix_ms};
pub use url::{BadUrl, ScrapeUrl};

/// The most exporters of one run, each with a thread.
const SCRAPES_MAX: usize = 8;
/// Scrapes of shorter intervals are left out: an exporter needs some milliseconds of a processor for
/// an answer.
const PERIOD_MIN: Duration = Duration::from_millis(200);
/// Exporters that take longer are not useful within a run.
const TIMEOUT_MAX: Duration = Duration::from_secs(5);
/// Larger answers are refused: node_exporter's has 0.2 MB.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// How long the test before the run waits for an exporter.
const TEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Reads each exporter once. Returns a warning for each that cannot be read; it is tried again
/// during the run.
///
/// # Errors
/// There are too many.
pub fn test_exporters(urls: &[ScrapeUrl]) -> Result<Vec<String>, Failure> {
    if urls.len() > SCRAPES_MAX {
        return Err(Failure::input(anyhow!("--scrape: at most {SCRAPES_MAX} exporters")));
    }
    let warning = |url: &ScrapeUrl| {
        let reason = page(url, TEST_TIMEOUT).and_then(|page| {
            reader::samples(body(&page)?).map(drop).map_err(|error| error.to_string())
        });
        let reason = reason.err()?;
        Some(format!("scrape {url}: {reason}; the run continues and tries again"))
    };
    Ok(urls.iter().filter_map(warning).collect())
}

/// The thread of each exporter; they end when this is dropped.
#[derive(Debug)]
pub(super) struct Scraper {
    exporters: Vec<Exporter>,
    writer: SharedWriter,
    last: Option<Instant>,
}

type SharedWriter = Arc<Mutex<ScrapedWriter>>;

#[derive(Debug)]
struct Exporter {
    moments: Option<SyncSender<Moment>>,
    thread: Option<JoinHandle<()>>,
}

/// A request to scrape.
#[derive(Clone, Copy, Debug)]
struct Moment {
    run_index: u32,
    after_interval: Option<u32>,
    timeout: Duration,
}

impl Scraper {
    /// Starts the threads, which store into a new file of the record; `None` without exporters.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(super) fn start(urls: &[ScrapeUrl], writer: &Writer) -> Result<Option<Scraper>, Failure> {
        if urls.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = urls.iter().map(ToString::to_string).collect();
        let writer = writer.scraped(&names).map_err(Failure::target)?;
        let writer = Arc::new(Mutex::new(writer));
        let exporters = urls.iter().enumerate().map(|(index, url)| {
            // One scrape at a time; further ones are missed.
            let (moments, received) = sync_channel(1);
            let (url, writer) = (url.clone(), Arc::clone(&writer));
            let thread = std::thread::Builder::new()
                .name("scrape".to_owned())
                .spawn(move || scrape_each(index, &url, &received, &writer))
                .context("start a thread that scrapes")
                .map_err(Failure::internal)?;
            Ok(Exporter { moments: Some(moments), thread: Some(thread) })
        });
        let exporters = exporters.collect::<Result<_, Failure>>()?;
        Ok(Some(Scraper { exporters, writer, last: None }))
    }

    fn scrape(&mut self, moment: Moment) {
        self.last = Some(Instant::now());
        for (index, exporter) in self.exporters.iter().enumerate() {
            let sent = exporter.moments.as_ref().map(|moments| moments.try_send(moment));
            if let Some(Err(TrySendError::Full(_))) = sent {
                store_failure(&self.writer, index, "the answer to an earlier scrape is pending");
            }
        }
    }
}

impl Listener for Scraper {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        match event {
            Event::RunStarted { run, .. } => {
                let moment = Moment {
                    run_index: run.index,
                    after_interval: None,
                    timeout: timeout(Duration::from_nanos(run.phases.interval_ns)),
                };
                self.scrape(moment);
            }
            Event::Interval { run_index, interval } => {
                let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
                let moment = Moment {
                    run_index: *run_index,
                    after_interval: Some(interval.index),
                    timeout: timeout(Duration::from_nanos(length_ns)),
                };
                if self.last.is_none_or(|last| last.elapsed() >= PERIOD_MIN) {
                    self.scrape(moment);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        for exporter in &mut self.exporters {
            exporter.moments = None;
        }
        for exporter in &mut self.exporters {
            if let Some(thread) = exporter.thread.take() {
                // A panic of the thread was printed; the results are not affected.
                let _ = thread.join();
            }
        }
    }
}

/// Less than the time until the next scrape.
fn timeout(interval: Duration) -> Duration {
    (interval.max(PERIOD_MIN) * 3 / 4).min(TIMEOUT_MAX)
}

fn scrape_each(index: usize, url: &ScrapeUrl, moments: &Receiver<Moment>, writer: &SharedWriter) {
    for moment in moments {
        if let Err(reason) = scrape(index, url, moment, writer) {
            store_failure(writer, index, &reason);
        }
    }
}

fn scrape(
    index: usize,
    url: &ScrapeUrl,
    moment: Moment,
    writer: &SharedWriter,
) -> Result<(), String> {
    let Moment { run_index, after_interval, timeout } = moment;
    let page = page(url, timeout)?;
    let scrape = Scrape { run_index, after_interval, unix_ms: unix_ms() };
    let samples = reader::samples(body(&page)?).map_err(|error| error.to_string())?;
    let samples = samples.into_iter().map(stored);
    lock(writer).scrape(index, scrape, samples).map_err(|error| error.to_string())
}

fn stored(sample: Sample<'_>) -> ScrapedSample<'_> {
    let Sample { name, labels, is_counter, value } = sample;
    ScrapedSample { name, labels, is_counter, value }
}

fn page(url: &ScrapeUrl, timeout: Duration) -> Result<Vec<u8>, String> {
    let address = resolve(url).map_err(|error| format!("resolve {}: {error}", url.host))?;
    http_get::get(address, &url.authority(), &url.path, timeout, ANSWER_BYTES_MAX).map_err(
        |error| match error.kind() {
            io::ErrorKind::TimedOut => format!("no complete answer within {timeout:?}"),
            io::ErrorKind::FileTooLarge => {
                format!("the answer has more than {} MiB", ANSWER_BYTES_MAX >> 20)
            }
            _ => error.to_string(),
        },
    )
}

fn body(page: &[u8]) -> Result<&str, String> {
    http::body(page).map_err(|error| error.to_string())
}

fn resolve(url: &ScrapeUrl) -> io::Result<SocketAddr> {
    let mut found = (url.host.as_str(), url.port).to_socket_addrs()?;
    found.next().ok_or_else(|| io::Error::other("it has no address"))
}

/// A failure that cannot be stored is dropped: the run's own journal reports a full disk.
fn store_failure(writer: &SharedWriter, index: usize, reason: &str) {
    let _ = lock(writer).failed(index, reason);
}

/// A frame is appended with one write, so the writer is valid even if a thread panicked.
fn lock(writer: &SharedWriter) -> MutexGuard<'_, ScrapedWriter> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}
