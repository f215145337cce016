//! The index: one row for each record and one for each run, so that listing does not read every
//! journal.
//!
//! Its content is derived from the run directories. It does not use WAL mode: the store may be on
//! NFS, where WAL's shared memory does not work, and transactions are few and short.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use metrics::run_record::Outcome;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use crate::summary::{RunSummary, Stamp, Summary};

/// Version of the tables, in SQLite's `user_version`. An index of any other version is removed and
/// rebuilt.
const VERSION: i32 = 3;
/// How long to wait for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

const TABLES: &str = "
CREATE TABLE record (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    overrides TEXT NOT NULL, -- one KEY=VALUE on each line
    target TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    runs_planned INTEGER NOT NULL,
    runs_done INTEGER NOT NULL,
    outcome TEXT,           -- done, interrupted, failed; NULL: no end recorded (running or aborted)
    reason TEXT,            -- of a failure
    damage TEXT,            -- why the directory cannot be read
    manifest_bytes INTEGER NOT NULL,
    manifest_changed_ns INTEGER NOT NULL,
    journal_bytes INTEGER NOT NULL,
    journal_changed_ns INTEGER NOT NULL,
    digest TEXT             -- results of the analysis; NULL until computed
) STRICT;
CREATE TABLE run (
    record_id TEXT NOT NULL,
    place INTEGER NOT NULL, -- position in the order of execution
    run_index INTEGER NOT NULL,
    variant TEXT NOT NULL,
    load_point TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    intervals INTEGER NOT NULL,
    outcome TEXT,
    reason TEXT,
    PRIMARY KEY (record_id, place)
) STRICT, WITHOUT ROWID;
";

/// The open index.
pub(crate) struct Index {
    connection: Connection,
}

