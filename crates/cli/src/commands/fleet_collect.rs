//! `fleet collect`: completes a record, and prints what was added and what is still missing.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use commands::fleet::collect::{
    Collected, CollectedHost, Incomplete, NeverStarted, Options, collect,
};
use commands::outcome::Outcome;
use units::counted;

use super::VERSION;
use super::output::to_stdout;
use crate::fleet_command::FleetCollectArguments;
use crate::interrupt;
use crate::terminal::{Terminal, wrapped};

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &FleetCollectArguments, terminal: &Terminal) -> Outcome {
    let store = arguments.which.store.open();
    let options = Options {
        store: &store,
        record: &arguments.which.id,
        fleet: arguments.fleet.fleet()?,
        wait: arguments.wait,
        version: VERSION,
    };
    let interrupt = interrupt::listen()?;
    let mut next = Instant::now() + PROGRESS_EVERY;
    let collected = collect(options, &mut |awaited| {
        if Instant::now() >= next {
            next = Instant::now() + PROGRESS_EVERY;
            terminal.note(&format!("waiting for {awaited}"));
        }
        match interrupt.stop.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let width = terminal.report_columns();
    to_stdout(|out| {
        if arguments.json {
            serde_json::to_writer_pretty(&mut *out, &collected)?;
            return writeln!(out);
        }
        for line in lines(&collected) {
            for part in wrapped(&line, width) {
                writeln!(out, "{part}")?;
            }
        }
        Ok(())
    })?;
    Ok(collected.exit())
}

fn lines(collected: &Collected) -> Vec<String> {
    let mut lines = vec![format!("record {}", collected.id)];
    for CollectedHost { name, added, left_out, has_spool } in &collected.hosts {
        if *has_spool {
            let added = counted(u64::from(*added), "interval");
            lines.push(format!("{name}: {added} added from its spool"));
        }
        if *left_out > 0 {
            let left_out = counted(u64::from(*left_out), "interval");
            lines.push(format!(
                "{name}: {left_out} left out, measured after the other hosts had been stopped"
            ));
        }
    }
    let not_reached = collected.not_reached.iter();
    lines.extend(not_reached.map(|(name, why)| format!("{name}: not reached: {}", one_line(why))));
    let problems = collected.problems.iter();
    lines.extend(problems.map(|(name, why)| format!("{name}: {}", one_line(why))));
    for Incomplete { host, run_index, intervals, why } in &collected.incomplete {
        let why = why.as_ref().map_or(String::new(), |why| format!(" ({})", one_line(why)));
        let intervals = counted(u64::from(*intervals), "interval");
        let run = run_index + 1;
        lines.push(format!("{host}: run {run} is incomplete, with {intervals}{why}"));
    }
    if !collected.has_changed {
        lines.push("nothing was added to the record".to_owned());
    }
    if collected.incomplete.is_empty() && collected.not_reached.is_empty() {
        lines.push("the record has every interval of all hosts".to_owned());
    }
    if let Some(NeverStarted { missing, planned }) = collected.never_started {
        let planned = counted(planned as u64, "planned run");
        lines.push(format!("{missing} of {planned} never started"));
    }
    if collected.has_changed {
        lines.push(format!("results: fourcorners show {}", collected.id));
        lines.push(format!("a new report: fourcorners report {}", collected.id));
    }
    lines
}

fn one_line(text: &str) -> String {
    text.replace('\n', "; ")
}
