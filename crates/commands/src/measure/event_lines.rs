//! `--events jsonl`: one JSON object per line for each event of a plan. The fields of a line are in
//! [`super::event_line`].

use std::io::{ErrorKind as IoErrorKind, Write};

use analysis::Findings;
use analysis::condition::Judged;
use metrics::run_record::Outcome;
use runner::event::{Event, Listener, ListenerError};
use runner::lost_hosts::LostHosts;

use super::event_line::{Line, Verdict};
use crate::outcome::{Outcome as CommandOutcome, Refused};

/// Writes events as JSON lines. If the reader closes the pipe, events are dropped and the
/// measurement continues.
#[derive(Debug)]
pub struct EventLines<W> {
    out: Option<W>,
    /// Names of the current run's streams; an interval has only their numbers.
    streams: Vec<String>,
    /// Hosts that the current run has lost.
    lost: LostHosts,
    /// How the plan ended; written last, with the verdict, which depends on the results.
    ended: Option<Outcome>,
    /// A refusal was written.
    refused: bool,
}

impl<W: Write> EventLines<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> EventLines<W> {
        EventLines {
            out: Some(out),
            streams: Vec::new(),
            lost: LostHosts::default(),
            ended: None,
            refused: false,
        }
    }

    /// Writes that the target was refused; only once.
    pub fn refused(&mut self, refused: &Refused) -> std::io::Result<()> {
        if std::mem::replace(&mut self.refused, true) {
            return Ok(());
        }
        self.write(&Line::Refused(refused))
    }

    /// Writes the last line: how the plan ended, what the numbers show, the judged conditions, and the
    /// exit code.
    pub fn finish(
        &mut self,
        outcome: &CommandOutcome,
        verdict: Verdict,
        findings: &Findings,
        judged: &[Judged],
    ) -> std::io::Result<()> {
        let ended = self.ended.take().unwrap_or(Outcome::Aborted);
        self.write(&Line::last(&ended, outcome, verdict, findings, judged))
    }

    fn write(&mut self, line: &Line<'_>) -> std::io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let text = serde_json::to_string(line)?;
        match writeln!(out, "{text}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == IoErrorKind::BrokenPipe => {
                self.out = None;
                Ok(())
            }
            written => written,
        }
    }
}

