//! `clean`: removes what fourcorners made in a directory, and says what it left.

use std::io::Write;

use units::Bytes;

use crate::args::CleanArguments;
use crate::exit::{Exit, Outcome};
use crate::named_target;
use crate::refusal;

pub(crate) fn run(arguments: &CleanArguments) -> Outcome {
    let place = named_target::place(&arguments.target, &arguments.option)?;
    let cleaned = target::clean::clean(place).map_err(refusal::failure)?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "removed {} {} ({}) from {}",
        cleaned.removed_files,
        if cleaned.removed_files == 1 { "file" } else { "files" },
        Bytes::new(cleaned.removed_bytes),
        cleaned.directory.display(),
    )?;
    if cleaned.removed_directory {
        writeln!(out, "removed the directory itself")?;
    }
    for left in &cleaned.left {
        writeln!(out, "left {}: {}", left.path.display(), left.reason)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
