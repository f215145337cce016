//! One line of `--events jsonl`.
//!
//! Names are stable for other programs: `event` is the kind, and names include units. Histograms
//! are summarised; the store has them in full.

mod run_end;

use analysis::Findings;
use analysis::condition::Judged;
use analysis::fleet::MissingHosts;
use analysis::warnings::{Sighting, WarningGroup};
use metrics::connection::ConnectionInterval;
use metrics::fleet::HostEvent;
use metrics::histogram::Counts;
use metrics::host_state::HostInterval;
use metrics::interval::{Interval, KindInterval, StreamInterval, UsersInterval};
use metrics::run_record::Outcome;
use metrics::wire::WireInterval;
use report::conditions::{self, ConditionJson};
use report::results::load_point_name;
use report::warnings::{Advice, advice, found, group_advice};
use runner::event::Event;
use runner::lost_hosts::LostHosts;
use serde::Serialize;
use workload::connection::down_reason;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::Run;

use self::run_end::{ProcedureLine, TreeLine, procedure_lines, tree_line};
use crate::outcome::{Exit, Outcome as CommandOutcome, Refused};

/// Durations of scenarios are recorded in microseconds.
const NS_PER_US: u64 = 1000;

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As planned.
    Done,
    /// As planned, but a condition of `--fail-if` is met.
    ConditionFailed,
    /// As planned, but an offered rate exceeded what the target sustains.
    Overloaded,
    /// As planned, but a load point did not reach the precision of `--until`.
    Uncertain,
    /// As planned, but `tune` did not reach its target rate.
    NotReached,
    /// As planned, but without hosts that were lost (`--on-lost continue`).
    HostsLost,
    /// Interrupted by the user.
    Interrupted,
    /// The target failed or was refused, or results could not be stored or written.
    Failed,
}

/// One line: an [`Event`], or a refusal. `docs/reference/events.md` lists every field; a test
/// compares them.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    IoMethodChosen {
        io_method: &'static str,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        created_names: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        total_names: Option<u64>,
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
        #[serde(skip_serializing_if = "Vec::is_empty")]
        connections: Vec<ConnectionLine>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        wire: Vec<WireLine>,
        #[serde(skip_serializing_if = "Option::is_none")]
        host: Option<Box<HostLine>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        missing_hosts: Option<MissingHostsLine>,
    },
    FleetReady {
        hosts: Vec<FleetHostLine<'a>>,
    },
    HostInterval {
        run_index: u32,
        host_index: u32,
        interval_index: u32,
        start_ns: u64,
        end_ns: u64,
        completed: u64,
        failed: u64,
        bytes: u64,
    },
    HostStarted {
        run_index: u32,
        host_index: u32,
        late_ns: u64,
        clock_error_ns: u64,
    },
    HostLost {
        run_index: u32,
        host_index: u32,
        at_ns: u64,
        reason: &'a str,
        others_continued: bool,
    },
    HostEnded {
        run_index: u32,
        host_index: u32,
    },
    Warning {
        #[serde(skip_serializing_if = "Option::is_none")]
        run_index: Option<u32>,
        code: &'static str,
        found: String,
        effect: &'static str,
        remedy: &'static str,
    },
    ServiceCounters {
        run_index: u32,
        read_calls: u64,
        write_calls: u64,
        commit_calls: u64,
        procedures: Vec<ProcedureLine>,
        failed_calls: u64,
        read_bytes: u64,
        written_bytes: u64,
        outstanding_max: u64,
    },
    TreesCompared {
        run_index: u32,
        trees: Vec<TreeLine<'a>>,
    },
    RunFinished {
        run_index: u32,
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        missing_hosts: Option<MissingHostsLine>,
    },
    Refused(&'a Refused),
    Finished {
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
        verdict: Verdict,
        exit_code: u8,
        record: &'a str,
        warnings: Vec<WarningLine<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        conditions: Vec<ConditionJson<'a>>,
    },
}

/// Hosts that were lost while the others continued.
#[derive(Serialize)]
pub(super) struct MissingHostsLine {
    remaining: usize,
    of: usize,
    from_ns: u64,
}

