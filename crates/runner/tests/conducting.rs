//! The order of events and every way in which a plan or one of its runs can end, with a fleet that
//! follows a script and does no I/O.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::EngineError;
use engine::run::RunEnd;
use metrics::interval::{Interval, StreamInterval};
use metrics::run_record::{ChosenIoMethod, Outcome};
use metrics::service_counters::ServiceCounters;
use metrics::warning::Warning;
use runner::conduct::{ConductError, Host, conduct_with};
use runner::event::{Event, Listener, ListenerError};
use runner::fleet::{Fleet, FleetError, OnProgress, Progress};
use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::refusal::Overrides;
use target::survey;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::pattern::AccessPattern;
use workload::plan::{
    IoMethod, IoMethodUsed, Phases, Plan, Run, Step, Stream, TargetSpec, WeightedSize, WorkingSet,
};

const SECOND: u64 = 1_000_000_000;

fn run(index: u32, warm_up_s: u64, measure_s: u64) -> Run {
    Run {
        index,
        variant: format!("variant {index}"),
        parameters: Vec::new(),
        repeat: 0,
        seed: 1,
        hosts: 1,
        connections: None,
        streams: vec![Stream {
            name: "main".to_owned(),
            read_permille: 1000,
            transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
            access_pattern: AccessPattern::Uniform,
            working_set: WorkingSet { files: 1, file_size_bytes: 3 << 20, area_bytes: 3 << 20 },
            file_use: workload::file_use::FileUse::ALL,
            queue_depth: 1,
            workers: 1,
            arrival: Arrival::Closed { think_time_ns: 0 },
            active: ActiveTime::WHOLE_RUN,
            direct: false,
            dsync: false,
            write_stability: None,
            targets: workload::plan::StreamTargets::default(),
            names: None,
            replay: None,
            fsync_every_writes: None,
            data: DataPattern::default(),
        }],
        phases: Phases {
            warm_up_ns: warm_up_s * SECOND,
            measure_ns: measure_s * SECOND,
            interval_ns: SECOND,
        },
        tolerated_errors: 2,
        operation_deadline_ns: 60 * SECOND,
    }
}

fn plan(runs: Vec<Run>) -> Plan {
    Plan {
        name: "scripted".to_owned(),
        source: "test".to_owned(),
        overrides: Vec::new(),
        targets: vec![TargetSpec::Null],
        target_names: Vec::new(),
        io_method: IoMethod::Auto,
        pin: false,
        verify: false,
        metric: None,
        seed: 1,
        data_seed: 1,
        requirements: Vec::new(),
        steps: runs.into_iter().map(Step::Fixed).collect(),
    }
}

/// What the fleet does in a run.
enum Act {
    /// As many intervals as the run has, with this number of failed reads in each.
    Intervals { failed: u64 },
    /// The same of two hosts, with the failures on the second.
    SecondHostFails { failed: u64 },
    /// This number of intervals, after which the user presses Ctrl-C; one more is completed.
    CtrlCAfter(u32),
    /// One interval, then the engine fails.
    Dies,
    /// One interval, then operations hang.
    Hangs,
    /// All intervals, with data that differs from what was written.
    Mismatches,
}

struct Scripted {
    acts: VecDeque<Act>,
    /// The plan's stop, set by Ctrl-C.
    stop: Arc<Stop>,
    /// The service's counters for every run.
    service_counters: Option<ServiceCounters>,
}

fn interval(index: u32, failed: u64) -> Interval {
    let mut stream = StreamInterval { issued: failed, ..StreamInterval::default() };
    stream.kinds[OpKind::Read as usize].failed[ErrorKind::InputOutput as usize] = failed;
    Interval { index, streams: vec![stream], ..Interval::default() }
}

impl Fleet for Scripted {
    fn host_names(&self) -> Vec<String> {
        match self.acts.front() {
            Some(Act::SecondHostFails { .. }) => ["vm1", "vm2"].map(str::to_owned).to_vec(),
            _ => Vec::new(),
        }
    }

