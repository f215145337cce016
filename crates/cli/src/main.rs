//! The command line of fourcorners: arguments in, a command, an exit code out.

mod args;
mod avs_args;
mod check_args;
mod command_line;
mod commands;
mod compare_args;
mod connection_state;
mod diagnostics;
mod expect_args;
mod foreign_options;
mod guard;
mod interrupt;
mod live;
mod predict_args;
mod published_args;
mod record_args;
mod run_args;
mod size_args;
mod terminal;
mod tune_args;
mod volume_args;
mod waits;

use std::process::ExitCode;

use ::commands::outcome::Exit;
use clap::Parser;

use crate::args::{Arguments, ColorWhen};
use crate::terminal::Terminal;

fn main() -> ExitCode {
    guard::report_panics();
    interrupt::survive_file_size_limit();
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = foreign_options::message(&words) {
        Terminal::new(ColorWhen::Auto).error(&anyhow::Error::msg(message), None);
        return ExitCode::from(Exit::BadInput as u8);
    }
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.color);
    let exit = guard::run(|| commands::dispatch(arguments.command, &terminal), &terminal);
    ExitCode::from(exit as u8)
}
