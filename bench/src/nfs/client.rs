//! The built-in NFS client: fourcorners as a user runs it on an export; everything is recorded.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Paths;
use super::judge::Sample;
use super::servers::Server;
use super::trials::Call;
use crate::child;
use crate::process::CLIENT_PROCESSOR;

/// The workload of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) call: Call,
    pub(crate) transfer: u64,
    pub(crate) sequential: bool,
    pub(crate) connections: u32,
    /// On all connections together.
    pub(crate) outstanding: u32,
    pub(crate) seconds: u32,
}

/// Size of all files together; the files of the call generator have the same size.
pub(crate) const FILE_BYTES: u64 = 16 << 20;

/// Fills the files in a separate run, then measures a run in which every operation counts.
pub(crate) fn measure(paths: &Paths, server: &Server, shape: &Shape) -> Result<Sample> {
    run(paths, server, &Shape { seconds: 1, ..*shape })?;
    let before = server.process.cpu_seconds()?;
    let finished = run(paths, server, shape)?;
    let server_cpu_seconds = server.process.cpu_seconds()? - before;
    let document: Value =
        serde_json::from_str(&finished.stdout).context("parse the JSON of fourcorners")?;
    let data = &document["load_points"][0]["merged"]["total"]["data"];
    let operations = data["completed"].as_f64().context("no count of operations in the JSON")?;
    let rate = data["achieved_rate_ops_per_sec"]["value"].as_f64();
    let ops_per_sec = rate.context("no rate in the JSON")?;
    let mean_ns = data["service_time"]["mean_ns"]["value"].as_f64();
    Ok(Sample {
        ops_per_sec,
        client_cpu_us: finished.cpu_seconds * 1e6 / operations,
        server_cpu_us: server_cpu_seconds * 1e6 / operations,
        mib_per_sec: ops_per_sec * shape.transfer as f64 / f64::from(1 << 20),
        latency_us: mean_ns.context("no mean in the JSON")? / 1e3,
    })
}

/// Runs fourcorners once.
pub(crate) fn run(paths: &Paths, server: &Server, shape: &Shape) -> Result<child::Finished> {
    let read = if shape.call == Call::Write { "0%" } else { "100%" };
    let pattern = if shape.sequential { "sequential" } else { "random" };
    // The queue depth of a stream is at most 4,096.
    let streams = shape.outstanding.div_ceil(4096);
    let mut text = format!(
        "name = \"bench\"\n[run]\nwarm_up = \"0s\"\nmeasure = \"{}s\"\ninterval = \"1s\"\n\
         repeats = 1\nseed = 1\n",
        shape.seconds
    );
    for number in 0..streams {
        let _ = write!(
            text,
            "[stream.bench{number}]\ntransfer_size = \"{}\"\nread = \"{read}\"\n\
             pattern = \"{pattern}\"\nfiles = 1\nfile_size = {}\nqueue_depth = {}\n\
             workers = 1\n",
            shape.transfer,
            FILE_BYTES / u64::from(streams),
            shape.outstanding / streams,
        );
    }
    let experiment = paths.scratch.join("bench.toml");
    std::fs::write(&experiment, text).context("write the experiment")?;
    let target = server.url(shape.connections);
    let experiment = experiment.display().to_string();
    let store = paths.scratch.join("store").display().to_string();
    let words = [
        "run",
        &target,
        "--workload",
        &experiment,
        "--store",
        &store,
        "--json",
        "--no-report",
        "--no-progress",
    ];
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let program = paths.fourcorners.display().to_string();
    debug_assert_eq!(
        CLIENT_PROCESSOR,
        child::PROCESSOR,
        "`child` pins to the processor of clients"
    );
    child::run(&program, &words, true)
}
