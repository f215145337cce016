//! Which record is meant and where records are kept; the flags of `list`, `show`, `export` and
//! `report` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::beside_args::BesideArguments;

/// The heading of flags that say what is written, and where.
pub(crate) const OUTPUT: &str = "Output";

pub(crate) const SHOW_EXAMPLES: &str = "\
Examples:
  fourcorners show last
  fourcorners show 20261121 --json";

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  fourcorners export last --format csv
  fourcorners export last --format hgrm --output vol1.hgrm";

pub(crate) const REPORT_EXAMPLES: &str = "\
Examples:
  fourcorners report last
  fourcorners report last --theme print --output vol1.html
  fourcorners report 20261121-0915 20261121-1030 --output near-and-far.html
  fourcorners report last --format png --output slides/";

/// Where results are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    /// The directory in which results are kept.
    ///
    /// Without it, the variable FOURCORNERS_STORE; without that, `fourcorners` inside
    /// $XDG_DATA_HOME or ~/.local/share.
    #[arg(long = "store", value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) directory: Option<PathBuf>,
}

/// Which experiment of the store.
#[derive(Debug, Args)]
pub(crate) struct IdArgument {
    /// The ID as `list` shows it, its unique beginning, or `last` for the newest.
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// The form of the export.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: ExportFormat,

    /// The file that is written, or `-` for stdout; without it, stdout.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,
}

/// Forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A row for each load point, repeat and stream.
    Csv,
    /// Everything the report shows.
    Json,
    /// A row for each point of each curve, with floor, knees and saturation marked, as CSV.
    Curves,
    /// A row for each connection of each run, as CSV; of targets with connections (`nfs://`).
    Connections,
    /// Percentile distributions, as HdrHistogram's tools read them.
    Hgrm,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The IDs as `list` shows them, their unique beginnings, or `last` for the newest.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    /// The look: as the reader's system has it, or one of the others.
    #[arg(long, value_name = "THEME", value_enum, default_value_t = ReportTheme::Auto)]
    pub(crate) theme: ReportTheme,

    /// The form of the report.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,

    /// The file that is written, with HTML (`-` for stdout), or else the directory; without it,
    /// `report.html` or `report` in the store next to the raw data.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Looks of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportTheme {
    /// Light or dark as the reader's system has it.
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// For paper: light, narrow, everything unfolded.
    Print,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page that opens from disk and needs no network.
    Html,
    /// Markdown with tables, and its charts as SVG beside it.
    Md,
    /// Each chart as an SVG picture.
    Svg,
    /// Each chart as a PNG picture of 1920 pixels, for slides.
    Png,
}
