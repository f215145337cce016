//! `volume stat`: what a service saw, asked over HTTP.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cloud::throughput::KibPerSec;
use serde::Deserialize;
use units::{Bytes, BytesPerSec, Nanos, thousands};

use crate::exit::{Exit, Failure, Outcome};
use crate::volume_args::{StatArguments, StatFormat};

/// Rows of a table at most: each run brings new network flows. The other formats have all.
const ROWS_MAX: usize = 24;

/// A service answers within microseconds; one that does not is not there.
const PATIENCE: Duration = Duration::from_secs(5);

/// More than any answer has: 10,000 flows with their counters.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn run(arguments: &StatArguments) -> Outcome {
    let mut before: Option<Stat> = None;
    loop {
        let mut out = std::io::stdout().lock();
        match arguments.format {
            StatFormat::Json => out.write_all(ask(arguments.address, "/stat.json")?.as_bytes())?,
            StatFormat::Prometheus => {
                out.write_all(ask(arguments.address, "/metrics")?.as_bytes())?;
            }
            StatFormat::Text => {
                let now: Stat = serde_json::from_str(&ask(arguments.address, "/stat.json")?)
                    .context("read what the service answered")
                    .map_err(Failure::target)?;
                out.write_all(text(&now, before.as_ref()).as_bytes())?;
                before = Some(now);
            }
        }
        out.flush()?;
        drop(out);
        let Some(interval) = arguments.watch else { return Ok(Exit::Done) };
        std::thread::sleep(interval);
    }
}

/// The body of the answer.
fn ask(address: SocketAddr, path: &str) -> Result<String, Failure> {
    let failed = |error: anyhow::Error| {
        Failure::target(error.context(format!(
            "ask the service at {address}: is `fourcorners volume serve` running there? It says \
             its address (metrics) when it starts"
        )))
    };
    let answer = fetch(address, path).map_err(|error| failed(error.into()))?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| failed(anyhow!("what answers there does not speak HTTP")))?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        _ => Err(failed(anyhow!("it answered `{}`", head.lines().next().unwrap_or_default()))),
    }
}

fn fetch(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}

/// What a service saw, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Stat {
    now_ns: u64,
    connections: u64,
    volumes: Vec<Seen>,
    flows: Vec<Seen>,
    clients: Vec<Seen>,
}

/// Of one volume, flow or client.
#[derive(Debug, Deserialize)]
struct Seen {
    name: String,
    #[serde(default)]
    throughput_limit_bytes_per_s: Option<u64>,
    completed: u64,
    read_bytes: u64,
    written_bytes: u64,
    outstanding: u64,
    outstanding_max: u64,
    throttled: u64,
    qos_delay_ns: u64,
    operations: BTreeMap<String, u64>,
    failed: BTreeMap<String, u64>,
}

/// Totals; with `before`, rates since then.
fn text(now: &Stat, before: Option<&Stat>) -> String {
    let mut out = String::new();
    let push = |out: &mut String, line: String| {
        writeln!(out, "{}", line.trim_end()).expect("writing to a string cannot fail");
    };
    let since_ns = before.map_or(0, |before| before.now_ns);
    let elapsed_s = now.now_ns.saturating_sub(since_ns) as f64 / 1e9;
    push(
        &mut out,
        format!(
            "{}, {} {}",
            span(elapsed_s, before.is_some()),
            now.connections,
            if now.connections == 1 { "connection" } else { "connections" }
        ),
    );
    for (title, seen, old) in [
        ("VOLUME", &now.volumes, before.map(|before| &before.volumes)),
        ("CLIENT", &now.clients, before.map(|before| &before.clients)),
        ("NETWORK FLOW", &now.flows, before.map(|before| &before.flows)),
    ] {
        let (rows, left) = busiest(seen, old.map(Vec::as_slice));
        let width = rows
            .iter()
            .map(|(one, _)| one)
            .map(|one| one.name.chars().count())
            .fold(title.len(), usize::max);
        push(
            &mut out,
            format!(
                "\n{title:<width$}  {:>12}  {:>12}  {:>12}  {:>11}  {:>9}  {:>10}",
                if old.is_some() { "OPS/S" } else { "OPS" },
                "READ",
                "WRITTEN",
                "OUTSTANDING",
                "THROTTLED",
                "QOS DELAY"
            ),
        );
        for (one, past) in rows {
            push(&mut out, row(one, past, old.is_some().then_some(elapsed_s), width));
        }
        if left > 0 {
            push(&mut out, format!("and {left} that did less; --format json has all"));
        }
    }
    for volume in &now.volumes {
        push(&mut out, format!("\n{}: {}", volume.name, procedures(volume)));
    }
    out
}

