//! `run A B --interleave`: shows two targets being measured in alternating runs, and their
//! comparison.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Arc;

use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use commands::keep::{REPORT_NAME, write_report};
use commands::measure::interleave::{self, MeasuredPair, PreparedPair};
use commands::outcome::{Exit, Failure, Outcome};
use commands::predict::published_comparison::{ReportOptions, analyzed};
use metrics::run_record::{ExperimentRecord, Outcome as Ending};
use report::compare::Detail;
use report::record::Record;
use runner::conduct::ConductError;
use runner::event::{Event, Listener, ListenerError};
use workload::interleave::ComparedSide;

use super::follow_up::{self, line};
use super::output::{self, with_json_refusal};
use super::run::{print_assumptions, print_target};
use crate::command_line;
use crate::interrupt::{self, Interrupt};
use crate::live;
use crate::run_args::RunArguments;
use crate::terminal::Terminal;
use crate::waits;

pub(crate) fn run(arguments: &RunArguments, second: &str, terminal: &Terminal) -> Outcome {
    with_json_refusal(compare_targets(arguments, second, terminal), arguments.json)
}

fn compare_targets(arguments: &RunArguments, second: &str, terminal: &Terminal) -> Outcome {
    let planned = interleave::plans(&arguments.experiment.options(), second)?;
    print_assumptions(&planned[0], terminal);
    let early = interrupt::listen_for_servers(&planned)?;
    let stop = early.as_ref().map(|interrupt| &interrupt.stop);
    let lines = planned.each_ref().map(command_line::of_this_run);
    let options = arguments.options(None);
    let prepared = match interleave::prepare(planned, &options, &lines, &waits::observer(stop)) {
        Err(failure) if failure.is_interrupted => {
            terminal.warn("interrupted; nothing was measured");
            return Ok(Exit::Negative);
        }
        prepared => prepared?,
    };
    for side in ComparedSide::BOTH {
        let planned = prepared.planned(side);
        let named = planned.plan.target().in_words();
        terminal.note_wrapped(&format!("{}: {named}", side.label()));
        if let Some(directory) = prepared.directory(side) {
            print_target(planned.plan.target(), directory, terminal);
        }
    }
    let interrupt = early.map_or_else(interrupt::listen, Ok)?;
    let measured = measure(arguments, prepared, &interrupt, terminal)?;
    let is_interrupted = |ended: &interleave::Ended| matches!(ended, Ok(Ending::Interrupted));
    if measured.ended.iter().any(is_interrupted) {
        terminal.warn("interrupted; complete blocks are stored and compared");
    }
    let shown = show(arguments, &measured, terminal);
    let outcome = interleave::outcome(measured.ended, &measured.targets);
    match (shown, outcome) {
        // The exit code counts even if the reader of the output closed it.
        (Err(failure), Ok(_)) if !failure.is_broken_pipe() => Err(failure),
        (_, outcome) => outcome,
    }
}

fn measure(
    arguments: &RunArguments,
    prepared: PreparedPair,
    interrupt: &Interrupt,
    terminal: &Terminal,
) -> Result<MeasuredPair, Failure> {
    let shown = live::progress(&prepared.all_runs(), arguments, terminal);
    let order = prepared.order().to_vec();
    let progress = Progress { shown: RefCell::new(shown), order: &order };
    let [mut show_a, mut show_b] =
        ComparedSide::BOTH.map(|side| ProgressOf { progress: &progress, side });
    let (mut interrupt_a, mut interrupt_b) = (interrupt.clone(), interrupt.clone());
    let a: Vec<&mut dyn Listener> = vec![&mut interrupt_a, &mut show_a];
    let b: Vec<&mut dyn Listener> = vec![&mut interrupt_b, &mut show_b];
    prepared.measure([a, b], &Arc::clone(&interrupt.stop))
}

/// The progress display of both sides.
struct Progress<'p> {
    shown: RefCell<Box<dyn Listener>>,
    order: &'p [ComparedSide],
}

/// Shows the events of one side in the display of both.
struct ProgressOf<'p> {
    progress: &'p Progress<'p>,
    side: ComparedSide,
}

impl Listener for ProgressOf<'_> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let Progress { shown, order } = self.progress;
        let mut shown = shown.borrow_mut();
        match event {
            Event::RunStarted { run, started_unix_ms } => {
                let second = order[run.index as usize] != self.side;
                let mut run = run.clone();
                run.index = 2 * run.index + u32::from(second);
                run.variant = format!("{}: {}", self.side.label(), run.variant);
                shown.on_event(&Event::RunStarted { run, started_unix_ms: *started_unix_ms })
            }
            // The display ends with the second side.
            Event::Finished { .. } if self.side == ComparedSide::A => Ok(()),
            _ => shown.on_event(event),
        }
    }
}

/// Prints the comparison and the IDs of both records, and writes a report of each.
fn show(
    arguments: &RunArguments,
    measured: &MeasuredPair,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let comparison = compare(&measured.records.each_ref().map(Side::of), &Options::default());
    let has_points = comparison.pairs.iter().any(|pair| !pair.points.is_empty());
    let is_refused = |ended: &interleave::Ended| matches!(ended, Err(ConductError::Refused(_)));
    let refused = measured.ended.iter().any(is_refused);
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    if arguments.json && !refused {
        report::compare::json::write(&comparison, &mut stdout)?;
    }
    let ids = measured.records.each_ref().map(|record| record.id.clone());
    let mut footer: Vec<String> = ComparedSide::BOTH
        .iter()
        .zip(&ids)
        .map(|(side, id)| line(&format!("record {}", side.label()), id))
        .collect();
    footer.extend(measured.left.iter().map(|left| line("left", &left.to_string())));
    let text: &mut dyn Write = if arguments.json { &mut stderr } else { &mut stdout };
    if !arguments.json && has_points {
        footer.push(follow_up::full_comparison(&ids));
        let full = arguments.full.then_some(Detail::Main);
        let result = output::comparison(&comparison, full, &footer, terminal);
        text.write_all(result.as_bytes())?;
    } else {
        for line in &footer {
            writeln!(text, "{line}")?;
        }
    }
    text.flush()?;
    for (record, run_directory) in measured.records.iter().zip(&measured.run_directories) {
        if !arguments.no_report {
            report_of(record, run_directory)?;
        }
    }
    Ok(())
}

fn report_of(record: &ExperimentRecord, run_directory: &std::path::Path) -> Result<(), Failure> {
    let (findings, published) = analyzed(record, &ReportOptions::default());
    if findings.load_points.is_empty() {
        return Ok(());
    }
    let record = Record { published: published.as_ref(), ..Record::from(&findings) };
    write_report(record, &run_directory.join(REPORT_NAME))
}
