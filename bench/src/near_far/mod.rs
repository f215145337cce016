//! `cargo xtask bench near-far`: throughput against queue depth of two emulated volumes that differ
//! only in storage latency.
//!
//! The correct result is known: both reach the volume's throughput limit, and the concurrency they
//! need for it has the ratio of their latencies (Little's law). So this tests generator, client,
//! service and analysis together, in real time over loopback; `crates/sim` tests the same exactly,
//! in virtual time. The services run on one processor and the client on the other, with the two
//! volumes in alternating order. All load points are in
//! `bench/runs/DATE-MACHINE-near-far/raw.csv`.

mod judge;
mod writing;

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::machine::Machine;
use crate::process::{Running, SERVER_PROCESSOR};
use crate::rounds::Rounds;
use crate::{child, product};
use judge::Judged;

/// The throughput limit of both volumes.
const LIMIT: &str = "64MiB/s";
/// The same in bytes per second.
const LIMIT_BYTES_PER_S: f64 = 64.0 * 1_048_576.0;
/// Transfer size: small, so that queue depth 1 is far below the limit.
const TRANSFER: &str = "8KiB";
/// Outstanding operations, one load point each.
const OUTSTANDING: [u64; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 64];

/// A volume and the read latency of its storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Volume {
    pub(crate) name: &'static str,
    pub(crate) read_delay: &'static str,
}

/// Both volumes, the near one first.
const VOLUMES: [Volume; 2] =
    [Volume { name: "near", read_delay: "300us" }, Volume { name: "far", read_delay: "2ms" }];

/// Options of the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options(Rounds);

impl Options {
    /// Parses `[--rounds N] [--seconds S]`: rounds of both volumes, duration of each load point.
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let (rounds, names) = Rounds { rounds: 3, seconds: 3 }.parse(words)?;
        match names.first() {
            Some(name) => Err(format!("unexpected argument `{name}`")),
            None => Ok(Options(rounds)),
        }
    }
}

/// A load point of one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Index in [`VOLUMES`].
    pub(crate) volume: usize,
    pub(crate) round: u32,
    pub(crate) outstanding: u64,
    pub(crate) bytes_per_s: f64,
    /// Mean latency (response time).
    pub(crate) response_s: f64,
}

/// Measures both volumes and writes the dated folder.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let program = product::build(root)?;
    let scratch = root.join("target/bench/near-far");
    std::fs::create_dir_all(&scratch)?;
    let servers = VOLUMES.iter().map(|volume| Server::start(&program, volume, &scratch));
    let servers: Vec<Server> = servers.collect::<Result<_>>()?;
    let client = Client { program, scratch };
    let mut points = Vec::new();
    for round in 0..options.0.rounds {
        let mut order: Vec<usize> = (0..servers.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for volume in order {
            writeln!(std::io::stderr(), "{}, round {round} …", VOLUMES[volume].name)?;
            points.extend(client.measure(&servers[volume], volume, round, options.0.seconds)?);
        }
    }
    let machine = Machine::read()?;
    let judged = Judged::of(&points).context("a load point is missing")?;
    let mut out = std::io::stdout();
    writeln!(out, "{}\n{}", machine.describe(), judged.text())?;
    let folder = writing::write(root, &machine, options, &points, &judged)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed = judged.missed();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// A served volume.
struct Server {
    /// Killed on drop.
    _process: Running,
    port: u16,
}

impl Server {
    fn start(program: &Path, volume: &Volume, scratch: &Path) -> Result<Server> {
        let scratch = scratch.join(volume.name);
        std::fs::create_dir_all(&scratch)?;
        // If another process takes the port first, the service fails with a message.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let words = ["volume", "serve", "--address", &address, "--metrics", "none"];
        let limits = ["--throughput", LIMIT, "--read-delay", volume.read_delay];
        let words = [&words[..], &limits[..]].concat();
        let mut process = Running::start(program, &words, SERVER_PROCESSOR, &scratch)?;
        process.wait_for(&address)?;
        Ok(Server { _process: process, port })
    }
}

/// The program and a folder that it may write to.
struct Client {
    program: PathBuf,
    scratch: PathBuf,
}

impl Client {
    /// Measures all load points of a volume.
    fn measure(
        &self,
        server: &Server,
        volume: usize,
        round: u32,
        seconds: u32,
    ) -> Result<Vec<Point>> {
        let experiment = self.scratch.join("near-far.toml");
        let depths = OUTSTANDING.map(|outstanding| outstanding.to_string()).join(", ");
        let text = format!(
            "name = \"near-far\"\n[run]\nwarm_up = \"1s\"\nmeasure = \"{seconds}s\"\n\
             interval = \"500ms\"\nseed = 1\n[stream.reader]\nread = \"100%\"\n\
             transfer_size = \"{TRANSFER}\"\npattern = \"random\"\nfiles = 1\n\
             file_size = \"16MiB\"\nqueue_depth = [{depths}]\n"
        );
        std::fs::write(&experiment, text).context("write the experiment")?;
        let port = server.port;
        let target = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&nconnect=1");
        let words = ["run".to_owned(), target, "--workload".to_owned()];
        let mut words = words.to_vec();
        words.push(experiment.display().to_string());
        words.push("--store".to_owned());
        words.push(self.scratch.join("store").display().to_string());
        words.extend(["--json", "--no-report", "--no-progress"].map(str::to_owned));
        let finished = child::run(&self.program.display().to_string(), &words, true)
            .with_context(|| format!("measure {}", VOLUMES[volume].name))?;
        let document: Value =
            serde_json::from_str(&finished.stdout).context("parse the JSON of fourcorners")?;
        let points = document["load_points"].as_array().context("no load points in the JSON")?;
        let points: Option<Vec<Point>> =
            points.iter().map(|point| read(point, volume, round)).collect();
        points.context("a figure is missing in the JSON")
    }
}

/// Reads a load point of the JSON.
fn read(point: &Value, volume: usize, round: u32) -> Option<Point> {
    let data = &point["merged"]["total"]["data"];
    Some(Point {
        volume,
        round,
        outstanding: point["queue_depth_total"].as_u64()?,
        bytes_per_s: data["throughput_bytes_per_sec"]["value"].as_f64()?,
        response_s: data["response_time"]["mean_ns"]["value"].as_f64()? / 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_parsed_and_names_refused() {
        assert!(Options::parse(&["--rounds", "5"]).is_ok() && Options::parse(&["near"]).is_err());
    }

    #[test]
    fn a_load_point_is_read_from_json() {
        let text = r#"{"queue_depth_total": 4, "merged": {"total": {"data": {
            "throughput_bytes_per_sec": {"value": 1048576.0},
            "response_time": {"mean_ns": {"value": 2000000.0}}}}}}"#;
        let point = read(&serde_json::from_str(text).expect("it is JSON"), 1, 2);
        let point = point.expect("all figures are present");
        assert_eq!((point.volume, point.round, point.outstanding), (1, 2, 4));
        assert_eq!((point.bytes_per_s, point.response_s), (1_048_576.0, 0.002));
        assert!(read(&Value::Null, 0, 0).is_none());
    }
}
