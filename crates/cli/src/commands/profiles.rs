//! `profiles`: lists or prints the built-in experiments.

use commands::measure::experiment::profile;
use commands::outcome::{Exit, Outcome};
use workload::experiment::PROFILES;

use super::output::to_stdout;
use crate::args::ProfilesArguments;
use crate::terminal::wrapped;

pub(crate) fn run(arguments: &ProfilesArguments) -> Outcome {
    let text = match &arguments.name {
        Some(name) => profile(name)?.to_owned(),
        None => PROFILES.iter().map(|(name, purpose)| listed(name, purpose)).collect(),
    };
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

fn listed(name: &str, purpose: &str) -> String {
    format!("{name}\n    {}\n", wrapped(purpose, 74).join("\n    "))
}
