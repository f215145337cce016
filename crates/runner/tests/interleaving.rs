//! Two interleaved plans: the order of the runs, and how both end if one side does, with fleets
//! that follow a script and do no I/O.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::EngineError;
use engine::run::RunEnd;
use metrics::interval::{Interval, StreamInterval};
use metrics::run_record::{ChosenIoMethod, Outcome};
use runner::conduct::{ConductError, Host};
use runner::event::{Event, Listener, ListenerError};
use runner::fleet::{Fleet, FleetError, OnProgress, Progress};
use runner::interleave::{InterleavedSide, conduct_interleaved};
use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::refusal::Overrides;
use target::survey;
use workload::interleave::ComparedSide::{self, A, B};
use workload::plan::{IoMethod, IoMethodUsed, Plan, Run, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const BLOCKS: u32 = 3;

fn plan() -> Plan {
    let text = format!(
        "name = \"turns\"\n[run]\nrepeats = {BLOCKS}\nwarm_up = \"0s\"\nmeasure = \"2s\"\n\
         [stream.main]\nread = \"100%\"\npattern = \"random\"\ntransfer_size = \"4KiB\"\n\
         file_size = \"1MiB\"\nqueue_depth = 1\n"
    );
    let experiment = workload::experiment::parse_with(&text, "test", &[]).expect("a valid text");
    let options = ResolveOptions::LOCAL;
    resolve(&experiment, "test", TargetSpec::Null, &options).expect("a valid plan")
}

/// How a run of a scripted fleet ends.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Done,
    Dies,
    Interrupted,
}

struct Scripted {
    /// What each run does, in order; all others complete normally.
    acts: Vec<Act>,
    runs: usize,
    /// The faster I/O method according to its probe.
    prefers: IoMethodUsed,
    stop: Arc<Stop>,
}

impl Fleet for Scripted {
    fn choose_io_method(
        &mut self,
        plan: &Plan,
        _directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        let engine = match plan.io_method {
            IoMethod::Auto => self.prefers,
            forced => forced.into(),
        };
        Ok(ChosenIoMethod { io_method: engine, reason: "scripted".to_owned() })
    }

    fn run(
        &mut self,
        run: &Run,
        _stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        let act = self.acts.get(self.runs).copied().unwrap_or(Act::Done);
        self.runs += 1;
        for index in 0..run.phases.window().1 {
            let streams = vec![StreamInterval::default()];
            let interval = Interval { index, streams, ..Interval::default() };
            assert_eq!(on_progress(Progress::Interval(interval)), ControlFlow::Continue(()));
        }
        let outcome = match act {
            Act::Done => Outcome::Done,
            Act::Interrupted => {
                self.stop.finish_interval();
                Outcome::Interrupted
            }
            Act::Dies => {
                let died = EngineError::WorkerDied { stream: "main".to_owned() };
                return Err(FleetError::Engine(died));
            }
        };
        Ok(RunEnd::of(outcome))
    }
}

/// Writes the events of both sides into one list.
struct Log<'l> {
    side: ComparedSide,
    lines: &'l RefCell<Vec<String>>,
}

impl Listener for Log<'_> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let what = match event {
            Event::PrepareFinished(_) => "ready".to_owned(),
            Event::IoMethodChosen(used) => format!("{:?}", used.io_method),
            Event::RunStarted { run, .. } => format!("run {}", run.index),
            Event::Finished { outcome } => match outcome {
                Outcome::Failed { reason } => format!("failed: {reason}"),
                outcome => format!("{outcome:?}").to_lowercase(),
            },
            _ => return Ok(()),
        };
        self.lines.borrow_mut().push(format!("{} {what}", self.side.label()));
        Ok(())
    }
}

type Results = [Result<Outcome, ConductError>; 2];