impl MissingHostsLine {
    fn of(missing: MissingHosts) -> MissingHostsLine {
        let MissingHosts { remaining, of, from_ns } = missing;
        MissingHostsLine { remaining, of, from_ns }
    }
}

/// Warnings of one kind, about numbers and about runs.
#[derive(Serialize)]
pub(super) struct WarningLine<'a> {
    code: &'static str,
    effect: &'static str,
    remedy: &'static str,
    sightings: Vec<SightingLine<'a>>,
}

#[derive(Serialize)]
struct SightingLine<'a> {
    load_point: Option<String>,
    stream: Option<&'a str>,
    repeats: &'a [u32],
    found: String,
}

fn warning_line<'a>(group: &'a WarningGroup, findings: &'a Findings) -> WarningLine<'a> {
    let name = |index: usize| load_point_name(&findings.load_points[index]);
    let sighting = |sighting: &'a Sighting| SightingLine {
        load_point: sighting.load_point.map(name),
        stream: sighting.stream.as_deref(),
        repeats: &sighting.repeats,
        found: found(&sighting.warning),
    };
    let Advice { effect, remedy } = group_advice(group);
    WarningLine {
        code: group.code,
        effect,
        remedy,
        sightings: group.sightings.iter().map(sighting).collect(),
    }
}

#[derive(Serialize)]
pub(super) struct FleetHostLine<'a> {
    name: &'a str,
    boot_id: &'a str,
}

#[derive(Serialize)]
pub(super) struct StreamLine<'a> {
    stream: &'a str,
    issued: u64,
    outstanding_start: u64,
    outstanding_end: u64,
    /// Operations times nanoseconds. Readers with 53-bit numbers round it.
    outstanding_time_ns: u128,
    backlog_end: u64,
    backlog_time_ns: u128,
    kinds: Vec<KindLine>,
    /// Only of streams with users.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<Box<UsersLine>>,
}

/// The scenarios of users.
#[derive(Serialize)]
struct UsersLine {
    started: u64,
    completed: u64,
    due: u64,
    late: u64,
    /// Late of due; null if none was due.
    overload_fraction: Option<f64>,
    duration: TimesLine,
    sending_delay: TimesLine,
}

