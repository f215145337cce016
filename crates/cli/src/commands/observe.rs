//! `observe`: prints the characteristics of an application, and writes the experiment that offers its
//! load, or one that replays its operations.

use std::io::Write;

use commands::keep::output_file::is_stdout;
use commands::keep::{refuse_unwritable, refuse_unwritable_sheet};
use commands::observe::{observe_file, record_file, write_experiment, write_list, write_replay};
use commands::outcome::{Exit, Outcome};
use report::observe::{json, replay, sheet};
use units::counted;

use super::sheet_output::SheetOutput;
use crate::observe_args::ObserveArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ObserveArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    arguments.output.as_deref().map(refuse_unwritable).transpose()?;
    arguments.replay.as_deref().map(refuse_unwritable).transpose()?;
    let (trace, options) = (&arguments.trace, arguments.options());
    let (observation, profile, recording) = match &arguments.replay {
        Some(_) => {
            let (observation, profile, recording) =
                record_file(trace, &options, arguments.skip_damaged)?;
            (observation, profile, Some(recording))
        }
        None => {
            let (observation, profile) = observe_file(trace, &options)?;
            (observation, profile, None)
        }
    };
    let replayed = arguments.replay.as_deref().zip(recording.as_ref());
    if let Some((list, recording)) = replayed {
        write_list(list, trace, recording)?;
        // The list is the output.
        if is_stdout(list) && arguments.output.is_none() {
            return Ok(Exit::Done);
        }
    }
    if let Some(path) = &arguments.output {
        match replayed {
            Some((list, recording)) => write_replay(path, list, trace, &observation, recording)?,
            None => write_experiment(path, trace, &observation, &profile)?,
        }
        // The experiment is the output.
        if is_stdout(path) {
            return Ok(Exit::Done);
        }
    }
    let output = SheetOutput {
        report: arguments.report.as_deref(),
        json: arguments.json,
        full: arguments.full,
    };
    let write_json = |out: &mut dyn Write| json::write(&observation, &profile, out);
    output.write(&sheet(&observation, &profile), write_json, terminal)?;
    if let Some((list, recording)) = replayed {
        let words = replay::words(recording);
        terminal.note(&format!("replay      {}: {words}", list.display()));
        match &arguments.output {
            Some(path) => {
                let path = path.display();
                let more =
                    format!("experiment  {path}\nmore        fourcorners plan TARGET -w {path}");
                terminal.note(&more);
            }
            None => {
                terminal.note("more        add --output FILE for an experiment that replays it")
            }
        }
    } else if let Some(path) = &arguments.output {
        let path = path.display();
        let points = counted(profile.left_out.len() as u64, "point");
        terminal.note(&format!(
            "experiment  {path}\nleft out    {points}, listed in its comments and by --full\n\
             more        fourcorners plan TARGET -w {path}"
        ));
    }
    Ok(Exit::Done)
}