/// Both sides with these acts; the order is A first, B first, A first.
fn conducted(
    acts: [Vec<Act>; 2],
    prefers: [IoMethodUsed; 2],
    of_side: [Option<usize>; 2],
    directories: &mut [TargetDirectory],
) -> (Vec<String>, Results) {
    let (plan, stop, lines) = (plan(), Arc::new(Stop::new()), RefCell::new(Vec::new()));
    let [acts_a, acts_b] = acts;
    let fleet = |acts, prefers| Scripted { acts, runs: 0, prefers, stop: Arc::clone(&stop) };
    let (mut fleet_a, mut fleet_b) = (fleet(acts_a, prefers[0]), fleet(acts_b, prefers[1]));
    let mut logs = ComparedSide::BOTH.map(|side| Log { side, lines: &lines });
    let [log_a, log_b] = &mut logs;
    let (mut listeners_a, mut listeners_b): ([&mut dyn Listener; 1], [&mut dyn Listener; 1]) =
        ([log_a], [log_b]);
    let (mut steal_a, mut steal_b) = (|| None, || None);
    let a = InterleavedSide {
        plan: &plan,
        fleet: &mut fleet_a,
        host: Host {
            memory_bytes: None,
            processors: None,
            available_processors: None,
            steal_since_last: &mut steal_a,
        },
        directory: of_side[0],
        listeners: &mut listeners_a,
    };
    let b = InterleavedSide {
        plan: &plan,
        fleet: &mut fleet_b,
        host: Host {
            memory_bytes: None,
            processors: None,
            available_processors: None,
            steal_since_last: &mut steal_b,
        },
        directory: of_side[1],
        listeners: &mut listeners_b,
    };
    let results = conduct_interleaved([a, b], directories, &[A, B, A], &stop);
    (lines.into_inner(), results)
}

const PSYNC: [IoMethodUsed; 2] = [IoMethodUsed::Psync; 2];

#[test]
fn runs_are_executed_in_blocks_in_the_given_order() {
    let (lines, results) = conducted([vec![], vec![]], PSYNC, [None, None], &mut []);
    assert_eq!(
        lines,
        [
            "A Psync", "B Psync", "A run 0", "B run 0", "B run 1", "A run 1", "A run 2", "B run 2",
            "A done", "B done",
        ]
    );
    assert!(results.iter().all(|result| matches!(result, Ok(Outcome::Done))));
}

#[test]
fn both_targets_are_prepared_before_the_first_block_and_a_shared_one_only_once() {
    let root = tempfile::tempdir().expect("make a directory");
    let open = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir(&path).expect("make a target");
        survey::open(path.as_path(), RequiredFiles::of(&plan(), 0), Overrides::default())
            .expect("the directory is unused")
    };
    let mut directories = [open("a"), open("b")];
    let (lines, _) = conducted([vec![], vec![]], PSYNC, [Some(0), Some(1)], &mut directories);
    assert_eq!(lines[..5], ["A ready", "B ready", "A Psync", "B Psync", "A run 0"]);
    let (lines, _) = conducted([vec![], vec![]], PSYNC, [Some(0), Some(0)], &mut directories);
    assert_eq!(lines[..4], ["A ready", "A Psync", "B Psync", "A run 0"]);
}

#[test]
fn with_different_probe_results_both_sides_use_blocking_calls() {
    for prefers in
        [[IoMethodUsed::IoUring, IoMethodUsed::Psync], [IoMethodUsed::Psync, IoMethodUsed::IoUring]]
    {
        let (lines, _) = conducted([vec![], vec![]], prefers, [None, None], &mut []);
        assert_eq!(lines[..2], ["A Psync", "B Psync"], "{prefers:?}");
    }
    let both = [IoMethodUsed::IoUring; 2];
    let (lines, _) = conducted([vec![], vec![]], both, [None, None], &mut []);
    assert_eq!(lines[..2], ["A IoUring", "B IoUring"]);
}

#[test]
fn a_side_that_cannot_continue_stops_the_other() {
    let acts = [vec![], vec![Act::Done, Act::Dies]];
    let (lines, results) = conducted(acts, PSYNC, [None, None], &mut []);
    assert_eq!(lines[2..5], ["A run 0", "B run 0", "B run 1"], "A is not measured alone");
    assert!(lines[5].starts_with("A failed: stopped because side B failed: "), "{lines:?}");
    assert!(lines[6].starts_with("B failed: ") && !lines[6].contains("because"), "{lines:?}");
    assert!(results.iter().all(|result| matches!(result, Ok(Outcome::Failed { .. }))));
}

#[test]
fn ctrl_c_ends_both_sides_as_interrupted() {
    let acts = [vec![Act::Done, Act::Interrupted], vec![]];
    let (lines, _) = conducted(acts, PSYNC, [None, None], &mut []);
    assert_eq!(lines[4..], ["B run 1", "A run 1", "A interrupted", "B interrupted"]);
}
