//! `observe`: characterises an application from a trace, and writes the experiment that offers its
//! load, or a list that replays its operations.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use observe::{Observation, Options, Profile, Recording};

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
    let observation =
        observe::observe(open(path)?, options).map_err(|error| failed(path, error))?;
    let profile = Profile::of(&observation);
    Ok((observation, profile))
}

/// Observes the trace in a file, and records its operations for a replay.
///
/// * `skip_damaged` - damaged records are left out, and not refused
///
/// # Errors
/// As [`observe_file`]; or the operations cannot be replayed.
pub fn record_file(
    path: &Path,
    options: &Options,
    skip_damaged: bool,
) -> Result<(Observation, Profile, Recording), Failure> {
    let recorded = observe::record(open(path)?, options, skip_damaged);
    let (observation, recording) = recorded.map_err(|error| failed(path, error))?;
    let profile = Profile::of(&observation);
    Ok((observation, profile, recording))
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|error| failed(path, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed(path, "it is a directory; name a trace in it"));
    }
    Ok(BufReader::with_capacity(BUFFER_BYTES, file))
}

fn failed(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::input(anyhow!("observe {}: {why}", path.display()))
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
    let name = name_of("observed", trace);
    write_file(path, |out| report::observe::experiment::write(observation, profile, &name, out))
}

/// Writes a list of the recorded operations.
///
/// # Errors
/// The file cannot be written.
pub fn write_list(path: &Path, trace: &Path, recording: &Recording) -> Result<(), Failure> {
    let source = format!("The operations of {}", trace.display());
    write_file(path, |out| recording.write(&source, out))
}

/// Writes the experiment that replays a list.
///
/// * `trace` - the file that was observed, after which the experiment is named
///
/// # Errors
/// The file cannot be written.
pub fn write_replay(
    path: &Path,
    list: &Path,
    trace: &Path,
    observation: &Observation,
    recording: &Recording,
) -> Result<(), Failure> {
    let name = name_of("replay", trace);
    let list = seen_from(path, list);
    let list = list.display().to_string();
    write_file(path, |out| {
        report::observe::replay::write(observation, recording, &name, &list, out)
    })
}

fn name_of(kind: &str, trace: &Path) -> String {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy();
    format!("{kind}-{stem}").chars().take(NAME_MAX).collect()
}

/// A file as an experiment names it: relative to the folder of the experiment if it is there.
fn seen_from(experiment: &Path, file: &Path) -> PathBuf {
    match file.file_name().filter(|_| experiment.parent() == file.parent()) {
        Some(name) => PathBuf::from(name),
        None => std::path::absolute(file).unwrap_or_else(|_| file.to_owned()),
    }
}
