//! `profiles`: lists or prints the built-in experiments.

use commands::measure::experiment::profile;
use commands::measure::profiles;
use commands::outcome::{Exit, Outcome};

use super::output::to_stdout;
use crate::args::ProfilesArguments;
use crate::terminal::{Terminal, wrapped};

pub(crate) fn run(arguments: &ProfilesArguments, terminal: &Terminal) -> Outcome {
    let text = match &arguments.name {
        Some(name) => profile(name)?.text.to_owned(),
        None if arguments.json => {
            let json = serde_json::to_string_pretty(&profiles::json());
            format!("{}\n", json.map_err(std::io::Error::from)?)
        }
        None => profiles::list(wrapped, terminal.report_columns()),
    };
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
