//! `run`: measures, keeps, and shows what was measured.

use std::io::{Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use analysis::Findings;
use anyhow::anyhow;
use engine::drive::Stop;
use host::Root;
use host::cpu::CpuTimes;
use host::wire::Meter;
use metrics::run_record;
use report::record::Record;
use runner::conduct::{ConductError, Host, conduct_with};
use runner::event::Listener;
use runner::fleet::{Fleet, LocalFleet};
use store::Store;
use target::directory::{self, Survey, TargetDirectory, Wanted};
use target::folder::Place;
use units::Bytes;
use workload::plan::{Plan, TargetSpec};

use crate::beside;
use crate::beside_args::BesideArguments;
use crate::commands::{interleave, output};
use crate::emulated::{self, Service, WitnessedFleet};
use crate::environment;
use crate::event_line::Verdict;
use crate::events::EventLines;
use crate::exit::{Exit, Failure, Outcome};
use crate::experiment::{self, Planned};
use crate::explain;
use crate::host_state;
use crate::interrupt::{self, Interrupt};
use crate::keep::Keep;
use crate::known;
use crate::live::{Decisions, Live};
use crate::named_target;
use crate::output_file;
use crate::refusal;
use crate::run_args::{RunArguments, RunCommandArguments};
use crate::terminal::Terminal;
use crate::waits;
use crate::wire;

pub(crate) fn run(arguments: &RunCommandArguments, terminal: &Terminal) -> Outcome {
    if let Some(second) = arguments.second_target.as_deref() {
        return interleave::run(&arguments.run, second, terminal);
    }
    let arguments = &arguments.run;
    perform(arguments, terminal, |terminal| experiment::plan(&arguments.experiment, terminal))
}

/// Does what `plan` makes: for every command whose runs are kept and shown.
pub(super) fn perform(
    arguments: &RunArguments,
    terminal: &Terminal,
    plan: impl FnOnce(&Terminal) -> Result<Planned, Failure>,
) -> Outcome {
    let mut events = arguments.events.map(|_| EventLines::new(std::io::stdout()));
    let outcome =
        plan(terminal).and_then(|planned| begin(arguments, planned, events.as_mut(), terminal));
    // Of a refusal other programs hear in their own form, whenever it came.
    if let Err(Failure { refused: Some(refused), .. }) = &outcome {
        if let Some(events) = &mut events {
            events.refused(refused)?;
        }
        if arguments.json {
            refusal::json(refused, &mut std::io::stdout().lock())?;
        }
    }
    outcome
}

fn begin(
    arguments: &RunArguments,
    mut planned: Planned,
    mut events: Option<&mut EventLines<Stdout>>,
    terminal: &Terminal,
) -> Outcome {
    if let Some(path) = &arguments.report {
        refuse_two_on_stdout(arguments, path)?;
        output::refuse_unwritable(path)?;
    }
    say_what_is_assumed(&planned, terminal);
    let service = serve(&planned)?;
    let early = interrupt::listen_for_servers(std::slice::from_ref(&planned))?;
    let stop = early.as_ref().map(|interrupt| &interrupt.stop);
    let claimed = claim(arguments, &planned, service.as_ref(), stop);
    let (store, mut directory) = match claimed {
        Err(failure) if failure.is_interrupted => {
            terminal.warn("interrupted; nothing was measured");
            return Ok(Exit::Negative);
        }
        claimed => claimed?,
    };
    let mut facts = environment::facts(&planned, directory.as_ref())?;
    explain::add_facts(&mut planned.plan, &facts);
    facts.extend(known::entries(&arguments.experiment.known));
    facts.sort();
    let writer = store.create(&planned.plan, &facts, unix_ms()).map_err(Failure::target)?;
    let id = writer.id().to_owned();
    let run_directory = writer.directory().to_owned();
    say_what_was_found(&planned, directory.as_ref(), terminal);
    let mut interrupt = early.map_or_else(interrupt::listen, Ok)?;
    let mut listeners = Listeners {
        keep: Keep::new(writer),
        live: (!arguments.no_progress).then(|| Live::new(&planned.plan, terminal)),
        decisions: arguments.no_progress.then(|| Decisions::new(terminal)),
        events: events.as_deref_mut(),
    };
    let plan = &planned.plan;
    let serving_thread = service.as_ref().map(Service::thread_id);
    let reader = host_state::reader(Root::of_this_host(), serving_thread);
    let local = LocalFleet::new(plan).with_host_state(reader);
    let mut fleet: Box<dyn Fleet + '_> = match &service {
        Some(service) => Box::new(WitnessedFleet::new(local, service)),
        None => Box::new(local),
    };
    let ended = measure(fleet.as_mut(), plan, directory.as_mut(), &mut listeners, &mut interrupt);
    drop(fleet);
    drop(directory);
    drop(service);

    let record = store.load(&id).map_err(Failure::target)?;
    let (findings, published) = beside::analyzed(&record, &BesideArguments::default());
    let shown = Record { findings: &findings, published: published.as_ref() };
    let shown = show(arguments, &ended, shown, &run_directory);
    let (verdict, outcome) = verdict(ended, &findings, &planned.plan.target, terminal);
    let outcome = worse(shown, outcome, terminal);
    if let Some(events) = events {
        if let Err(Failure { refused: Some(refused), .. }) = &outcome {
            events.refused(refused)?;
        }
        events.finish(&outcome, verdict, &findings)?;
    }
    outcome
}

