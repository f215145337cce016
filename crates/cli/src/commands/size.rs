//! `size`: prints designs for requirements, or quotas over the week.

use std::io::Write;

use commands::keep::refuse_unwritable_sheet;
use commands::outcome::{Exit, Outcome};
use commands::size::schedule_text::WrittenSchedule;
use commands::size::{self, Scheduled, Sized};
use report::sizing::{json, schedule, sheet};
use sizing::solve::Verdict;

use super::sheet_output::SheetOutput;
use crate::size_args::SizeArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &SizeArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    if let Some(written) = &arguments.schedule {
        return scheduled(arguments, written, terminal);
    }
    let sized = size::size(&arguments.options(), &arguments.store.open())?;
    let costs = if arguments.report.is_some() { sized.costs() } else { Vec::new() };
    let Sized { need, verdict, assumptions } = sized;
    let sheet = sheet(&need, &verdict, &assumptions, &costs, arguments.top as usize);
    let json = |out: &mut dyn Write| json::write(&need, &verdict, &assumptions, out);
    arguments.output().write(&sheet, json, terminal)?;
    Ok(match verdict {
        Verdict::Feasible { .. } => Exit::Done,
        Verdict::Infeasible(_) => Exit::Negative,
    })
}

fn scheduled(arguments: &SizeArguments, written: &WrittenSchedule, terminal: &Terminal) -> Outcome {
    let Scheduled { planned, assumptions } = size::schedule(&arguments.options(), written)?;
    let sheet = schedule::sheet(&planned, &assumptions);
    let json = |out: &mut dyn Write| schedule::write_json(&planned, &assumptions, out);
    arguments.output().write(&sheet, json, terminal)?;
    Ok(match planned.iter().any(|(_, result)| result.is_ok()) {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

impl SizeArguments {
    fn output(&self) -> SheetOutput<'_> {
        SheetOutput { report: self.report.as_deref(), json: self.json, full: self.full }
    }
}
