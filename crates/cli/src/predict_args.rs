//! The flags of `predict` and their help.

use std::path::PathBuf;

use clap::Args;
use commands::predict::Against;

use crate::record_args::{OUTPUT, StoreArguments};

pub(crate) const PREDICT_EXAMPLES: &str = "\
Examples:
  fourcorners predict examples/topologies/database.toml
  fourcorners predict examples/topologies/vmware.toml --full
  fourcorners predict mine.toml --against published
  fourcorners predict mine.toml --report mine.html";

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// The topology file (TOML): hosts, volumes and workloads.
    #[arg(value_name = "TOPOLOGY")]
    pub(crate) topology: PathBuf,

    /// Compare each workload with the nearest published figures, or with a measured run.
    ///
    /// `published`, or a run's ID from `list`, or `last`; may be repeated. A run's load points are
    /// used if their load, and the numbers of hosts and volumes, are those of the topology's workload.
    #[arg(long, value_name = "WHAT", value_parser = against)]
    pub(crate) against: Vec<Against>,

    /// Show everything: evidence, the calculation of every number with its sources, assumptions.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Print JSON, with the whole curve and all reasons.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Also write the full prediction as an HTML page (.html) or Markdown (.md).
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

fn against(text: &str) -> Result<Against, std::convert::Infallible> {
    Ok(match text {
        "published" => Against::Published,
        id => Against::Run(id.to_owned()),
    })
}
