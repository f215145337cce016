//! `schema`: the JSON Schema of the experiment file.

use std::io::Write;

use crate::exit::{Exit, Outcome};

pub(crate) fn run() -> Outcome {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", workload::schema::json_schema().trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}