/// The report and the JSON or the events cannot share stdout.
fn refuse_two_on_stdout(arguments: &RunArguments, report: &Path) -> Result<(), Failure> {
    let other = match (arguments.json, &arguments.events) {
        (true, _) => "--json",
        (_, Some(_)) => "--events",
        _ => return Ok(()),
    };
    match output_file::is_stdout(report) {
        true => Err(Failure::input(anyhow!("write the report to stdout: {other} is there too"))),
        false => Ok(()),
    }
}

/// The exit code is that of the worse failure; both are said.
fn worse(shown: Result<(), Failure>, outcome: Outcome, terminal: &Terminal) -> Outcome {
    match (shown, outcome) {
        (Ok(()), outcome) => outcome,
        // Nobody reads the table any more, but the exit code may still be looked at.
        (Err(failure), outcome) if failure.is_broken_pipe() => outcome,
        (Err(failure), Ok(_)) => Err(failure),
        (Err(failure), Err(worse)) => {
            if let Some(error) = &failure.error {
                terminal.error(error);
            }
            Err(worse)
        }
    }
}

/// Starts the service of the emulated volume, where that is the target.
fn serve(planned: &Planned) -> Result<Option<Service>, Failure> {
    match &planned.plan.target {
        TargetSpec::Emulated { volume, options, .. } => Service::start(volume, options).map(Some),
        TargetSpec::Directory { .. } | TargetSpec::Nfs { .. } | TargetSpec::Null => Ok(None),
    }
}

/// Opens the store and makes the target's directory ours. A target that is refused leaves no trace,
/// the store included.
fn claim(
    arguments: &RunArguments,
    planned: &Planned,
    service: Option<&Service>,
    stop: Option<&Arc<Stop>>,
) -> Result<(Store, Option<TargetDirectory>), Failure> {
    let Some(place) = place(&planned.plan, service, stop)? else {
        return Ok((arguments.store.open_to_write()?, None));
    };
    let survey = survey(arguments, &planned.plan, place)?;
    let store = arguments.store.open_to_write()?;
    let directory = survey.claim().map_err(refusal::failure)?;
    Ok((store, Some(directory)))
}

/// Where the target's files are; `None` for the null target. Waits for a server end with `stop`.
pub(super) fn place(
    plan: &Plan,
    service: Option<&Service>,
    stop: Option<&Arc<Stop>>,
) -> Result<Option<Place>, Failure> {
    let place = match (&plan.target, service) {
        (TargetSpec::Null, _) => return Ok(None),
        (_, Some(service)) => waits::export(service.url().clone(), stop),
        (TargetSpec::Directory { path }, _) => Place::Directory(PathBuf::from(path)),
        (TargetSpec::Nfs { url, .. }, _) => waits::export(named_target::parsed(url)?, stop),
        (TargetSpec::Emulated { .. }, None) => {
            return Err(Failure::bug(anyhow!("the emulated volume has no service")));
        }
    };
    Ok(Some(place))
}

