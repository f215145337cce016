//! `plan`: what `run` would do, or why it would refuse. Nothing is written, not even the store's
//! directory.

use std::io::Write;
use std::path::{Path, PathBuf};

use target::directory::{self, Survey, Wanted};
use units::Bytes;
use workload::plan::{Plan, TargetSpec};

use crate::args::PlanArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::experiment::{self, Planned};
use crate::plan_text::{crowding, head, plan_text};
use crate::refusal;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &PlanArguments, terminal: &Terminal) -> Outcome {
    let outcome = show(arguments, terminal);
    if let Err(Failure { refused: Some(refused), .. }) = &outcome
        && arguments.json
    {
        refusal::json(refused, &mut std::io::stdout().lock())?;
    }
    outcome
}

fn show(arguments: &PlanArguments, terminal: &Terminal) -> Outcome {
    let store_root = arguments.store.root();
    let planned = experiment::plan(&arguments.experiment, &store_root, terminal)?;
    let mut overrides = arguments.overrides.overrides();
    // The scratch directory is ours to make.
    overrides.create |= planned.is_scratch;
    let survey = match &planned.plan.target {
        TargetSpec::Null | TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } => None,
        TargetSpec::Directory { path } => {
            let place = if planned.is_scratch { scratch_place(path) } else { PathBuf::from(path) };
            let survey = directory::survey(&place, Wanted::by(&planned.plan), overrides)
                .and_then(Survey::inspect);
            Some(survey.map_err(refusal::failure)?)
        }
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &planned.plan).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for (what, value) in &planned.assumed {
            terminal.note_wrapped(&format!("assumed {what}: {value}"));
        }
        let space = space_lines(&planned, survey.as_ref());
        let processors = engine::processor::processors().len();
        write!(out, "{}", plan_text(&planned.plan, &space, processors))?;
    }
    warn_of_crowding(&planned.plan, terminal);
    out.flush().map_err(Failure::from)?;
    Ok(Exit::Done)
}

/// Says where pinned workers wait for each other.
pub(crate) fn warn_of_crowding(plan: &Plan, terminal: &Terminal) {
    if let Some(crowding) = crowding(plan, engine::processor::processors().len()) {
        terminal.warn(&format!("{crowding}: pinned there, they wait for each other"));
    }
}

/// Where the scratch directory is looked at: it may be in a store that does not exist yet, and then
/// stands on the file system of the nearest directory that does.
fn scratch_place(path: &str) -> PathBuf {
    let path = Path::new(path);
    if path.parent().is_some_and(Path::is_dir) {
        return path.to_owned();
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = absolute.ancestors().skip(1).find(|ancestor| ancestor.is_dir());
    existing.unwrap_or(Path::new("/")).join(SCRATCH_NOT_YET)
}

/// A name that nobody has; it is only looked for.
const SCRATCH_NOT_YET: &str = ".fourcorners-scratch-not-yet";

/// What the fill would write, and the space for it.
fn space_lines(planned: &Planned, survey: Option<&Survey>) -> String {
    let mut out = String::new();
    let Some(survey) = survey else { return out };
    let place = match &planned.plan.target {
        TargetSpec::Directory { path } if planned.is_scratch => Path::new(path),
        _ => survey.place.as_path(),
    };
    let made = if survey.is_new { " (will be made)" } else { "" };
    head(&mut out, "directory", &format!("{}{made}", place.display()));
    let bytes: u64 = survey.to_write.iter().map(|part| part.bytes).sum();
    let files: u32 = survey.to_write.iter().map(|part| part.files).sum();
    let free = Bytes::new(survey.free_bytes);
    let fill = match files {
        0 => format!("nothing to write, the files are there; {free} free"),
        1 => format!("{} in 1 file to write; {free} free", Bytes::new(bytes)),
        _ => format!("{} in {files} files to write; {free} free", Bytes::new(bytes)),
    };
    head(&mut out, "fill", &fill);
    out
}
