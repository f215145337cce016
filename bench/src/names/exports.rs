//! The programs that fourcorners is compared with on exports: libnfs, and the floor.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Bench;
use super::groups::{Service, Work};
use super::results::Sample;
use crate::child;
use crate::process::CLIENT_PROCESSOR;
use crate::product::example;

/// Files that libnfs creates first, one call after the other.
const FILES: u32 = 200;

/// Measures calls through libnfs, 32 outstanding on one connection.
pub(super) fn libnfs(work: Work, service: Service, bench: &Bench) -> Result<Sample> {
    let server = service.start(bench)?;
    let (host, port) = server.address.rsplit_once(':').context("an address has a port")?;
    let mount_port = server.mount_port.unwrap_or(port);
    let url =
        format!("nfs://{host}{}?version=3&nfsport={port}&mountport={mount_port}", server.export);
    let call = call(work);
    let (files, seconds) = (FILES.to_string(), bench.seconds.to_string());
    let words = [call, &url, &files, "32", &seconds].map(str::to_owned);
    let finished = child::run(&bench.libnfs.display().to_string(), &words, true)?;
    let operations = field(&finished.stdout, "done=")?;
    ensure!(operations > 0.0, "libnfs completed no calls");
    Ok(Sample {
        operations,
        cpu_us_per_op: field(&finished.stdout, "cpu_seconds=")? * 1e6 / operations,
        process_us_per_op: finished.cpu_seconds * 1e6 / operations,
    })
}

/// Measures the same calls of the call generator.
pub(super) fn load(work: Work, service: Service, bench: &Bench) -> Result<Sample> {
    let server = service.start(bench)?;
    let mut command = Command::new(example("load")?);
    command.args([call(work), "--export", &server.export, "--address", &server.address]);
    command.args(["--depth", "32", "--blocking", "1"]);
    command.args(["--cpu", CLIENT_PROCESSOR, "--seconds", &bench.seconds.to_string()]);
    command.args(["--server-pid", &server.process.pid().to_string()]);
    if let Some(port) = server.mount_port {
        command.args(["--mount-port", port]);
    }
    let output = command.output().context("start the call generator")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the call generator failed: {text}{messages}");
    let cpu_us_per_op = field(&text, "own_cpu_us=")?;
    let operations = field(&text, "done=")?;
    // The time of its whole process is not measured.
    Ok(Sample { operations, cpu_us_per_op, process_us_per_op: f64::NAN })
}

/// The name of a call in the command line of both programs.
fn call(work: Work) -> &'static str {
    match work {
        Work::Stat => "getattr",
        Work::Lookup => "lookup",
        Work::CreateEmpty | Work::CreateWrite => "create-remove",
    }
}

/// The number after `name` in a program's output.
fn field(output: &str, name: &str) -> Result<f64> {
    let word = output.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
    Ok(word.with_context(|| format!("no {name} in: {output}"))?.parse()?)
}