/// Looks at the target's directory; nothing is made or marked yet.
pub(super) fn survey(
    arguments: &RunArguments,
    plan: &Plan,
    place: Place,
) -> Result<Survey, Failure> {
    let overrides = arguments.overrides.overrides();
    let mut survey =
        directory::survey(place, Wanted::by(plan), overrides).map_err(refusal::failure)?;
    if !overrides.refill {
        // The run itself looks again; this time there is no record yet that would say `failed`.
        survey = survey.inspect().map_err(refusal::failure)?;
    }
    Ok(survey)
}

pub(super) fn say_what_is_assumed(planned: &Planned, terminal: &Terminal) {
    for (what, value) in &planned.assumed {
        terminal.note_wrapped(&format!("assumed {what}: {value}"));
    }
    if let TargetSpec::Emulated { volume, .. } = &planned.plan.target {
        for sentence in emulated::introduction(volume) {
            terminal.note_wrapped(&sentence);
        }
    }
}

/// What the target turned out to be.
pub(super) fn say_what_was_found(
    planned: &Planned,
    directory: Option<&TargetDirectory>,
    terminal: &Terminal,
) {
    let Some(directory) = directory else { return };
    let place = directory.path().display();
    match (&planned.plan.target, directory.mounted()) {
        // Said already.
        (TargetSpec::Emulated { .. }, _) => {}
        (_, Some(mounted)) => terminal.note_wrapped(&format!(
            "target: {place} (NFS version 3 in user space, reads of up to {}, writes of up to {})",
            Bytes::new(u64::from(mounted.rsize_bytes)),
            Bytes::new(u64::from(mounted.wsize_bytes)),
        )),
        (_, None) => {
            let storage = directory.storage();
            let direct =
                if storage.direct.is_supported() { "direct I/O works" } else { "no direct I/O" };
            terminal.note(&format!("target: {place} ({}, {direct})", storage.filesystem));
        }
    }
}

/// Who is told what happens: the store first, so that an interval is on disk before it is shown.
struct Listeners<'e> {
    keep: Keep,
    live: Option<Live>,
    decisions: Option<Decisions>,
    events: Option<&'e mut EventLines<Stdout>>,
}

/// Does the plan with its listeners.
fn measure(
    fleet: &mut dyn Fleet,
    plan: &Plan,
    directory: Option<&mut TargetDirectory>,
    listeners: &mut Listeners<'_>,
    interrupt: &mut Interrupt,
) -> Result<run_record::Outcome, ConductError> {
    let stop = Arc::clone(&interrupt.stop);
    let mut all: Vec<&mut dyn Listener> = vec![&mut listeners.keep, interrupt];
    all.extend(listeners.live.iter_mut().map(|live| live as &mut dyn Listener));
    all.extend(listeners.decisions.iter_mut().map(|said| said as &mut dyn Listener));
    all.extend(listeners.events.iter_mut().map(|events| &mut **events as &mut dyn Listener));
    let meter = wire::meter(Root::of_this_host(), directory.as_deref());
    with_hosts([meter], |[host]| conduct_with(fleet, plan, directory, host, &stop, &mut all))
}

