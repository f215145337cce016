//! `--events jsonl`: every event of a plan as one JSON object on a line of stdout, for other
//! programs.
//!
//! The names are a promise to those programs: `event` says which kind it is, units stand in the
//! names. Histograms are summarised here; whole they are in the store.

use std::io::{ErrorKind as IoErrorKind, Write};

use metrics::histogram::Counts;
use metrics::interval::{Interval, KindInterval, StreamInterval};
use metrics::run_record::Outcome;
use runner::event::{Event, Listener, ListenerError};
use serde::Serialize;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::Run;

/// Writes events as JSON lines. A reader that goes away does not end the measurement: its events
/// are dropped.
pub(crate) struct EventLines<W> {
    out: Option<W>,
    /// Names of the running run's streams, because an interval knows them by number only.
    streams: Vec<String>,
}

impl<W: Write> EventLines<W> {
    /// Writes to `out`.
    pub(crate) fn new(out: W) -> EventLines<W> {
        EventLines { out: Some(out), streams: Vec::new() }
    }
}

impl<W: Write> Listener for EventLines<W> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        if let Event::RunStarted { run, .. } = event {
            self.streams = run.streams.iter().map(|stream| stream.name.clone()).collect();
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        let line = serde_json::to_string(&Line::of(event, &self.streams))
            .map_err(|error| ListenerError(format!("write event: {error}")))?;
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == IoErrorKind::BrokenPipe => {
                self.out = None;
                Ok(())
            }
            written => written.map_err(|error| ListenerError(format!("write event: {error}"))),
        }
    }
}

/// One line. The variants are those of [`Event`].
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    EngineChosen {
        engine: &'static str,
        reason: &'a str,
    },
    PhaseStarted {
        #[serde(skip_serializing_if = "Option::is_none")]
        run_index: Option<u32>,
        phase: &'static str,
    },
    PrepareProgress {
        stream: &'a str,
        written_bytes: u64,
        total_bytes: u64,
    },
    PrepareFinished {
        stream: &'a str,
        written_bytes: u64,
        took_ns: u64,
    },
    RunStarted {
        run_index: u32,
        load_point: String,
        repeat: u32,
        started_unix_ms: u64,
        run: &'a Run,
    },
    Interval {
        run_index: u32,
        interval_index: u32,
        start_ns: u64,
        end_ns: u64,
        process_user_ns: u64,
        process_system_ns: u64,
        streams: Vec<StreamLine<'a>>,
        workers: Vec<WorkerLine>,
    },
    Warning {
        #[serde(skip_serializing_if = "Option::is_none")]
        run_index: Option<u32>,
        code: &'static str,
        seen: String,
        matters: &'static str,
        remedy: &'static str,
    },
    RunFinished {
        run_index: u32,
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    Finished {
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct StreamLine<'a> {
    stream: &'a str,
    issued: u64,
    outstanding_start: u64,
    outstanding_end: u64,
    /// Operations times nanoseconds. Readers that keep 53 bits of a number round it.
    outstanding_time_ns: u128,
    backlog_end: u64,
    backlog_time_ns: u128,
    kinds: Vec<KindLine>,
}

#[derive(Serialize)]
struct KindLine {
    kind: &'static str,
    completed: u64,
    bytes: u64,
    failed: Vec<FailedLine>,
    service_time: TimesLine,
    response_time: TimesLine,
}

#[derive(Serialize)]
struct FailedLine {
    error: &'static str,
    count: u64,
}

/// A histogram in short; null where nothing was counted.
#[derive(Serialize)]
struct TimesLine {
    count: u64,
    mean_ns: Option<f64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

#[derive(Serialize)]
struct WorkerLine {
    stream: u32,
    lane: u32,
    cpu_ns: u64,
}

impl<'a> Line<'a> {
    fn of(event: &'a Event, names: &'a [String]) -> Line<'a> {
        match event {
            Event::EngineChosen(used) => Line::EngineChosen {
                engine: crate::live::engine_name(used.engine),
                reason: &used.reason,
            },
            Event::PhaseStarted { run_index, phase } => {
                Line::PhaseStarted { run_index: *run_index, phase: phase.name() }
            }
            Event::PrepareProgress { stream, written_bytes, total_bytes } => {
                Line::PrepareProgress {
                    stream,
                    written_bytes: *written_bytes,
                    total_bytes: *total_bytes,
                }
            }
            Event::PrepareFinished(prepared) => Line::PrepareFinished {
                stream: &prepared.stream,
                written_bytes: prepared.written_bytes,
                took_ns: prepared.took_ns,
            },
            Event::RunStarted { run, started_unix_ms } => Line::RunStarted {
                run_index: run.index,
                load_point: run.load_point(),
                repeat: run.repeat,
                started_unix_ms: *started_unix_ms,
                run,
            },
            Event::Interval { run_index, interval } => interval_line(*run_index, interval, names),
            Event::Warning { run_index, warning } => {
                let said = warning.explain();
                Line::Warning {
                    run_index: *run_index,
                    code: said.code,
                    seen: said.seen,
                    matters: said.matters,
                    remedy: said.remedy,
                }
            }
            Event::RunFinished { run_index, outcome } => {
                let (outcome, reason) = outcome_words(outcome);
                Line::RunFinished { run_index: *run_index, outcome, reason }
            }
            Event::Finished { outcome } => {
                let (outcome, reason) = outcome_words(outcome);
                Line::Finished { outcome, reason }
            }
        }
    }
}

fn interval_line<'a>(run_index: u32, interval: &Interval, names: &'a [String]) -> Line<'a> {
    let stream_line = |(index, stream): (usize, &StreamInterval)| StreamLine {
        stream: names.get(index).map_or("", String::as_str),
        issued: stream.issued,
        outstanding_start: stream.outstanding_start,
        outstanding_end: stream.outstanding_end,
        outstanding_time_ns: stream.outstanding_time_ns,
        backlog_end: stream.backlog_end,
        backlog_time_ns: stream.backlog_time_ns,
        kinds: OpKind::ALL
            .into_iter()
            .zip(&stream.kinds)
            .filter(|(_, kind)| kind.completed + kind.failed_total() > 0)
            .map(|(kind, counted)| kind_line(kind, counted))
            .collect(),
    };
    Line::Interval {
        run_index,
        interval_index: interval.index,
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        process_user_ns: interval.process_user_ns,
        process_system_ns: interval.process_system_ns,
        streams: interval.streams.iter().enumerate().map(stream_line).collect(),
        workers: interval
            .workers
            .iter()
            .map(|w| WorkerLine { stream: w.stream, lane: w.lane, cpu_ns: w.cpu_ns })
            .collect(),
    }
}

