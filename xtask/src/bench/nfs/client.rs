//! Our client: the program as a user runs it against an export, with everything recorded.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use super::judge::Sample;
use super::servers::Server;
use super::trials::{Call, Place};
use crate::bench::child;
use crate::bench::process::CLIENT_PROCESSOR;

/// What it is to do.
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

/// Bytes of the one file: as many as those of the generator's files together.
pub(crate) const FILE_BYTES: u64 = 16 << 20;

/// Fills the files in a run of its own, then measures one in which every operation counts.
pub(crate) fn measure(place: &Place, server: &Server, shape: &Shape) -> Result<Sample> {
    run(place, server, &Shape { seconds: 1, ..*shape })?;
    let before = server.process.cpu_seconds()?;
    let finished = run(place, server, shape)?;
    let server_cpu_seconds = server.process.cpu_seconds()? - before;
    let document: Value = serde_json::from_str(&finished.stdout).context("read our JSON")?;
    let data = &document["load_points"][0]["merged"]["total"]["data"];
    let operations = data["completed"].as_f64().context("operations in our JSON")?;
    let rate = data["achieved_rate_ops_per_sec"]["value"].as_f64();
    let ops_per_sec = rate.context("a rate in our JSON")?;
    let mean_ns = data["service_time"]["mean_ns"]["value"].as_f64();
    Ok(Sample {
        ops_per_sec,
        client_cpu_us: finished.cpu_seconds * 1e6 / operations,
        server_cpu_us: server_cpu_seconds * 1e6 / operations,
        mib_per_sec: ops_per_sec * shape.transfer as f64 / f64::from(1 << 20),
        response_us: mean_ns.context("a mean in our JSON")? / 1e3,
    })
}

/// Runs the program once.
pub(crate) fn run(place: &Place, server: &Server, shape: &Shape) -> Result<child::Finished> {
    let read = if shape.call == Call::Write { "0%" } else { "100%" };
    let pattern = if shape.sequential { "sequential" } else { "random" };
    // A stream has a queue depth of 4,096 at most.
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
    let experiment = place.scratch.join("bench.toml");
    std::fs::write(&experiment, text).context("write the experiment")?;
    let target = server.url(shape.connections);
    let experiment = experiment.display().to_string();
    let store = place.scratch.join("store").display().to_string();
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
    let program = place.root.join("target/release/fourcorners").display().to_string();
    debug_assert_eq!(CLIENT_PROCESSOR, child::PROCESSOR, "both are pinned to the same processor");
    child::run(&program, &words, true)
}
