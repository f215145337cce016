//! The witness' book as text in the Prometheus exposition format, version 0.0.4.
//!
//! For: `/metrics`. Not for: counting; that is `witness.rs`.

use std::fmt::{self, Write};

use crate::witness::{Counters, DELAY_EDGES_NS, Exposed, Kind, PROCEDURES, Procedure, Witness};

impl Witness {
    /// Everything in the text format of Prometheus (exposition format 0.0.4).
    pub fn prometheus(&self) -> String {
        let all = Kind::ALL.map(|kind| (kind, self.exposed(kind)));
        let mut text = String::new();
        write_all(&all, &mut text).expect("writing to a string cannot fail");
        text
    }
}

type All<'w> = [(Kind, Exposed<'w>); 3];

fn write_all(all: &All<'_>, text: &mut String) -> fmt::Result {
    for metric in METRICS {
        metric.write(all, text)?;
    }
    write_delays(all, text)?;
    write_closed(all, text)
}

impl Metric {
    fn write(&self, all: &All<'_>, text: &mut String) -> fmt::Result {
        let metric = self;
        for (kind, exposed) in all {
            let by = kind.name();
            let name = format!("fourcorners_{by}_{}", metric.name);
            writeln!(text, "# HELP {name} {}", metric.help)?;
            writeln!(text, "# TYPE {name} {}", metric.kind)?;
            for (subject, counters) in &exposed.listed {
                let label = format!("{by}=\"{}\"", Label(subject));
                match metric.value {
                    Read::One(read) => writeln!(text, "{name}{{{label}}} {}", read(counters))?,
                    Read::PerProcedure(read) => {
                        // Of ten thousand flows only what they did, or the text has no end.
                        let all = Procedure::ALL.iter().zip(read(counters));
                        let told = all.filter(|(_, n)| *kind == Kind::Volume || **n > 0);
                        for (procedure, count) in told {
                            let procedure = procedure.name();
                            writeln!(text, "{name}{{{label},procedure=\"{procedure}\"}} {count}")?;
                        }
                    }
                    Read::Seconds(read) => {
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
    for (kind, exposed) in all {
        let by = kind.name();
        let name = format!("fourcorners_{by}_qos_delay_seconds");
        writeln!(text, "# HELP {name} Delay that limits added to a request.")?;
        writeln!(text, "# TYPE {name} histogram")?;
        for (subject, counters) in &exposed.listed {
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
    for (kind, exposed) in all {
        let by = kind.name();
        let name = format!("fourcorners_closed_{by}s_total");
        writeln!(text, "# HELP {name} Those summed up as {by}=\"(closed)\".")?;
        writeln!(text, "# TYPE {name} counter")?;
        writeln!(text, "{name} {}", exposed.closed)?;
    }
    Ok(())
}

/// One metric of every subject.
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: &'static str,
    value: Read,
}

enum Read {
    One(fn(&Counters) -> u64),
    PerProcedure(fn(&Counters) -> &[u64; PROCEDURES]),
    /// Nanoseconds, printed as seconds; left out where there is none.
    Seconds(fn(&Counters) -> Option<u64>),
}

const METRICS: &[Metric] = &[
    Metric {
        name: "requests_total",
        help: "Requests that came.",
        kind: "counter",
        value: Read::One(|counters| counters.arrived),
    },
    Metric {
        name: "operations_total",
        help: "Answers that went.",
        kind: "counter",
        value: Read::PerProcedure(|counters| &counters.operations),
    },
    Metric {
        name: "failed_total",
        help: "Answers with an error.",
        kind: "counter",
        value: Read::PerProcedure(|counters| &counters.failed),
    },
    Metric {
        name: "read_bytes_total",
        help: "Data in answers to READ.",
        kind: "counter",
        value: Read::One(|counters| counters.read_bytes),
    },
    Metric {
        name: "written_bytes_total",
        help: "Data that WRITE brought and that was taken.",
        kind: "counter",
        value: Read::One(|counters| counters.written_bytes),
    },
    Metric {
        name: "without_volume_total",
        help: "Calls that are for no volume, such as MOUNT and NULL.",
        kind: "counter",
        value: Read::One(|counters| counters.without_volume),
    },
    Metric {
        name: "dropped_total",
        help: "Requests that got no answer because their connection was gone.",
        kind: "counter",
        value: Read::One(|counters| counters.dropped),
    },
    Metric {
        name: "storage_delay_seconds_total",
        help: "Times that the emulated storage took for answered requests.",
        kind: "counter",
        value: Read::Seconds(|counters| Some(counters.storage_delay_ns)),
    },
    Metric {
        name: "throttled_total",
        help: "Requests that a limit delayed.",
        kind: "counter",
        value: Read::One(Counters::throttled),
    },
    Metric {
        name: "outstanding",
        help: "Requests whose answer has not gone.",
        kind: "gauge",
        value: Read::One(|counters| counters.outstanding),
    },
    Metric {
        name: "outstanding_max",
        help: "The most requests that were outstanding at once.",
        kind: "gauge",
        value: Read::One(|counters| counters.outstanding_max),
    },
    Metric {
        name: "first_arrival_seconds",
        help: "When the first request came, on the service's monotonic clock.",
        kind: "gauge",
        value: Read::Seconds(|counters| counters.first_arrival_ns),
    },
    Metric {
        name: "last_arrival_seconds",
        help: "When the last request came, on the service's monotonic clock.",
        kind: "gauge",
        value: Read::Seconds(|counters| counters.last_arrival_ns),
    },
];

/// A label's value: backslash, quotation mark and line feed are escaped.
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

/// Nanoseconds as seconds, without passing through floating point.
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
    use crate::witness::{Answer, Origin};

    fn answer(procedure: Procedure, bytes: u64, qos_delay_ns: u64) -> Answer {
        Answer { procedure, bytes, failed: false, qos_delay_ns, storage_delay_ns: 0 }
    }

    /// Two flows of one client on one volume.
    fn seen() -> Witness {
        let mut witness = Witness::default();
        let (volume, client) = (witness.volume("vol1"), witness.client("10.0.0.5"));
        let flows = [witness.flow("a"), witness.flow("b")];
        let origin = flows.map(|flow| Origin { volume, flow, client });
        witness.arrived(1_500_000_000, origin[0]);
        witness.arrived(1_600_000_000, origin[1]);
        witness.arrived(1_700_000_000, origin[1]);
        witness.completed(origin[0], &answer(Procedure::Read, 8192, 0));
        witness.completed(origin[1], &answer(Procedure::Write, 65_536, 2_500_000));
        let failed = Answer { failed: true, ..answer(Procedure::Lookup, 0, 10_001) };
        witness.completed(origin[1], &failed);
        witness.arrived(1_800_000_000, origin[0]);
        witness
    }

    #[test]
    fn prometheus_reads_what_was_counted() {
        let text = seen().prometheus();
        for line in [
            "# TYPE fourcorners_volume_operations_total counter",
            "fourcorners_volume_requests_total{volume=\"vol1\"} 4",
            "fourcorners_volume_operations_total{volume=\"vol1\",procedure=\"read\"} 1",
            "fourcorners_volume_failed_total{volume=\"vol1\",procedure=\"lookup\"} 1",
            "fourcorners_flow_written_bytes_total{flow=\"b\"} 65536",
            "fourcorners_client_outstanding{client=\"10.0.0.5\"} 1",
            "fourcorners_closed_flows_total 0",
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
        let text = seen().prometheus();
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
