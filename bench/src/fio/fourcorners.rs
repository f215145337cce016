//! fourcorners as a user runs it: everything is recorded and stored.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::table::Sample;
use crate::child;

/// The program and a folder that it may write to.
#[derive(Clone, Debug)]
pub(crate) struct Fourcorners {
    pub(crate) program: PathBuf,
    pub(crate) scratch: PathBuf,
}

impl Fourcorners {
    /// Measures one stream for `seconds`. `stream` has the lines of `[stream.bench]`. There is no
    /// warm-up, so every operation counts.
    pub(crate) fn measure(
        &self,
        target: &str,
        stream: &str,
        engine: &str,
        seconds: u32,
        pinned: bool,
    ) -> Result<Sample> {
        self.measure_with(&[], target, stream, engine, seconds, pinned)
    }

    /// The same with these flags.
    pub(crate) fn measure_with(
        &self,
        flags: &[&str],
        target: &str,
        stream: &str,
        engine: &str,
        seconds: u32,
        pinned: bool,
    ) -> Result<Sample> {
        let flags = [&["--json"], flags].concat();
        let finished = self.run(&flags, target, stream, engine, seconds, pinned)?;
        let document: Value =
            serde_json::from_str(&finished.stdout).context("parse the JSON of fourcorners")?;
        let total = &document["load_points"][0]["merged"]["total"];
        let data = &total["data"];
        let operations =
            data["completed"].as_f64().context("no count of operations in the JSON")?;
        let times = &data["service_time"];
        let percentile = |fraction: f64| {
            let all = times["percentiles"].as_array();
            let one = all.and_then(|all| all.iter().find(|p| p["fraction"] == fraction));
            one.and_then(|p| p["value_ns"].as_f64()).unwrap_or(f64::NAN)
        };
        let mean = times["mean_ns"]["value"].as_f64().unwrap_or(f64::NAN);
        Ok(Sample {
            operations,
            cpu_us_per_op: finished.cpu_seconds * 1e6 / operations,
            ops_per_sec: data["achieved_rate_ops_per_sec"]["value"].as_f64().unwrap_or(f64::NAN),
            resident_max_bytes: finished.resident_max_bytes,
            service_mean_ns: mean,
            service_p99_ns: percentile(0.99),
            total_mean_ns: mean,
            total_p50_ns: percentile(0.5),
            total_p99_ns: percentile(0.99),
        })
    }

    /// The engine that the probe chooses for a target.
    pub(crate) fn io_method_chosen(&self, target: &str, stream: &str) -> Result<String> {
        let finished = self.run(&["--json"], target, stream, "auto", 1, true)?;
        let document: Value =
            serde_json::from_str(&finished.stdout).context("parse the JSON of fourcorners")?;
        Ok(document["io_method"].as_str().context("no I/O method in the JSON")?.to_owned())
    }

    /// Fills a new directory with one file of this size. Its operations are 1 MiB, on all processors;
    /// the process then measures one second with one operation.
    pub(crate) fn fill(&self, target: &str, mib: u64) -> Result<Sample> {
        let stream = format!(
            "transfer_size = \"1MiB\"\nread = \"100%\"\npattern = \"random\"\nfiles = 1\n\
             file_size = \"{mib}MiB\"\n\
             queue_depth = 1\nworkers = 1\ndirect = false\narrival = {{ constant = \"1/s\" }}"
        );
        let finished = self.run(&["--events", "jsonl"], target, &stream, "psync", 1, false)?;
        let took_ns = finished.stdout.lines().find_map(|line| {
            let event: Value = serde_json::from_str(line).ok()?;
            (event["event"] == "prepare_finished").then(|| event["took_ns"].as_f64())?
        });
        let seconds = took_ns.context("no duration of the fill in the events")? / 1e9;
        let operations = mib as f64;
        Ok(Sample {
            operations,
            cpu_us_per_op: finished.cpu_seconds * 1e6 / operations,
            ops_per_sec: operations / seconds,
            resident_max_bytes: finished.resident_max_bytes,
            ..Sample::WITHOUT_TIMES
        })
    }

    fn run(
        &self,
        flags: &[&str],
        target: &str,
        stream: &str,
        engine: &str,
        seconds: u32,
        pinned: bool,
    ) -> Result<child::Finished> {
        let experiment = self.scratch.join("bench.toml");
        let text = format!(
            "name = \"bench\"\n[run]\nwarm_up = \"0s\"\nmeasure = \"{seconds}s\"\n\
             interval = \"1s\"\nrepeats = 1\nseed = 1\n[stream.bench]\n{stream}\n"
        );
        std::fs::write(&experiment, text).context("write the experiment")?;
        let store = self.scratch.join("store");
        let words = [
            "run",
            target,
            "--workload",
            &experiment.display().to_string(),
            "--engine",
            engine,
            "--store",
            &store.display().to_string(),
            "--no-report",
            "--no-progress",
        ];
        let words: Vec<String> = words.iter().chain(flags).map(|word| (*word).to_owned()).collect();
        child::run(&self.program.display().to_string(), &words, pinned)
    }
}
