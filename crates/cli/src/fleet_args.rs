//! Flags of commands that use several hosts.

use clap::Args;

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
