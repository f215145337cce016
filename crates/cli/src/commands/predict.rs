//! `predict`: prints what a topology will deliver.

use std::io::Write;

use commands::keep::refuse_unwritable_sheet;
use commands::outcome::{Exit, Outcome};
use commands::predict::{Prediction, predict};
use report::predict::{json, sheet};

use super::sheet_output::SheetOutput;
use crate::predict_args::PredictArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &PredictArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    let prediction = predict(&arguments.topology, &arguments.against, &arguments.store.open())?;
    let Prediction { topology, curve, compared } = &prediction;
    let output = SheetOutput {
        report: arguments.report.as_deref(),
        json: arguments.json,
        full: arguments.full,
    };
    let json = |out: &mut dyn Write| json::write(topology, curve, compared, out);
    output.write(&sheet(topology, curve, compared), json, terminal)?;
    Ok(if curve.requested.is_some() { Exit::Done } else { Exit::Negative })
}
