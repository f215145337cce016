//! `run A B --interleave`: two targets measured in turns, and compared.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use anyhow::anyhow;
use engine::drive::Stop;
use host::Root;
use metrics::interleaved::Interleaved;
use metrics::run_record::{self, ExperimentRecord};
use report::compare::Detail;
use report::record::Record;
use runner::conduct::ConductError;
use runner::event::{Event, Listener, ListenerError};
use runner::fleet::{Fleet, LocalFleet};
use runner::interleave::{InterleavedSide, conduct_interleaved};
use store::{Store, Writer};
use target::directory::TargetDirectory;
use workload::interleave::{ComparedSide, order};
use workload::plan::{Plan, Step, TargetSpec};

use crate::beside;
use crate::beside_args::BesideArguments;
use crate::commands::output::{self, WIDTH};
use crate::commands::run::with_hosts;
use crate::commands::run::{place, say_what_is_assumed, say_what_was_found, survey, unix_ms};
use crate::environment;
use crate::exit::{Exit, Failure, Outcome};
use crate::experiment::{self, Planned};
use crate::host_state;
use crate::interrupt::{self, Interrupt};
use crate::keep::Keep;
use crate::known;
use crate::live::{Decisions, Live};
use crate::refusal;
use crate::run_args::RunArguments;
use crate::terminal::Terminal;
use crate::wire;

/// Blocks of each load point where the user does not say: five see a change of twice the scatter
/// from block to block.
const BLOCKS: u32 = 5;

/// Both sides of something.
type Both<T> = [T; 2];

pub(super) fn run(arguments: &RunArguments, second: &str, terminal: &Terminal) -> Outcome {
    let outcome = compare_targets(arguments, second, terminal);
    // Other programs get a refusal in JSON, in the place of the comparison.
    if let Err(Failure { refused: Some(refused), .. }) = &outcome
        && arguments.json
    {
        refusal::json(refused, &mut std::io::stdout().lock())?;
    }
    outcome
}

fn compare_targets(arguments: &RunArguments, second: &str, terminal: &Terminal) -> Outcome {
    let planned = plans(arguments, second, terminal)?;
    say_what_is_assumed(&planned[0], terminal);
    let early = interrupt::listen_for_servers(&planned)?;
    let stop = early.as_ref().map(|interrupt| &interrupt.stop);
    let mut claimed = match claim(arguments, &planned, stop) {
        Err(failure) if failure.is_interrupted => {
            terminal.warn("interrupted; nothing was measured");
            return Ok(Exit::Negative);
        }
        claimed => claimed?,
    };
    let order = order(&planned[0].plan);
    let store = arguments.store.open_to_write()?;
    let writers = begin(&store, arguments, &planned, &claimed, &order)?;
    let ids = writers.each_ref().map(|writer| writer.id().to_owned());
    let run_directories = writers.each_ref().map(|writer| writer.directory().to_owned());
    for side in ComparedSide::BOTH {
        let planned = &planned[side.index()];
        let named = planned.plan.target.in_words();
        terminal.note_wrapped(&format!("{}: {named}", side.label()));
        say_what_was_found(planned, claimed.of(side), terminal);
    }
    let interrupt = early.map_or_else(interrupt::listen, Ok)?;
    let plans = planned.each_ref().map(|planned| &planned.plan);
    let live = (!arguments.no_progress).then(|| Live::new(&in_turns(plans, &order), terminal));
    let progress = Progress { live: RefCell::new(live), order: &order, terminal };
    let ended = measure(plans, &mut claimed, &order, writers, &progress, &interrupt);
    drop(claimed);

    let records = load(&store, &ids)?;
    let shown = show(arguments, &ended, &records, &run_directories);
    let outcome = outcome(ended, plans.map(|plan| &plan.target), terminal);
    match (shown, outcome) {
        // Nobody reads the output any more, but the exit code may still be looked at.
        (Err(failure), Ok(_)) if !failure.is_broken_pipe() => Err(failure),
        (_, outcome) => outcome,
    }
}

/// The plan of each side: the same experiment on another target.
fn plans(
    arguments: &RunArguments,
    second: &str,
    terminal: &Terminal,
) -> Result<Both<Planned>, Failure> {
    let mut experiment = arguments.experiment.clone();
    let mut first = experiment::plan(&experiment, terminal)?;
    if first.plan.searches().next().is_some() {
        return Err(Failure::input(anyhow!(
            "measure two targets in turns: the next load of a search (`curve`, `run.until`) \
             depends on what one target did, so the two would not be offered the same; name the \
             loads (`--set queue_depth=1,4,16`)"
        )));
    }
    let repeats = first.plan.known_runs().map(|run| run.repeat + 1).max().unwrap_or(1);
    if experiment.repeats.is_none() && repeats < BLOCKS {
        experiment.repeats = Some(BLOCKS);
        first = experiment::plan(&experiment, terminal)?;
        first.assumed.push(("repeats", format!("{BLOCKS} blocks of each load point (--repeats)")));
    }
    experiment.target = Some(second.to_owned());
    let second = experiment::plan(&experiment, terminal)?;
    Ok([first, second])
}