impl UsersLine {
    fn of(users: &UsersInterval) -> UsersLine {
        let UsersInterval { started, completed, due, late, .. } = *users;
        UsersLine {
            started,
            completed,
            due,
            late,
            overload_fraction: (due > 0).then(|| late as f64 / due as f64),
            duration: TimesLine::of_us(&users.duration_us),
            sending_delay: TimesLine::of(&users.delay),
        }
    }
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

/// A summarised histogram; null if nothing was counted.
#[derive(Serialize)]
struct TimesLine {
    count: u64,
    mean_ns: Option<f64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct WorkerLine {
    stream: u32,
    lane: u32,
    cpu_ns: u64,
}

#[derive(Serialize)]
pub(super) struct ConnectionLine {
    stream: u32,
    lane: u32,
    number: u32,
    local: String,
    remote: String,
    operations: u64,
    calls: u64,
    bytes: u64,
    outstanding_end: u64,
    /// Calls times nanoseconds. Readers with 53-bit numbers round it.
    outstanding_time_ns: u128,
    span_ns: u64,
    reconnects: u64,
    replays: u64,
    retries: u64,
    rewritten_bytes: u64,
    verifier_changes: u64,
    down_ns: u64,
    /// Why the connection was down at the interval's end; null if it was up.
    down_reason: Option<String>,
    rtt_ns: Option<u64>,
    retransmits: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct WireLine {
    source: &'static str,
    received_bytes: u64,
    sent_bytes: u64,
}

fn wire_line(wire: &WireInterval) -> WireLine {
    WireLine {
        source: wire.source.name(),
        received_bytes: wire.received_bytes,
        sent_bytes: wire.sent_bytes,
    }
}

/// Values that the system does not report are null.
#[derive(Serialize)]
pub(super) struct HostLine {
    span_ns: u64,
    reading_cpu_ns: u64,
    processors: Option<u32>,
    quota_millicores: Option<u64>,
    busy_ns: Option<u64>,
    idle_ns: Option<u64>,
    steal_ns: Option<u64>,
    runnable_tasks: Option<u32>,
    pressure_ns: Option<u64>,
    run_queue_delay_ns: Option<u64>,
    service_cpu_ns: Option<u64>,
}

fn host_line(host: HostInterval) -> HostLine {
    HostLine {
        span_ns: host.span_ns,
        reading_cpu_ns: host.reading_cpu_ns,
        processors: host.processors,
        quota_millicores: host.quota_millicores,
        busy_ns: host.times.map(|times| times.busy_ns),
        idle_ns: host.times.map(|times| times.idle_ns),
        steal_ns: host.times.map(|times| times.steal_ns),
        runnable_tasks: host.runnable_tasks,
        pressure_ns: host.pressure_ns,
        run_queue_delay_ns: host.run_queue_delay_ns,
        service_cpu_ns: host.service_cpu_ns,
    }
}

fn connection_line(connection: &ConnectionInterval) -> ConnectionLine {
    ConnectionLine {
        stream: connection.stream,
        lane: connection.lane,
        number: connection.number,
        local: connection.local.to_string(),
        remote: connection.remote.to_string(),
        operations: connection.operations(),
        calls: connection.calls(),
        bytes: connection.bytes(),
        outstanding_end: connection.outstanding_end,
        outstanding_time_ns: connection.outstanding_time_ns,
        span_ns: connection.span_ns,
        reconnects: connection.reconnects,
        replays: connection.replays,
        retries: connection.retries,
        rewritten_bytes: connection.rewritten_bytes,
        verifier_changes: connection.verifier_changes,
        down_ns: connection.down_ns,
        down_reason: (connection.down_errno != 0).then(|| down_reason(connection.down_errno)),
        rtt_ns: connection.tcp.map(|tcp| tcp.rtt_ns),
        retransmits: connection.tcp.map(|tcp| tcp.retransmits),
    }
}

impl<'a> Line<'a> {
    /// The line of an event. [`Event::Finished`] has none: it becomes [`Line::last`].
    ///
    /// * `names` - of the current run's streams
    /// * `lost` - hosts that the current run has lost
    pub(super) fn of(event: &'a Event, names: &'a [String], lost: &LostHosts) -> Option<Line<'a>> {
        Some(match event {
            Event::IoMethodChosen(used) => {
                Line::IoMethodChosen { io_method: used.io_method.name(), reason: &used.reason }
            }
            Event::PhaseStarted { run_index, phase } => {
                Line::PhaseStarted { run_index: *run_index, phase: phase.name() }
            }
            Event::PrepareProgress { stream, done, total } => {
                let names = |names| (total.names > 0).then_some(names);
                Line::PrepareProgress {
                    stream,
                    written_bytes: done.bytes,
                    total_bytes: total.bytes,
                    created_names: names(done.names),
                    total_names: names(total.names),
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
            Event::Interval { run_index, interval } => {
                interval_line(*run_index, interval, names, lost.missing_from(interval))
            }
            Event::FleetReady { hosts } => Line::FleetReady {
                hosts: hosts
                    .iter()
                    .map(|host| FleetHostLine { name: &host.name, boot_id: &host.boot_id })
                    .collect(),
            },
            Event::HostInterval { run_index, host, interval } => Line::HostInterval {
                run_index: *run_index,
                host_index: *host,
                interval_index: interval.index,
                start_ns: interval.start_ns,
                end_ns: interval.end_ns,
                completed: interval.streams.iter().map(StreamInterval::completed).sum(),
                failed: interval.streams.iter().map(StreamInterval::failed).sum(),
                bytes: interval.streams.iter().map(StreamInterval::bytes).sum(),
            },
            Event::HostEvent { run_index, host, event } => {
                let (run_index, host_index) = (*run_index, *host);
                match event {
                    HostEvent::Started { late_ns, clock_error_ns } => {
                        let (late_ns, clock_error_ns) = (*late_ns, *clock_error_ns);
                        Line::HostStarted { run_index, host_index, late_ns, clock_error_ns }
                    }
                    HostEvent::Lost { at_ns, why, others_continued } => Line::HostLost {
                        run_index,
                        host_index,
                        at_ns: *at_ns,
                        reason: why,
                        others_continued: *others_continued,
                    },
                    HostEvent::Ended => Line::HostEnded { run_index, host_index },
                    // Appended after the experiment.
                    HostEvent::Collected { .. } => return None,
                }
            }
            Event::Warning { run_index, warning } => {
                let Advice { effect, remedy } = advice(warning);
                Line::Warning {
                    run_index: *run_index,
                    code: warning.code(),
                    found: found(warning),
                    effect,
                    remedy,
                }
            }
            Event::ServiceCounters { run_index, counts } => {
                let [read_calls, write_calls, commit_calls, ..] = counts.calls;
                Line::ServiceCounters {
                    run_index: *run_index,
                    read_calls,
                    write_calls,
                    commit_calls,
                    procedures: procedure_lines(counts),
                    failed_calls: counts.failed,
                    read_bytes: counts.read_bytes,
                    written_bytes: counts.written_bytes,
                    outstanding_max: counts.outstanding_max,
                }
            }
            Event::TreesCompared { run_index, trees } => {
                let trees = trees.iter().map(tree_line).collect();
                Line::TreesCompared { run_index: *run_index, trees }
            }
            Event::RunFinished { run_index, outcome } => {
                let (outcome, reason) = outcome_words(outcome);
                let missing_hosts = lost.missing().map(MissingHostsLine::of);
                Line::RunFinished { run_index: *run_index, outcome, reason, missing_hosts }
            }
            Event::Finished { .. } => return None,
        })
    }

    /// The last line: how the plan ended, what the numbers show, and the exit code.
    pub(super) fn last(
        ended: &'a Outcome,
        outcome: &CommandOutcome,
        verdict: Verdict,
        findings: &'a Findings,
        judged: &'a [Judged],
    ) -> Line<'a> {
        let (verdict, exit): (Verdict, Exit) = match outcome {
            Ok(exit) => (verdict, *exit),
            Err(failure) => (Verdict::Failed, failure.exit),
        };
        let (outcome, reason) = outcome_words(ended);
        Line::Finished {
            outcome,
            reason,
            verdict,
            exit_code: exit as u8,
            record: &findings.id,
            warnings: findings.warnings.iter().map(|group| warning_line(group, findings)).collect(),
            conditions: conditions::json(findings, judged),
        }
    }
}

fn interval_line<'a>(
    run_index: u32,
    interval: &Interval,
    names: &'a [String],
    missing: Option<MissingHosts>,
) -> Line<'a> {
    let stream_line = |(index, stream): (usize, &StreamInterval)| StreamLine {
        stream: names.get(index).map_or("", String::as_str),
        issued: stream.issued,
        outstanding_start: stream.outstanding_start,
        outstanding_end: stream.outstanding_end,
        outstanding_time_ns: stream.outstanding_time_ns,
        backlog_end: stream.backlog_end,
        backlog_time_ns: stream.backlog_time_ns,
        kinds: stream
            .kinds
            .entries()
            .filter(|(_, kind)| kind.completed + kind.failed_total() > 0)
            .map(|(kind, counted)| kind_line(kind, counted))
            .collect(),
        users: stream.users.as_deref().map(UsersLine::of).map(Box::new),
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
        connections: interval.connections.iter().map(connection_line).collect(),
        wire: interval.wire.iter().map(wire_line).collect(),
        host: interval.host.map(|host| Box::new(host_line(host))),
        missing_hosts: missing.map(MissingHostsLine::of),
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

    /// Of times that were recorded in microseconds.
    fn of_us(counts: &Counts) -> TimesLine {
        let TimesLine { count, mean_ns, p50_ns, p99_ns, max_ns } = TimesLine::of(counts);
        let in_ns = |us: Option<u64>| us.map(|us| us * NS_PER_US);
        TimesLine {
            count,
            mean_ns: mean_ns.map(|us| us * NS_PER_US as f64),
            p50_ns: in_ns(p50_ns),
            p99_ns: in_ns(p99_ns),
            max_ns: in_ns(max_ns),
        }
    }
}

/// The word for an outcome, and the reason of a failure.
fn outcome_words(outcome: &Outcome) -> (&'static str, Option<&str>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Interrupted => ("interrupted", None),
        Outcome::Failed { reason } => ("failed", Some(reason)),
        Outcome::Aborted => ("aborted", None),
    }
}
