//! fio as etcd's documentation uses it to test storage: small appends, each followed by fdatasync.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::{Traced, first_line};
use crate::applications::{Bench, tracer};

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let under = folder.join("wal");
    std::fs::create_dir_all(&under)?;
    let mut fio = bench.limit.command(None, "fio");
    let job = "--name=wal --rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300";
    fio.args(job.split(' ')).arg(format!("--directory={}", under.display()));
    fio.args([format!("--runtime={}", bench.seconds), "--thread".to_owned()]);
    let trace = bench.trace("application");
    tracer::run(&fio, &trace, Duration::from_secs(120))?;
    Ok(Traced {
        trace,
        under,
        version: first_line("fio", "--version")?,
        settings: format!("`fio {job}`, at most {} s", bench.seconds),
    })
}
