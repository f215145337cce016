//! The arguments of `check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use units::BytesPerSec;

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  fourcorners check /mnt/vol1
  fourcorners check /mnt/vol1 --want 2GiB/s --rtt 500us --all
  fourcorners check \"nfs://filer/vol1?nconnect=8\" --json
  fourcorners check --capture-script > capture.sh
  fourcorners check /mnt/vol1 --root captured-host1";

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// What is to be measured: a directory, or an NFS export (`nfs://host/export`).
    ///
    /// Of a directory its mount is looked at too, of an export what the URL asks for. Without it,
    /// the host alone.
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,

    /// An option of the NFS export, as `run` takes them.
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,

    /// The throughput that is wanted, for example 2GiB/s, over all connections.
    ///
    /// Windows, interface and the virtual machine's limit are judged by it. Without it, windows are
    /// judged by what one network flow gives (on Azure) or by the interface's speed.
    #[arg(long, value_name = "THROUGHPUT", value_parser = throughput)]
    pub(crate) want: Option<BytesPerSec>,

    /// The round-trip time to the server, for example 500us or 2ms.
    ///
    /// Without it, the shortest of three connects to the server; of a captured host the mean of
    /// the mount's GETATTR calls, if it has that.
    #[arg(long, value_name = "DURATION", value_parser = round_trip)]
    pub(crate) rtt: Option<Duration>,

    /// Look at a captured host in this directory instead of this one.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print the shell script that captures a host, for --root.
    ///
    /// It copies the few files that are looked at, and nothing secret; docs/reference/check.md
    /// lists them.
    #[arg(long, exclusive = true)]
    pub(crate) capture_script: bool,

    /// Show every check in full, those that are fine too.
    #[arg(short, long, visible_alias = "verbose")]
    pub(crate) all: bool,

    /// Print JSON: every check, and the facts that it was judged by.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// The form of the output.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<CheckFormat>,
}

/// Forms of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For a terminal, at 80 columns.
    Text,
    /// Markdown, for a ticket or a wiki.
    Md,
    /// The same as --json.
    Json,
}

impl CheckArguments {
    /// The form that is asked for.
    pub(crate) fn format(&self) -> CheckFormat {
        match self.format {
            Some(format) => format,
            None if self.json => CheckFormat::Json,
            None => CheckFormat::Text,
        }
    }
}

fn throughput(text: &str) -> Result<BytesPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    match rate.get() > 0.0 {
        true => Ok(rate),
        false => Err("a throughput above 0".to_owned()),
    }
}

fn round_trip(text: &str) -> Result<Duration, String> {
    let time = units::parse_duration(text).map_err(|error| error.to_string())?;
    match time.is_zero() {
        false => Ok(time),
        true => Err("a round trip takes more than 0".to_owned()),
    }
}
