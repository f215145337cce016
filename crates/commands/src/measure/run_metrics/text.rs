//! The counters of a running experiment as metrics. Names and meanings are those of `volume serve`
//! where both sides count the same: `fourcorners_stream_read_bytes_total` is what the load generator
//! read, `fourcorners_volume_read_bytes_total` what the volume returned.

use exposition::writer::{Exposition, Family, Format, Label, MetricType, Seconds};
use workload::op::OpKind;
use workload::outcome::ErrorKind;

use super::totals::{
    EDGES_NS, ExperimentPhase, KindTotals, RunTotals, StreamTotals, TimeBuckets, UserTotals,
};

impl RunTotals {
    /// All counters in this text format.
    pub(super) fn exposition(&self, format: Format) -> String {
        let mut text = Exposition::new(format);
        self.write_experiment(&mut text);
        for metric in METRICS {
            let name = format!("fourcorners_stream_{}", metric.name);
            let mut family = text.family(&name, metric.metric_type, metric.help);
            for stream in &self.streams {
                metric.value.write(stream, &mut family);
            }
        }
        text.finish()
    }

    fn write_experiment(&self, text: &mut Exposition) {
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("target_kind", self.target_kind),
            ("experiment", &self.experiment),
        ];
        let help = "The program, the kind of target and the experiment.";
        text.family("fourcorners_run_info", MetricType::Info, help).sample(&labels, 1);
        let help = "1 for the current phase of the experiment.";
        let mut phases = text.family("fourcorners_run_phase", MetricType::Gauge, help);
        for phase in ExperimentPhase::ALL {
            phases.sample(&[("phase", phase.name())], u8::from(phase == self.phase));
        }
        for (name, help, value) in [
            ("number", "The current run, from 1.", u64::from(self.runs_started)),
            (
                "planned",
                "Planned runs; the maximum if a search chooses them.",
                u64::from(self.runs_planned),
            ),
            (
                "load_point",
                "The current load point, numbered from 1 in the order of their first runs.",
                self.load_point as u64,
            ),
            (
                "load_points_planned",
                "Planned load points; the maximum if a search chooses them.",
                self.load_points_planned as u64,
            ),
            ("hosts", "Hosts of the current run, lost ones included.", self.lost_hosts.of() as u64),
            (
                "hosts_lost",
                "Hosts that the current run has lost while the others continue: the counters of \
                 streams are without what they did since.",
                self.lost_hosts.count() as u64,
            ),
        ] {
            let name = format!("fourcorners_run_{name}");
            text.family(&name, MetricType::Gauge, help).sample(&[], value);
        }
    }
}

/// A metric that every stream has.
struct Metric {
    name: &'static str,
    help: &'static str,
    metric_type: MetricType,
    value: Value,
}

enum Value {
    One(fn(&StreamTotals) -> u64),
    /// Only streams that have it.
    Optional(fn(&StreamTotals) -> Option<u64>),
    Seconds(fn(&StreamTotals) -> u128),
    /// Only streams with users.
    OfUsers(fn(&UserTotals) -> u64),
    /// Only streams with users.
    SecondsOfUsers(fn(&UserTotals) -> u128),
    PerKind(fn(&KindTotals) -> u64),
    /// Only errors that occurred.
    PerError,
    /// Only kinds of which operations ended.
    Times(fn(&KindTotals) -> &TimeBuckets),
}

impl Value {
    fn write(&self, stream: &StreamTotals, family: &mut Family<'_>) {
        let label: Label<'_> = ("stream", &stream.name);
        // Kinds on names only if they occur: few of them do.
        let is_shown =
            |(kind, totals): &(OpKind, &KindTotals)| !kind.is_on_names() || totals.ended() > 0;
        let kinds = || OpKind::ALL.into_iter().zip(&stream.kinds).filter(is_shown);
        match self {
            Value::One(read) => family.sample(&[label], read(stream)),
            Value::Optional(read) => {
                if let Some(value) = read(stream) {
                    family.sample(&[label], value);
                }
            }
            Value::Seconds(read) => family.sample(&[label], Seconds::of_ns(read(stream))),
            Value::OfUsers(read) => {
                if let Some(users) = &stream.users {
                    family.sample(&[label], read(users));
                }
            }
            Value::SecondsOfUsers(read) => {
                if let Some(users) = &stream.users {
                    family.sample(&[label], Seconds::of_ns(read(users)));
                }
            }
            Value::PerKind(read) => {
                for (kind, totals) in kinds() {
                    family.sample(&[label, ("operation", kind.name())], read(totals));
                }
            }
            Value::PerError => {
                let errors = ErrorKind::ALL.into_iter().zip(stream.errors);
                for (error, count) in errors.filter(|(_, count)| *count > 0) {
                    family.sample(&[label, ("error", error.name())], count);
                }
            }
            Value::Times(read) => {
                for (kind, totals) in kinds().filter(|(_, totals)| totals.ended() > 0) {
                    let times = read(totals);
                    let buckets = EDGES_NS.into_iter().zip(times.buckets);
                    let labels = [label, ("operation", kind.name())];
                    family.histogram(&labels, buckets, Seconds::of_ns(times.sum_ns), times.count);
                }
            }
        }
    }
}

