//! `schema`: prints the JSON Schema of the experiment file, of results or of an observation.

use commands::outcome::{Exit, Outcome};

use super::output::to_stdout;
use crate::program_args::{SchemaArguments, SchemaOf};

pub(crate) fn run(arguments: &SchemaArguments) -> Outcome {
    let schema = match arguments.document {
        SchemaOf::Experiment => workload::schema::json_schema(),
        SchemaOf::Results => report::json::schema::json_schema(),
        SchemaOf::Observation => report::observe::json::json_schema(),
    };
    to_stdout(|out| writeln!(out, "{}", schema.trim_end()))?;
    Ok(Exit::Done)
}
