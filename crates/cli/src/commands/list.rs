//! `list`: stored experiments, the oldest first.

use std::io::Write;

use commands::keep::listing::{Row, table};
use commands::outcome::{Exit, Failure, Outcome};

use crate::record_args::ListArguments;
use crate::terminal::listing_columns;

pub(crate) fn run(arguments: &ListArguments) -> Outcome {
    let store = arguments.store.open();
    let listed = store.list().map_err(Failure::input)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let rows: Vec<Row<'_>> = listed.iter().map(Row::of).collect();
        serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if listed.is_empty() {
        writeln!(out, "no experiments yet; results are stored in {}", store.root().display())?;
    } else {
        write!(out, "{}", table(&listed).text(listing_columns()))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
