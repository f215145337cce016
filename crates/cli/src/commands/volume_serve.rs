//! `volume serve`: emulated volumes over NFS, until Ctrl-C.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use cloud::catalog::Catalog;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use target::threads::ThreadError;
use units::{Bytes, Utc, thousands};
use volume::notice::Log;
use volume::shell::{Error, Options, Running, Snapshot, half_of_memory};

use crate::commands::volume_config::{self, Unusable};
use crate::emulated::not_started;
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::{Terminal, last_words};
use crate::volume_args::{Metrics, ServeArguments};

/// Lines that wait for a slow terminal; further ones are counted and dropped, for the service does
/// not wait for it.
const LINES: usize = 1024;

/// Held replies that have memory from the start, 49 MiB in all: as many as 1,024 connections have.
const HELD_ROOM: usize = 128 << 10;

pub(crate) fn run(arguments: &ServeArguments, terminal: &Terminal) -> Outcome {
    // Before anything is said: who reads the table may send a signal at once.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("listen for signals")
        .map_err(Failure::bug)?;
    let catalog = Catalog::embedded();
    let config = volume_config::described(arguments, &catalog, terminal)?;
    for endpoint in &config.endpoints {
        warn_if_reachable(
            terminal,
            &format!("endpoint `{}`", endpoint.name),
            endpoint.address,
            "use its volumes as the export rules allow; NFSv3 does not check who callers say they \
             are",
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
            "read the names of volumes, the addresses of clients and all counters; no password is \
             asked for",
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
        held_room: connections_max.saturating_mul(each as usize).min(HELD_ROOM),
        log,
    };
    let running = Running::start(options).map_err(|error| match error {
        Error::System { ref source, .. } if source.kind() == ErrorKind::WouldBlock => {
            Failure::target(not_started(error))
        }
        Error::System { .. } | Error::Ended => Failure::bug(error),
        error => Failure::input(error),
    })?;
    let mut out = std::io::stdout().lock();
    out.write_all(introduction(&running, memory)?.as_bytes())?;
    out.flush()?;
    for signal in signals.forever() {
        if signal != SIGHUP {
            break;
        }
        for line in read_again(arguments, &catalog, &running)? {
            logger.say(&line);
        }
    }
    let last = running.stop().map_err(Failure::bug)?;
    out.write_all(summary(&last).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Warns of an address that other hosts may reach.
///
/// * `means` - what whoever reaches it can do
fn warn_if_reachable(terminal: &Terminal, what: &str, address: SocketAddr, means: &str) {
    if !address.ip().is_loopback() {
        terminal.warn(&format!("{what} listens at {address}: whoever reaches it can {means}"));
    }
}

/// Steps to what the file says now; gives the lines that tell what came of it.
fn read_again(
    arguments: &ServeArguments,
    catalog: &Catalog,
    running: &Running,
) -> Result<Vec<String>, Failure> {
    const KEPT: &str = "the old account stays in force";
    let Some(path) = &arguments.config else {
        return Ok(vec!["SIGHUP: there is no --config to read again; nothing changed".to_owned()]);
    };
    let refused = |broken: Vec<String>| {
        let mut lines = vec![format!("{} is refused; {KEPT}:", path.display())];
        lines.extend(broken.into_iter().map(|line| format!("  {line}")));
        Ok(lines)
    };
    let wanted = match volume_config::of_file(path, catalog) {
        Ok(wanted) => wanted,
        Err(Unusable::Unreadable(error)) => return refused(vec![format!("{error:#}")]),
        Err(Unusable::Mistaken(_, mistakes)) => {
            return refused(mistakes.iter().map(ToString::to_string).collect());
        }
    };
    let before = running.snapshot().map_err(Failure::bug)?;
    match running.change(wanted) {
        Ok(()) => {
            let after = running.snapshot().map_err(Failure::bug)?;
            Ok(changes(path.display().to_string(), &before, &after))
        }
        Err(Error::Account(broken)) => refused(broken.iter().map(ToString::to_string).collect()),
        Err(error) => Err(Failure::bug(error)),
    }
}

/// What is different now, a line for each volume.
fn changes(file: String, before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut lines = vec![format!("{file} is in force")];
    let was: Vec<(String, String)> = rows(before);
    let is = rows(after);
    for (name, row) in &is {
        match was.iter().find(|(other, _)| other == name) {
            Some((_, old)) if old != row => lines.push(format!("  {name}: {old} -> {row}")),
            Some(_) => {}
            None => lines.push(format!("  {name}: new: {row}")),
        }
    }
    for (name, _) in was.iter().filter(|(name, _)| is.iter().all(|(other, _)| other != name)) {
        lines.push(format!("  {name}: gone"));
    }
    lines
}

/// `(name, level, quota, limit)` of each volume, in words.
fn rows(snapshot: &Snapshot) -> Vec<(String, String)> {
    let account = snapshot.account.account();
    let row = |volume: &volume::model::Volume| {
        let level = account.pool(&volume.pool).map_or("", |pool| pool.level.name());
        let limit = limit_of(snapshot, volume);
        (volume.name.clone(), format!("{level}, {}, {limit}", volume.quota))
    };
    account.volumes.iter().map(row).collect()
}

fn limit_of(snapshot: &Snapshot, volume: &volume::model::Volume) -> String {
    match snapshot.account.throughput_limit(volume).filter(|_| snapshot.limits_enforced) {
        Some(limit) => limit.to_string(),
        None => "no limit".to_owned(),
    }
}

/// Volumes with their limits, and how they are reached.
fn introduction(running: &Running, memory: Bytes) -> Result<String, Failure> {
    let snapshot = running.snapshot().map_err(Failure::bug)?;
    let account = snapshot.account.account();
    let wide = |name: &str| name.chars().count();
    let width = account.volumes.iter().map(|volume| wide(&volume.name)).fold(6, usize::max);
    let mut text = format!("{:<width$}  {:<8}  {:>10}  {}\n", "VOLUME", "LEVEL", "QUOTA", "LIMIT");
    for volume in &account.volumes {
        let level = account.pool(&volume.pool).map_or("", |pool| pool.level.name());
        let (name, quota) = (&volume.name, volume.quota.to_string());
        let limit = limit_of(&snapshot, volume);
        push(&mut text, format_args!("{name:<width$}  {level:<8}  {quota:>10}  {limit}"));
    }
    for volume in &account.volumes {
        let endpoints = snapshot.endpoints.iter().zip(running.addresses());
        let at = endpoints.filter(|(name, _)| volume.endpoints.contains(name));
        let at: Vec<SocketAddr> = at.map(|(_, address)| *address).collect();
        push(&mut text, format_args!("\n{}", volume.name));
        for address in at {
            let (host, port) = (reachable(address.ip()), address.port());
            let name = &volume.name;
            push(&mut text, format_args!("  nfs://{host}:{port}/{name}?mountport={port}"));
            push(
                &mut text,
                format_args!(
                    "  mount -t nfs -o vers=3,proto=tcp,nolock,port={port},mountport={port},\
                     mountproto=tcp {host}:/{name} /mnt"
                ),
            );
        }
    }
    push(&mut text, format_args!("\nmemory      at most {memory} for all volumes"));
    for address in running.portmappers() {
        push(&mut text, format_args!("portmapper  {address}"));
    }
    if let Some(address) = running.metrics() {
        push(&mut text, format_args!("metrics     http://{address}/metrics"));
    }
    push(&mut text, format_args!("Ctrl-C ends the service"));
    Ok(text)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

/// An address that a client on this host can use, in brackets where it has colons.
fn reachable(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) if address.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// What was served, at the end.
fn summary(last: &Snapshot) -> String {
    let mut text = String::from("\n");
    for (name, counters) in last.witness.volumes() {
        push(
            &mut text,
            format_args!(
                "{name}: {} operations, {} read, {} written, {} delayed by limits",
                thousands(counters.completed()),
                Bytes::new(counters.read_bytes),
                Bytes::new(counters.written_bytes),
                thousands(counters.throttled())
            ),
        );
    }
    text
}

/// Takes lines for stderr, each with the time.
struct Logger(SyncSender<String>);

impl Logger {
    fn say(&self, line: &str) {
        // A full channel is a terminal that does not read: the service does not wait for it.
        let _ = self.0.try_send(stamped(line));
    }
}

/// A log for the service, and one for us; a thread of its own writes the lines.
fn logger() -> Result<(Log, Logger), Failure> {
    let (send, lines) = sync_channel::<String>(LINES);
    std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || lines.iter().for_each(|line| last_words(&line)))
        .map_err(|source| ThreadError { number: 1, requested: 1, source })
        .context("start the thread that writes the log")
        .map_err(Failure::target)?;
    let theirs = Logger(send.clone());
    Ok((Box::new(move |line: &str| theirs.say(line)), Logger(send)))
}

fn stamped(line: &str) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let utc = Utc::from_unix_ms(since.as_millis() as u64);
    format!("{}T{}Z {line}\n", utc.date(), utc.time())
}
