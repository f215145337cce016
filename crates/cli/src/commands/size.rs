//! `size`: prints designs for requirements, or quotas over the week.

use commands::keep::{refuse_unwritable_sheet, write_sheet};
use commands::outcome::{Exit, Outcome};
use commands::size::schedule_text::WrittenSchedule;
use commands::size::{self, Scheduled, Sized};
use report::sizing::{Shown, json, schedule, sheet};
use sizing::solve::Verdict;

use super::output::to_stdout;
use crate::size_args::SizeArguments;
use crate::terminal::report_columns;

pub(crate) fn run(arguments: &SizeArguments) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    if let Some(written) = &arguments.schedule {
        return scheduled(arguments, written);
    }
    let Sized { need, verdict, assumptions } =
        size::size(&arguments.options(), &arguments.store.open())?;
    let shown = Shown { designs: arguments.top as usize, explained: arguments.explain };
    if let Some(path) = &arguments.report {
        let explained = Shown { explained: true, ..shown };
        write_sheet(&sheet(&need, &verdict, &assumptions, explained), path)?;
    }
    to_stdout(|out| match arguments.json {
        true => json::write(&need, &verdict, &assumptions, out),
        false => {
            let text = sheet(&need, &verdict, &assumptions, shown).text(report_columns());
            out.write_all(text.as_bytes())
        }
    })?;
    Ok(match verdict {
        Verdict::Feasible { .. } => Exit::Done,
        Verdict::Infeasible(_) => Exit::Negative,
    })
}

fn scheduled(arguments: &SizeArguments, written: &WrittenSchedule) -> Outcome {
    let Scheduled { planned, assumptions } = size::schedule(&arguments.options(), written)?;
    if let Some(path) = &arguments.report {
        write_sheet(&schedule::sheet(&planned, &assumptions, true), path)?;
    }
    to_stdout(|out| match arguments.json {
        true => schedule::write_json(&planned, &assumptions, out),
        false => {
            let sheet = schedule::sheet(&planned, &assumptions, arguments.explain);
            out.write_all(sheet.text(report_columns()).as_bytes())
        }
    })?;
    Ok(match planned.iter().any(|(_, result)| result.is_ok()) {
        true => Exit::Done,
        false => Exit::Negative,
    })
}
