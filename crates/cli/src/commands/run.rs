//! `run`: measures, keeps, and shows what was measured.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use analysis::Findings;
use anyhow::anyhow;
use engine::drive::Stop;
use host::Root;
use host::cpu::CpuTimes;
use metrics::run_record;
use runner::conduct::{ConductError, Host, conduct};
use runner::event::Listener;
use store::Store;
use target::directory::{self, TargetDirectory, Wanted};
use workload::plan::{Plan, TargetSpec};

use crate::args::RunArguments;
use crate::commands::output;
use crate::environment;
use crate::events::EventLines;
use crate::exit::{Exit, Failure, Outcome};
use crate::experiment::{self, Planned};
use crate::interrupt;
use crate::keep::Keep;
use crate::live::Live;
use crate::refusal;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &RunArguments, terminal: &Terminal) -> Outcome {
    let planned = experiment::plan(&arguments.experiment, &arguments.store.root(), terminal)?;
    let (store, mut directory) = claim(arguments, &planned)?;
    let facts = environment::facts(directory.as_ref())?;
    let writer = store.create(&planned.plan, &facts, unix_ms()).map_err(Failure::target)?;
    let id = writer.id().to_owned();
    let run_directory = writer.directory().to_owned();
    if !arguments.no_progress {
        say_what_is_assumed(&planned, directory.as_ref(), terminal);
    }
    let stop = interrupt::listen()?;
    let ended =
        measure(arguments, &planned.plan, directory.as_mut(), Keep::new(writer), &stop, terminal);
    drop(directory);

    let record = store.load(&id).map_err(Failure::target)?;
    let findings = analysis::analyze(&record);
    match show(arguments, &findings, &run_directory) {
        // Nobody reads the table any more, but the exit code may still be looked at.
        Err(failure) if failure.is_broken_pipe() => {}
        shown => shown?,
    }
    verdict(ended, &findings, terminal)
}

/// Opens the store and makes the target's directory ours. A target that is refused leaves no trace,
/// the store included; only the scratch directory needs its store before it can be looked at.
fn claim(
    arguments: &RunArguments,
    planned: &Planned,
) -> Result<(Store, Option<TargetDirectory>), Failure> {
    let TargetSpec::Directory { path } = &planned.plan.target else {
        return Ok((arguments.store.open()?, None));
    };
    if planned.is_scratch {
        arguments.store.open()?;
    }
    let mut overrides = arguments.overrides.overrides();
    overrides.create |= planned.is_scratch;
    let survey = directory::survey(Path::new(path), Wanted::by(&planned.plan), overrides)
        .map_err(refusal::failure)?;
    let store = arguments.store.open()?;
    let directory = survey.claim().map_err(refusal::failure)?;
    Ok((store, Some(directory)))
}

fn say_what_is_assumed(
    planned: &Planned,
    directory: Option<&TargetDirectory>,
    terminal: &Terminal,
) {
    for (what, value) in &planned.assumed {
        terminal.note_wrapped(&format!("assumed {what}: {value}"));
    }
    if let Some(directory) = directory {
        let storage = directory.storage();
        let direct =
            if storage.direct.is_supported() { "direct I/O works" } else { "no direct I/O" };
        let place = directory.path().display();
        terminal.note(&format!("target: {place} ({}, {direct})", storage.filesystem));
    }
}

/// Does the plan with its listeners: the store first, so that an interval is on disk before it is
/// shown.
fn measure(
    arguments: &RunArguments,
    plan: &Plan,
    directory: Option<&mut TargetDirectory>,
    mut keep: Keep,
    stop: &Arc<Stop>,
    terminal: &Terminal,
) -> Result<run_record::Outcome, ConductError> {
    let mut live = (!arguments.no_progress).then(|| Live::new(plan, terminal));
    let mut events = arguments.events.map(|_| EventLines::new(std::io::stdout().lock()));
    let mut listeners: Vec<&mut dyn Listener> = vec![&mut keep];
    listeners.extend(live.iter_mut().map(|live| live as &mut dyn Listener));
    listeners.extend(events.iter_mut().map(|events| events as &mut dyn Listener));
    let root = Root::of_this_host();
    let mut earlier = CpuTimes::read(&root);
    let mut steal_since_last = || {
        let before = std::mem::replace(&mut earlier, CpuTimes::read(&root))?;
        earlier.as_ref()?.steal_since(&before)
    };
    let host = Host {
        memory_bytes: host::facts::memory_bytes(&root),
        steal_since_last: &mut steal_since_last,
    };
    conduct(plan, directory, host, stop, &mut listeners)
}

/// The table, the report and the record's name. Events on stdout leave stderr for them.
fn show(
    arguments: &RunArguments,
    findings: &Findings,
    run_directory: &Path,
) -> Result<(), Failure> {
    let report = write_report(arguments, findings, run_directory)?;
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    if arguments.json {
        output::json(findings, &mut stdout)?;
    }
    let words: &mut dyn Write =
        if arguments.json || arguments.events.is_some() { &mut stderr } else { &mut stdout };
    if !arguments.json && !findings.load_points.is_empty() {
        output::text(findings, words)?;
        writeln!(words)?;
    }
    if let Some(path) = report {
        writeln!(words, "report   {}", path.display())?;
    }
    writeln!(words, "record   {}", findings.id)?;
    words.flush()?;
    Ok(())
}

fn write_report(
    arguments: &RunArguments,
    findings: &Findings,
    run_directory: &Path,
) -> Result<Option<PathBuf>, Failure> {
    if arguments.no_report || findings.load_points.is_empty() {
        return Ok(None);
    }
    let path = match &arguments.report {
        Some(path) => path.clone(),
        None => run_directory.join(output::REPORT_NAME),
    };
    output::report(findings, &path)?;
    Ok(Some(path))
}

/// The exit code, and what has not been said yet.
fn verdict(
    ended: Result<run_record::Outcome, ConductError>,
    findings: &Findings,
    terminal: &Terminal,
) -> Outcome {
    match ended {
        Err(ConductError::Refused(refusal)) => Err(refusal::failure(refusal)),
        Err(error) => Err(Failure::target(error)),
        Ok(run_record::Outcome::Failed { reason }) => Err(Failure::target(anyhow!("{reason}"))),
        Ok(run_record::Outcome::Aborted) => Err(Failure {
            exit: Exit::OwnBug,
            error: Some(anyhow!("the runs ended without saying how")),
        }),
        Ok(run_record::Outcome::Interrupted) => {
            terminal.warn("interrupted; what was measured until then is kept");
            Ok(Exit::Negative)
        }
        Ok(run_record::Outcome::Done) => {
            let overloaded = findings.warnings.iter().any(|group| group.code == "overloaded");
            if overloaded {
                terminal.warn("overloaded: the offered rate was more than the target takes");
                return Ok(Exit::Negative);
            }
            Ok(Exit::Done)
        }
    }
}

fn unix_ms() -> u64 {
    // A clock before 1970 is wrong, and only shown.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