/// Each with what it was before, in their order; where they are too many, those that did the most
/// since then come first, and how many are left out.
fn busiest<'a>(
    seen: &'a [Seen],
    old: Option<&'a [Seen]>,
) -> (Vec<(&'a Seen, Option<&'a Seen>)>, usize) {
    let past = |one: &Seen| old?.iter().find(|other| other.name == one.name);
    let mut rows: Vec<_> = seen.iter().map(|one| (one, past(one))).collect();
    let left = rows.len().saturating_sub(ROWS_MAX);
    if left > 0 {
        let done = |(one, past): &(&Seen, Option<&Seen>)| {
            one.completed.saturating_sub(past.map_or(0, |past| past.completed))
        };
        rows.sort_by_key(|row| std::cmp::Reverse(done(row)));
        rows.truncate(ROWS_MAX);
    }
    (rows, left)
}

fn span(elapsed_s: f64, rates: bool) -> String {
    if rates { format!("in {elapsed_s:.1} s") } else { format!("since {elapsed_s:.1} s ago") }
}

/// `over_s`: show rates over so many seconds.
fn row(one: &Seen, past: Option<&Seen>, over_s: Option<f64>, width: usize) -> String {
    let since = |read: fn(&Seen) -> u64| read(one).saturating_sub(past.map_or(0, read));
    let throttled = since(|seen| seen.throttled);
    let delay_ns = since(|seen| seen.qos_delay_ns);
    let mean_ns = delay_ns.checked_div(throttled);
    let delay = mean_ns.map_or_else(|| "-".to_owned(), |ns| Nanos(ns as f64).to_string());
    let bytes = |bytes: u64| match over_s {
        Some(over_s) => BytesPerSec::new(bytes as f64 / over_s).to_string(),
        None => Bytes::new(bytes).to_string(),
    };
    let completed = since(|seen| seen.completed);
    let completed = over_s.map_or(completed, |over_s| (completed as f64 / over_s) as u64);
    format!(
        "{:<width$}  {:>12}  {:>12}  {:>12}  {:>11}  {:>9}  {delay:>10}",
        one.name,
        thousands(completed),
        bytes(since(|seen| seen.read_bytes)),
        bytes(since(|seen| seen.written_bytes)),
        format!("{}/{}", one.outstanding, one.outstanding_max),
        thousands(throttled),
    )
}

/// Operations by procedure, the most frequent first.
fn procedures(volume: &Seen) -> String {
    let mut all: Vec<(&String, &u64)> = volume.operations.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let one = |(name, count): (&String, &u64)| match volume.failed.get(name) {
        Some(failed) => format!("{name} {} ({} failed)", thousands(*count), thousands(*failed)),
        None => format!("{name} {}", thousands(*count)),
    };
    let limit = volume.throughput_limit_bytes_per_s;
    let limit = limit.map_or_else(
        || "no limit".to_owned(),
        |limit| format!("limit {}", KibPerSec::new(limit / 1024)),
    );
    let all: Vec<String> = all.into_iter().map(one).collect();
    if all.is_empty() {
        format!("{limit}; no operations yet")
    } else {
        format!("{limit}; {}", all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_busiest_rows_and_says_how_many_it_leaves_out() {
        let seen = |name: usize, completed: u64| Seen {
            name: format!("flow {name}"),
            throughput_limit_bytes_per_s: None,
            completed,
            read_bytes: 0,
            written_bytes: 0,
            outstanding: 0,
            outstanding_max: 0,
            throttled: 0,
            qos_delay_ns: 0,
            operations: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        let names = |rows: Vec<(&Seen, Option<&Seen>)>| -> Vec<String> {
            rows.into_iter().map(|(one, _)| one.name.clone()).collect()
        };
        let few: Vec<Seen> = (0..3).map(|name| seen(name, name as u64)).collect();
        let (rows, left) = busiest(&few, None);
        assert_eq!((names(rows).join(", "), left), ("flow 0, flow 1, flow 2".to_owned(), 0));

        let many: Vec<Seen> = (0..ROWS_MAX + 5).map(|name| seen(name, 100 + name as u64)).collect();
        let (rows, left) = busiest(&many, None);
        assert_eq!((names(rows)[0].as_str(), left), ("flow 28", 5));
        // What the first one did since is more than what any other did.
        let mut before = vec![seen(0, 0)];
        before
            .extend(many[1..].iter().enumerate().map(|(name, one)| seen(name + 1, one.completed)));
        let (rows, _) = busiest(&many, Some(&before));
        assert_eq!(names(rows)[0], "flow 0");
    }
}