    fn choose_io_method(
        &mut self,
        _plan: &Plan,
        _directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        let reason = "scripted".to_owned();
        Ok(ChosenIoMethod { io_method: IoMethodUsed::Psync, reason })
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        let ended = |outcome| Ok(RunEnd::of(outcome));
        let with = |outcome, detail: &str| {
            let mismatches = vec![detail.to_owned()];
            Ok(RunEnd { mismatches, ..RunEnd::of(outcome) })
        };
        let act = self.acts.pop_front().expect("the script has an act for every run");
        let planned = run.phases.window().1;
        let (intervals, failed) = match act {
            Act::Intervals { failed } | Act::SecondHostFails { failed } => (planned, failed),
            Act::CtrlCAfter(count) => (count, 0),
            Act::Dies | Act::Hangs => (1, 0),
            Act::Mismatches => (planned, 0),
        };
        for index in 0..intervals {
            if matches!(act, Act::SecondHostFails { .. }) {
                for (host, failed) in [(0, 0), (1, failed)] {
                    let of_host = Progress::HostInterval(host, interval(index, failed));
                    assert_eq!(on_progress(of_host), ControlFlow::Continue(()));
                }
            }
            if let ControlFlow::Break(reason) =
                on_progress(Progress::Interval(interval(index, failed)))
            {
                // The engine ends the run in the same way.
                stop.now();
                return ended(Outcome::Failed { reason });
            }
        }
        match act {
            Act::Intervals { .. } | Act::SecondHostFails { .. } => ended(Outcome::Done),
            Act::CtrlCAfter(count) => {
                self.stop.finish_interval();
                assert!(stop.is_requested(), "the run obeys the plan's stop");
                assert_eq!(
                    on_progress(Progress::Interval(interval(count, 0))),
                    ControlFlow::Continue(())
                );
                ended(Outcome::Interrupted)
            }
            Act::Dies => {
                Err(FleetError::Engine(EngineError::WorkerDied { stream: "main".to_owned() }))
            }
            Act::Hangs => {
                let reason = "operations did not return".to_owned();
                with(Outcome::Failed { reason }, "read at offset 4096 never returned")
            }
            Act::Mismatches => with(Outcome::Done, "file 0, offset 8192: found zeros"),
        }
    }

    fn service_counters(&mut self) -> Result<Option<ServiceCounters>, String> {
        Ok(self.service_counters)
    }
}

/// Records events as text, and fails at one of them if required.
#[derive(Default)]
struct Kept {
    events: Vec<String>,
    fails_at: Option<&'static str>,
}

impl Listener for Kept {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let words = words(event);
        if self.fails_at.is_some_and(|at| words.starts_with(at)) {
            return Err(ListenerError("disk full".to_owned()));
        }
        self.events.push(words);
        Ok(())
    }
}

fn words(event: &Event) -> String {
    match event {
        Event::IoMethodChosen(used) => format!("engine {}", used.reason),
        Event::PhaseStarted { run_index: None, phase } => format!("phase {}", phase.name()),
        Event::PhaseStarted { run_index: Some(run), phase } => {
            format!("phase {run} {}", phase.name())
        }
        Event::PrepareProgress { done, total, .. } => {
            format!("progress {} of {}", done.bytes, total.bytes)
        }
        Event::PrepareFinished(prepared) => format!("prepared {}", prepared.written_bytes),
        Event::RunStarted { run, .. } => format!("run {} started", run.index),
        Event::Interval { run_index, interval } => {
            format!("interval {run_index}.{}", interval.index)
        }
        Event::FleetReady { hosts } => format!("{} hosts", hosts.len()),
        Event::HostInterval { host, interval, .. } => format!("host {host}.{}", interval.index),
        Event::HostEvent { host, event, .. } => format!("host {host} {event:?}"),
        Event::Warning { warning, .. } => format!("warning {}", warning.code()),
        Event::ServiceCounters { run_index, counts } => {
            format!("counted {run_index} {}", counts.calls.iter().sum::<u64>())
        }
        Event::TreesCompared { run_index, trees } => format!("trees {run_index} {}", trees.len()),
        Event::RunFinished { run_index, outcome } => {
            format!("run {run_index} {}", outcome_words(outcome))
        }
        Event::Finished { outcome } => format!("finished {}", outcome_words(outcome)),
    }
}

fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Aborted => "aborted".to_owned(),
        Outcome::Failed { reason } => format!("failed: {reason}"),
    }
}

struct Conducted {
    result: Result<Outcome, ConductError>,
    events: Vec<String>,
}

fn conducted(runs: Vec<Run>, acts: Vec<Act>) -> Conducted {
    let mut kept = Kept::default();
    let result = conducted_with(runs, acts, &mut [&mut kept]);
    Conducted { result, events: kept.events }
}

