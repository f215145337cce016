//! The flags of `compare` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::pipeline_args::PipelineFiles;
use crate::record_args::{OutputFormat, StoreArguments};

pub(crate) const COMPARE_EXAMPLES: &str = "\
Examples:
  fourcorners compare last~1 last
  fourcorners compare 20261120 20261121 --allow-different kernel
  fourcorners compare last~1 last --json --fail-on cannot-tell
  fourcorners compare --baseline main.json last --junit compare.xml";

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The records; the others are compared with the first. Each is an ID from `list`, a unique
    /// prefix of it, a label, `last`, `last~1` for the one before it, or the path of a run
    /// directory.
    #[arg(value_name = "ID", required = true, num_args = 1..)]
    pub(crate) ids: Vec<String>,

    /// Compare with this file of `baseline save`, instead of with the first record.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Allow these to differ, because they are what is compared; comma-separated, or `all`.
    ///
    /// kernel, engine, mount (file system, mount options), nconnect, vm, cpu, memory, network,
    /// clock, target, volume (settings of the emulated volume), plan (settings of the load points),
    /// cache (share of reads from a client cache) and tool (the build of fourcorners).
    #[arg(long, value_name = "ITEM,...", value_delimiter = ',')]
    pub(crate) allow_different: Vec<String>,

    /// The known standard deviation between single runs, as a share: 2%.
    ///
    /// Only for records that measured each load point once, which otherwise give no verdict.
    #[arg(long, value_name = "SHARE")]
    pub(crate) run_to_run: Option<units::Percent>,

    /// Report `no difference` only if a change of this share would have been detected; default:
    /// 10%.
    #[arg(long, value_name = "SHARE")]
    pub(crate) resolution: Option<units::Percent>,

    /// When the exit code is 1.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = FailOn::Regression)]
    pub(crate) fail_on: FailOn,

    /// Print all load points, differences and the method, instead of one screen.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) full: bool,

    /// Show all figures, not only the main ones and those that differ; implies --full.
    #[arg(long)]
    pub(crate) all: bool,

    /// The output format.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub(crate) format: Option<OutputFormat>,

    /// Print JSON, with all figures.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) files: PipelineFiles,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// When a comparison ends with exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// If a main figure became worse, or the records are not comparable.
    Regression,
    /// In these cases, and if the result is inconclusive.
    CannotTell,
    /// Never.
    Never,
}
