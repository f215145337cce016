//! The program that fourcorners is compared with on exports: libnfs.

use anyhow::{Context, Result, ensure};

use super::Bench;
use super::groups::{Service, Work};
use super::results::Sample;
use crate::child;

/// Files that libnfs creates first, one call after the other.
const FILES: u32 = 200;

/// Measures calls through libnfs, 32 outstanding on one connection.
pub(super) fn libnfs(work: Work, service: Service, bench: &Bench) -> Result<Sample> {
    let server = service.start(bench)?;
    let (host, port) = server.address.rsplit_once(':').context("an address has a port")?;
    let mount_port = server.mount_port.unwrap_or(port);
    let url =
        format!("nfs://{host}{}?version=3&nfsport={port}&mountport={mount_port}", server.export);
    let call = match work {
        Work::Stat => "getattr",
        Work::Lookup => "lookup",
        Work::CreateEmpty | Work::CreateWrite => "create-remove",
    };
    let (files, seconds) = (FILES.to_string(), bench.seconds.to_string());
    let words = [call, &url, &files, "32", &seconds].map(str::to_owned);
    let finished = child::run(&bench.libnfs.display().to_string(), &words, true)?;
    let field = |name: &str| -> Result<f64> {
        let word = finished.stdout.split_ascii_whitespace().find_map(|w| w.strip_prefix(name));
        Ok(word.with_context(|| format!("no {name} in: {}", finished.stdout))?.parse()?)
    };
    let operations = field("done=")?;
    ensure!(operations > 0.0, "libnfs completed no calls");
    Ok(Sample {
        operations,
        cpu_us_per_op: field("cpu_seconds=")? * 1e6 / operations,
        process_us_per_op: finished.cpu_seconds * 1e6 / operations,
    })
}
