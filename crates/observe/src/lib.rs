//! Characterises an application from a trace: bytes in, an [`Observation`] out, and the [`Profile`]
//! of an experiment that offers the same load.
//!
//! For: fio I/O logs, the output of strace and of blkparse, and captures of NFSv3. Not for: opening files, nor for
//! wording (crate `report`).
//!
//! Traces are larger than memory, so every reader streams and every figure has a bound on its memory:
//! `blocks` samples by hash, `files` and `runs` have a maximum, `observer` sorts operations by
//! their begin within a window. Damaged records are counted, not fatal.
//!
//! Reading order: [`observation`] (the result), `observer` (what computes it), the readers
//! `iolog`, `strace`, `blktrace` and `capture`, then [`profile`] and [`recording`].

mod blktrace;
mod blocks;
mod capture;
mod error;
mod files;
mod flight;
mod format;
mod iolog;
mod lines;
pub mod observation;
mod observer;
pub mod profile;
mod rate;
pub mod recording;
mod response;
mod runs;
mod sizes;
mod strace;

use std::io::BufRead;

pub use error::{Error, Position};
pub use format::{Format, TimeUnit};
pub use observation::Observation;
pub use profile::Profile;
pub use recording::Recording;

use format::detect;
use observation::{Note, Source};
use observer::Observer;

/// What is read of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format; `None` to recognise it by its content.
    pub format: Option<Format>,
    /// Only files at or below this path.
    pub under: Option<String>,
    /// The unit of the times of a fio I/O log of version 3; `None` for microseconds.
    pub iolog_unit: Option<TimeUnit>,
}

/// Reads a trace to its end.
///
/// # Errors
/// It cannot be read, is of another format, or has no read or write of a file.
pub fn observe(mut input: impl BufRead, options: &Options) -> Result<Observation, Error> {
    let found = detect(&mut input, options.format)?;
    let mut observer = Observer::new(options.under.clone());
    let source = read(input, found, options, &mut observer)?;
    observer.finish(source)
}

/// As [`observe`], with all operations in order, for a replay.
///
/// * `skip_damaged` - damaged records are left out, and not refused
///
/// # Errors
/// As [`observe`]; or the trace has damaged records, operations far out of order, or too many.
pub fn record(
    mut input: impl BufRead,
    options: &Options,
    skip_damaged: bool,
) -> Result<(Observation, Recording), Error> {
    let found = detect(&mut input, options.format)?;
    let mut observer = Observer::new(options.under.clone()).recording();
    let source = read(input, found, options, &mut observer)?;
    let (observation, recording) = observer.finish_with_recording(source)?;
    for note in &observation.notes {
        if let Note::Damaged { count, first, .. } = *note
            && !skip_damaged
        {
            return Err(Error::Damaged { at: first, count });
        }
    }
    Ok((observation, recording))
}

fn read(
    input: impl BufRead,
    format: Format,
    options: &Options,
    observer: &mut Observer,
) -> Result<Source, Error> {
    match format {
        Format::Iolog => iolog::read(input, options.iolog_unit, observer),
        Format::Strace => strace::read(input, observer),
        Format::Capture => capture::read(input, observer),
        Format::Blktrace => blktrace::read(input, observer),
    }
}
