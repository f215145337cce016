//! The flags of `compare` and their help.

use clap::{Args, ValueEnum};

use crate::record_args::StoreArguments;

pub(crate) const COMPARE_EXAMPLES: &str = "\
Examples:
  fourcorners compare last~1 last
  fourcorners compare 20261120 20261121 --allow-different kernel
  fourcorners compare last~1 last --json --fail-on cannot-tell";

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The records: what the others are compared with first. Each an ID as `list` shows it, its
    /// unique beginning, `last`, `last~1` for the one before it, or the path of a run directory.
    #[arg(value_name = "ID", required = true, num_args = 1..)]
    pub(crate) ids: Vec<String>,

    /// Let these differ, because they are what is compared; several, separated by commas, or `all`.
    ///
    /// kernel, engine, mount (file system, mount options), nconnect, vm, cpu, memory, network,
    /// clock, target, volume (the emulated one's settings), plan (what was asked of the load
    /// points), cache (how much a cache of this host answered) and tool (the build of fourcorners).
    #[arg(long, value_name = "ITEM,...", value_delimiter = ',')]
    pub(crate) allow_different: Vec<String>,

    /// How much single runs are known to differ, as a share (one standard deviation): 2%.
    ///
    /// Only for records that measured each load point once, which by themselves give no verdict.
    #[arg(long, value_name = "SHARE")]
    pub(crate) run_to_run: Option<units::Percent>,

    /// Say `no difference` only where a change of this share would have been seen; 10% without it.
    #[arg(long, value_name = "SHARE")]
    pub(crate) resolution: Option<units::Percent>,

    /// When the exit code is 1.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = FailOn::Regression)]
    pub(crate) fail_on: FailOn,

    /// Show all figures, not only the main ones and those that differ.
    #[arg(long)]
    pub(crate) all: bool,

    /// The form of the output.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub(crate) format: Option<CompareFormat>,

    /// Print JSON, with all figures.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl CompareArguments {
    /// The form that is wanted.
    pub(crate) fn form(&self) -> CompareFormat {
        match self.json {
            true => CompareFormat::Json,
            false => self.format.unwrap_or(CompareFormat::Text),
        }
    }
}

/// When a comparison ends with a negative verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// When a main figure became worse, or what was measured cannot be compared.
    Regression,
    /// Then, and when nothing can be told.
    CannotTell,
    /// Never.
    Never,
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal.
    Text,
    /// Markdown, for a wiki or a ticket.
    Md,
    /// Everything, for programs.
    Json,
}
