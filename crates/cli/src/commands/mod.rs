//! One file per command: arguments to options, a call of the crate `commands`, and the output.

mod avs;
mod baseline;
mod check;
mod clean;
mod compare;
mod completions;
mod config;
mod expect;
mod export;
mod fleet_collect;
mod fleet_status;
mod follow_up;
mod host_progress;
mod interleave;
mod keep;
mod list;
mod man;
mod observe;
mod output;
mod pipeline;
mod plan;
mod predict;
mod profiles;
mod report;
mod run;
mod schema;
mod sheet_output;
mod show;
mod size;
mod tune;
mod volume_serve;
mod volume_stat;

use std::path::PathBuf;

use commands::fleet;
use commands::outcome::{Exit, Failure, Outcome};
use metrics::run_record::ExperimentRecord;
use store::Store;

use crate::args::{AgentArguments, Command};
use crate::fleet_command::FleetCommand;
use crate::interrupt;
use crate::record_args::{IdArgument, StoreArguments};
use crate::terminal::Terminal;
use crate::volume_args::VolumeCommand;

/// Version, commit and build profile of this program.
pub(crate) const VERSION: &str = env!("FOURCORNERS_LONG_VERSION");

/// Runs the command.
pub(crate) fn dispatch(command: Command, terminal: &Terminal) -> Outcome {
    match command {
        Command::Run(arguments) => match arguments.second_target.as_deref() {
            Some(second) => interleave::run(&arguments.run, second, terminal),
            None => run::run(&arguments, terminal),
        },
        Command::Tune(arguments) => tune::run(&arguments, terminal),
        Command::Plan(arguments) => plan::run(&arguments, terminal),
        Command::Predict(arguments) => predict::run(&arguments, terminal),
        Command::Expect(arguments) => expect::run(&arguments, terminal),
        Command::List(arguments) => list::run(&arguments, terminal),
        Command::Show(arguments) => show::run(&arguments, terminal),
        Command::Export(arguments) => export::run(&arguments, terminal),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments, terminal),
        Command::Avs(arguments) => avs::run(&arguments, terminal),
        Command::Check(arguments) => check::run(&arguments, terminal),
        Command::Agent(AgentArguments { same_file }) => {
            interrupt::survive_hang_up();
            fleet::agent::serve(VERSION, same_file).map(|()| Exit::Done)
        }
        Command::Fleet(FleetCommand::Status(arguments)) => fleet_status::run(&arguments, terminal),
        Command::Fleet(FleetCommand::Collect(arguments)) => {
            fleet_collect::run(&arguments, terminal)
        }
        Command::Label(arguments) => keep::label(&arguments),
        Command::Rm(arguments) => keep::rm(&arguments, terminal),
        Command::Prune(arguments) => keep::prune(&arguments, terminal),
        Command::Du(arguments) => keep::du(&arguments, terminal),
        Command::Baseline(command) => baseline::run(&command, terminal),
        Command::Clean(arguments) => clean::run(&arguments),
        Command::Profiles(arguments) => profiles::run(&arguments, terminal),
        Command::Volume(VolumeCommand::Serve(arguments)) => volume_serve::run(&arguments, terminal),
        Command::Volume(VolumeCommand::Stat(arguments)) => volume_stat::run(&arguments, terminal),
        Command::Observe(arguments) => observe::run(&arguments, terminal),
        Command::Size(arguments) => size::run(&arguments, terminal),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Config(arguments) => config::run(&arguments, terminal),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    }
}

impl StoreArguments {
    /// The store's directory, which may not exist yet.
    pub(crate) fn root(&self) -> PathBuf {
        let by_environment = || store::default_root(|name| std::env::var_os(name));
        self.directory.clone().unwrap_or_else(by_environment)
    }

    /// The store for commands that only read; nothing is created.
    pub(crate) fn open(&self) -> Store {
        Store::existing(&self.root())
    }
}

impl IdArgument {
    /// Finds and reads the record.
    pub(crate) fn load(&self) -> Result<(Store, ExperimentRecord), Failure> {
        let store = self.store.open();
        let record = store.load(&self.id).map_err(Failure::input)?;
        Ok((store, record))
    }
}
