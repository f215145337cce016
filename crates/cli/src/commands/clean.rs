//! `clean`: removes the files that fourcorners created in a target, and lists what is left.

use anyhow::anyhow;
use commands::outcome::{Exit, Failure, Outcome};
use commands::{named_target, refusal};
use units::{Bytes, counted};

use super::output::to_stdout;
use crate::args::CleanArguments;
use crate::waits;

pub(crate) fn run(arguments: &CleanArguments) -> Outcome {
    let named = &arguments.target;
    let target = named_target::spec(Some(named), &arguments.option)?;
    let location = named_target::location(&target, waits::observer(None))?
        .ok_or_else(|| Failure::input(anyhow!("clean `{named}`: it has no files")))?;
    let cleaned = target::clean::clean(location).map_err(refusal::failure)?;
    to_stdout(|out| {
        writeln!(
            out,
            "removed {} ({}) from {}",
            counted(cleaned.removed_files, "file"),
            Bytes::new(cleaned.removed_bytes),
            cleaned.directory.display(),
        )?;
        if cleaned.removed_directory {
            writeln!(out, "removed the directory")?;
        }
        let mut left = cleaned.not_removed.iter();
        left.try_for_each(|left| writeln!(out, "left {}: {}", left.path.display(), left.reason))
    })?;
    Ok(Exit::Done)
}
