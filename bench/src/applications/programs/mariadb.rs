//! MariaDB with sysbench: its OLTP transaction of reads and writes, at a rate.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Server, Traced, first_line};
use crate::applications::Bench;

/// Native asynchronous I/O would not be visible as calls of reads and writes.
const SETTINGS: &str = "--innodb-use-native-aio=0 --innodb-flush-method=O_DIRECT \
                        --innodb-buffer-pool-size=16M --innodb-log-file-size=64M \
                        --innodb-flush-log-at-trx-commit=1";
const TABLES: &str = "--tables=4 --table-size=100000";
/// Half of what the limit allows.
const LOAD: &str = "--threads=8 --rate=15";

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let user = &bench.unprivileged(folder)?;
    let data = folder.join("data");
    let socket = folder.join("socket");
    let mut install = Command::new("setpriv");
    install.args(["--reuid", user, "--regid", user, "--clear-groups", "mariadb-install-db"]);
    install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
    install.arg(format!("--datadir={}", data.display())).current_dir(folder);
    install.stdout(Stdio::null()).stderr(Stdio::null());
    ensure!(install.status().context("start mariadb-install-db")?.success(), "make a database");
    let mut command = bench.limit.command(Some(user), "mariadbd");
    command.args(["--no-defaults", "--skip-networking"]).args(SETTINGS.split_whitespace());
    for (option, path) in
        [("datadir", &data), ("socket", &socket), ("tmpdir", &folder.to_path_buf())]
    {
        command.arg(format!("--{option}={}", path.display()));
    }
    command.arg(format!("--pid-file={}", folder.join("pid").display()));
    let make = || {
        let mut client = Command::new("mariadb");
        client.arg("-S").arg(&socket).args([
            "-u",
            "root",
            "-e",
            "create database if not exists sbtest",
        ]);
        client.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let server = Server::start(command, folder, "TERM", make)?;
    let sysbench = || {
        let mut command = Command::new("sysbench");
        command.args(["oltp_read_write", "--db-driver=mysql", "--mysql-user=root"]);
        command.arg(format!("--mysql-socket={}", socket.display())).arg("--mysql-db=sbtest");
        command.args(TABLES.split(' ')).stdout(Stdio::null());
        command
    };
    let fill = sysbench().arg("prepare").status();
    ensure!(fill.context("start sysbench")?.success(), "fill the tables of sysbench");
    let mut load = sysbench();
    load.args(LOAD.split(' ')).arg(format!("--time={}", bench.seconds)).arg("run");
    let trace = server.trace(&bench.trace("application"), &mut load)?;
    server.stop()?;
    Ok(Traced {
        trace,
        under: data,
        version: first_line("mariadbd", "--version")?,
        settings: format!(
            "`{SETTINGS}`; `sysbench oltp_read_write {TABLES}` (about 100 MB) `{LOAD} --time={}`; the \
             calls of all threads on the data directory",
            bench.seconds
        ),
    })
}
