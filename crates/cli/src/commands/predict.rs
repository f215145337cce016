//! `predict`: prints what a topology will deliver.

use commands::keep::{refuse_unwritable_sheet, write_sheet};
use commands::outcome::{Exit, Outcome};
use commands::predict::{Prediction, predict};
use report::predict::{Detail, json, sheet};

use super::output::to_stdout;
use crate::predict_args::PredictArguments;
use crate::terminal::report_columns;

pub(crate) fn run(arguments: &PredictArguments) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    let prediction = predict(&arguments.topology, &arguments.against, &arguments.store.open())?;
    let Prediction { topology, curve, compared } = &prediction;
    if let Some(path) = &arguments.report {
        let detail = Detail { curve: true, explain: true };
        write_sheet(&sheet(topology, curve, compared, detail), path)?;
    }
    to_stdout(|out| match arguments.json {
        true => json::write(topology, curve, compared, out),
        false => {
            let detail = Detail { curve: arguments.curve, explain: arguments.explain };
            let sheet = sheet(topology, curve, compared, detail);
            out.write_all(sheet.text(report_columns()).as_bytes())
        }
    })?;
    Ok(if curve.requested.is_some() { Exit::Done } else { Exit::Negative })
}
