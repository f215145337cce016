//! `clean`: removes the files that fourcorners created in a target, or those of some experiments, and
//! lists what is left.

use anyhow::anyhow;
use commands::keep::file_sets;
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
    let selected = match arguments.experiment.as_slice() {
        [] => None,
        names => Some(file_sets::files_of(&arguments.store.open(), &target, names)?),
    };
    let cleaned = match &selected {
        None => target::clean::clean(location),
        Some(selected) => target::clean::clean_files(location, &selected.files),
    };
    let cleaned = cleaned.map_err(refusal::failure)?;
    to_stdout(|out| {
        writeln!(
            out,
            "removed {} ({}) from {}",
            counted(cleaned.removed_files, "file"),
            Bytes::new(cleaned.removed_bytes),
            cleaned.directory.display(),
        )?;
        for (experiment, files) in selected.iter().flat_map(|selected| &selected.shared) {
            writeln!(out, "kept {} that `{experiment}` uses too", counted(*files, "file"))?;
        }
        if cleaned.kept_files > 0 {
            writeln!(out, "{} of other experiments left", counted(cleaned.kept_files, "file"))?;
        }
        if cleaned.removed_directory {
            writeln!(out, "removed the directory")?;
        }
        let mut left = cleaned.not_removed.iter();
        left.try_for_each(|left| writeln!(out, "left {}: {}", left.path.display(), left.reason))
    })?;
    Ok(Exit::Done)
}
