//! `show`: the results of one experiment, as `run` ended with them.

use std::io::Write;

use crate::args::ShowArguments;
use crate::commands::output;
use crate::exit::{Exit, Outcome};

pub(crate) fn run(arguments: &ShowArguments) -> Outcome {
    let (_, record) = arguments.which.load()?;
    let findings = analysis::analyze(&record);
    let mut out = std::io::stdout().lock();
    if arguments.json {
        output::json(&findings, &mut out)?;
    } else {
        output::text(&findings, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
