//! `list`: the stored records as a table and as JSON.

use metrics::run_record::Outcome;
use report::table::{Column, Table};
use serde::Serialize;
use store::{Listed, State};

/// A record as JSON.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    id: &'a str,
    name: &'a str,
    target: &'a str,
    overrides: &'a [String],
    started_unix_ms: u64,
    runs_done: u32,
    runs_planned: u32,
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// The JSON of a record.
    pub fn of(listed: &'a Listed) -> Row<'a> {
        Row {
            id: &listed.id,
            name: &listed.name,
            target: &listed.target,
            overrides: &listed.overrides,
            started_unix_ms: listed.started_unix_ms,
            runs_done: listed.runs_done,
            runs_planned: listed.runs_planned,
            state: listed.state.name(),
            reason: reason(&listed.state),
        }
    }
}

fn reason(state: &State) -> Option<&str> {
    match state {
        State::Damaged { reason } | State::Ended(Outcome::Failed { reason }) => Some(reason),
        _ => None,
    }
}

/// The records; the time at which each started is in its ID (UTC).
pub fn table(listed: &[Listed]) -> Table {
    let rows = listed.iter().flat_map(|one| {
        let runs = format!("{}/{}", one.runs_done, one.runs_planned);
        let record = [one.id.clone(), one.state.name().to_owned(), runs, one.target.clone()];
        let overrides = (!one.overrides.is_empty()).then(|| {
            let with = format!("with {}", one.overrides.join(", "));
            [String::new(), String::new(), String::new(), with]
        });
        std::iter::once(record).chain(overrides).map(Vec::from)
    });
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("ID"),
            Column::words("STATE"),
            Column::numbers("RUNS", ""),
            Column::words("TARGET"),
        ],
        rows: rows.collect(),
    }
}