/// Calls `measure` with what conductors may ask of this host, one for each meter.
pub(super) fn with_hosts<R, const N: usize>(
    meters: [Meter; N],
    measure: impl FnOnce([Host<'_>; N]) -> R,
) -> R {
    let root = Root::of_this_host();
    let mut steals = meters.each_ref().map(|_| {
        let root = root.clone();
        let mut earlier = CpuTimes::read(&root);
        move || {
            let before = std::mem::replace(&mut earlier, CpuTimes::read(&root))?;
            earlier.as_ref()?.steal_since(&before)
        }
    });
    let mut wires = meters
        .map(|mut meter| move || meter.since_last().into_iter().map(wire::interval).collect());
    let memory_bytes = host::facts::memory_bytes(&root);
    let processors = u32::try_from(engine::processor::processors().len()).ok();
    let available_processors = engine::processor::available();
    let mut wires = wires.iter_mut();
    measure(steals.each_mut().map(|steal_since_last| Host {
        wire_since_last: wires.next().expect("as many as there are meters"),
        memory_bytes,
        processors,
        available_processors,
        steal_since_last,
    }))
}

/// The table and the record's name, then the report: what was measured is shown even where the
/// report cannot be written. Events on stdout leave stderr for them.
fn show(
    arguments: &RunArguments,
    ended: &Result<run_record::Outcome, ConductError>,
    record: Record<'_>,
    run_directory: &Path,
) -> Result<(), Failure> {
    let findings = record.findings;
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    // In the place of the results of a refused target stands the refusal.
    if arguments.json && !matches!(ended, Err(ConductError::Refused(_))) {
        output::json(record, &mut stdout)?;
    }
    let has_report_on_stdout = arguments.report.as_deref().is_some_and(output_file::is_stdout);
    let is_stdout_taken = arguments.json || arguments.events.is_some() || has_report_on_stdout;
    let words: &mut dyn Write = if is_stdout_taken { &mut stderr } else { &mut stdout };
    if !arguments.json && !findings.load_points.is_empty() {
        output::text(record, words)?;
        writeln!(words)?;
    }
    if let Some(tuned) = report::text::tuned(findings) {
        writeln!(words, "tuned    {tuned}")?;
    }
    writeln!(words, "record   {}", findings.id)?;
    words.flush()?;
    if let Some(path) = write_report(arguments, record, run_directory)?
        && !has_report_on_stdout
    {
        writeln!(words, "report   {}", path.display())?;
        words.flush()?;
    }
    Ok(())
}

fn write_report(
    arguments: &RunArguments,
    record: Record<'_>,
    run_directory: &Path,
) -> Result<Option<PathBuf>, Failure> {
    if arguments.no_report || record.findings.load_points.is_empty() {
        return Ok(None);
    }
    let path = match &arguments.report {
        Some(path) => path.clone(),
        None => run_directory.join(output::REPORT_NAME),
    };
    output::report(record, &path)?;
    Ok(Some(path))
}

/// How it went in a word, the exit code, and what has not been said yet.
fn verdict(
    ended: Result<run_record::Outcome, ConductError>,
    findings: &Findings,
    target: &TargetSpec,
    terminal: &Terminal,
) -> (Verdict, Outcome) {
    let failed = |failure: Failure| (Verdict::Failed, Err(failure));
    match ended {
        Err(ConductError::Refused(refusal)) => failed(refusal::failure(refusal)),
        Err(ConductError::Fill(error)) => failed(Failure::target(refusal::unfilled(error, target))),
        Err(error) => failed(Failure::target(error)),
        Ok(run_record::Outcome::Failed { reason }) => failed(Failure::target(anyhow!("{reason}"))),
        Ok(run_record::Outcome::Aborted) => {
            failed(Failure::bug(anyhow!("the runs ended without saying how")))
        }
        Ok(run_record::Outcome::Interrupted) => {
            terminal.warn(match findings.load_points.is_empty() {
                true => "interrupted; nothing was measured",
                false => "interrupted; what was measured until then is kept",
            });
            (Verdict::Interrupted, Ok(Exit::Negative))
        }
        Ok(run_record::Outcome::Done) => {
            if let Some(tune) = &findings.tune {
                // That a rate was too much for a queue depth is what a tuning is to find out.
                return match tune.outcome.is_reached() {
                    true => (Verdict::Done, Ok(Exit::Done)),
                    false => (Verdict::NotReached, Ok(Exit::Negative)),
                };
            }
            if is_overloaded_by_mistake(findings) {
                terminal.warn("overloaded: the offered rate was more than the target takes");
                return (Verdict::Overloaded, Ok(Exit::Negative));
            }
            let wide: usize = findings.searches.iter().map(|one| one.not_narrow.len()).sum();
            if wide > 0 {
                terminal.warn(&format!(
                    "{wide} of {} load points are not known as well as --until asks, after as \
                     many repeats as allowed (run.repeats_max); the section Search names them",
                    findings.load_points.len()
                ));
                return (Verdict::Uncertain, Ok(Exit::Negative));
            }
            (Verdict::Done, Ok(Exit::Done))
        }
    }
}

/// An open curve goes on until more is offered than the target takes: that is no mistake.
fn is_overloaded_by_mistake(findings: &Findings) -> bool {
    let searched = |place: usize| {
        let open = |search: &analysis::search::Searched| {
            search.load_points.contains(&place) && search.goes_to_overload
        };
        findings.searches.iter().any(open)
    };
    let overloaded = findings.warnings.iter().filter(|group| group.code == "overloaded");
    let mut sightings = overloaded.flat_map(|group| &group.sightings);
    sightings.any(|sighting| !sighting.load_point.is_some_and(searched))
}

pub(super) fn unix_ms() -> u64 {
    // A clock before 1970 is wrong, and only shown.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
