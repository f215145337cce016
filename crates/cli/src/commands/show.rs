//! `show`: the results of one experiment, as `run` ended with them.

use std::io::Write;

use report::record::Record;

use crate::beside;
use crate::commands::output;
use crate::exit::{Exit, Outcome};
use crate::record_args::ShowArguments;

pub(crate) fn run(arguments: &ShowArguments) -> Outcome {
    let (_, record) = arguments.which.load()?;
    let (findings, published) = beside::analyzed(&record, &arguments.beside);
    let shown = Record { findings: &findings, published: published.as_ref() };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        output::json(shown, &mut out)?;
    } else {
        output::text(shown, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
