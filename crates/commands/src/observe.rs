//! `observe`: characterises an application from a trace, and writes the experiment that offers its
//! load.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::anyhow;
use observe::{Observation, Options, Profile};

use crate::keep::write_file;
use crate::outcome::Failure;

/// Bytes read from the file by one call.
const BUFFER_BYTES: usize = 1 << 18;
/// The most characters of an experiment's name.
const NAME_MAX: usize = 100;

/// Observes the trace in a file.
///
/// # Errors
/// The file cannot be read, is of another format, or has no read or write of a file.
pub fn observe_file(path: &Path, options: &Options) -> Result<(Observation, Profile), Failure> {
    let shown = path.display();
    let failed = |why: String| Failure::input(anyhow!("observe {shown}: {why}"));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let is_directory = file.metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_directory {
        return Err(failed("it is a directory; name a trace in it".to_owned()));
    }
    let input = BufReader::with_capacity(BUFFER_BYTES, file);
    let observation =
        observe::observe(input, options).map_err(|error| failed(error.to_string()))?;
    let profile = Profile::of(&observation);
    Ok((observation, profile))
}

/// Writes the experiment that offers the observed load.
///
/// * `trace` - the file that was observed, after which the experiment is named
///
/// # Errors
/// The file cannot be written.
pub fn write_experiment(
    path: &Path,
    trace: &Path,
    observation: &Observation,
    profile: &Profile,
) -> Result<(), Failure> {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = format!("observed-{stem}").chars().take(NAME_MAX).collect();
    write_file(path, |out| report::observe::experiment::write(observation, profile, &name, out))
}
