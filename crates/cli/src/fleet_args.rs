//! Flags of commands that use several hosts.

use clap::{Args, ValueEnum};
use commands::fleet::Fleet;
use commands::measure::FleetOptions;
use commands::outcome::Failure;
use runner::fleet_run::OnLost;

use crate::commands::VERSION;

/// The hosts, and the program on them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several hosts")]
pub(crate) struct FleetArguments {
    /// Hosts to use: `ssh:vm[01-24]`, `@FILE`, `slurm`, `kubectl:-l app=load`, `local:4`.
    ///
    /// Names are separated by commas, with ranges in brackets; without a launcher they are reached by
    /// ssh. @FILE has one such value on each line. `slurm`: the nodes of the allocation.
    /// `exec:'docker exec -i {host}'`: any command that runs a program on a host with a pipe; the names
    /// follow as another --hosts. ssh uses your configuration and never asks for a password.
    /// Repeatable.
    #[arg(long, value_name = "HOSTS")]
    pub(crate) hosts: Vec<String>,

    /// The program on the hosts, if it is not `fourcorners` in their PATH.
    #[arg(long, value_name = "PATH", default_value = "fourcorners", requires = "hosts")]
    pub(crate) agent: String,

    /// Copy this program to the hosts first, unless it is there.
    ///
    /// It is kept in ~/.cache/fourcorners and compared by SHA-256. The hosts need a POSIX shell and the
    /// same processor architecture.
    #[arg(long, requires = "hosts", conflicts_with = "agent")]
    pub(crate) push: bool,
}

/// What a lost host means, for commands that measure with a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLostArgument {
    /// The run fails; what was measured until then is kept.
    #[default]
    Fail,
    /// The others continue, and every result says from when without whom.
    Continue,
}

/// The hosts that measure.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several hosts")]
pub(crate) struct MeasuringFleetArguments {
    #[command(flatten)]
    pub(crate) fleet: FleetArguments,

    /// What to do when a host is lost during a run.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail", requires = "hosts")]
    pub(crate) on_lost: OnLostArgument,
}

impl FleetArguments {
    /// The hosts; `None` if no one is named.
    pub(crate) fn fleet(&self) -> Result<Option<Fleet>, Failure> {
        match self.hosts.is_empty() {
            true => Ok(None),
            false => Fleet::of(&self.hosts, &self.agent, self.push, VERSION).map(Some),
        }
    }
}

impl MeasuringFleetArguments {
    /// The hosts that measure, instead of this one; `None` if no one is named.
    pub(crate) fn options(&self) -> Result<Option<FleetOptions>, Failure> {
        let on_lost = match self.on_lost {
            OnLostArgument::Fail => OnLost::Fail,
            OnLostArgument::Continue => OnLost::Continue,
        };
        Ok(self.fleet.fleet()?.map(|fleet| FleetOptions { fleet, on_lost }))
    }
}