fn conducted_with(
    runs: Vec<Run>,
    acts: Vec<Act>,
    listeners: &mut [&mut dyn Listener],
) -> Result<Outcome, ConductError> {
    let stop = Arc::new(Stop::new());
    let mut fleet = Scripted { acts: acts.into(), stop: Arc::clone(&stop), service_counters: None };
    let host = Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut || None,
    };
    conduct_with(&mut fleet, &plan(runs), &mut [], host, &stop, listeners)
}

#[test]
fn a_run_with_different_service_counters_fails_and_keeps_them() {
    for (read_bytes, outcome) in [(0, Outcome::Done), (8192, Outcome::Aborted)] {
        let mut kept = Kept::default();
        let stop = Arc::new(Stop::new());
        let service_counters = Some(ServiceCounters { read_bytes, ..ServiceCounters::default() });
        let acts = VecDeque::from([Act::Intervals { failed: 0 }]);
        let mut fleet = Scripted { acts, stop: Arc::clone(&stop), service_counters };
        let host = Host {
            memory_bytes: None,
            processors: None,
            available_processors: None,
            steal_since_last: &mut || None,
        };
        let plan = plan(vec![run(0, 0, 1)]);
        let ended =
            conduct_with(&mut fleet, &plan, &mut [], host, &stop, &mut [&mut kept]).unwrap();
        assert!(kept.events.contains(&"counted 0 0".to_owned()), "{:?}", kept.events);
        match outcome {
            Outcome::Done => assert_eq!(ended, Outcome::Done),
            _ => {
                let Outcome::Failed { reason } = ended else { panic!("{ended:?}") };
                let said = "the service counted 8,192 bytes read, the generator 0";
                assert!(reason.contains(said), "{reason}");
            }
        }
    }
}

