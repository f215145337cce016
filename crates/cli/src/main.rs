//! The command line of fourcorners: arguments in, a command, an exit code out.

mod args;
mod avs_args;
mod beside;
mod beside_args;
mod check_args;
mod check_look;
mod check_show;
mod command_line;
mod commands;
mod compare_args;
mod connection_state;
mod diagnostics;
mod emulated;
mod environment;
mod event_line;
mod events;
mod exit;
mod expect_args;
mod experiment;
mod explain;
mod foreign_options;
mod guard;
mod host_state;
mod interrupt;
mod keep;
mod known;
#[cfg(test)]
mod limits_agree;
mod live;
mod load_points;
mod named_target;
mod output_file;
mod picture;
mod plan_text;
mod predict_args;
mod record_args;
mod refusal;
mod run_args;
mod schedule_args;
mod search_text;
mod size_args;
mod terminal;
mod tune_args;
mod volume_args;
mod waits;
mod wire;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, ColorWhen};
use crate::exit::Exit;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    guard::report_panics_as_our_bug();
    interrupt::survive_file_size_limit();
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = foreign_options::message(&words) {
        Terminal::new(ColorWhen::Auto).error(&anyhow::Error::msg(message));
        return ExitCode::from(Exit::BadInput as u8);
    }
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.color);
    let exit = guard::run(|| commands::dispatch(arguments.command, &terminal), &terminal);
    ExitCode::from(exit as u8)
}
