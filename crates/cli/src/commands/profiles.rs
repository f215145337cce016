//! `profiles`: the built-in experiments.

use std::io::Write;

use anyhow::anyhow;
use workload::experiment;

use crate::args::ProfilesArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::wrapped;

pub(crate) fn run(arguments: &ProfilesArguments) -> Outcome {
    let mut out = std::io::stdout().lock();
    match &arguments.name {
        Some(name) => write!(out, "{}", text(name)?)?,
        None => {
            for (name, purpose) in experiment::PROFILES {
                writeln!(out, "{name}")?;
                for line in wrapped(purpose, 74) {
                    writeln!(out, "    {line}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The text of the profile `name`.
pub(crate) fn text(name: &str) -> Result<&'static str, Failure> {
    experiment::profile(name).ok_or_else(|| {
        let known: Vec<&str> = experiment::PROFILES.iter().map(|(name, _)| *name).collect();
        Failure::input(anyhow!("there is no profile `{name}`; there are {}", known.join(", ")))
    })
}
