//! Debian's fio, the program that fourcorners is compared with.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::table::Sample;
use crate::child;

/// Its version, such as `fio-3.33`.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("fio").arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Arguments of every job that runs for a time.
pub(crate) const ALWAYS: [&str; 6] = [
    "--name=bench",
    "--time_based",
    "--thread",
    "--invalidate=0",
    "--lat_percentiles=1",
    "--output-format=json",
];

/// Runs one job with `arguments` for `seconds`.
pub(crate) fn measure(arguments: &[&str], seconds: u32) -> Result<Sample> {
    let runtime = format!("--runtime={seconds}");
    run(&[&ALWAYS[..], &[&runtime], arguments].concat(), true)
}

/// Runs one job that accesses each block of its file once, on all processors.
pub(crate) fn run_once(arguments: &[&str]) -> Result<Sample> {
    let always = ["--name=bench", "--thread", "--invalidate=0", "--output-format=json"];
    run(&[&always[..], arguments].concat(), false)
}

fn run(arguments: &[&str], pinned: bool) -> Result<Sample> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let finished = child::run("fio", &arguments, pinned)?;
    // fio may print a note before the document; its own clients allow for that, too.
    let start = finished.stdout.find('{').context("fio printed no JSON")?;
    let document: Value = serde_json::from_str(&finished.stdout[start..])?;
    let job = &document["jobs"][0];
    let of = |direction: &str, field: &str| job[direction][field].as_f64().unwrap_or(0.0);
    let operations = of("read", "total_ios") + of("write", "total_ios");
    // For a mix of reads and writes, the latency is that of the reads.
    let times = if of("read", "total_ios") > 0.0 { &job["read"] } else { &job["write"] };
    let mean = |field: &str| times[field]["mean"].as_f64().unwrap_or(f64::NAN);
    let percentile =
        |field: &str, name: &str| times[field]["percentile"][name].as_f64().unwrap_or(f64::NAN);
    Ok(Sample {
        operations,
        cpu_us_per_op: finished.cpu_seconds * 1e6 / operations,
        ops_per_sec: of("read", "iops") + of("write", "iops"),
        resident_max_bytes: finished.resident_max_bytes,
        service_mean_ns: mean("clat_ns"),
        service_p99_ns: percentile("clat_ns", "99.000000"),
        total_mean_ns: mean("lat_ns"),
        total_p50_ns: percentile("lat_ns", "50.000000"),
        total_p99_ns: percentile("lat_ns", "99.000000"),
    })
}
