//! The flags of `predict` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::OUTPUT;

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// The topology (TOML): hosts, volumes, and what is done.
    #[arg(value_name = "TOPOLOGY")]
    pub(crate) topology: PathBuf,

    /// Set each workload beside the published figures that are nearest to it.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) against: Option<Against>,

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
}

/// What a prediction can be set beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// Figures that vendors published.
    Published,
}
