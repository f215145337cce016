//! The counters as metrics for Prometheus.
//!
//! For: `/metrics`. Not for: counting (`counters.rs`) or the text formats (crate `exposition`).

use exposition::writer::{Exposition, Format, MetricType, Seconds};

use crate::counters::{
    Counters, DELAY_EDGES_NS, MetricsOfKind, PROCEDURES, Procedure, ServiceCounters, SubjectKind,
};

impl ServiceCounters {
    /// All counters in this text format.
    pub fn exposition(&self, format: Format) -> String {
        let all = SubjectKind::ALL.map(|kind| (kind, self.metrics_of(kind)));
        let mut text = Exposition::new(format);
        for metric in METRICS {
            metric.write(&all, &mut text);
        }
        write_delays(&all, &mut text);
        write_closed(&all, &mut text);
        text.finish()
    }
}

type All<'w> = [(SubjectKind, MetricsOfKind<'w>); 3];

impl Metric {
    fn write(&self, all: &All<'_>, text: &mut Exposition) {
        for (kind, metrics) in all {
            let by = kind.name();
            let name = format!("fourcorners_{by}_{}", self.name);
            let mut family = text.family(&name, self.metric_type, self.help);
            for (subject, counters) in &metrics.subjects {
                let label = (by, *subject);
                match self.value {
                    Value::One(read) => family.sample(&[label], read(counters)),
                    Value::PerProcedure(read) => {
                        // Ten thousand flows with 22 procedures each would make a very long text.
                        let all = Procedure::ALL.iter().zip(read(counters));
                        let listed = all.filter(|(_, n)| *kind == SubjectKind::Volume || **n > 0);
                        for (procedure, count) in listed {
                            family.sample(&[label, ("procedure", procedure.name())], count);
                        }
                    }
                    Value::Seconds(read) => {
                        if let Some(ns) = read(counters) {
                            family.sample(&[label], Seconds::of_ns(ns));
                        }
                    }
                }
            }
        }
    }
}

fn write_delays(all: &All<'_>, text: &mut Exposition) {
    for (kind, metrics) in all {
        let by = kind.name();
        let name = format!("fourcorners_{by}_qos_delay_seconds");
        let help = "Delay added to requests by limits.";
        let mut family = text.family(&name, MetricType::Histogram, help);
        for (subject, counters) in &metrics.subjects {
            let buckets = DELAY_EDGES_NS.into_iter().zip(counters.qos_delays);
            let sum = Seconds::of_ns(counters.qos_delay_ns);
            family.histogram(&[(by, *subject)], buckets, sum, counters.completed());
        }
    }
}

fn write_closed(all: &All<'_>, text: &mut Exposition) {
    for (kind, metrics) in all {
        let by = kind.name();
        let name = format!("fourcorners_{by}s_closed_total");
        let help = format!("Closed {by}s, summed as {by}=\"(closed)\".");
        text.family(&name, MetricType::Counter, &help).sample(&[], metrics.closed);
    }
}

/// A metric that every subject has.
struct Metric {
    name: &'static str,
    help: &'static str,
    metric_type: MetricType,
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
        metric_type: MetricType::Counter,
        value: Value::One(|counters| counters.arrived),
    },
    Metric {
        name: "operations_total",
        help: "Replies.",
        metric_type: MetricType::Counter,
        value: Value::PerProcedure(|counters| &counters.operations),
    },
    Metric {
        name: "failed_total",
        help: "Replies with an error.",
        metric_type: MetricType::Counter,
        value: Value::PerProcedure(|counters| &counters.failed),
    },
    Metric {
        name: "read_bytes_total",
        help: "Bytes returned by READ.",
        metric_type: MetricType::Counter,
        value: Value::One(|counters| counters.read_bytes),
    },
    Metric {
        name: "written_bytes_total",
        help: "Bytes accepted by WRITE.",
        metric_type: MetricType::Counter,
        value: Value::One(|counters| counters.written_bytes),
    },
    Metric {
        name: "calls_without_volume_total",
        help: "Calls for no volume, such as MOUNT and NULL.",
        metric_type: MetricType::Counter,
        value: Value::One(|counters| counters.calls_without_volume),
    },
    Metric {
        name: "dropped_total",
        help: "Requests that got no reply because their connection closed.",
        metric_type: MetricType::Counter,
        value: Value::One(|counters| counters.dropped),
    },
    Metric {
        name: "storage_delay_seconds_total",
        help: "Sum of the delays of the emulated storage.",
        metric_type: MetricType::Counter,
        value: Value::Seconds(|counters| Some(counters.storage_delay_ns)),
    },
    Metric {
        name: "throttled_total",
        help: "Requests delayed by a limit.",
        metric_type: MetricType::Counter,
        value: Value::One(Counters::throttled),
    },
    Metric {
        name: "outstanding",
        help: "Requests that are not answered yet.",
        metric_type: MetricType::Gauge,
        value: Value::One(|counters| counters.outstanding),
    },
    Metric {
        name: "outstanding_max",
        help: "Maximum number of requests outstanding.",
        metric_type: MetricType::Gauge,
        value: Value::One(|counters| counters.outstanding_max),
    },
    Metric {
        name: "first_arrival_seconds",
        help: "When the first request arrived, on the service's monotonic clock.",
        metric_type: MetricType::Gauge,
        value: Value::Seconds(|counters| counters.first_arrival_ns),
    },
    Metric {
        name: "last_arrival_seconds",
        help: "When the last request arrived, on the service's monotonic clock.",
        metric_type: MetricType::Gauge,
        value: Value::Seconds(|counters| counters.last_arrival_ns),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::sample;

    #[test]
    fn every_counter_is_a_metric_with_its_value() {
        let text = sample().exposition(Format::Prometheus);
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
        let text = sample().exposition(Format::Prometheus);
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
}