#[test]
fn a_run_goes_through_its_phases_in_order() {
    let Conducted { result, events } =
        conducted(vec![run(0, 1, 2)], vec![Act::Intervals { failed: 0 }]);
    assert_eq!(result.unwrap(), Outcome::Done);
    let expected = [
        "engine scripted",
        "run 0 started",
        "phase 0 warm_up",
        "interval 0.0",
        "phase 0 measure",
        "interval 0.1",
        "interval 0.2",
        "phase 0 cool_down",
        "run 0 done",
        "finished done",
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_run_without_warm_up_measures_immediately() {
    let Conducted { events, .. } =
        conducted(vec![run(0, 0, 1)], vec![Act::Intervals { failed: 0 }]);
    assert_eq!(events[2], "phase 0 measure");
    assert!(!events.contains(&"phase 0 warm_up".to_owned()));
}

#[test]
fn tolerated_failures_do_not_end_a_run() {
    let Conducted { result, .. } =
        conducted(vec![run(0, 0, 2)], vec![Act::Intervals { failed: 1 }]);
    assert_eq!(result.unwrap(), Outcome::Done);
}

#[test]
fn too_many_failures_on_one_of_several_hosts_end_the_run_with_its_name() {
    let act = Act::SecondHostFails { failed: 2 };
    let Conducted { result, .. } = conducted(vec![run(0, 0, 5)], vec![act]);
    let Outcome::Failed { reason } = result.expect("the plan ends") else { panic!("it fails") };
    assert!(reason.contains("4 operations failed on vm2, 2 tolerated: 4 read"), "{reason}");
}

#[test]
fn too_many_failures_end_a_run_at_the_interval_and_the_next_run_is_started() {
    let Conducted { result, events } = conducted(
        vec![run(0, 0, 5), run(1, 0, 1)],
        vec![Act::Intervals { failed: 2 }, Act::Intervals { failed: 0 }],
    );
    let reason = "4 operations failed, 2 tolerated: 4 read (I/O error, EIO); \
        check the kernel's log (`dmesg`) for the device or the server";
    assert_eq!(result.unwrap(), Outcome::Failed { reason: format!("variant 0: {reason}") });
    let after: Vec<&str> = events.iter().map(String::as_str).skip(3).collect();
    let (failed, finished) =
        (format!("run 0 failed: {reason}"), format!("finished failed: variant 0: {reason}"));
    let expected = [
        "interval 0.0",
        "interval 0.1",
        "warning ended_early",
        &failed,
        "run 1 started",
        "phase 1 measure",
        "interval 1.0",
        "phase 1 cool_down",
        "run 1 done",
        &finished,
    ];
    assert_eq!(after, expected);
}

#[test]
fn an_interruption_keeps_the_interval_and_starts_no_further_run() {
    let Conducted { result, events } =
        conducted(vec![run(0, 0, 9), run(1, 0, 9)], vec![Act::CtrlCAfter(1)]);
    assert_eq!(result.unwrap(), Outcome::Interrupted);
    let expected = [
        "interval 0.0",
        "interval 0.1",
        "warning ended_early",
        "run 0 interrupted",
        "finished interrupted",
    ];
    assert_eq!(events[3..], expected);
}

#[test]
fn a_failed_engine_ends_the_plan_and_keeps_the_measurements() {
    let Conducted { result, events } = conducted(
        vec![run(0, 0, 1), run(1, 0, 9), run(2, 0, 9)],
        vec![Act::Intervals { failed: 0 }, Act::Dies],
    );
    let Outcome::Failed { reason } = result.unwrap() else { panic!("it failed") };
    assert!(reason.starts_with("variant 1: a worker of stream main panicked"), "{reason}");
    assert!(events.contains(&"run 0 done".to_owned()));
    assert!(events.contains(&"interval 1.0".to_owned()));
    assert!(!events.contains(&"run 2 started".to_owned()));
}

#[test]
fn hanging_operations_end_the_plan_and_are_listed() {
    let Conducted { result, events } =
        conducted(vec![run(0, 0, 9), run(1, 0, 9)], vec![Act::Hangs]);
    let reason = "operations did not return\nread at offset 4096 never returned";
    assert_eq!(result.unwrap(), Outcome::Failed { reason: format!("variant 0: {reason}") });
    assert!(events.contains(&format!("run 0 failed: {reason}")));
    assert!(!events.contains(&"run 1 started".to_owned()));
}

#[test]
fn data_that_differs_from_what_was_written_is_a_failure_with_every_location() {
    let Conducted { result, events } = conducted(
        vec![run(0, 0, 1), run(1, 0, 1)],
        vec![Act::Mismatches, Act::Intervals { failed: 0 }],
    );
    let reason = "variant 0: file 0, offset 8192: found zeros".to_owned();
    assert_eq!(result.unwrap(), Outcome::Failed { reason });
    assert!(events.contains(&"run 1 done".to_owned()));
}

#[test]
fn a_failed_listener_ends_the_plan_and_the_others_get_the_outcome() {
    let mut store = Kept { fails_at: Some("interval 0.1"), ..Kept::default() };
    let mut line = Kept::default();
    let acts = vec![Act::Intervals { failed: 0 }, Act::Intervals { failed: 0 }];
    let result =
        conducted_with(vec![run(0, 0, 9), run(1, 0, 9)], acts, &mut [&mut store, &mut line]);
    assert!(matches!(&result, Err(ConductError::Listener(_))), "{result:?}");
    assert_eq!(store.events.last().unwrap(), "interval 0.0");
    let said = "failed: results cannot be kept: disk full";
    assert_eq!(line.events.last().unwrap(), &format!("finished {said}"));
    assert!(line.events.contains(&format!("run 0 {said}")));
    // Data that is not on disk is not shown.
    assert!(!line.events.contains(&"interval 0.1".to_owned()));
    assert!(!line.events.contains(&"run 1 started".to_owned()));
}

#[test]
fn a_noisy_host_causes_a_warning_after_the_run() {
    let stop = Arc::new(Stop::new());
    let acts = VecDeque::from([Act::Intervals { failed: 0 }]);
    let mut fleet = Scripted { acts, stop: Arc::clone(&stop), service_counters: None };
    // The first sample covers the time before the run and does not count.
    let mut answers = vec![0.2, 0.9];
    let mut steal = || answers.pop();
    let host = Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut steal,
    };
    let mut noted = Noted::default();
    conduct_with(&mut fleet, &plan(vec![run(0, 0, 1)]), &mut [], host, &stop, &mut [&mut noted])
        .unwrap();
    assert_eq!(noted.warnings, [Warning::HostNoisy { steal: 0.2 }]);
}

/// Records warnings completely.
#[derive(Default)]
struct Noted {
    warnings: Vec<Warning>,
}

impl Listener for Noted {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        if let Event::Warning { warning, .. } = event {
            self.warnings.push(warning.clone());
        }
        Ok(())
    }
}

