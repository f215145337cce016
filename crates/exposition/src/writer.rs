//! Writes metrics in the Prometheus text format or in OpenMetrics. The two differ in the names of
//! families, the numbers of bucket edges and the end mark.

use std::fmt::{self, Display, Write};

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The Prometheus text format, version 0.0.4: also that of node_exporter's textfile collector.
    Prometheus,
    /// OpenMetrics, version 1.0.0.
    OpenMetrics,
}

impl Format {
    /// The media type of a response.
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// A sum that never falls; its name ends in `_total`.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// Counts by upper bucket edge.
    Histogram,
    /// Constant labels with the value 1; its name ends in `_info`.
    Info,
}

impl MetricType {
    fn name(self, format: Format) -> &'static str {
        match (self, format) {
            (MetricType::Counter, _) => "counter",
            (MetricType::Histogram, _) => "histogram",
            (MetricType::Info, Format::OpenMetrics) => "info",
            (MetricType::Gauge | MetricType::Info, _) => "gauge",
        }
    }

    /// The suffix of samples that the name of their OpenMetrics family lacks.
    const fn suffix(self) -> &'static str {
        match self {
            MetricType::Counter => "_total",
            MetricType::Info => "_info",
            MetricType::Gauge | MetricType::Histogram => "",
        }
    }
}

/// A label: name and value.
pub type Label<'l> = (&'l str, &'l str);

/// A text under construction.
#[derive(Debug)]
pub struct Exposition {
    format: Format,
    text: String,
}

const INFALLIBLE: &str = "writing to a string cannot fail";

impl Exposition {
    /// An empty text.
    pub const fn new(format: Format) -> Exposition {
        Exposition { format, text: String::new() }
    }

    /// Describes a metric; its samples follow.
    pub fn family<'f>(
        &'f mut self,
        name: &'f str,
        metric_type: MetricType,
        help: &str,
    ) -> Family<'f> {
        let family = match self.format {
            Format::Prometheus => name,
            Format::OpenMetrics => name.strip_suffix(metric_type.suffix()).unwrap_or(name),
        };
        let metric_type = metric_type.name(self.format);
        writeln!(self.text, "# HELP {family} {help}").expect(INFALLIBLE);
        writeln!(self.text, "# TYPE {family} {metric_type}").expect(INFALLIBLE);
        Family { exposition: self, name }
    }

    /// The complete text.
    pub fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

/// The samples of one metric.
#[derive(Debug)]
pub struct Family<'f> {
    exposition: &'f mut Exposition,
    name: &'f str,
}

impl Family<'_> {
    /// Writes one sample.
    pub fn sample(&mut self, labels: &[Label<'_>], value: impl Display) {
        self.line("", labels, None, value);
    }

    /// Writes a histogram.
    ///
    /// * `buckets` - upper edge and count of each bucket, not cumulative, ascending
    /// * `count` - all values, also those above the last edge
    pub fn histogram(
        &mut self,
        labels: &[Label<'_>],
        buckets: impl IntoIterator<Item = (u64, u64)>,
        sum: Seconds,
        count: u64,
    ) {
        let mut cumulative = 0;
        for (edge_ns, in_bucket) in buckets {
            cumulative += in_bucket;
            self.line("_bucket", labels, Some(Edge::At(Seconds::of_ns(edge_ns))), cumulative);
        }
        self.line("_bucket", labels, Some(Edge::Infinite), count);
        self.line("_sum", labels, None, sum);
        self.line("_count", labels, None, count);
    }

    fn line(
        &mut self,
        suffix: &str,
        labels: &[Label<'_>],
        edge: Option<Edge>,
        value: impl Display,
    ) {
        let Exposition { format, text } = &mut *self.exposition;
        write!(text, "{}{suffix}", self.name).expect(INFALLIBLE);
        let mut separator = '{';
        for (name, value) in labels {
            write!(text, "{separator}{name}=\"{}\"", Escaped(value)).expect(INFALLIBLE);
            separator = ',';
        }
        if let Some(edge) = edge {
            write!(text, "{separator}le=\"{}\"", EdgeText(edge, *format)).expect(INFALLIBLE);
            separator = ',';
        }
        if separator == ',' {
            text.push('}');
        }
        writeln!(text, " {value}").expect(INFALLIBLE);
    }
}

/// The upper edge of a bucket.
#[derive(Clone, Copy, Debug)]
enum Edge {
    At(Seconds),
    Infinite,
}

struct EdgeText(Edge, Format);

impl Display for EdgeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EdgeText(Edge::Infinite, _) => f.write_str("+Inf"),
            // OpenMetrics requires a decimal point.
            EdgeText(Edge::At(edge), Format::OpenMetrics) if edge.is_whole() => {
                write!(f, "{edge}.0")
            }
            EdgeText(Edge::At(edge), _) => write!(f, "{edge}"),
        }
    }
}

/// A label's value, with backslash, quotation mark and line feed escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
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

/// Nanoseconds, printed as seconds without rounding.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(u128);

const NS_PER_SECOND: u128 = 1_000_000_000;

impl Seconds {
    /// Nanoseconds.
    pub fn of_ns(ns: impl Into<u128>) -> Seconds {
        Seconds(ns.into())
    }

    const fn is_whole(self) -> bool {
        self.0.is_multiple_of(NS_PER_SECOND)
    }
}

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / NS_PER_SECOND, self.0 % NS_PER_SECOND);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{rest:09}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(format: Format) -> String {
        let mut text = Exposition::new(format);
        text.family("x_total", MetricType::Counter, "Counted.").sample(&[("of", "a\"b\\c\nd")], 3);
        text.family("x_info", MetricType::Info, "Facts.").sample(&[("v", "1"), ("w", "2")], 1);
        let mut family = text.family("t_seconds", MetricType::Histogram, "Times.");
        family.histogram(&[], [(10_000, 2), (1_000_000_000, 3)], Seconds::of_ns(2_510_001_u64), 6);
        text.finish()
    }

    #[test]
    fn the_prometheus_format_has_the_full_names_of_families() {
        assert_eq!(
            sample(Format::Prometheus),
            "# HELP x_total Counted.\n# TYPE x_total counter\nx_total{of=\"a\\\"b\\\\c\\nd\"} 3\n\
             # HELP x_info Facts.\n# TYPE x_info gauge\nx_info{v=\"1\",w=\"2\"} 1\n\
             # HELP t_seconds Times.\n# TYPE t_seconds histogram\n\
             t_seconds_bucket{le=\"0.00001\"} 2\nt_seconds_bucket{le=\"1\"} 5\n\
             t_seconds_bucket{le=\"+Inf\"} 6\nt_seconds_sum 0.002510001\nt_seconds_count 6\n"
        );
    }

    #[test]
    fn openmetrics_has_families_without_suffixes_decimal_edges_and_an_end() {
        assert_eq!(
            sample(Format::OpenMetrics),
            "# HELP x Counted.\n# TYPE x counter\nx_total{of=\"a\\\"b\\\\c\\nd\"} 3\n\
             # HELP x Facts.\n# TYPE x info\nx_info{v=\"1\",w=\"2\"} 1\n\
             # HELP t_seconds Times.\n# TYPE t_seconds histogram\n\
             t_seconds_bucket{le=\"0.00001\"} 2\nt_seconds_bucket{le=\"1.0\"} 5\n\
             t_seconds_bucket{le=\"+Inf\"} 6\nt_seconds_sum 0.002510001\nt_seconds_count 6\n# EOF\n"
        );
    }
}
