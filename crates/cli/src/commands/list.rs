//! `list`: stored experiments with their results, the newest last.

use std::io::Write;

use commands::keep::list_table::table;
use commands::keep::listing::{Row, list};
use commands::outcome::{Exit, Outcome};

use crate::record_args::ListArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ListArguments, terminal: &Terminal) -> Outcome {
    let store = arguments.store.open();
    let listed = list(&store)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let rows: Vec<Row<'_>> = listed.iter().map(Row::of).collect();
        serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if listed.is_empty() {
        writeln!(out, "no experiments yet; results are stored in {}", store.root().display())?;
    } else {
        let columns = terminal.listing_columns();
        write!(out, "{}", table(&listed, columns).text(columns))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