const METRICS: &[Metric] = &[
    Metric {
        name: "offered_total",
        help: "Operations that became due by the offered rate; its rate is the offered rate. Not for \
               closed loops.",
        metric_type: MetricType::Counter,
        value: Value::Optional(|stream| stream.offered.map(|offered| offered.round() as u64)),
    },
    Metric {
        name: "requests_total",
        help: "Operations that were issued.",
        metric_type: MetricType::Counter,
        value: Value::One(|stream| stream.issued),
    },
    Metric {
        name: "operations_total",
        help: "Operations that ended, also those that failed.",
        metric_type: MetricType::Counter,
        value: Value::PerKind(KindTotals::ended),
    },
    Metric {
        name: "failed_total",
        help: "Operations that failed.",
        metric_type: MetricType::Counter,
        value: Value::PerKind(|kind| kind.failed),
    },
    Metric {
        name: "errors_total",
        help: "Operations that failed, by error.",
        metric_type: MetricType::Counter,
        value: Value::PerError,
    },
    Metric {
        name: "read_bytes_total",
        help: "Bytes read.",
        metric_type: MetricType::Counter,
        value: Value::One(|stream| stream.bytes(OpKind::reads_data)),
    },
    Metric {
        name: "written_bytes_total",
        help: "Bytes written.",
        metric_type: MetricType::Counter,
        value: Value::One(|stream| stream.bytes(OpKind::writes_data)),
    },
    Metric {
        name: "outstanding",
        help: "Operations in flight at the end of the last interval.",
        metric_type: MetricType::Gauge,
        value: Value::One(|stream| stream.outstanding),
    },
    Metric {
        name: "outstanding_seconds_total",
        help: "Time integral of the operations in flight; its rate is the mean in flight.",
        metric_type: MetricType::Counter,
        value: Value::Seconds(|stream| stream.outstanding_time_ns),
    },
    Metric {
        name: "backlog",
        help: "Operations due but not issued at the end of the last interval.",
        metric_type: MetricType::Gauge,
        value: Value::One(|stream| stream.backlog),
    },
    Metric {
        name: "backlog_seconds_total",
        help: "Time integral of the backlog; its rate is the mean backlog.",
        metric_type: MetricType::Counter,
        value: Value::Seconds(|stream| stream.backlog_time_ns),
    },
    Metric {
        name: "queue_depth",
        help: "The limit on operations in flight in the current run; 0 between runs.",
        metric_type: MetricType::Gauge,
        value: Value::One(|stream| stream.queue_depth),
    },
    Metric {
        name: "users",
        help: "Users of the current run; 0 between runs. Only streams with users.",
        metric_type: MetricType::Gauge,
        value: Value::OfUsers(|users| users.count),
    },
    Metric {
        name: "scenarios_started_total",
        help: "Scenarios of users that were started.",
        metric_type: MetricType::Counter,
        value: Value::OfUsers(|users| users.started),
    },
    Metric {
        name: "scenarios_total",
        help: "Scenarios of users whose last operation ended.",
        metric_type: MetricType::Counter,
        value: Value::OfUsers(|users| users.completed),
    },
    Metric {
        name: "scenarios_seconds_total",
        help: "Durations of these scenarios together; its rate over theirs is the mean duration.",
        metric_type: MetricType::Counter,
        value: Value::SecondsOfUsers(|users| users.duration_ns),
    },
    Metric {
        name: "scenario_starts_due_total",
        help: "Starts of scenarios that were due, without the first of each user.",
        metric_type: MetricType::Counter,
        value: Value::OfUsers(|users| users.due),
    },
    Metric {
        name: "scenario_starts_late_total",
        help: "Those at which the user's earlier scenario still ran; its rate over that of the due \
               ones is the overload.",
        metric_type: MetricType::Counter,
        value: Value::OfUsers(|users| users.late),
    },
    Metric {
        name: "response_time_seconds",
        help: "Time from when an operation was due to its completion.",
        metric_type: MetricType::Histogram,
        value: Value::Times(|kind| &kind.response),
    },
    Metric {
        name: "service_time_seconds",
        help: "Time from when an operation was issued to its completion.",
        metric_type: MetricType::Histogram,
        value: Value::Times(|kind| &kind.service),
    },
];

