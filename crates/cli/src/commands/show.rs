//! `show`: prints the results of one experiment as `run` did.

use commands::outcome::{Exit, Outcome};
use commands::predict::published_comparison::analyzed;
use report::record::Record;

use super::output;
use crate::record_args::ShowArguments;

pub(crate) fn run(arguments: &ShowArguments) -> Outcome {
    let (_, record) = arguments.which.load()?;
    let (findings, published) = analyzed(&record, &arguments.published.options());
    let shown = Record { findings: &findings, published: published.as_ref() };
    output::to_stdout(|out| match arguments.json {
        true => report::json::write(shown, out),
        false => output::text(shown, out),
    })?;
    Ok(Exit::Done)
}
