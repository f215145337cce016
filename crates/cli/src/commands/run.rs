//! `run`: shows a measurement while it runs, and its results.

use std::io::{Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::Findings;
use analysis::condition::Judged;
use anyhow::anyhow;
use commands::keep::{REPORT_NAME, output_file, refuse_unwritable, remarks, write_report};
use commands::measure::event_lines::EventLines;
use commands::measure::experiment::{self, ExperimentOptions, Planned};
use commands::measure::run_metrics::RunMetrics;
use commands::measure::scrape;
use commands::measure::verdict::{Verdict, verdict};
use commands::measure::{self, FleetOptions, Measured, Prepared};
use commands::outcome::{Exit, Failure, Outcome};
use report::assumed::Assumed;
use report::look::Look;
use report::record::Record;
use runner::conduct::ConductError;
use runner::event::Listener;
use target::directory::TargetDirectory;
use units::Bytes;
use workload::plan::{Plan, TargetSpec};

use super::follow_up::{self, height, line, short_path};
use super::output::{self, ResultLayout};
use super::volume_serve::warn_if_reachable;
use crate::command_line;
use crate::interrupt;
use crate::live;
use crate::pipeline_args::PipelineArguments;
use crate::run_args::{RunArguments, RunCommandArguments};
use crate::terminal::Terminal;
use crate::waits;

pub(crate) fn run(arguments: &RunCommandArguments, terminal: &Terminal) -> Outcome {
    let RunCommandArguments { run, pipeline, .. } = arguments;
    perform(run, pipeline, terminal, experiment::plan)
}

/// Measures what `plan` returns, for every command that stores and shows runs.
pub(super) fn perform(
    arguments: &RunArguments,
    pipeline: &PipelineArguments,
    terminal: &Terminal,
    plan: impl FnOnce(&ExperimentOptions) -> Result<Planned, Failure>,
) -> Outcome {
    let mut events = arguments.events.map(|_| EventLines::new(std::io::stdout()));
    let outcome = arguments.fleet.options().and_then(|fleet| {
        let hosts = fleet.as_ref().map(|fleet| fleet.fleet.count());
        let planned = plan(&ExperimentOptions { hosts, ..arguments.experiment.options() })?;
        begin(arguments, pipeline, planned, fleet, events.as_mut(), terminal)
    });
    if let (Err(Failure { refused: Some(refused), .. }), Some(events)) = (&outcome, &mut events) {
        events.refused(refused)?;
    }
    output::with_json_refusal(outcome, arguments.json)
}

fn begin(
    arguments: &RunArguments,
    pipeline: &PipelineArguments,
    planned: Planned,
    fleet: Option<FleetOptions>,
    mut events: Option<&mut EventLines<Stdout>>,
    terminal: &Terminal,
) -> Outcome {
    if let Some(path) = &arguments.report {
        refuse_shared_stdout(arguments, path)?;
        refuse_unwritable(path)?;
    }
    pipeline.refuse_unusable(&planned.plan)?;
    print_assumptions(&planned, terminal);
    let mut metrics = publish(arguments, &planned.plan, terminal)?;
    let service = measure::serve(&planned.plan)?;
    let early = match fleet {
        Some(_) => Some(interrupt::listen()?),
        None => interrupt::listen_for_servers(std::slice::from_ref(&planned))?,
    };
    let observer = waits::observer(early.as_ref().map(|interrupt| &interrupt.stop));
    let line = command_line::of_this_run(&planned);
    let options = arguments.options(fleet);
    let prepared = match measure::prepare(planned, service, &options, &line, observer) {
        Err(failure) if failure.is_interrupted => {
            terminal.warn("interrupted; nothing was measured");
            return Ok(Exit::Negative);
        }
        prepared => prepared?,
    };
    for (target, directory) in prepared.plan().targets.iter().zip(prepared.directories()) {
        print_target(target, directory, terminal);
    }
    print_fleet(&prepared, terminal);
    let mut interrupt = early.map_or_else(interrupt::listen, Ok)?;
    let stop = Arc::clone(&interrupt.stop);
    let mut progress = live::progress(prepared.plan(), arguments, terminal);
    let mut listeners: Vec<&mut dyn Listener> = vec![&mut interrupt, progress.as_mut()];
    listeners.extend(metrics.iter_mut().map(|metrics| metrics as &mut dyn Listener));
    listeners.extend(events.iter_mut().map(|events| &mut **events as &mut dyn Listener));
    let measured = prepared.measure(&mut listeners, &stop)?;
    // The screen is removed before the results are printed, however the plan ended.
    drop(progress);
    let judged = pipeline.judge(&measured.findings);
    let shown = show(arguments, &measured, &judged, terminal);
    let shown = shown.and_then(|()| metrics.map_or(Ok(()), RunMetrics::finish));
    let Measured { ended, findings, target, .. } = measured;
    let (mut verdict, mut outcome) = verdict(ended, &findings, &target);
    // A printed result has it already.
    if let Some(warning) = warning(verdict, &findings).filter(|_| !is_shown(arguments, &findings)) {
        terminal.warn(&warning);
    }
    let shown = shown.and(pipeline.finish((&findings).into(), &judged, terminal));
    if matches!(outcome, Ok(Exit::Done)) && pipeline.exit(&judged) == Exit::Negative {
        (verdict, outcome) = (Verdict::ConditionFailed, Ok(Exit::Negative));
    }
    let outcome = worse(shown, outcome, terminal);
    if let Some(events) = events {
        if let Err(Failure { refused: Some(refused), .. }) = &outcome {
            events.refused(refused)?;
        }
        events.finish(&outcome, verdict, &findings, &judged)?;
    }
    outcome
}

/// Begins to publish the counters of the run, and tests the exporters that it scrapes.
fn publish(
    arguments: &RunArguments,
    plan: &Plan,
    terminal: &Terminal,
) -> Result<Option<RunMetrics>, Failure> {
    let metrics = RunMetrics::start(&arguments.metrics.options(), plan)?;
    if let Some(address) = metrics.as_ref().and_then(RunMetrics::address) {
        terminal.note(&format!("metrics: http://{address}/metrics"));
        let they_can = "read the experiment's name and all counters without a password";
        warn_if_reachable(terminal, "--metrics", address, they_can);
    }
    for warning in scrape::test_exporters(&arguments.metrics.scrape)? {
        terminal.warn(&warning);
    }
    Ok(metrics)
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
    let assumed = planned.assumed.iter().map(Assumed::words);
    let assumed: Vec<String> = assumed.map(|(what, value)| format!("{what}: {value}")).collect();
    if !assumed.is_empty() {
        terminal.note_wrapped(&format!("assumed {}", assumed.join("; ")));
    }
}

pub(super) fn print_assumptions(planned: &Planned, terminal: &Terminal) {
    print_assumed(planned, terminal);
    if let [TargetSpec::Emulated { volume, .. }] = planned.plan.targets.as_slice() {
        for sentence in report::emulated::introduction(volume) {
            terminal.note_wrapped(&sentence);
        }
    }
}

/// Prints the properties of the target that are known once it is claimed.
pub(super) fn print_target(target: &TargetSpec, directory: &TargetDirectory, terminal: &Terminal) {
    let path = directory.path().display();
    match (target, directory.mounted()) {
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

/// Prints the hosts that measure, if there are several, and the target's directory on the first.
fn print_fleet(prepared: &Prepared, terminal: &Terminal) {
    let Some((hosts, paths)) = prepared.fleet() else { return };
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let count = units::counted(names.len() as u64, "host");
    let on = match paths {
        [] => String::new(),
        [path] => format!(" on {path}"),
        [first, .., last] => format!(" on {} targets ({first} to {last})", paths.len()),
    };
    terminal.note_wrapped(&format!("{count}{on}: {}", names.join(", ")));
}

/// Prints the table and the record's ID, then writes the report, so that the results are shown even
/// if the report cannot be written. If stdout is taken, the table goes to stderr.
fn show(
    arguments: &RunArguments,
    measured: &Measured,
    judged: &[Judged],
    terminal: &Terminal,
) -> Result<(), Failure> {
    let findings = &measured.findings;
    let annotation = arguments.annotation.annotation();
    let remarks = remarks(&annotation);
    let record = Record { findings, published: measured.published.as_ref(), remarks };
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    // For a refused target the JSON is the refusal.
    if arguments.json && !matches!(measured.ended, Err(ConductError::Refused(_))) {
        report::json::write_judged(record, judged, &mut stdout)?;
    }
    let has_report_on_stdout = arguments.report.as_deref().is_some_and(output_file::is_stdout);
    let is_stdout_taken = arguments.json || arguments.events.is_some() || has_report_on_stdout;
    let text: &mut dyn Write = if is_stdout_taken { &mut stderr } else { &mut stdout };
    let width = terminal.report_columns();
    let head = line("record", &findings.id);
    let report = report_path(arguments, measured);
    let report_line = report.as_ref().filter(|_| !has_report_on_stdout);
    let report_line = report_line.map(|path| line("report", &short_path(path)));
    let mut rest: Vec<String> = report_line.into_iter().collect();
    rest.extend(measured.left.iter().map(|left| line("left", &left.to_string())));
    if is_shown(arguments, findings) {
        rest.extend(follow_up::commands(&arguments.store, &findings.id, width));
        let color = if is_stdout_taken { terminal.color_stderr } else { terminal.color_stdout };
        let layout = ResultLayout {
            full: arguments.full,
            width,
            look: Look { color },
            footer_lines: 1 + height(&rest, width),
        };
        writeln!(text, "{}", output::result(record, layout))?;
    }
    writeln!(text, "{head}")?;
    text.flush()?;
    if let Some(path) = report {
        write_report(record, &path)?;
    }
    for line in rest {
        writeln!(text, "{line}")?;
    }
    text.flush()?;
    Ok(())
}

/// Whether the result is printed as text.
fn is_shown(arguments: &RunArguments, findings: &Findings) -> bool {
    !arguments.json && !findings.load_points.is_empty()
}

/// Where the report is written, if there is one.
fn report_path(arguments: &RunArguments, measured: &Measured) -> Option<PathBuf> {
    if arguments.no_report || measured.findings.load_points.is_empty() {
        return None;
    }
    let in_store = || measured.run_directory.join(REPORT_NAME);
    Some(arguments.report.clone().unwrap_or_else(in_store))
}

/// The warning about an experiment that did not end as planned.
fn warning(verdict: Verdict, findings: &Findings) -> Option<String> {
    Some(match verdict {
        Verdict::Done | Verdict::NotReached | Verdict::ConditionFailed | Verdict::Failed => {
            return None;
        }
        Verdict::Overloaded => {
            "overloaded: the offered rate exceeded what the target sustains".to_owned()
        }
        Verdict::Uncertain => format!(
            "{} of {} load points did not reach the precision of --until after the maximum \
             number of repeats (run.repeats_max); section Search lists them",
            findings.not_converged(),
            findings.load_points.len()
        ),
        Verdict::HostsLost => {
            "hosts were lost; totals are without them from then on (see the caveats)".to_owned()
        }
        Verdict::Interrupted if findings.load_points.is_empty() => {
            "interrupted; nothing was measured".to_owned()
        }
        Verdict::Interrupted => "interrupted; results so far are stored".to_owned(),
    })
}
