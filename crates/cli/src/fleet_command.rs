//! The flags of `fleet status` and `fleet collect` and their help.

use std::time::Duration;

use clap::{Args, Subcommand};
use units::parse_duration;

use crate::fleet_args::FleetArguments;
use crate::record_args::IdArgument;

pub(crate) const FLEET_EXAMPLES: &str = "\
Examples:
  fourcorners fleet status --hosts ssh:vm[01-24]
  fourcorners fleet collect last";

const STATUS_EXAMPLES: &str = "\
Examples:
  fourcorners fleet status --hosts ssh:vm[01-24]
  fourcorners fleet status --hosts @hosts.txt --json";

const COLLECT_EXAMPLES: &str = "\
Examples:
  fourcorners fleet collect last
  fourcorners fleet collect 20261121-0915 --wait 5m
  fourcorners fleet collect last --hosts ssh:10.0.0.[1-4]";

/// Commands for the hosts that measure with `--hosts`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Show which agents run on hosts, and the spools that are there.
    ///
    /// An agent keeps what it measures in a spool on its host until the record has all of it: in the
    /// variable FOURCORNERS_SPOOL, or `fourcorners/spool` in $XDG_STATE_HOME or ~/.local/state. Changes
    /// nothing. Exit code 3: a host is not reached.
    #[command(after_help = STATUS_EXAMPLES)]
    Status(FleetStatusArguments),
    /// Complete a record from the spools of its hosts.
    ///
    /// After the controller was killed or a host was cut off, agents finish their run alone. Waits until
    /// they have, adds the intervals that the record lacks, and removes the spools. Runs that all hosts
    /// completed become complete. Collecting again changes nothing. Exit code 1: the record still lacks
    /// intervals, 3: a host is not reached.
    #[command(after_help = COLLECT_EXAMPLES)]
    Collect(FleetCollectArguments),
}

/// Arguments of `fleet status`.
#[derive(Debug, Args)]
pub(crate) struct FleetStatusArguments {
    #[command(flatten)]
    pub(crate) fleet: FleetArguments,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `fleet collect`.
#[derive(Debug, Args)]
pub(crate) struct FleetCollectArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// Wait at most this long for agents that finish their run.
    ///
    /// Default: until its planned end and a minute.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) fleet: FleetArguments,
}
