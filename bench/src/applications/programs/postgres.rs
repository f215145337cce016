//! PostgreSQL with pgbench: its transaction in the shape of TPC-B, at a rate.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Server, Traced, first_line};
use crate::applications::Bench;

/// Where Debian keeps the programs of each version, which are not in PATH.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The smallest period of checkpoints, so that they occur in the trace; PostgreSQL's buffers are far
/// below the tables, so that they are read.
const SETTINGS: &str = "shared_buffers = 16MB, checkpoint_timeout = 30s, autovacuum = off";
/// 15 MB each.
const SCALE: &str = "40";
const CLIENTS: &str = "8";
/// The rate that the profile states: about 100 transactions per second that change data.
const RATE: &str = "100";

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let programs = programs()?;
    let program = |name: &str| programs.join(name).to_string_lossy().into_owned();
    let user = &bench.unprivileged(folder)?;
    let data = folder.join("data");
    let mut initdb = Command::new("setpriv");
    initdb.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(program("initdb"));
    initdb.arg("-D").arg(&data).args(["-U", "bench", "-A", "trust", "--no-sync"]);
    initdb.stdout(Stdio::null()).current_dir(folder);
    ensure!(initdb.status().context("start initdb")?.success(), "make a cluster of databases");
    let file = data.join("postgresql.conf");
    let lines: String = SETTINGS.split(", ").map(|setting| format!("{setting}\n")).collect();
    let sockets =
        format!("listen_addresses = ''\nunix_socket_directories = '{}'\n", folder.display());
    let settings = std::fs::read_to_string(&file)? + &sockets + &lines;
    std::fs::write(&file, settings)?;
    let mut command = bench.limit.command(Some(user), &program("postgres"));
    command.arg("-D").arg(&data);
    let client = |name: &str| {
        let mut client = Command::new(name);
        client
            .arg("-h")
            .arg(folder)
            .args(["-U", "bench"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        client
    };
    let server = Server::start(command, folder, "INT", || {
        client("psql")
            .args(["-d", "postgres", "-c", "select 1"])
            .status()
            .is_ok_and(|s| s.success())
    })?;
    let fill = client("pgbench").args(["-i", "-s", SCALE, "-q", "postgres"]).status();
    ensure!(fill.context("start pgbench")?.success(), "fill the tables of pgbench");
    let checkpoint = client("psql").args(["-d", "postgres", "-c", "checkpoint"]).status();
    ensure!(checkpoint.context("start psql")?.success(), "write a checkpoint");
    let seconds = bench.seconds.to_string();
    let load = ["-c", CLIENTS, "-j", "1", "-R", RATE, "-T", &seconds, "postgres"];
    let trace = server.trace(&bench.trace("application"), client("pgbench").args(load))?;
    server.stop()?;
    Ok(Traced {
        trace,
        under: data,
        version: first_line(&program("postgres"), "--version")?,
        settings: format!(
            "{SETTINGS}; `pgbench -s {SCALE}` (about {} MB), `-c {CLIENTS} -R {RATE} -T {seconds}`; \
             the calls of all processes on the data directory",
            15 * SCALE.parse::<u32>()?
        ),
    })
}

/// The folder with the newest server.
fn programs() -> Result<PathBuf> {
    let found = std::fs::read_dir(VERSIONS).with_context(|| format!("read {VERSIONS}"))?;
    let folders = found.flatten().map(|entry| entry.path().join("bin"));
    let mut servers: Vec<PathBuf> = folders.filter(|bin| bin.join("initdb").exists()).collect();
    servers.sort();
    servers.pop().with_context(|| format!("find PostgreSQL in {VERSIONS}"))
}
