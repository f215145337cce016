//! One file per command: arguments to options, a call of the crate `commands`, and the output.

mod avs;
mod check;
mod clean;
mod compare;
mod expect;
mod export;
mod interleave;
mod list;
mod output;
mod plan;
mod predict;
mod profiles;
mod report;
mod run;
mod schema;
mod show;
mod size;
mod tune;
mod volume_serve;
mod volume_stat;

use std::path::PathBuf;

use commands::outcome::{Failure, Outcome};
use metrics::run_record::ExperimentRecord;
use store::Store;

use crate::args::Command;
use crate::record_args::{IdArgument, StoreArguments};
use crate::terminal::Terminal;
use crate::volume_args::VolumeCommand;

/// Runs the command.
pub(crate) fn dispatch(command: Command, terminal: &Terminal) -> Outcome {
    match command {
        Command::Run(arguments) => match arguments.second_target.as_deref() {
            Some(second) => interleave::run(&arguments.run, second, terminal),
            None => run::run(&arguments.run, terminal),
        },
        Command::Tune(arguments) => tune::run(&arguments, terminal),
        Command::Plan(arguments) => plan::run(&arguments, terminal),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Expect(arguments) => expect::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Avs(arguments) => avs::run(&arguments, terminal),
        Command::Check(arguments) => check::run(&arguments),
        Command::Clean(arguments) => clean::run(&arguments),
        Command::Profiles(arguments) => profiles::run(&arguments),
        Command::Volume(VolumeCommand::Serve(arguments)) => volume_serve::run(&arguments, terminal),
        Command::Volume(VolumeCommand::Stat(arguments)) => volume_stat::run(&arguments),
        Command::Size(arguments) => size::run(&arguments),
        Command::Schema => schema::run(),
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
