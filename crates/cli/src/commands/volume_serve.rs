//! `volume serve`: serves emulated volumes over NFS until Ctrl-C.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use cloud::catalog::Catalog;
use commands::outcome::{Exit, Failure, Outcome};
use commands::serve::printed::{introduction, summary};
use commands::serve::{self, Reload, VolumeChange};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use target::threads::ThreadError;
use units::Utc;
use volume::config::Config;
use volume::notice::Log;
use volume::shell::{Options, Running, half_of_memory};

use crate::terminal::{Terminal, write_stderr};
use crate::volume_args::{Metrics, ServeArguments};

/// Log lines that are buffered for a slow terminal. More are dropped: the service does not wait.
const LINES: usize = 1024;

/// Deferred replies with preallocated memory, 49 MiB in total: enough for 1,024 connections.
const DEFERRED_RESERVE: usize = 128 << 10;

pub(crate) fn run(arguments: &ServeArguments, terminal: &Terminal) -> Outcome {
    // Before the table is printed: a program that reads it may send a signal immediately.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("listen for signals")
        .map_err(Failure::internal)?;
    let catalog = Catalog::embedded();
    let config = config(arguments, &catalog)?;
    for endpoint in &config.endpoints {
        warn_if_reachable(
            terminal,
            &format!("endpoint `{}`", endpoint.name),
            endpoint.address,
            "use its volumes as the export rules allow; NFSv3 does not authenticate callers",
        );
    }
    let metrics = match arguments.metrics {
        Metrics::Nowhere => None,
        Metrics::At(address) => Some(address),
    };
    if let Some(address) = metrics {
        warn_if_reachable(
            terminal,
            "--metrics",
            address,
            "read the names of volumes, the addresses of clients and all counters without a \
             password",
        );
    }
    let memory = arguments.memory.unwrap_or_else(half_of_memory);
    let (log, logger) = logger()?;
    let connections_max = arguments.connections_max as usize;
    let each = config.limits.outstanding_per_connection;
    let options = Options {
        config: config.clone(),
        catalog: catalog.clone(),
        memory,
        data: arguments.data.clone(),
        portmapper: arguments.portmapper,
        metrics,
        connections_max,
        deferred_reserve: connections_max.saturating_mul(each as usize).min(DEFERRED_RESERVE),
        log,
    };
    let running = serve::start(options)?;
    let mut out = std::io::stdout().lock();
    out.write_all(introduction(&running, memory, terminal.listing_columns())?.as_bytes())?;
    out.flush()?;
    for signal in signals.forever() {
        if signal != SIGHUP {
            break;
        }
        for line in reload(arguments, &catalog, &running)? {
            logger.log(&line);
        }
    }
    let last = running.stop().map_err(Failure::internal)?;
    out.write_all(summary(&last).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The configuration from the file or the flags.
fn config(arguments: &ServeArguments, catalog: &Catalog) -> Result<Config, Failure> {
    if let Some(path) = &arguments.config {
        return serve::config::of_file(path, catalog);
    }
    arguments.volume(catalog).config(catalog).map_err(|broken| {
        let all: Vec<String> = broken.iter().map(ToString::to_string).collect();
        Failure::input(anyhow!("{}", all.join("\n  ")))
    })
}

/// Warns about an address that other hosts may reach.
///
/// * `allows` - what a host that reaches it can do
pub(super) fn warn_if_reachable(
    terminal: &Terminal,
    what: &str,
    address: SocketAddr,
    allows: &str,
) {
    if !address.ip().is_loopback() {
        terminal
            .warn(&format!("{what} listens at {address}: every host that reaches it can {allows}"));
    }
}

/// Applies the configuration file again; returns the lines to log.
fn reload(
    arguments: &ServeArguments,
    catalog: &Catalog,
    running: &Running,
) -> Result<Vec<String>, Failure> {
    let Some(path) = &arguments.config else {
        return Ok(vec!["SIGHUP: there is no --config to reload; nothing changed".to_owned()]);
    };
    let file = path.display();
    Ok(match serve::reload(path, catalog, running)? {
        Reload::Applied(changes) => {
            let head = format!("{file} is active");
            std::iter::once(head).chain(changes.iter().map(change_line)).collect()
        }
        Reload::Refused(problems) => {
            let head = format!("{file} is refused; the previous configuration stays active:");
            let problems = problems.into_iter().map(|line| format!("  {line}"));
            std::iter::once(head).chain(problems).collect()
        }
    })
}

fn change_line(change: &VolumeChange) -> String {
    let name = &change.name;
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("  {name}: {before} -> {after}"),
        (None, Some(after)) => format!("  {name}: new: {after}"),
        (_, None) => format!("  {name}: removed"),
    }
}

/// Writes lines with the time to stderr.
struct Logger(SyncSender<String>);

impl Logger {
    fn log(&self, line: &str) {
        // The channel is full if the terminal does not read; the service does not wait for it.
        let _ = self.0.try_send(stamped(line));
    }
}

/// A log for the service and one for this thread; a separate thread writes the lines.
fn logger() -> Result<(Log, Logger), Failure> {
    let (send, lines) = sync_channel::<String>(LINES);
    std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || lines.iter().for_each(|line| write_stderr(&line)))
        .map_err(|source| ThreadError { number: 1, requested: 1, source })
        .context("start the thread that writes the log")
        .map_err(Failure::target)?;
    let service = Logger(send.clone());
    Ok((Box::new(move |line: &str| service.log(line)), Logger(send)))
}

fn stamped(line: &str) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let utc = Utc::from_unix_ms(since.as_millis() as u64);
    format!("{}T{}Z {line}\n", utc.date(), utc.time())
}