/// The directories of both sides, claimed for this process.
struct Claimed {
    directories: Vec<TargetDirectory>,
    /// Which of them each side has; `None` for the null target.
    of_side: Both<Option<usize>>,
}

impl Claimed {
    fn of(&self, side: ComparedSide) -> Option<&TargetDirectory> {
        self.of_side[side.index()].map(|index| &self.directories[index])
    }
}

/// Makes the directories of both targets ours; both are looked at before either is marked. A
/// target that is compared with itself is claimed once.
fn claim(
    arguments: &RunArguments,
    planned: &Both<Planned>,
    stop: Option<&Arc<Stop>>,
) -> Result<Claimed, Failure> {
    let mut surveys = Vec::new();
    let mut of_side = [None, None];
    let itself = is_itself(planned.each_ref().map(|planned| &planned.plan.target));
    for side in ComparedSide::BOTH {
        let plan = &planned[side.index()].plan;
        let Some(place) = place(plan, None, stop)? else { continue };
        if !(itself && side == ComparedSide::B) {
            surveys.push(survey(arguments, plan, place)?);
        }
        of_side[side.index()] = Some(surveys.len() - 1);
    }
    let claimed = surveys.into_iter().map(|survey| survey.claim().map_err(refusal::failure));
    Ok(Claimed { directories: claimed.collect::<Result<_, _>>()?, of_side })
}

/// Whether both sides are the same target, also by another name of its directory.
fn is_itself(targets: Both<&TargetSpec>) -> bool {
    match targets {
        [TargetSpec::Directory { path: a }, TargetSpec::Directory { path: b }] => {
            let real = |path: &str| Path::new(path).canonicalize();
            a == b || matches!((real(a), real(b)), (Ok(a), Ok(b)) if a == b)
        }
        [a, b] => a == b,
    }
}

/// Begins a record for each side, which names the other.
fn begin(
    store: &Store,
    arguments: &RunArguments,
    planned: &Both<Planned>,
    claimed: &Claimed,
    order: &[ComparedSide],
) -> Result<Both<Writer>, Failure> {
    let mut facts: Both<Vec<(String, String)>> = Default::default();
    for side in ComparedSide::BOTH {
        let facts = &mut facts[side.index()];
        *facts = environment::facts(&planned[side.index()], claimed.of(side))?;
        facts.extend(known::entries(&arguments.experiment.known));
    }
    let facts_of = |index: usize, partner: &str| {
        let partner = partner.to_owned();
        let side = ComparedSide::BOTH[index];
        let interleaved = Interleaved { partner, side, first: order.to_vec() };
        let mut facts = facts[index].clone();
        facts.extend(interleaved.facts());
        facts.sort();
        facts
    };
    let plans = planned.each_ref().map(|planned| &planned.plan);
    store.create_pair(plans, facts_of, unix_ms()).map_err(Failure::target)
}

fn measure(
    plans: Both<&Plan>,
    claimed: &mut Claimed,
    order: &[ComparedSide],
    writers: Both<Writer>,
    progress: &Progress<'_>,
    interrupt: &Interrupt,
) -> Both<Result<run_record::Outcome, ConductError>> {
    let stop = Arc::clone(&interrupt.stop);
    let mut fleets = plans.map(|plan| {
        let reader = host_state::reader(Root::of_this_host(), None);
        LocalFleet::new(plan).with_host_state(reader)
    });
    let mut keeps = writers.map(Keep::new);
    let mut shows = ComparedSide::BOTH.map(|side| {
        let decisions = Decisions::new(progress.terminal);
        ProgressOf { progress, side, decisions }
    });
    let mut interrupts = [interrupt.clone(), interrupt.clone()];
    let meters = ComparedSide::BOTH.map(|side| wire::meter(Root::of_this_host(), claimed.of(side)));
    let [fleet_a, fleet_b] = &mut fleets;
    let [keep_a, keep_b] = &mut keeps;
    let [show_a, show_b] = &mut shows;
    let [interrupt_a, interrupt_b] = &mut interrupts;
    let mut listeners_a: [&mut dyn Listener; 3] = [keep_a, interrupt_a, show_a];
    let mut listeners_b: [&mut dyn Listener; 3] = [keep_b, interrupt_b, show_b];
    let of_side = claimed.of_side;
    with_hosts(meters, |[host_a, host_b]| {
        let a = InterleavedSide {
            plan: plans[0],
            fleet: fleet_a as &mut dyn Fleet,
            host: host_a,
            directory: of_side[0],
            listeners: &mut listeners_a,
        };
        let b = InterleavedSide {
            plan: plans[1],
            fleet: fleet_b as &mut dyn Fleet,
            host: host_b,
            directory: of_side[1],
            listeners: &mut listeners_b,
        };
        conduct_interleaved([a, b], &mut claimed.directories, order, &stop)
    })
}