#[cfg(test)]
mod tests {
    use exposition::reader::samples;
    use metrics::interval::{Interval, StreamInterval, UsersInterval};
    use runner::event::{Event, Phase};
    use workload::active_time::ActiveTime;
    use workload::arrival::Arrival;
    use workload::plan::{Plan, TargetSpec};
    use workload::scenario::Users;

    use super::*;

    fn plan() -> Plan {
        let text = workload::profiles::profile("four-corners").expect("a profile").text;
        let experiment = workload::experiment::parse(text, "t").expect("it is valid");
        let options = workload::resolve::ResolveOptions::LOCAL;
        let target = TargetSpec::Null;
        workload::resolve::resolve(&experiment, "t", target, &options).expect("it is valid")
    }

    /// Counters after one interval of the first run: 5 issued, 3 read, 1 failed, 1 outstanding.
    fn totals() -> RunTotals {
        let plan = plan();
        let run = plan.known_runs().next().expect("a run").clone();
        let mut stream = StreamInterval {
            issued: 5,
            outstanding_end: 1,
            outstanding_time_ns: 2_500_000_000,
            ..StreamInterval::default()
        };
        let read = &mut stream.kinds[OpKind::Read as usize];
        (read.completed, read.bytes) = (3, 3 << 13);
        read.failed[ErrorKind::Deadline as usize] = 1;
        let mut totals = RunTotals::new(&plan);
        totals.count(&Event::RunStarted { run: Box::new(run), started_unix_ms: 0 });
        totals.count(&Event::PhaseStarted { run_index: Some(0), phase: Phase::Measure });
        let interval = Interval { streams: vec![stream], ..Interval::default() };
        totals.count(&Event::Interval { run_index: 0, interval: Box::new(interval) });
        totals
    }

    #[test]
    fn both_formats_have_the_same_samples_with_the_known_values() {
        let totals = totals();
        let [prometheus, openmetrics] =
            [Format::Prometheus, Format::OpenMetrics].map(|format| totals.exposition(format));
        let values = |text: &str| {
            let samples = samples(text).expect("the text is valid");
            let series = samples.iter().filter(|one| !one.labels.contains("le="));
            series.map(|one| (format!("{}{{{}}}", one.name, one.labels), one.value)).collect()
        };
        let seen: Vec<(String, f64)> = values(&prometheus);
        assert_eq!(seen, values(&openmetrics));
        let name = &totals.streams[0].name;
        for (series, value) in [
            ("requests_total{stream=\"NAME\"}", 5.0),
            ("operations_total{stream=\"NAME\",operation=\"read\"}", 4.0),
            ("operations_total{stream=\"NAME\",operation=\"fsync\"}", 0.0),
            ("failed_total{stream=\"NAME\",operation=\"read\"}", 1.0),
            ("errors_total{stream=\"NAME\",error=\"deadline\"}", 1.0),
            ("read_bytes_total{stream=\"NAME\"}", 24_576.0),
            ("outstanding{stream=\"NAME\"}", 1.0),
            ("outstanding_seconds_total{stream=\"NAME\"}", 2.5),
        ] {
            let series = format!("fourcorners_stream_{}", series.replace("NAME", name));
            assert!(seen.contains(&(series.clone(), value)), "{series} {value}\n{prometheus}");
        }
        assert!(seen.contains(&("fourcorners_run_phase{phase=\"measure\"}".to_owned(), 1.0)));
        assert!(seen.contains(&("fourcorners_run_phase{phase=\"warm_up\"}".to_owned(), 0.0)));
        assert!(seen.contains(&("fourcorners_run_load_points_planned{}".to_owned(), 16.0)));
    }

