//! The programs that fourcorners is compared with on directories: fio and the floor.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::fourcorners::{DIRECTORIES, files};
use super::groups::Work;
use super::results::Sample;
use crate::child;
use crate::product::example;

/// Arguments of every fio job. Files are taken in order: with the default order, fio searches its
/// list of files for each operation.
const ALWAYS: [&str; 8] = [
    "--name=bench",
    "--thread",
    "--group_reporting",
    "--filesize=4k",
    "--bs=4k",
    "--openfiles=1",
    "--file_service_type=sequential",
    "--output-format=json",
];

/// Measures fio. Files are created and removed once by each run, because fio cannot repeat that; the
/// work on existing files is repeated for `seconds`.
pub(super) fn fio(work: Work, directory: &Path, seconds: u32) -> Result<Sample> {
    let folders = folders(&directory.join(format!("fio-{work:?}")))?;
    let runtime = format!("--runtime={seconds}");
    let parts: &[&[&str]] = match work {
        Work::Stat | Work::Lookup => &[&["--ioengine=filestat", "--time_based", &runtime]],
        Work::CreateEmpty => &[&["--ioengine=filecreate"], &["--ioengine=filedelete"]],
        Work::CreateWrite => &[
            &["--ioengine=psync", "--rw=write", "--create_on_open=1", "--fallocate=none"],
            &["--ioengine=filedelete"],
        ],
    };
    let files = files(work) / DIRECTORIES;
    let (mut operations, mut cpu_us, mut process_us) = (0.0, 0.0, 0.0);
    for part in parts {
        let mut words: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
        words.push(format!("--directory={folders}"));
        words.push(format!("--numjobs={DIRECTORIES}"));
        words.push(format!("--nrfiles={files}"));
        words.extend(part.iter().map(|word| (*word).to_owned()));
        let finished = child::run("fio", &words, true)?;
        let start = finished.stdout.find('{').context("fio printed no JSON")?;
        let document: Value = serde_json::from_str(&finished.stdout[start..])?;
        let job = &document["jobs"][0];
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        operations += number(&job["read"]["total_ios"]) + number(&job["write"]["total_ios"]);
        // The times of all jobs, in percent of their run times.
        let share = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0;
        cpu_us += share * number(&job["job_runtime"]) * 1e3;
        process_us += finished.cpu_seconds * 1e6;
    }
    ensure!(operations > 0.0 && cpu_us > 0.0, "fio counted {operations} operations");
    Ok(Sample {
        operations,
        cpu_us_per_op: cpu_us / operations,
        process_us_per_op: process_us / operations,
    })
}

/// A directory for each job, separated as fio requires.
fn folders(parent: &Path) -> Result<String> {
    let mut all = Vec::new();
    for number in 0..DIRECTORIES {
        let folder = parent.join(format!("d{number:02}"));
        std::fs::create_dir_all(&folder)?;
        all.push(folder.display().to_string());
    }
    Ok(all.join(":"))
}

/// Measures the floor: `threads` threads that create, inspect and remove files of their own
/// directories with nothing but the system calls.
pub(super) fn threads(work: Work, directory: &Path, threads: u32) -> Result<Sample> {
    let size = if work == Work::CreateWrite { "4096" } else { "0" };
    let words = [
        "names",
        "--directory",
        &directory.join("floor").display().to_string(),
        "--threads",
        &threads.to_string(),
        "--files",
        &(files(work) / threads).to_string(),
        "--size",
        size,
        "--rounds",
        "4",
    ];
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let finished = child::run(&example("floor")?.display().to_string(), &words, true)?;
    let field = |name: &str| -> Result<f64> {
        let word = finished.stdout.split_ascii_whitespace().find_map(|w| w.strip_prefix(name));
        Ok(word.with_context(|| format!("no {name} in: {}", finished.stdout))?.parse()?)
    };
    let each = field("operations=")?;
    let (operations, cpu_us) = match work {
        Work::Stat | Work::Lookup => (each, field("stat_us=")?),
        Work::CreateEmpty | Work::CreateWrite => {
            (2.0 * each, field("create_us=")? + field("unlink_us=")?)
        }
    };
    // The process does nothing else, but also the work that is not of this group.
    let cpu_us_per_op = cpu_us / operations;
    Ok(Sample { operations, cpu_us_per_op, process_us_per_op: cpu_us_per_op })
}
