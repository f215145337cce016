//! `compare`: prints the comparison of two or more records.

use analysis::compare::{Comparison, Options, Overall};
use commands::compare::{compare_records, items};
use commands::outcome::{Exit, Failure, Outcome};
use report::compare::Detail;

use super::output::to_stdout;
use crate::compare_args::{CompareArguments, FailOn};
use crate::record_args::OutputFormat;
use crate::terminal::report_columns;

pub(crate) fn run(arguments: &CompareArguments) -> Outcome {
    let options = options(arguments)?;
    let comparison = compare_records(&arguments.store.open(), &arguments.ids, &options)?;
    let detail = if arguments.all { Detail::All } else { Detail::Main };
    to_stdout(|out| match OutputFormat::of(arguments.format, arguments.json) {
        OutputFormat::Text => {
            let text = report::compare::text(&comparison, detail, report_columns());
            out.write_all(text.trim_start_matches('\n').as_bytes())
        }
        OutputFormat::Md => {
            out.write_all(report::compare::markdown(&comparison, detail).as_bytes())
        }
        OutputFormat::Json => report::compare::json::write(&comparison, out),
    })?;
    Ok(exit(&comparison, arguments.fail_on))
}

fn options(arguments: &CompareArguments) -> Result<Options, Failure> {
    let mut options = Options::default();
    options.allowed.extend(items(&arguments.allow_different)?);
    options.run_to_run = arguments.run_to_run.map(|share| share.fraction());
    if let Some(share) = arguments.resolution {
        options.resolution = share.fraction();
    }
    Ok(options)
}

fn exit(comparison: &Comparison, fail_on: FailOn) -> Exit {
    let negative = comparison.pairs.iter().any(|pair| match (fail_on, pair.verdict) {
        (FailOn::Never, _) => false,
        (_, Overall::NotComparable) => true,
        (FailOn::CannotTell, Overall::CannotTell) => true,
        _ => pair.regressed(),
    });
    if negative { Exit::Negative } else { Exit::Done }
}
