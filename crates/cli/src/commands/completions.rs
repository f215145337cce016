//! `completions`: completions of commands and flags for a shell.

use clap::CommandFactory;
use commands::outcome::{Exit, Outcome};

use super::output::to_stdout;
use crate::args::Arguments;
use crate::program_args::CompletionsArguments;

pub(crate) fn run(arguments: &CompletionsArguments) -> Outcome {
    // The generator panics where its output cannot be written, so it writes to memory.
    let mut text = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "fourcorners", &mut text);
    to_stdout(|out| out.write_all(&text))?;
    Ok(Exit::Done)
}
