//! The counters in the Prometheus exposition format, version 0.0.4.
//!
//! For: `/metrics`. Not for: counting (`counters.rs`).

use std::fmt::{self, Write};

use crate::counters::{
    Counters, DELAY_EDGES_NS, MetricsOfKind, PROCEDURES, Procedure, ServiceCounters, SubjectKind,
};

impl ServiceCounters {
    /// All counters in the Prometheus exposition format, version 0.0.4.
    pub fn prometheus(&self) -> String {
        let all = SubjectKind::ALL.map(|kind| (kind, self.metrics_of(kind)));
        let mut text = String::new();
        write_all(&all, &mut text).expect("writing to a string cannot fail");
        text
    }
}

type All<'w> = [(SubjectKind, MetricsOfKind<'w>); 3];

fn write_all(all: &All<'_>, text: &mut String) -> fmt::Result {
    for metric in METRICS {
        metric.write(all, text)?;
    }
    write_delays(all, text)?;
    write_closed(all, text)
}

impl Metric {
    fn write(&self, all: &All<'_>, text: &mut String) -> fmt::Result {
        for (kind, metrics) in all {
            let by = kind.name();
            let name = format!("fourcorners_{by}_{}", self.name);
            writeln!(text, "# HELP {name} {}", self.help)?;
            writeln!(text, "# TYPE {name} {}", self.kind)?;
            for (subject, counters) in &metrics.subjects {
                let label = format!("{by}=\"{}\"", Label(subject));
                match self.value {
                    Value::One(read) => writeln!(text, "{name}{{{label}}} {}", read(counters))?,
                    Value::PerProcedure(read) => {
                        // Ten thousand flows with 22 procedures each would make a very long text.
                        let all = Procedure::ALL.iter().zip(read(counters));
                        let listed = all.filter(|(_, n)| *kind == SubjectKind::Volume || **n > 0);
                        for (procedure, count) in listed {
                            let procedure = procedure.name();
                            writeln!(text, "{name}{{{label},procedure=\"{procedure}\"}} {count}")?;
                        }
                    }
                    Value::Seconds(read) => {
                        if let Some(ns) = read(counters) {
                            writeln!(text, "{name}{{{label}}} {}", Seconds(ns))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn write_delays(all: &All<'_>, text: &mut String) -> fmt::Result {
    for (kind, metrics) in all {
        let by = kind.name();
        let name = format!("fourcorners_{by}_qos_delay_seconds");
        writeln!(text, "# HELP {name} Delay added to requests by limits.")?;
        writeln!(text, "# TYPE {name} histogram")?;
        for (subject, counters) in &metrics.subjects {
            let label = format!("{by}=\"{}\"", Label(subject));
            let mut sum = 0;
            for (edge_ns, count) in DELAY_EDGES_NS.iter().zip(&counters.qos_delays) {
                sum += count;
                let edge = Seconds(*edge_ns);
                writeln!(text, "{name}_bucket{{{label},le=\"{edge}\"}} {sum}")?;
            }
            let completed = counters.completed();
            writeln!(text, "{name}_bucket{{{label},le=\"+Inf\"}} {completed}")?;
            writeln!(text, "{name}_sum{{{label}}} {}", Seconds(counters.qos_delay_ns))?;
            writeln!(text, "{name}_count{{{label}}} {completed}")?;
        }
    }
    Ok(())
}

fn write_closed(all: &All<'_>, text: &mut String) -> fmt::Result {
    for (kind, metrics) in all {
        let by = kind.name();
        let name = format!("fourcorners_{by}s_closed_total");
        writeln!(text, "# HELP {name} Closed {by}s, summed as {by}=\"(closed)\".")?;
        writeln!(text, "# TYPE {name} counter")?;
        writeln!(text, "{name} {}", metrics.closed)?;
    }
    Ok(())
}

/// A metric that every subject has.
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: &'static str,
    value: Value,
}

enum Value {
    One(fn(&Counters) -> u64),
    PerProcedure(fn(&Counters) -> &[u64; PROCEDURES]),
    /// Nanoseconds, printed as seconds; omitted if `None`.
    Seconds(fn(&Counters) -> Option<u64>),
}

const METRICS: &[Metric] = &[
    Metric {
        name: "requests_total",
        help: "Requests that arrived.",
        kind: "counter",
        value: Value::One(|counters| counters.arrived),
    },
    Metric {
        name: "operations_total",
        help: "Replies.",
        kind: "counter",
        value: Value::PerProcedure(|counters| &counters.operations),
    },
    Metric {
        name: "failed_total",
        help: "Replies with an error.",
        kind: "counter",
        value: Value::PerProcedure(|counters| &counters.failed),
    },
    Metric {
        name: "read_bytes_total",
        help: "Bytes returned by READ.",
        kind: "counter",
        value: Value::One(|counters| counters.read_bytes),
    },
    Metric {
        name: "written_bytes_total",
        help: "Bytes accepted by WRITE.",
        kind: "counter",
        value: Value::One(|counters| counters.written_bytes),
    },
    Metric {
        name: "calls_without_volume_total",
        help: "Calls for no volume, such as MOUNT and NULL.",
        kind: "counter",
        value: Value::One(|counters| counters.calls_without_volume),
    },
    Metric {
        name: "dropped_total",
        help: "Requests that got no reply because their connection closed.",
        kind: "counter",
        value: Value::One(|counters| counters.dropped),
    },
    Metric {
        name: "storage_delay_seconds_total",
        help: "Sum of the delays of the emulated storage.",
        kind: "counter",
        value: Value::Seconds(|counters| Some(counters.storage_delay_ns)),
    },
    Metric {
        name: "throttled_total",
        help: "Requests delayed by a limit.",
        kind: "counter",
        value: Value::One(Counters::throttled),
    },
    Metric {
        name: "outstanding",
        help: "Requests that are not answered yet.",
        kind: "gauge",
        value: Value::One(|counters| counters.outstanding),
    },
    Metric {
        name: "outstanding_max",
        help: "Maximum number of requests outstanding.",
        kind: "gauge",
        value: Value::One(|counters| counters.outstanding_max),
    },
    Metric {
        name: "first_arrival_seconds",
        help: "When the first request arrived, on the service's monotonic clock.",
        kind: "gauge",
        value: Value::Seconds(|counters| counters.first_arrival_ns),
    },
    Metric {
        name: "last_arrival_seconds",
        help: "When the last request arrived, on the service's monotonic clock.",
        kind: "gauge",
        value: Value::Seconds(|counters| counters.last_arrival_ns),
    },
];

/// A label's value, with backslash, quotation mark and line feed escaped.
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Nanoseconds as seconds, computed without floating point.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{rest:09}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::sample;

    #[test]
    fn every_counter_is_a_metric_with_its_value() {
        let text = sample().prometheus();
        for line in [
            "# TYPE fourcorners_volume_operations_total counter",
            "fourcorners_volume_requests_total{volume=\"vol1\"} 4",
            "fourcorners_volume_operations_total{volume=\"vol1\",procedure=\"read\"} 1",
            "fourcorners_volume_failed_total{volume=\"vol1\",procedure=\"lookup\"} 1",
            "fourcorners_flow_written_bytes_total{flow=\"b\"} 65536",
            "fourcorners_client_outstanding{client=\"10.0.0.5\"} 1",
            "fourcorners_flows_closed_total 0",
            "fourcorners_volume_first_arrival_seconds{volume=\"vol1\"} 1.5",
            "fourcorners_volume_qos_delay_seconds_bucket{volume=\"vol1\",le=\"0\"} 1",
            "fourcorners_volume_qos_delay_seconds_bucket{volume=\"vol1\",le=\"0.00001\"} 1",
            "fourcorners_volume_qos_delay_seconds_bucket{volume=\"vol1\",le=\"0.0001\"} 2",
            "fourcorners_volume_qos_delay_seconds_bucket{volume=\"vol1\",le=\"0.01\"} 3",
            "fourcorners_volume_qos_delay_seconds_bucket{volume=\"vol1\",le=\"+Inf\"} 3",
            "fourcorners_volume_qos_delay_seconds_sum{volume=\"vol1\"} 0.002510001",
            "fourcorners_volume_qos_delay_seconds_count{volume=\"vol1\"} 3",
        ] {
            assert!(text.lines().any(|seen| seen == line), "no line {line} in\n{text}");
        }
    }

    #[test]
    fn every_metric_is_described_once_and_before_its_values() {
        let text = sample().prometheus();
        let mut described = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(described.insert(name.to_owned()), "{name} twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
                    name.strip_suffix(end).filter(|base| described.contains(*base))
                });
                assert!(described.contains(base.unwrap_or(name)), "{line}");
            }
        }
    }

    #[test]
    fn names_in_labels_are_escaped() {
        assert_eq!(Label("a\"b\\c\nd").to_string(), "a\\\"b\\\\c\\nd");
    }
}
