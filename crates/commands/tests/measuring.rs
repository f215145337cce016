//! Measures through the library, without arguments and a terminal, as a web page would.

use std::sync::Arc;

use commands::measure::experiment::{self, ExperimentOptions};
use commands::measure::verdict::{Verdict, verdict};
use commands::measure::{self, Options};
use commands::outcome::{Exit, Reason};
use engine::drive::Stop;
use runner::event::{Event, Listener, ListenerError};
use target::nfs::{WaitObserver, WaitReport};
use target::refusal::Overrides;

const TINY: &str = r#"
name = "tiny"
[run]
warm_up = "100ms"
measure = "200ms"
interval = "100ms"
[stream.main]
read = "100%"
transfer_size = "4KiB"
pattern = "random"
file_size = "1MiB"
queue_depth = [1, 4]
"#;

/// Counts the intervals of a plan.
#[derive(Default)]
struct Intervals(u32);

impl Listener for Intervals {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        self.0 += u32::from(matches!(event, Event::Interval { .. }));
        Ok(())
    }
}

#[derive(Debug)]
struct NoWaits;

impl WaitObserver for NoWaits {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, wait: &WaitReport) {
        panic!("there is no server to wait for: {wait}");
    }
}

#[test]
fn a_plan_is_measured_stored_and_analysed_without_a_terminal() {
    let directory = tempfile::tempdir().expect("create a directory");
    let file = directory.path().join("tiny.toml");
    std::fs::write(&file, TINY).expect("write the experiment");
    let options = ExperimentOptions {
        target: Some("null:".to_owned()),
        workload: Some(file),
        ..ExperimentOptions::default()
    };
    let planned = experiment::plan(&options).expect("the experiment is valid");
    let service = measure::serve(&planned.plan).expect("the null target has no service");
    assert!(service.is_none());
    let options = Options {
        fleet: None,
        overrides: Overrides::default(),
        known: Vec::new(),
        store: directory.path().join("store"),
        annotation: Default::default(),
        scrape: Vec::new(),
    };
    let line = "fourcorners run null:";
    let prepared = measure::prepare(planned, service, &options, line, Arc::new(NoWaits));
    let mut intervals = Intervals::default();
    let measured = prepared
        .expect("the null target is not refused")
        .measure(&mut [&mut intervals], &Arc::new(Stop::default()))
        .expect("the record can be read");
    assert!(intervals.0 >= 6, "two runs of three intervals: {}", intervals.0);
    assert_eq!(measured.findings.load_points.len(), 2);
    assert!(measured.run_directory.join("manifest.json").is_file());
    let (verdict, outcome) = verdict(measured.ended, &measured.findings, &measured.target);
    assert_eq!(verdict, Verdict::Done);
    assert_eq!(outcome.expect("it succeeded"), Exit::Done);
}

#[test]
fn all_problems_of_an_experiment_are_returned_with_its_text() {
    let directory = tempfile::tempdir().expect("create a directory");
    let file = directory.path().join("bad.toml");
    let text = TINY.replace("\"100%\"", "\"170%\"").replace("\"random\"", "\"rendom\"");
    std::fs::write(&file, &text).expect("write the experiment");
    let options = ExperimentOptions {
        target: Some("null:".to_owned()),
        workload: Some(file),
        ..ExperimentOptions::default()
    };
    let failure = experiment::plan(&options).expect_err("the experiment is invalid");
    assert_eq!(failure.exit, Exit::BadInput);
    let Reason::Problems { text: quoted, problems } = failure.reason else {
        panic!("an error instead of problems")
    };
    assert_eq!(quoted, text);
    assert_eq!(problems.len(), 2, "{problems:?}");
}