/// All runs of both sides in the order in which they are done, for the progress display.
fn in_turns(plans: Both<&Plan>, order: &[ComparedSide]) -> Plan {
    let mut steps = Vec::new();
    for (block, first) in order.iter().enumerate() {
        for side in [*first, first.other()] {
            let run = plans[side.index()].known_runs().nth(block);
            let mut run = run.expect("both plans have a run for each block").clone();
            run.index = steps.len() as u32;
            run.variant = format!("{}: {}", side.label(), run.variant);
            steps.push(Step::Fixed(run));
        }
    }
    Plan { steps, ..plans[0].clone() }
}

/// What is shown while both sides are measured.
struct Progress<'p> {
    live: RefCell<Option<Live>>,
    order: &'p [ComparedSide],
    terminal: &'p Terminal,
}

/// Shows the events of one side as part of the whole.
struct ProgressOf<'p> {
    progress: &'p Progress<'p>,
    side: ComparedSide,
    decisions: Decisions,
}

impl Listener for ProgressOf<'_> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let Progress { live, order, .. } = self.progress;
        let mut live = live.borrow_mut();
        let Some(live) = live.as_mut() else { return self.decisions.on_event(event) };
        match event {
            Event::RunStarted { run, started_unix_ms } => {
                let second = order[run.index as usize] != self.side;
                let mut run = run.clone();
                run.index = 2 * run.index + u32::from(second);
                run.variant = format!("{}: {}", self.side.label(), run.variant);
                live.on_event(&Event::RunStarted { run, started_unix_ms: *started_unix_ms })
            }
            // The whole ends with the second side.
            Event::Finished { .. } if self.side == ComparedSide::A => Ok(()),
            _ => live.on_event(event),
        }
    }
}

fn load(store: &Store, ids: &Both<String>) -> Result<Both<ExperimentRecord>, Failure> {
    let load = |id: &String| store.load(id).map_err(Failure::target);
    Ok([load(&ids[0])?, load(&ids[1])?])
}

/// The comparison, the names of both records, and a report of each.
fn show(
    arguments: &RunArguments,
    ended: &Both<Result<run_record::Outcome, ConductError>>,
    records: &Both<ExperimentRecord>,
    run_directories: &Both<std::path::PathBuf>,
) -> Result<(), Failure> {
    let comparison = compare(&records.each_ref().map(Side::of), &Options::default());
    let has_points = comparison.pairs.iter().any(|pair| !pair.points.is_empty());
    let refused = ended.iter().any(|ended| matches!(ended, Err(ConductError::Refused(_))));
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::stderr().lock();
    if arguments.json && !refused {
        report::compare::json::write(&comparison, &mut stdout)?;
    }
    let words: &mut dyn Write = if arguments.json { &mut stderr } else { &mut stdout };
    if !arguments.json && has_points {
        let text = report::compare::text(&comparison, Detail::Main, WIDTH);
        words.write_all(text.trim_start_matches('\n').as_bytes())?;
        writeln!(words)?;
    }
    for (side, (record, run_directory)) in
        ComparedSide::BOTH.iter().zip(records.iter().zip(run_directories))
    {
        writeln!(words, "record {} {}", side.label(), record.id)?;
        if !arguments.no_report {
            report_of(record, run_directory)?;
        }
    }
    words.flush()?;
    Ok(())
}

fn report_of(record: &ExperimentRecord, run_directory: &Path) -> Result<(), Failure> {
    let (findings, published) = beside::analyzed(record, &BesideArguments::default());
    if findings.load_points.is_empty() {
        return Ok(());
    }
    let record = Record { findings: &findings, published: published.as_ref() };
    output::report(record, &run_directory.join(output::REPORT_NAME))
}

/// The exit code is that of the side that ended worse; a side that was stopped because of the other
/// is not reported twice.
fn outcome(
    ended: Both<Result<run_record::Outcome, ConductError>>,
    targets: Both<&TargetSpec>,
    terminal: &Terminal,
) -> Outcome {
    let mut outcome = Ok(Exit::Done);
    for ((side, target), ended) in ComparedSide::BOTH.into_iter().zip(targets).zip(ended) {
        let of_side = |reason: &dyn std::fmt::Display| anyhow!("side {}: {reason}", side.label());
        let failure = match ended {
            Ok(run_record::Outcome::Done) => continue,
            Ok(run_record::Outcome::Interrupted) => {
                if outcome.is_ok() {
                    outcome = Ok(Exit::Negative);
                }
                continue;
            }
            Err(ConductError::Refused(refused)) => refusal::failure(refused),
            Err(ConductError::Fill(error)) => {
                Failure::target(of_side(&refusal::unfilled(error, target)))
            }
            Err(error) => Failure::target(of_side(&error)),
            Ok(run_record::Outcome::Failed { reason }) => Failure::target(of_side(&reason)),
            Ok(run_record::Outcome::Aborted) => {
                Failure::bug(of_side(&"the runs ended without an outcome"))
            }
        };
        outcome = match outcome {
            Err(earlier) if failure.refused.is_none() => Err(earlier),
            _ => Err(failure),
        };
    }
    if matches!(outcome, Ok(Exit::Negative)) {
        terminal.warn("interrupted; complete blocks are kept and compared");
    }
    outcome
}
