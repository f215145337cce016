//! `run`: shows a measurement while it runs, and its results.

use std::io::{Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::Findings;
use anyhow::anyhow;
use commands::keep::{REPORT_NAME, output_file, refuse_unwritable, write_report};
use commands::measure::event_lines::EventLines;
use commands::measure::experiment::{self, Planned};
use commands::measure::verdict::{Verdict, not_converged, verdict};
use commands::measure::{self, Measured};
use commands::outcome::{Exit, Failure, Outcome};
use report::assumed::Assumed;
use report::record::Record;
use runner::conduct::ConductError;
use runner::event::Listener;
use target::directory::TargetDirectory;
use units::Bytes;
use workload::plan::{Plan, TargetSpec};

use super::output;
use crate::command_line;
use crate::interrupt;
use crate::live::{Decisions, Live};
use crate::run_args::RunArguments;
use crate::terminal::Terminal;
use crate::waits;

pub(crate) fn run(arguments: &RunArguments, terminal: &Terminal) -> Outcome {
    perform(arguments, terminal, || experiment::plan(&arguments.experiment.options()))
}

/// Measures what `plan` returns, for every command that stores and shows runs.
pub(super) fn perform(
    arguments: &RunArguments,
    terminal: &Terminal,
    plan: impl FnOnce() -> Result<Planned, Failure>,
) -> Outcome {
    let mut events = arguments.events.map(|_| EventLines::new(std::io::stdout()));
    let outcome = plan().and_then(|planned| begin(arguments, planned, events.as_mut(), terminal));
    if let (Err(Failure { refused: Some(refused), .. }), Some(events)) = (&outcome, &mut events) {
        events.refused(refused)?;
    }
    output::with_json_refusal(outcome, arguments.json)
}

fn begin(
    arguments: &RunArguments,
    planned: Planned,
    mut events: Option<&mut EventLines<Stdout>>,
    terminal: &Terminal,
) -> Outcome {
    if let Some(path) = &arguments.report {
        refuse_shared_stdout(arguments, path)?;
        refuse_unwritable(path)?;
    }
    print_assumptions(&planned, terminal);
    let service = measure::serve(planned.plan.target())?;
    let early = interrupt::listen_for_servers(std::slice::from_ref(&planned))?;
    let observer = waits::observer(early.as_ref().map(|interrupt| &interrupt.stop));
    let line = command_line::of_this_run(&planned);
    let prepared = match measure::prepare(planned, service, &arguments.options(), &line, observer) {
        Err(failure) if failure.is_interrupted => {
            terminal.warn("interrupted; nothing was measured");
            return Ok(Exit::Negative);
        }
        prepared => prepared?,
    };
    print_target(prepared.plan(), prepared.directory(), terminal);
    let mut interrupt = early.map_or_else(interrupt::listen, Ok)?;
    let stop = Arc::clone(&interrupt.stop);
    let mut live = (!arguments.no_progress).then(|| Live::new(prepared.plan(), terminal));
    let mut decisions = arguments.no_progress.then(|| Decisions::new(terminal));
    let mut listeners: Vec<&mut dyn Listener> = vec![&mut interrupt];
    listeners.extend(live.iter_mut().map(|live| live as &mut dyn Listener));
    listeners.extend(decisions.iter_mut().map(|decisions| decisions as &mut dyn Listener));
    listeners.extend(events.iter_mut().map(|events| &mut **events as &mut dyn Listener));
    let measured = prepared.measure(&mut listeners, &stop)?;
    let shown = show(arguments, &measured);
    let Measured { ended, findings, target, .. } = measured;
    let (verdict, outcome) = verdict(ended, &findings, &target);
    if let Some(warning) = warning(verdict, &findings) {
        terminal.warn(&warning);
    }
    let outcome = worse(shown, outcome, terminal);
    if let Some(events) = events {
        if let Err(Failure { refused: Some(refused), .. }) = &outcome {
            events.refused(refused)?;
        }
        events.finish(&outcome, verdict, &findings)?;
    }
    outcome
}

/// Refuses a report on stdout together with JSON or events.
fn refuse_shared_stdout(arguments: &RunArguments, report: &Path) -> Result<(), Failure> {
    let other = match (arguments.json, &arguments.events) {
        (true, _) => "--json",
        (_, Some(_)) => "--events",
        _ => return Ok(()),
    };
    match output_file::is_stdout(report) {
        true => {
            Err(Failure::input(anyhow!("write the report to stdout: {other} writes there too")))
        }
        false => Ok(()),
    }
}

/// The outcome with the worse exit code; both failures are printed.
fn worse(shown: Result<(), Failure>, outcome: Outcome, terminal: &Terminal) -> Outcome {
    match (shown, outcome) {
        (Ok(()), outcome) => outcome,
        // The exit code counts even if the reader of the output closed it.
        (Err(failure), outcome) if failure.is_broken_pipe() => outcome,
        (Err(failure), Ok(_)) => Err(failure),
        (Err(failure), Err(worse)) => {
            terminal.failure(&failure);
            Err(worse)
        }
    }
}

pub(super) fn print_assumed(planned: &Planned, terminal: &Terminal) {
    for (what, value) in planned.assumed.iter().map(Assumed::words) {
        terminal.note_wrapped(&format!("assumed {what}: {value}"));
    }
}

pub(super) fn print_assumptions(planned: &Planned, terminal: &Terminal) {
    print_assumed(planned, terminal);
    if let TargetSpec::Emulated { volume, .. } = planned.plan.target() {
        for sentence in report::emulated::introduction(volume) {
            terminal.note_wrapped(&sentence);
        }
    }
}

/// Prints the properties of the target that are known once it is claimed.
pub(super) fn print_target(plan: &Plan, directory: Option<&TargetDirectory>, terminal: &Terminal) {
    let Some(directory) = directory else { return };
    let path = directory.path().display();
    match (plan.target(), directory.mounted()) {
        // Printed with the assumptions.
        (TargetSpec::Emulated { .. }, _) => {}
        (_, Some(mounted)) => terminal.note_wrapped(&format!(
            "target: {path} (NFS version 3 in user space, reads of up to {}, writes of up to {})",
            Bytes::new(u64::from(mounted.rsize_bytes)),
            Bytes::new(u64::from(mounted.wsize_bytes)),
        )),
        (_, None) => {
            let storage = directory.storage();
            let direct =
                if storage.direct.is_supported() { "direct I/O works" } else { "no direct I/O" };
            terminal.note(&format!("target: {path} ({}, {direct})", storage.filesystem));
        }
    }
}

/// Prints the table and the record's ID, then writes the report, so that the results are shown even
/// if the report cannot be written. If stdout is taken, the table goes to stderr.
fn show(arguments: &RunArguments, measured: &Measured) -> Result<(), Failure> {
    let findings = &measured.findings;
    let record = Record { findings, published: measured.published.as_ref() };
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    // For a refused target the JSON is the refusal.
    if arguments.json && !matches!(measured.ended, Err(ConductError::Refused(_))) {
        report::json::write(record, &mut stdout)?;
    }
    let has_report_on_stdout = arguments.report.as_deref().is_some_and(output_file::is_stdout);
    let is_stdout_taken = arguments.json || arguments.events.is_some() || has_report_on_stdout;
    let text: &mut dyn Write = if is_stdout_taken { &mut stderr } else { &mut stdout };
    if !arguments.json && !findings.load_points.is_empty() {
        output::text(record, text)?;
        writeln!(text)?;
    }
    if let Some(tuned) = report::text::tuned(findings) {
        writeln!(text, "tuned    {tuned}")?;
    }
    writeln!(text, "record   {}", findings.id)?;
    text.flush()?;
    if let Some(path) = report_of(arguments, record, &measured.run_directory)?
        && !has_report_on_stdout
    {
        writeln!(text, "report   {}", path.display())?;
        text.flush()?;
    }
    Ok(())
}

fn report_of(
    arguments: &RunArguments,
    record: Record<'_>,
    run_directory: &Path,
) -> Result<Option<PathBuf>, Failure> {
    if arguments.no_report || record.findings.load_points.is_empty() {
        return Ok(None);
    }
    let path = arguments.report.clone().unwrap_or_else(|| run_directory.join(REPORT_NAME));
    write_report(record, &path)?;
    Ok(Some(path))
}

/// The warning about an experiment that did not end as planned.
fn warning(verdict: Verdict, findings: &Findings) -> Option<String> {
    Some(match verdict {
        Verdict::Done | Verdict::NotReached | Verdict::Failed => return None,
        Verdict::Overloaded => {
            "overloaded: the offered rate exceeded what the target sustains".to_owned()
        }
        Verdict::Uncertain => format!(
            "{} of {} load points did not reach the precision of --until after the maximum \
             number of repeats (run.repeats_max); section Search lists them",
            not_converged(findings),
            findings.load_points.len()
        ),
        Verdict::Interrupted if findings.load_points.is_empty() => {
            "interrupted; nothing was measured".to_owned()
        }
        Verdict::Interrupted => "interrupted; results so far are stored".to_owned(),
    })
}