impl<W: Write> Listener for EventLines<W> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        self.lost.take(event);
        if let Event::RunStarted { run, .. } = event {
            self.streams = run.streams.iter().map(|stream| stream.name.clone()).collect();
        }
        if let Event::Finished { outcome } = event {
            self.ended = Some(outcome.clone());
            return Ok(());
        }
        let streams = std::mem::take(&mut self.streams);
        let line = Line::of(event, &streams, &self.lost);
        let written = line.map_or(Ok(()), |line| self.write(&line));
        self.streams = streams;
        written.map_err(|error| ListenerError(format!("write event: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use analysis::condition::{Answer, Cause, Worst};
    use analysis::warnings::{Sighting, WarningGroup};
    use metrics::environment::Environment;
    use metrics::fleet::{FleetHost, HostEvent};
    use metrics::interval::{Interval, KindInterval, StreamInterval, UsersInterval};
    use metrics::run_record::{
        ChosenIoMethod, ExperimentRecord, Prepared, PreparedAmount, RunRecord,
    };
    use metrics::service_counters::ServiceCounters;
    use metrics::tree_comparison::{ComparedTree, NotCompared, TreeComparison, TreeResult};
    use runner::event::Phase;
    use workload::outcome::ErrorKind;
    use workload::plan::{IoMethod, IoMethodUsed, Plan, Run, TargetSpec};

    use super::*;

    fn lines_of(events: &[Event]) -> String {
        let mut out = Vec::new();
        let mut lines = EventLines::new(&mut out);
        for event in events {
            lines.on_event(event).expect("a vector takes everything");
        }
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn an_interval_carries_its_units_in_its_names() {
        let mut times = metrics::histogram::Histogram::default();
        for time_ns in [1_000, 1_000, 1_900] {
            times.record(time_ns);
        }
        let mut read = KindInterval { completed: 3, bytes: 24_576, ..Default::default() };
        times.drain_into(&mut read.service);
        read.response = read.service.clone();
        read.failed[ErrorKind::Short as usize] = 2;
        let stream = StreamInterval {
            issued: 5,
            outstanding_time_ns: 4_000_000_000,
            kinds: [read, KindInterval::default(), KindInterval::default()].into(),
            ..Default::default()
        };
        let interval =
            Interval { end_ns: 1_000_000_000, streams: vec![stream], ..Default::default() };
        let event = Event::Interval { run_index: 7, interval: Box::new(interval) };
        let line: serde_json::Value =
            serde_json::from_str(&lines_of(&[event])).expect("a line is JSON");
        let pretty = serde_json::to_string_pretty(&line).expect("a value is JSON");
        expect_test::expect![[r#"
            {
              "end_ns": 1000000000,
              "event": "interval",
              "interval_index": 0,
              "process_system_ns": 0,
              "process_user_ns": 0,
              "run_index": 7,
              "start_ns": 0,
              "streams": [
                {
                  "backlog_end": 0,
                  "backlog_time_ns": 0,
                  "issued": 5,
                  "kinds": [
                    {
                      "bytes": 24576,
                      "completed": 3,
                      "failed": [
                        {
                          "count": 2,
                          "error": "short"
                        }
                      ],
                      "kind": "read",
                      "response_time": {
                        "count": 3,
                        "max_ns": 1900,
                        "mean_ns": 1300.0,
                        "p50_ns": 1000,
                        "p99_ns": 1900
                      },
                      "service_time": {
                        "count": 3,
                        "max_ns": 1900,
                        "mean_ns": 1300.0,
                        "p50_ns": 1000,
                        "p99_ns": 1900
                      }
                    }
                  ],
                  "outstanding_end": 0,
                  "outstanding_start": 0,
                  "outstanding_time_ns": 4000000000,
                  "stream": ""
                }
              ],
              "workers": []
            }"#]]
        .assert_eq(&pretty);
    }

    #[test]
    fn an_interval_of_users_has_their_late_starts_and_durations_in_nanoseconds() {
        let mut durations = metrics::histogram::Histogram::default();
        (0..4).for_each(|_| durations.record(2_000_000));
        let mut users =
            UsersInterval { started: 5, completed: 4, due: 8, late: 2, ..Default::default() };
        durations.drain_into(&mut users.duration_us);
        let stream = StreamInterval { users: Some(Box::new(users)), ..Default::default() };
        let interval = Interval { streams: vec![stream], ..Default::default() };
        let event = Event::Interval { run_index: 0, interval: Box::new(interval) };
        let line: serde_json::Value =
            serde_json::from_str(&lines_of(&[event])).expect("a line is JSON");
        let users = &line["streams"][0]["users"];
        assert_eq!((&users["due"], &users["late"]), (&8.into(), &2.into()));
        assert_eq!(users["overload_fraction"], 0.25);
        assert_eq!(users["duration"]["mean_ns"], 2e9, "{users}");
        assert_eq!(users["duration"]["max_ns"], 2_000_000_000u64, "{users}");
        assert!(users["sending_delay"]["mean_ns"].is_null(), "{users}");
    }

    #[test]
    fn a_finished_run_has_its_outcome_and_reason() {
        expect_test::expect![[r#"
            {"event":"run_finished","run_index":2,"outcome":"failed","reason":"no room"}
        "#]]
        .assert_eq(&lines_of(&[
            Event::RunFinished {
                run_index: 2,
                outcome: Outcome::Failed { reason: "no room".to_owned() },
            },
            Event::Finished { outcome: Outcome::Interrupted },
        ]));
    }

    /// Adds the paths of all fields in `value`: `streams[].kinds[].kind`. The fields of `run`
    /// belong to the plan.
    fn fields(value: &serde_json::Value, path: &str, out: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(map) if !map.is_empty() && path != "run" => {
                for (name, value) in map {
                    let dot = if path.is_empty() { "" } else { "." };
                    fields(value, &format!("{path}{dot}{name}"), out);
                }
            }
            serde_json::Value::Array(items) => {
                assert!(!items.is_empty(), "the sample must have an item in {path}");
                for item in items {
                    fields(item, &format!("{path}[]"), out);
                }
            }
            _ => {
                out.insert(path.to_owned());
            }
        }
    }

    /// One event of each kind with every field.
    fn one_of_each() -> String {
        let run_index = Some(0);
        let stream = || "main".to_owned();
        let run = sample_run();
        let mut read = KindInterval { completed: 1, ..Default::default() };
        read.failed[ErrorKind::Short as usize] = 1;
        let streams = vec![StreamInterval {
            kinds: [read, KindInterval::default(), KindInterval::default()].into(),
            users: Some(Box::new(UsersInterval::default())),
            ..Default::default()
        }];
        let workers = vec![metrics::interval::WorkerInterval::default()];
        let connections = vec![metrics::connection::ConnectionInterval::default()];
        let source = metrics::wire::CounterSource::Loopback;
        let wire = vec![metrics::wire::WireInterval { source, received_bytes: 1, sent_bytes: 1 }];
        let host = Some(metrics::host_state::HostInterval::default());
        let interval = Interval { streams, workers, connections, wire, host, ..Default::default() };
        let interval = Box::new(interval);
        let reason = || "no room".to_owned();
        let warning = metrics::warning::Warning::EndedEarly { reason: reason() };
        let outcome = Outcome::Failed { reason: reason() };
        let amount = PreparedAmount { bytes: 1, names: 2 };
        let (written_bytes, took_ns) = (1, 3);
        let mut counts = ServiceCounters::default();
        counts.calls[0] = 1;
        let tree = |result| TreeComparison { stream: stream(), target: 0, result };
        let trees = vec![
            tree(TreeResult::Compared(ComparedTree::default())),
            tree(TreeResult::NotCompared(NotCompared::HostLost)),
        ];
        let mut out = Vec::new();
        let mut lines = EventLines::new(&mut out);
        for event in [
            Event::IoMethodChosen(ChosenIoMethod {
                io_method: IoMethodUsed::Psync,
                reason: reason(),
            }),
            Event::PhaseStarted { run_index, phase: Phase::Measure },
            Event::PrepareProgress { stream: stream(), done: amount, total: amount },
            Event::PrepareFinished(Prepared { stream: stream(), written_bytes, took_ns }),
            Event::RunStarted { run: Box::new(run), started_unix_ms: 1 },
            Event::FleetReady { hosts: vec![FleetHost::default()] },
            Event::HostInterval { run_index: 0, host: 0, interval: interval.clone() },
            Event::HostEvent {
                run_index: 0,
                host: 0,
                event: HostEvent::Started { late_ns: 1, clock_error_ns: 2 },
            },
            Event::HostEvent {
                run_index: 0,
                host: 0,
                event: HostEvent::Lost { at_ns: 0, why: reason(), others_continued: true },
            },
            Event::HostEvent { run_index: 0, host: 0, event: HostEvent::Ended },
            Event::Interval { run_index: 0, interval },
            Event::Warning { run_index, warning },
            Event::ServiceCounters { run_index: 0, counts },
            Event::TreesCompared { run_index: 0, trees },
            Event::RunFinished { run_index: 0, outcome: outcome.clone() },
            Event::Finished { outcome },
        ] {
            lines.on_event(&event).expect("a vector takes everything");
        }
        let refused = Refused {
            reason: reason(),
            remedy: "make room".to_owned(),
            overridden_by: Some("--refill"),
            exit_code: 2,
        };
        lines.refused(&refused).expect("a vector takes everything");
        let mut record = sample_record();
        record.runs.push(RunRecord {
            run: sample_run(),
            started_unix_ms: 0,
            intervals: Vec::new(),
            warnings: Vec::new(),
            hosts: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome: Outcome::Done,
        });
        let mut findings = analysis::analyze(&record);
        findings.warnings = vec![WarningGroup {
            mark: 'a',
            code: "ended_early",
            sightings: vec![Sighting {
                load_point: None,
                stream: None,
                repeats: vec![0],
                warning: metrics::warning::Warning::EndedEarly { reason: reason() },
            }],
        }];
        let outcome = Ok(crate::outcome::Exit::Negative);
        let finished = lines.finish(&outcome, Verdict::Overloaded, &findings, &[judged()]);
        finished.expect("a vector takes everything");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    fn judged() -> Judged {
        Judged {
            condition: workload::condition::parse_requirement("p99 < 2ms").expect("it is one"),
            answer: Answer::CannotTell(Cause::IncludesBound),
            load_points: 1,
            window_ns: 0,
            worst: Some(Worst { load_point: 0, value: Some(2e6), interval: Some([1e6, 3e6]) }),
        }
    }

    fn sample_plan() -> Plan {
        let text = include_str!("../../../../examples/oltp.toml");
        let experiment =
            workload::experiment::parse_with(text, "example", &[]).expect("it is an experiment");
        let options = workload::resolve::ResolveOptions {
            io_method: IoMethod::Psync,
            ..workload::resolve::ResolveOptions::LOCAL
        };
        workload::resolve::resolve(&experiment, "example", TargetSpec::Null, &options)
            .expect("it is a plan")
    }

    fn sample_run() -> Run {
        sample_plan().known_runs().next().expect("a plan has runs").clone()
    }

    fn sample_record() -> ExperimentRecord {
        ExperimentRecord {
            scraped: Default::default(),
            hosts: Vec::new(),
            id: "20261121".to_owned(),
            plan: sample_plan(),
            plan_hash: String::new(),
            io_method: ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: String::new() },
            environment: Environment::default(),
            started_unix_ms: 0,
            prepared: Vec::new(),
            warnings: Vec::new(),
            runs: Vec::new(),
            outcome: Outcome::Done,
        }
    }

    #[test]
    fn the_reference_page_lists_exactly_the_events_and_fields_that_are_written() {
        let mut written: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in one_of_each().lines() {
            let mut line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            let event = line.as_object_mut().and_then(|line| line.remove("event"));
            let event = event.expect("each line has its kind");
            let event = event.as_str().expect("a kind is text");
            fields(&line, "", written.entry(event.to_owned()).or_default());
        }

        let page = include_str!("../../../../docs/reference/events.md");
        let mut described: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for section in page.split("\n## ").skip(1) {
            let name = section.lines().next().unwrap_or_default();
            let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
            let cell = |row: &str| row.split('`').nth(1).unwrap_or_default().to_owned();
            described.insert(name.to_owned(), rows.map(cell).collect());
        }
        assert_eq!(written, described);
    }

    #[test]
    fn a_closed_pipe_does_not_end_the_measurement() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(IoErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut lines = EventLines::new(Closed);
        for _ in 0..2 {
            let event = Event::RunFinished { run_index: 0, outcome: Outcome::Done };
            assert!(lines.on_event(&event).is_ok());
        }
        assert!(lines.out.is_none());
    }
}
