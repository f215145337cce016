//! `schema`: prints the JSON Schema of the experiment file.

use commands::outcome::{Exit, Outcome};
use workload::schema::json_schema;

use super::output::to_stdout;

pub(crate) fn run() -> Outcome {
    to_stdout(|out| writeln!(out, "{}", json_schema().trim_end()))?;
    Ok(Exit::Done)
}
