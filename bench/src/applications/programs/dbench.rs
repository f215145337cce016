//! dbench: the file operations of NetBench, by clients that do not wait between them.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::{Traced, first_line};
use crate::applications::{Bench, tracer};

const CLIENTS: &str = "4";

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let under = folder.join("clients");
    std::fs::create_dir_all(&under)?;
    let mut dbench = bench.limit.command(None, "dbench");
    let seconds = bench.seconds.to_string();
    dbench.arg("-D").arg(&under).args(["-t", &seconds, CLIENTS]);
    let trace = bench.trace("application");
    tracer::run(&dbench, &trace, Duration::from_secs(300))?;
    Ok(Traced {
        trace,
        under,
        version: first_line("dbench", "--help")?,
        settings: format!("`dbench -t {seconds} {CLIENTS}` with its load file; all calls"),
    })
}
