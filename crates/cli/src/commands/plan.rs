//! `plan`: prints what `run` would do, or why it would refuse. Writes nothing, not even the store's
//! directory.

use std::io::Write;

use commands::measure::experiment::ExperimentOptions;
use commands::measure::{experiment, plan};
use commands::outcome::{Exit, Failure, Outcome};
use report::plan::crowding;
use workload::plan::Plan;

use super::output;
use super::run::print_assumed;
use crate::run_args::PlanArguments;
use crate::terminal::Terminal;
use crate::waits;

pub(crate) fn run(arguments: &PlanArguments, terminal: &Terminal) -> Outcome {
    output::with_json_refusal(show(arguments, terminal), arguments.json)
}

fn show(arguments: &PlanArguments, terminal: &Terminal) -> Outcome {
    let hosts = arguments.fleet.fleet()?.map(|fleet| fleet.count());
    let options = ExperimentOptions { hosts, ..arguments.experiment.options() };
    let planned = experiment::plan(&options)?;
    let overrides = arguments.overrides.overrides();
    let space = plan::inspect(&planned.plan, overrides, waits::observer(None))?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &planned.plan).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print_assumed(&planned, terminal);
        let processors = engine::processor::processors().len();
        let columns = terminal.listing_columns();
        let text = report::plan::text(&planned.plan, &space, processors, columns);
        out.write_all(text.as_bytes())?;
    }
    warn_of_crowding(&planned.plan, terminal);
    out.flush().map_err(Failure::from)?;
    Ok(Exit::Done)
}

/// Warns about threads that wait for each other. With `--engine auto` they are those of io_uring,
/// which is preferred if blocking threads would outnumber the processors.
fn warn_of_crowding(plan: &Plan, terminal: &Terminal) {
    let Some(processors) = engine::processor::available() else { return };
    if let Some(crowding) = crowding(plan, processors as usize) {
        terminal
            .warn(&format!("{crowding}: they wait for each other, which adds to response times"));
    }
}
