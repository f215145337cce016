//! `list`: what was measured, the oldest first.

use std::io::Write;

use serde::Serialize;
use store::{Listed, State};

use crate::exit::{Exit, Outcome};
use crate::record_args::ListArguments;

pub(crate) fn run(arguments: &ListArguments) -> Outcome {
    let store = arguments.store.open();
    let listed = store.list().map_err(crate::exit::Failure::input)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let rows: Vec<Row<'_>> = listed.iter().map(Row::of).collect();
        serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if listed.is_empty() {
        writeln!(out, "nothing was measured yet; results are kept in {}", store.root().display())?;
    } else {
        write!(out, "{}", table(&listed))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// A record as `--json` shows it.
#[derive(Serialize)]
struct Row<'a> {
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
    fn of(listed: &'a Listed) -> Row<'a> {
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
        State::Damaged { reason }
        | State::Ended(metrics::run_record::Outcome::Failed { reason }) => Some(reason),
        _ => None,
    }
}

/// When it began stands in the ID (UTC), so that a line fits 80 columns.
fn table(listed: &[Listed]) -> String {
    let wide = |width: usize, text: &str| width.max(text.chars().count());
    let id_width = listed.iter().fold(2, |width, one| wide(width, &one.id));
    let mut out = format!("{:<id_width$}  {:<11}  {:>7}  {}\n", "ID", "STATE", "RUNS", "TARGET");
    for one in listed {
        out.push_str(&format!(
            "{:<id_width$}  {:<11}  {:>7}  {}\n",
            one.id,
            one.state.name(),
            format!("{}/{}", one.runs_done, one.runs_planned),
            one.target,
        ));
        if !one.overrides.is_empty() {
            let indent = id_width + 24;
            out.push_str(&format!("{:indent$}with {}\n", "", one.overrides.join(", ")));
        }
    }
    out
}