fn kind_line(kind: OpKind, counted: &KindInterval) -> KindLine {
    KindLine {
        kind: kind.name(),
        completed: counted.completed,
        bytes: counted.bytes,
        failed: ErrorKind::ALL
            .into_iter()
            .zip(counted.failed)
            .filter(|(_, count)| *count > 0)
            .map(|(error, count)| FailedLine { error: error.name(), count })
            .collect(),
        service_time: TimesLine::of(&counted.service),
        response_time: TimesLine::of(&counted.response),
    }
}

impl TimesLine {
    fn of(counts: &Counts) -> TimesLine {
        let count = counts.total();
        TimesLine {
            count,
            mean_ns: counts.mean_ns(),
            p50_ns: counts.percentile_ns(0.5),
            p99_ns: counts.percentile_ns(0.99),
            max_ns: (count > 0).then_some(counts.max_ns),
        }
    }
}

/// How it ended: a word, and the reason of a failure.
pub(crate) fn outcome_words(outcome: &Outcome) -> (&'static str, Option<&str>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Interrupted => ("interrupted", None),
        Outcome::Failed { reason } => ("failed", Some(reason)),
        Outcome::Aborted => ("aborted", None),
    }
}

#[cfg(test)]
mod tests {
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
            kinds: [read, KindInterval::default(), KindInterval::default()],
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
    fn an_end_says_how_and_why() {
        expect_test::expect![[r#"
            {"event":"run_finished","run_index":2,"outcome":"failed","reason":"no room"}
            {"event":"finished","outcome":"interrupted"}
        "#]]
        .assert_eq(&lines_of(&[
            Event::RunFinished {
                run_index: 2,
                outcome: Outcome::Failed { reason: "no room".to_owned() },
            },
            Event::Finished { outcome: Outcome::Interrupted },
        ]));
    }

    #[test]
    fn a_reader_that_goes_away_does_not_end_the_measurement() {
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
            let event = Event::Finished { outcome: Outcome::Done };
            assert!(lines.on_event(&event).is_ok());
        }
        assert!(lines.out.is_none());
    }
}
