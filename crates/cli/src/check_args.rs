//! The arguments of `check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use commands::check;
use units::BytesPerSec;

use crate::fleet_args::FleetArguments;
use crate::record_args::OutputFormat;

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  fourcorners check /mnt/vol1
  fourcorners check /mnt/vol1 --target-rate 2GiB/s --rtt 500us --all
  fourcorners check \"nfs://filer/vol1?nconnect=8\" --json
  fourcorners check /mnt/vol1 --hosts ssh:vm[01-24]
  fourcorners check --capture-script > capture.sh
  fourcorners check /mnt/vol1 --root captured-host1";

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The target: a directory, or an NFS export (`nfs://host/export`).
    ///
    /// For a directory its mount is checked too, for an export the options of the URL. Default: the
    /// host only.
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,

    /// An option of the NFS export, as for `run`.
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,

    /// The required throughput over all connections, for example 2GiB/s.
    ///
    /// TCP windows, the interface and the VM's limits are checked against it. Default: windows are
    /// checked against the throughput of one network flow (on Azure) or the interface's bandwidth.
    #[arg(long, alias = "want", value_name = "THROUGHPUT", value_parser = throughput)]
    pub(crate) target_rate: Option<BytesPerSec>,

    /// The round-trip time to the server, for example 500us or 2ms.
    ///
    /// Default: the shortest of three connects to the server; for a captured host the mean of the
    /// mount's GETATTR calls, if known.
    #[arg(long, value_name = "DURATION", value_parser = round_trip)]
    pub(crate) rtt: Option<Duration>,

    /// Check the captured host in this directory instead of this host.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print the shell script that captures a host, for --root.
    ///
    /// It copies the few files that are checked, and no secrets; docs/reference/check.md lists
    /// them.
    #[arg(long, exclusive = true)]
    pub(crate) capture_script: bool,

    /// Show every check in full, including passed ones.
    #[arg(short, long, visible_alias = "verbose")]
    pub(crate) all: bool,

    /// Print JSON: every check, and the facts it is based on.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// The output format.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<OutputFormat>,

    #[command(flatten)]
    pub(crate) fleet: FleetArguments,
}

impl CheckArguments {
    pub(crate) fn options(&self) -> check::Options {
        check::Options {
            target: self.target.clone(),
            option: self.option.clone(),
            target_rate: self.target_rate,
            round_trip: self.rtt,
            root: self.root.clone(),
        }
    }
}

fn throughput(text: &str) -> Result<BytesPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    match rate.get() > 0.0 {
        true => Ok(rate),
        false => Err("expected a throughput above 0".to_owned()),
    }
}

fn round_trip(text: &str) -> Result<Duration, String> {
    let time = units::parse_duration(text).map_err(|error| error.to_string())?;
    match time.is_zero() {
        false => Ok(time),
        true => Err("expected a duration above 0".to_owned()),
    }
}
