//! SQLite: transactions that read and change random rows, with its settings by default.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{Traced, first_line};
use crate::applications::{Bench, tracer};

/// Rows of 200 B and more: about 12 MB, larger than the cache of 2 MB.
const ROWS: u64 = 50_000;
const TRANSACTIONS: u64 = 1_500;
/// Random reads in each transaction, which ends with one random change.
const READS: u64 = 6;

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let under = folder.join("database");
    std::fs::create_dir_all(&under)?;
    let file = under.join("test.db");
    let script = folder.join("load.sql");
    let fill = folder.join("fill.sql");
    std::fs::write(&fill, fill_script())?;
    std::fs::write(&script, load_script())?;
    let sqlite = |script: &Path| {
        let mut command = bench.limit.command(None, "sqlite3");
        command.args(["-batch", "-bail"]).arg(&file).arg(format!(".read {}", script.display()));
        command
    };
    let filled = sqlite(&fill).status().context("start sqlite3")?;
    ensure!(filled.success(), "fill a table of SQLite");
    let trace = bench.trace("application");
    tracer::run(&sqlite(&script), &trace, Duration::from_secs(300))?;
    Ok(Traced {
        trace,
        under,
        version: format!("SQLite {}", first_line("sqlite3", "--version")?),
        settings: format!(
            "settings by default (journal_mode = delete, synchronous = full, 2 MB of cache); {ROWS} rows \
             of 200 B, {TRANSACTIONS} transactions of {READS} random reads and one change"
        ),
    })
}

fn fill_script() -> String {
    format!(
        "create table t (id integer primary key, number integer, text text);\n\
         with recursive c(x) as (select 1 union all select x + 1 from c where x < {ROWS})\n\
         insert into t select x, 0, hex(randomblob(100)) from c;\n"
    )
}

/// Rows by the minimal standard generator of Park and Miller, so that every run reads the same ones.
fn load_script() -> String {
    let mut state = 1u64;
    let mut row = || {
        state = state * 48_271 % 0x7fff_ffff;
        state % ROWS + 1
    };
    let mut text = String::new();
    for _ in 0..TRANSACTIONS {
        text.push_str("begin;\n");
        for _ in 0..READS {
            let _ = writeln!(text, "select length(text) from t where id = {};", row());
        }
        let _ = writeln!(text, "update t set number = number + 1 where id = {};\ncommit;", row());
    }
    text
}
