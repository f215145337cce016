//! `man`: the manual page of the program, or those of all commands.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use commands::outcome::{Exit, Failure, Outcome};

use super::output::to_stdout;
use crate::args::Arguments;
use crate::program_args::ManArguments;

pub(crate) fn run(arguments: &ManArguments) -> Outcome {
    let mut program = Arguments::command();
    program.build();
    match &arguments.output {
        None => to_stdout(|out| page(&program, out))?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("create {}", folder.display()))
                .map_err(Failure::input)?;
            write_pages(&program, folder).map_err(Failure::target)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes the page of `command` and those of its subcommands: `fourcorners-volume-serve.1`.
fn write_pages(command: &Command, folder: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = folder.join(format!("{name}.1"));
    let mut text = Vec::new();
    page(command, &mut text)?;
    std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    for one in command.get_subcommands() {
        write_pages(one, folder)?;
    }
    Ok(())
}

/// The page of one command. The generator would fill the examples into paragraphs, so they are
/// written here, line by line.
fn page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    for line in after.lines() {
        match line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            Some(heading) => write!(out, ".SH {}\n.nf\n", heading.to_uppercase())?,
            None => writeln!(out, "{}", escaped(line))?,
        }
    }
    writeln!(out, ".fi")
}

/// A line of text for roff: a backslash, a hyphen, and a dot or quote at the start are commands.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
