//! `plan`: what `run` would do, or why it would refuse. Nothing is written, not even the store's
//! directory.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use target::directory::{self, Survey, Wanted};
use target::folder::Place;
use units::{Bytes, print_duration};
use workload::plan::{EmulatedVolume, Plan, TargetSpec};

use crate::exit::{Exit, Failure, Outcome};
use crate::experiment::{self, Planned};
use crate::named_target;
use crate::plan_text::{crowding, head, plan_text};
use crate::refusal;
use crate::run_args::PlanArguments;
use crate::terminal::Terminal;
use crate::waits;

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
    let planned = experiment::plan(&arguments.experiment, terminal)?;
    let place = match &planned.plan.target {
        TargetSpec::Null | TargetSpec::Emulated { .. } => None,
        TargetSpec::Directory { path } => Some(Place::Directory(PathBuf::from(path))),
        TargetSpec::Nfs { url, .. } => Some(waits::export(named_target::parsed(url)?, None)),
    };
    let survey = match place {
        None => None,
        Some(place) => {
            let overrides = arguments.overrides.overrides();
            let survey = directory::survey(place, Wanted::by(&planned.plan), overrides)
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

/// Warns of threads that wait for each other. With `--engine auto` they are those of io_uring,
/// which is preferred where blocking threads would outnumber the processors.
fn warn_of_crowding(plan: &Plan, terminal: &Terminal) {
    let Some(processors) = engine::processor::available() else { return };
    if let Some(crowding) = crowding(plan, processors as usize) {
        terminal.warn(&format!("{crowding}: they wait for each other, and times include the wait"));
    }
}

/// What the emulated volume is, and what its fill takes.
fn emulated_lines(plan: &Plan, volume: &EmulatedVolume, out: &mut String) {
    let time = |ns| print_duration(Duration::from_nanos(ns));
    let limit = Bytes::new(volume.throughput_limit_bytes_per_s);
    let (read, write) = (time(volume.read_delay_ns), time(volume.write_delay_ns));
    head(out, "volume", &format!("limit {limit}/s, reads take {read}, writes {write}"));
    let needed = plan.bytes_needed();
    let seconds = needed.get().div_ceil(volume.throughput_limit_bytes_per_s.max(1));
    head(out, "fill", &format!("{needed} to write into memory, about {seconds} s at the limit"));
}

/// What the fill would write, and the space for it.
fn space_lines(planned: &Planned, survey: Option<&Survey>) -> String {
    let mut out = String::new();
    if let TargetSpec::Emulated { volume, .. } = &planned.plan.target {
        emulated_lines(&planned.plan, volume, &mut out);
    }
    let Some(survey) = survey else { return out };
    let place = survey.place.as_path();
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
