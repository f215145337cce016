//! The flags of `run` for metrics: its own, and those of other systems.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use commands::measure::run_metrics::{MetricsOptions, parse_address};
use commands::measure::scrape::ScrapeUrl;

const METRICS: &str = "Metrics";

/// Where counters are published, and which exporters are scraped.
#[derive(Clone, Debug, Args)]
pub(crate) struct MetricsArguments {
    /// Serve the counters of the run for Prometheus at this address, under /metrics.
    ///
    /// A port alone (:9400) is on 127.0.0.1; port 0 is any free port. The text is OpenMetrics, or
    /// the Prometheus text format for clients that do not accept it. The counters are served until
    /// the program ends.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address, help_heading = METRICS)]
    pub(crate) metrics: Option<SocketAddr>,

    /// Write the counters to this file after each interval, for node_exporter's textfile collector.
    ///
    /// The name must end in .prom for node_exporter. The file is replaced atomically and keeps the
    /// final counters.
    #[arg(long, value_name = "FILE", help_heading = METRICS)]
    pub(crate) metrics_file: Option<PathBuf>,

    /// Store the metrics of other systems with the run: URLs of exporters, comma-separated.
    ///
    /// For example http://filer:9100/metrics of a node_exporter. Each is read after every interval
    /// (at most 5 times per second). The report shows the metrics that follow the load most
    /// closely; `export --format scraped` has all.
    #[arg(
        long,
        value_name = "URL",
        value_delimiter = ',',
        num_args = 1,
        help_heading = METRICS
    )]
    pub(crate) scrape: Vec<ScrapeUrl>,
}

impl MetricsArguments {
    /// Where the counters are published.
    pub(crate) fn options(&self) -> MetricsOptions {
        MetricsOptions { address: self.metrics, file: self.metrics_file.clone() }
    }
}