    #[test]
    fn gauges_fall_to_zero_between_runs_and_counters_stay() {
        let mut totals = totals();
        let outcome = metrics::run_record::Outcome::Done;
        totals.count(&Event::RunFinished { run_index: 0, outcome });
        let text = totals.exposition(Format::Prometheus);
        let name = &totals.streams[0].name;
        for line in [
            format!("fourcorners_stream_outstanding{{stream=\"{name}\"}} 0"),
            format!("fourcorners_stream_queue_depth{{stream=\"{name}\"}} 0"),
            format!("fourcorners_stream_requests_total{{stream=\"{name}\"}} 5"),
        ] {
            assert!(text.lines().any(|seen| seen == line), "{line}\n{text}");
        }
    }

    #[test]
    fn an_offered_rate_is_counted_and_a_closed_loop_has_none() {
        let closed = totals().exposition(Format::Prometheus);
        assert!(!closed.contains("fourcorners_stream_offered_total{"), "{closed}");
        let plan = plan();
        let mut run = plan.known_runs().next().expect("a run").clone();
        let name = run.streams[0].name.clone();
        run.streams[0].arrival = Arrival::Constant { offered_rate: 250.0 };
        // Half of the second interval is before its start.
        run.streams[0].active = ActiveTime { start_ns: 1_500_000_000, end_ns: None };
        let mut totals = RunTotals::new(&plan);
        totals.count(&Event::RunStarted { run: Box::new(run), started_unix_ms: 0 });
        for (start_s, expected) in [(0, 0), (1, 125), (2, 375)] {
            let (start_ns, end_ns) = (start_s * 1_000_000_000, (start_s + 1) * 1_000_000_000);
            let streams = vec![StreamInterval::default()];
            let interval = Interval { start_ns, end_ns, streams, ..Interval::default() };
            totals.count(&Event::Interval { run_index: 0, interval: Box::new(interval) });
            let text = totals.exposition(Format::Prometheus);
            let line = format!("fourcorners_stream_offered_total{{stream=\"{name}\"}} {expected}");
            assert!(text.lines().any(|seen| seen == line), "{line}\n{text}");
        }
    }

    #[test]
    fn users_have_their_late_starts_and_streams_without_users_have_none() {
        let without = totals().exposition(Format::Prometheus);
        assert!(!without.contains("fourcorners_stream_users{"), "{without}");
        let plan = plan();
        let mut run = plan.known_runs().next().expect("a run").clone();
        let name = run.streams[0].name.clone();
        let starts = workload::scenario::Starts::Random;
        let of = Users { count: 40, cycle_ns: 1_000_000_000, starts };
        run.streams[0].arrival = Arrival::Users(of);
        let mut totals = RunTotals::new(&plan);
        totals.count(&Event::RunStarted { run: Box::new(run), started_unix_ms: 0 });
        let mut durations = metrics::histogram::Histogram::default();
        (0..3).for_each(|_| durations.record(500_000));
        let mut users =
            UsersInterval { started: 5, completed: 3, due: 4, late: 1, ..Default::default() };
        durations.drain_into(&mut users.duration_us);
        let stream = StreamInterval { users: Some(Box::new(users)), ..StreamInterval::default() };
        for _ in 0..2 {
            let interval = Interval { streams: vec![stream.clone()], ..Interval::default() };
            totals.count(&Event::Interval { run_index: 0, interval: Box::new(interval) });
        }
        let has = |totals: &RunTotals, metric: &str, value: &str| {
            let text = totals.exposition(Format::Prometheus);
            let line = format!("fourcorners_stream_{metric}{{stream=\"{name}\"}} {value}");
            assert!(text.lines().any(|seen| seen == line), "{line}\n{text}");
        };
        has(&totals, "users", "40");
        has(&totals, "scenarios_started_total", "10");
        has(&totals, "scenarios_total", "6");
        has(&totals, "scenarios_seconds_total", "3");
        has(&totals, "scenario_starts_due_total", "8");
        has(&totals, "scenario_starts_late_total", "2");
        let outcome = metrics::run_record::Outcome::Done;
        totals.count(&Event::RunFinished { run_index: 0, outcome });
        has(&totals, "users", "0");
    }

    #[test]
    fn further_load_points_add_no_lines() {
        let mut totals = totals();
        let lines = totals.exposition(Format::Prometheus).lines().count();
        for run in plan().known_runs().skip(1) {
            totals.count(&Event::RunStarted { run: Box::new(run.clone()), started_unix_ms: 0 });
        }
        assert_eq!((totals.load_point, totals.load_points_planned), (16, 16));
        assert_eq!(totals.exposition(Format::Prometheus).lines().count(), lines);
    }
}
