//! Characterises an application from a trace: bytes in, an [`Observation`] out, and the [`Profile`]
//! of an experiment that offers the same load.
//!
//! For: fio I/O logs, the output of strace, and captures of NFSv3. Not for: opening files, nor for
//! wording (crate `report`).
//!
//! Traces are larger than memory, so every reader streams and every figure has a bound on its memory:
//! `blocks` samples by hash, `files` and `runs` have a maximum, `observer` sorts operations by
//! their begin within a window. Damaged records are counted, not fatal.
//!
//! Reading order: [`observation`] (the result), `observer` (what computes it), the readers
//! `iolog`, `strace` and `capture`, then [`profile`].

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
mod response;
mod runs;
mod sizes;
mod strace;

use std::io::BufRead;

pub use error::{Error, Position};
pub use format::{Format, TimeUnit};
pub use observation::Observation;
pub use profile::Profile;

use format::detect;
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
    let source = match found {
        Format::Iolog => iolog::read(input, options.iolog_unit, &mut observer)?,
        Format::Strace => strace::read(input, &mut observer)?,
        Format::Capture => capture::read(input, &mut observer)?,
    };
    observer.finish(source)
}