impl Index {
    /// Opens the index at `path`; creates it and its tables if it is missing.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Index> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Index::with_tables(connection)
    }

    /// A private index in memory.
    pub(crate) fn in_memory() -> Index {
        let connection = Connection::open_in_memory().expect("memory needs no file");
        Index::with_tables(connection).expect("the tables are valid SQL")
    }

    fn with_tables(mut connection: Connection) -> rusqlite::Result<Index> {
        let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if check != "ok" {
            return Err(unreadable());
        }
        // Immediate, so that of two processes that find an empty file only one creates tables.
        let change =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        match change.query_row("PRAGMA user_version", [], |row| row.get(0))? {
            VERSION => {}
            0 => {
                change.execute_batch(TABLES)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            _ => return Err(unreadable()),
        }
        change.prepare("SELECT record.damage, run.reason FROM record, run LIMIT 1")?;
        change.commit()?;
        Ok(Index { connection })
    }

    /// Whether the file is no index of this version, as opposed to one that is busy or unreachable.
    pub(crate) fn is_unreadable(error: &rusqlite::Error) -> bool {
        match error.sqlite_error_code() {
            Some(code) => {
                matches!(
                    code,
                    ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown
                )
            }
            None => true,
        }
    }

    /// Removes the index and its rollback journal, if they exist.
    pub(crate) fn remove(path: &Path) -> io::Result<()> {
        let mut rollback = path.as_os_str().to_owned();
        rollback.push("-journal");
        for path in [path, Path::new(&rollback)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The summary of a record; `None` if it is missing or unreadable, so that the record is read
    /// from its run directory.
    pub(crate) fn get(&self, id: &str) -> Option<Summary> {
        let mut summary = self
            .connection
            .query_row("SELECT * FROM record WHERE id = ?1", [id], summary_of_row)
            .optional()
            .ok()??;
        let mut select = self
            .connection
            .prepare("SELECT * FROM run WHERE record_id = ?1 ORDER BY place")
            .ok()?;
        let runs = select.query_map([id], run_of_row).ok()?;
        summary.runs = runs.collect::<rusqlite::Result<_>>().ok()?;
        Some(summary)
    }

    /// Writes a record's summary.
    pub(crate) fn put(&mut self, id: &str, summary: &Summary) -> rusqlite::Result<()> {
        let change = self.connection.transaction()?;
        let (outcome, reason) = columns_of(summary.outcome.as_ref());
        let stamp = summary.stamp;
        change.execute(
            "INSERT OR REPLACE INTO record VALUES
             (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)",
            params![
                id,
                summary.name,
                summary.source,
                summary.overrides.join("\n"),
                summary.target,
                summary.plan_hash,
                summary.started_unix_ms as i64,
                summary.runs_planned,
                summary.runs_done(),
                outcome,
                reason,
                summary.damage,
                stamp.manifest_bytes,
                stamp.manifest_changed_ns,
                stamp.journal_bytes,
                stamp.journal_changed_ns,
                summary.digest,
            ],
        )?;
        change.execute("DELETE FROM run WHERE record_id = ?1", [id])?;
        for (position, run) in summary.runs.iter().enumerate() {
            let (outcome, reason) = columns_of(run.outcome.as_ref());
            change.execute(
                "INSERT INTO run VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
                params![
                    id,
                    position as i64,
                    run.run_index,
                    run.variant,
                    run.load_point,
                    run.repeat,
                    run.started_unix_ms as i64,
                    run.intervals,
                    outcome,
                    reason,
                ],
            )?;
        }
        change.commit()
    }

    /// Writes a record's summary. If the index is read-only or busy, a later listing writes it.
    pub(crate) fn put_if_possible(&mut self, id: &str, summary: &Summary) {
        let _ignored = self.put(id, summary);
    }

    /// Writes the digests of records, by ID.
    pub(crate) fn put_digests(&mut self, digests: &[(String, String)]) -> rusqlite::Result<()> {
        let change = self.connection.transaction()?;
        for (id, digest) in digests {
            change.execute("UPDATE record SET digest = ?2 WHERE id = ?1", [id, digest])?;
        }
        change.commit()
    }

    /// Removes all records except these.
    pub(crate) fn retain(&mut self, ids: &[String]) -> rusqlite::Result<()> {
        let retained: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let known: Vec<String> = {
            let mut select = self.connection.prepare("SELECT id FROM record")?;
            let ids = select.query_map([], |row| row.get(0))?;
            ids.collect::<rusqlite::Result<_>>()?
        };
        for id in known.iter().filter(|id| !retained.contains(id.as_str())) {
            self.connection.execute("DELETE FROM run WHERE record_id = ?1", [id])?;
            self.connection.execute("DELETE FROM record WHERE id = ?1", [id])?;
        }
        Ok(())
    }
}

fn unreadable() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
    rusqlite::Error::SqliteFailure(code, Some("not an index of this version".to_owned()))
}

fn columns_of(outcome: Option<&Outcome>) -> (Option<&str>, Option<&str>) {
    match outcome {
        None => (None, None),
        Some(Outcome::Done) => (Some("done"), None),
        Some(Outcome::Interrupted) => (Some("interrupted"), None),
        Some(Outcome::Failed { reason }) => (Some("failed"), Some(reason)),
        Some(Outcome::Aborted) => (Some("aborted"), None),
    }
}

fn outcome_of(row: &Row<'_>) -> rusqlite::Result<Option<Outcome>> {
    let outcome: Option<String> = row.get("outcome")?;
    Ok(match outcome.as_deref() {
        None => None,
        Some("done") => Some(Outcome::Done),
        Some("interrupted") => Some(Outcome::Interrupted),
        Some("failed") => Some(Outcome::Failed { reason: row.get("reason")? }),
        Some(_) => Some(Outcome::Aborted),
    })
}

fn summary_of_row(row: &Row<'_>) -> rusqlite::Result<Summary> {
    Ok(Summary {
        stamp: Stamp {
            manifest_bytes: row.get("manifest_bytes")?,
            manifest_changed_ns: row.get("manifest_changed_ns")?,
            journal_bytes: row.get("journal_bytes")?,
            journal_changed_ns: row.get("journal_changed_ns")?,
        },
        name: row.get("name")?,
        source: row.get("source")?,
        overrides: row.get::<_, String>("overrides")?.lines().map(str::to_owned).collect(),
        target: row.get("target")?,
        plan_hash: row.get("plan_hash")?,
        started_unix_ms: row.get::<_, i64>("started_unix_ms")?.unsigned_abs(),
        runs_planned: row.get("runs_planned")?,
        outcome: outcome_of(row)?,
        damage: row.get("damage")?,
        runs: Vec::new(),
        digest: row.get("digest")?,
    })
}

fn run_of_row(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        run_index: row.get("run_index")?,
        variant: row.get("variant")?,
        load_point: row.get("load_point")?,
        repeat: row.get("repeat")?,
        started_unix_ms: row.get::<_, i64>("started_unix_ms")?.unsigned_abs(),
        intervals: row.get("intervals")?,
        outcome: outcome_of(row)?,
    })
}
