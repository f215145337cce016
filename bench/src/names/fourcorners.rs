//! fourcorners as a user runs it: everything is recorded and stored, and the tree is walked before
//! and after the run. The CPU time is that of the workers, which the results have; with the walks
//! and the store it is in `raw.csv`, too.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::groups::{Storage, Work};
use super::results::Sample;
use crate::child;

/// Files in a directory tree, of all programs. Many are created and removed, because the CPU time of
/// fio's jobs is in milliseconds, rounded down: with few, that would be to its advantage.
pub(super) const fn files(work: Work) -> u32 {
    match work {
        Work::Stat | Work::Lookup => 8_000,
        Work::CreateEmpty | Work::CreateWrite => 48_000,
    }
}

/// Directories of the tree, and jobs or threads of the peers, each with its own directory.
pub(super) const DIRECTORIES: u32 = 16;
/// Files of a tree on an export.
const FILES_ON_EXPORT: u32 = 2_000;

/// Measures the work for the bench's seconds.
pub(super) fn measure(work: Work, storage: Storage, bench: &Bench) -> Result<Sample> {
    match storage {
        Storage::Directory(on) => {
            // A tree belongs to one plan.
            let target = bench.directory(on).join(format!("{work:?}"));
            std::fs::create_dir_all(&target)?;
            let experiment = experiment(work, files(work), DIRECTORIES, 16, bench.seconds);
            run(&target.display().to_string(), &experiment, bench)
        }
        Storage::Export(service) => {
            let server = service.start(bench)?;
            let experiment = |seconds| experiment(work, FILES_ON_EXPORT, 1, 32, seconds);
            // Makes the tree, which the measured run finds.
            run(&server.url(1), &experiment(1), bench)?;
            run(&server.url(1), &experiment(bench.seconds), bench)
        }
    }
}

/// An experiment without warm-up, so every operation counts.
fn experiment(work: Work, files: u32, directories: u32, queue_depth: u32, seconds: u32) -> String {
    let (mix, size) = match work {
        Work::Stat => ("stat = \"100%\"", "4KiB"),
        Work::Lookup => ("lookup = \"100%\"", "0"),
        Work::CreateEmpty => ("create = \"50%\", unlink = \"50%\"", "0"),
        Work::CreateWrite => ("create = \"50%\", unlink = \"50%\"", "4KiB"),
    };
    format!(
        "name = \"bench\"\n[run]\nwarm_up = \"0s\"\nmeasure = \"{seconds}s\"\ninterval = \"1s\"\n\
         repeats = 1\nseed = 1\n[stream.bench]\n\
         names = {{ files = {files}, depth = 1, width = {directories}, size = \"{size}\" }}\n\
         mix = {{ {mix} }}\nqueue_depth = {queue_depth}\nworkers = 1\n"
    )
}

fn run(target: &str, experiment: &str, bench: &Bench) -> Result<Sample> {
    let scratch = &bench.paths.scratch;
    let path = scratch.join("names.toml");
    std::fs::write(&path, experiment).context("write the experiment")?;
    let store = scratch.join("store");
    let (path, store) = (path.display().to_string(), store.display().to_string());
    let words = [
        "run",
        target,
        "--workload",
        &path,
        "--store",
        &store,
        // The back end MEM of nfs-ganesha reports no free space.
        "--ignore-free-space",
        "--json",
        "--no-report",
        "--no-progress",
    ];
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let program = bench.paths.fourcorners.display().to_string();
    let finished = child::run(&program, &words, true)?;
    let document: Value =
        serde_json::from_str(&finished.stdout).context("parse the JSON of fourcorners")?;
    let total = &document["load_points"][0]["merged"]["total"];
    let completed = |group: &str| total[group]["completed"].as_f64().unwrap_or(0.0);
    let operations = completed("data");
    ensure!(operations > 0.0, "no count of operations in the JSON: {total}");
    let worker_ns = total["worker_cpu_ns_per_op"].as_f64();
    let worker_ns = worker_ns.context("no CPU time of the workers in the JSON")?;
    Ok(Sample {
        operations,
        cpu_us_per_op: worker_ns / 1e3,
        process_us_per_op: finished.cpu_seconds * 1e6 / operations,
    })
}
