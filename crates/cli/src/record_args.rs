//! The flags of `list`, `show`, `export` and `report`, and those that name a record and the store.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::pipeline_args::PipelineArguments;
use crate::published_args::PublishedArguments;

/// The help heading of flags for output.
pub(crate) const OUTPUT: &str = "Output";

pub(crate) const SHOW_EXAMPLES: &str = "\
Examples:
  fourcorners show last
  fourcorners show last --full
  fourcorners show 20261121 --json
  fourcorners show last --fail-if 'throughput < 900MiB/s' --junit show.xml";

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  fourcorners export last --format csv
  fourcorners export --all --format intervals --output intervals.csv
  fourcorners export last --format hgrm --output vol1.hgrm";

pub(crate) const REPORT_EXAMPLES: &str = "\
Examples:
  fourcorners report last
  fourcorners report last --theme print --output vol1.html
  fourcorners report 20261121-0915 20261121-1030 --output near-and-far.html
  fourcorners report last --format png --output slides/";

/// Where results are stored.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArguments {
    /// The directory where results are stored.
    ///
    /// Default: the variable FOURCORNERS_STORE, or `store` in ~/.config/fourcorners/config.toml, or
    /// `fourcorners` in $XDG_DATA_HOME or ~/.local/share.
    #[arg(long = "store", value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) directory: Option<PathBuf>,
}

/// An experiment of the store.
#[derive(Debug, Args)]
pub(crate) struct IdArgument {
    /// The ID from `list`, a unique prefix of it, a label, or `last` for the newest.
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Output formats of `check` and `compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For a terminal, 80 columns.
    Text,
    /// Markdown, for a wiki or a ticket.
    Md,
    /// The same as --json.
    Json,
}

impl OutputFormat {
    /// The format of the flags --format and --json, which exclude each other.
    pub(crate) fn of(format: Option<OutputFormat>, json: bool) -> OutputFormat {
        format.unwrap_or(if json { OutputFormat::Json } else { OutputFormat::Text })
    }
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

    /// Print everything that the report has, instead of one screen.
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) published: PublishedArguments,

    #[command(flatten)]
    pub(crate) pipeline: PipelineArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The ID from `list`, a unique prefix of it, a label, or `last` for the newest. The formats
    /// `intervals` and `parquet` take several.
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub(crate) ids: Vec<String>,

    /// Export all experiments, with `--format intervals` or `parquet`.
    ///
    /// Damaged ones are left out with a warning.
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,

    /// The format of the export.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: ExportFormat,

    /// The file to write, or `-` for stdout (default). For `intervals` and `parquet` also a
    /// directory, for one file per experiment.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) published: PublishedArguments,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One row per load point, repeat and stream.
    Csv,
    /// Everything the report shows.
    Json,
    /// One row per point of each curve, with floor, knees and saturation, as CSV.
    Curves,
    /// One row per connection of each run, as CSV; for targets with connections (`nfs://`).
    Connections,
    /// One row per interval, stream and kind of operation, as CSV.
    Intervals,
    /// The same with histograms, as Apache Parquet; only if built with `--features parquet`.
    Parquet,
    /// Percentile distributions in HdrHistogram format.
    Hgrm,
    /// One row per value of the metrics of other systems (`run --scrape`), as CSV.
    Scraped,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The IDs from `list`, unique prefixes of them, labels, or `last` for the newest.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    /// The colour theme.
    #[arg(long, value_name = "THEME", value_enum, default_value_t = ReportTheme::Auto)]
    pub(crate) theme: ReportTheme,

    /// The format of the report.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,

    /// The file to write for HTML (`-` for stdout), or the directory for other formats. Default:
    /// `report.html` or `report` in the store, next to the raw data.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) published: PublishedArguments,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Colour themes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportTheme {
    /// Light or dark, as the reader's system.
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// For paper: light, narrow, everything expanded.
    Print,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page that opens from disk and needs no network.
    Html,
    /// Markdown with tables, and charts as SVG next to it.
    Md,
    /// Each chart as an SVG image.
    Svg,
    /// Each chart as a PNG image, 1920 pixels wide, for slides.
    Png,
}