fn opened(path: &std::path::Path, plan: &Plan, overrides: Overrides) -> TargetDirectory {
    survey::open(path, RequiredFiles::of(plan, 0), overrides).expect("the directory can be used")
}

#[test]
fn files_are_prepared_only_once_and_before_the_first_run() {
    let directory = tempfile::tempdir().unwrap();
    let plan = plan(vec![run(0, 0, 1)]);
    for expected_bytes in [3 << 20, 0u64] {
        let mut ours = opened(directory.path(), &plan, Overrides::default());
        let stop = Arc::new(Stop::new());
        let acts = VecDeque::from([Act::Intervals { failed: 0 }]);
        let mut fleet = Scripted { acts, stop: Arc::clone(&stop), service_counters: None };
        let host = Host {
            memory_bytes: Some(1 << 40),
            processors: None,
            available_processors: None,
            steal_since_last: &mut || None,
        };
        let mut kept = Kept::default();
        let ended = conduct_with(
            &mut fleet,
            &plan,
            std::slice::from_mut(&mut ours),
            host,
            &stop,
            &mut [&mut kept],
        );
        assert_eq!(ended.unwrap(), Outcome::Done);
        let events: Vec<&String> =
            kept.events.iter().filter(|event| !event.starts_with("progress")).collect();
        assert_eq!(events[0], "phase prepare");
        assert_eq!(events[1], &format!("prepared {expected_bytes}"));
        assert_eq!(events[2..4], ["engine scripted", "run 0 started"]);
        // Buffered, and three MiB fit into any memory.
        assert!(kept.events.contains(&"warning working_set_fits_cache".to_owned()));
        let all = format!("progress {expected_bytes} of {expected_bytes}");
        assert_eq!(kept.events.contains(&all), expected_bytes > 0);
    }
}

#[test]
fn a_stop_during_the_fill_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let plan = plan(vec![run(0, 0, 1)]);
    let mut ours = opened(directory.path(), &plan, Overrides::default());
    let stop = Arc::new(Stop::new());
    stop.finish_interval();
    let mut fleet =
        Scripted { acts: VecDeque::new(), stop: Arc::clone(&stop), service_counters: None };
    let host = Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut || None,
    };
    let mut kept = Kept::default();
    let ended = conduct_with(
        &mut fleet,
        &plan,
        std::slice::from_mut(&mut ours),
        host,
        &stop,
        &mut [&mut kept],
    );
    assert_eq!(ended.unwrap(), Outcome::Interrupted);
    assert_eq!(kept.events, ["phase prepare", "finished interrupted"]);
}

#[test]
fn changed_files_are_refused_before_a_run_or_refilled() {
    let directory = tempfile::tempdir().unwrap();
    let plan = plan(vec![run(0, 0, 1)]);
    let mut results = Vec::new();
    for overrides in [
        Overrides::default(),
        Overrides::default(),
        Overrides { refill: true, ..Overrides::default() },
    ] {
        let mut ours = opened(directory.path(), &plan, overrides);
        let file = ours.file_path(&plan.file_sets(0)[0], 0);
        if !results.is_empty() {
            std::fs::write(file, vec![0; 3 << 20]).unwrap();
        }
        let stop = Arc::new(Stop::new());
        let acts = VecDeque::from([Act::Intervals { failed: 0 }]);
        let mut fleet = Scripted { acts, stop: Arc::clone(&stop), service_counters: None };
        let host = Host {
            memory_bytes: None,
            processors: None,
            available_processors: None,
            steal_since_last: &mut || None,
        };
        let mut kept = Kept::default();
        let ended = conduct_with(
            &mut fleet,
            &plan,
            std::slice::from_mut(&mut ours),
            host,
            &stop,
            &mut [&mut kept],
        );
        let ran = kept.events.contains(&"run 0 started".to_owned());
        assert_eq!(ran, ended.is_ok());
        results.push(ended);
    }
    assert_eq!(results[0].as_ref().unwrap(), &Outcome::Done);
    assert!(matches!(results[1], Err(ConductError::Refused(_))), "{:?}", results[1]);
    assert_eq!(results[2].as_ref().unwrap(), &Outcome::Done);
}
