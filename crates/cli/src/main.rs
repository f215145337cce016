//! The command line of fourcorners: arguments in, a command, an exit code out.

mod args;
mod avs_args;
mod check_args;
mod command_line;
mod commands;
mod compare_args;
mod configured;
mod connection_state;
mod diagnostics;
mod expect_args;
mod fleet_args;
mod fleet_command;
mod foreign_options;
mod guard;
mod interrupt;
mod keep_args;
mod live;
mod metrics_args;
mod observe_args;
mod pipeline_args;
mod predict_args;
mod program_args;
mod published_args;
mod record_args;
mod run_args;
mod size_args;
mod terminal;
mod tune_args;
mod volume_args;
mod waits;

use std::process::ExitCode;

use ::commands::config::Config;
use ::commands::outcome::Exit;
use clap::{CommandFactory, FromArgMatches};

use crate::args::{Arguments, ColorWhen};
use crate::terminal::Terminal;

fn main() -> ExitCode {
    guard::report_panics();
    interrupt::survive_file_size_limit();
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = foreign_options::message(&words) {
        Terminal::new(ColorWhen::Auto, None).error(&anyhow::Error::msg(message), None);
        return ExitCode::from(Exit::BadInput as u8);
    }
    let config = Config::load(|name| std::env::var_os(name));
    let mut command = Arguments::command();
    if let Ok(config) = &config {
        command = configured::with_defaults(command, config);
    }
    let arguments =
        Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    let terminal = Terminal::new(arguments.color, arguments.width);
    let run = || config.and_then(|_| commands::dispatch(arguments.command, &terminal));
    let exit = guard::run(run, &terminal);
    ExitCode::from(exit as u8)
}
