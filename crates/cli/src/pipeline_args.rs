//! The flags for pipelines: conditions that fail a measurement, and files for CI systems.

use std::path::PathBuf;

use clap::Args;
use commands::conditions;
use workload::condition::Condition;

/// The help heading of these flags.
const PIPELINES: &str = "Pipelines";

/// Conditions of `run` and `show`, and files for CI systems.
#[derive(Debug, Default, Args)]
pub(crate) struct PipelineArguments {
    /// Exit with 1 if this is true of any load point, for example 'read.p99 > 2ms'.
    ///
    /// [WORKLOAD.][KIND.]METRIC OP VALUE: WORKLOAD is a workload variant or a stream; KIND is a
    /// kind of operation such as read, write or create; METRIC is throughput, iops, mean, p50, p90,
    /// p99, p99.9 or max (response times), errors (failed operations), achieved (share of the
    /// offered rate), of users `overload` and `overload_point`, or of a business metric `metric`
    /// (its largest passing value) and `ort`; OP is <, <=, > or >=. The condition is true if the
    /// whole 95 % confidence interval of a load point is beyond VALUE. If the interval includes
    /// VALUE, the answer is `cannot tell`. May be repeated. The opposite, what must be true, can be
    /// in the experiment (key `require`).
    #[arg(
        long,
        help_heading = PIPELINES,
        value_name = "CONDITION",
        value_parser = conditions::parse
    )]
    pub(crate) fail_if: Vec<Condition>,

    /// Exit with 1 also if the answer to a condition is `cannot tell`.
    #[arg(long, help_heading = PIPELINES)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) files: PipelineFiles,
}

/// Files for CI systems, also of `compare`.
#[derive(Debug, Default, Args)]
pub(crate) struct PipelineFiles {
    /// Write JUnit XML to this file: one test case for each condition or compared load point.
    #[arg(long, help_heading = PIPELINES, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the verdict and a table to this file as Markdown, for a comment on a pull request.
    #[arg(long, help_heading = PIPELINES, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}
