//! `compare`: prints the comparison of two or more records.

use analysis::compare::{Comparison, Options, Overall};
use commands::compare::{compare_records, items};
use commands::keep::baseline::Baseline;
use commands::outcome::{Exit, Failure, Outcome};
use report::compare::Detail;

use super::follow_up;
use super::output::{self, to_stdout};
use crate::compare_args::{CompareArguments, FailOn};
use crate::record_args::OutputFormat;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &CompareArguments, terminal: &Terminal) -> Outcome {
    let options = options(arguments)?;
    arguments.files.refuse_unwritable()?;
    let baseline = arguments.baseline.as_deref().map(Baseline::load).transpose()?;
    let comparison = compare_records(&arguments.store.open(), baseline, &arguments.ids, &options)?;
    let detail = if arguments.all { Detail::All } else { Detail::Main };
    let full = arguments.full || arguments.all;
    let has_more = !full && arguments.baseline.is_none();
    let footer = has_more.then(|| follow_up::full_comparison(&arguments.ids));
    let footer: Vec<String> = footer.into_iter().collect();
    to_stdout(|out| match OutputFormat::of(arguments.format, arguments.json) {
        OutputFormat::Text => {
            let text = output::comparison(&comparison, full.then_some(detail), &footer, terminal);
            out.write_all(text.as_bytes())
        }
        OutputFormat::Md => {
            out.write_all(report::compare::markdown(&comparison, detail).as_bytes())
        }
        OutputFormat::Json => report::compare::json::write(&comparison, out),
    })?;
    arguments.files.write_comparison(&comparison, arguments.fail_on == FailOn::CannotTell)?;
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
