//! The flags of `predict` and their help.

use std::path::PathBuf;

use clap::Args;

use crate::record_args::{OUTPUT, StoreArguments};

pub(crate) const PREDICT_EXAMPLES: &str = "\
Examples:
  fourcorners predict examples/topologies/database.toml
  fourcorners predict examples/topologies/vmware.toml --curve --explain
  fourcorners predict mine.toml --against published
  fourcorners predict mine.toml --report mine.html";

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// The topology (TOML): hosts, volumes, and what is done.
    #[arg(value_name = "TOPOLOGY")]
    pub(crate) topology: PathBuf,

    /// Set each workload beside the published figures nearest to it, or beside a measured run.
    ///
    /// `published`, or a run's ID as `list` shows it, or `last`; may be given several times. Of
    /// a run those load points are taken that do what a workload of the topology does.
    #[arg(long, value_name = "WHAT", value_parser = against)]
    pub(crate) against: Vec<Against>,

    /// Show every point of the curve.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) curve: bool,

    /// Show the arithmetic, and the rows of data that each number rests on.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) explain: bool,

    /// Print JSON, with the whole curve and all reasons.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write the prediction with everything as a page (.html) or as Markdown (.md) too.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// What a prediction can be set beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// Figures that vendors published.
    Published,
    /// A measured run, by its ID.
    Run(String),
}

fn against(text: &str) -> Result<Against, std::convert::Infallible> {
    Ok(match text {
        "published" => Against::Published,
        id => Against::Run(id.to_owned()),
    })
}
