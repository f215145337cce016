//! The flags of `observe` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use observe::{Format, Options, TimeUnit};

use crate::record_args::OUTPUT;

pub(crate) const OBSERVE_EXAMPLES: &str = "\
Examples:
  strace -f -ttt -T -y -o app.strace COMMAND
  fourcorners observe app.strace --under /mnt/vol1
  fourcorners observe app.strace --under /mnt/vol1 --output app.toml
  fourcorners run /mnt/vol1 -w app.toml

  fourcorners observe app.strace --replay app.replay --output replay.toml
  fourcorners run /mnt/vol1 -w replay.toml

  tcpdump -i any -s 256 -w app.pcap port 2049
  fourcorners observe app.pcap --full";

/// Arguments of `observe`.
#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// The trace: a fio I/O log (`write_iolog`), output of strace or blkparse, or a capture of NFSv3
    /// (pcap or pcapng).
    #[arg(value_name = "FILE")]
    pub(crate) trace: PathBuf,

    /// Only files at or below this path.
    ///
    /// In a capture, paths begin at an export whose mount was captured, otherwise with `?`; --full
    /// shows them.
    #[arg(long, value_name = "PATH")]
    pub(crate) under: Option<String>,

    /// The format, instead of recognising it by the content.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<TraceFormat>,

    /// The unit of times in a fio I/O log of version 3 (default: us, as fio 3.33 writes them).
    #[arg(long, value_name = "UNIT", value_enum)]
    pub(crate) iolog_unit: Option<IologUnit>,

    /// Write the operations in order as a list that a stream can replay.
    ///
    /// With --output the experiment replays the list, instead of offering a load like the observed one.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,

    /// With --replay, leave out damaged records instead of refusing them.
    #[arg(long, requires = "replay")]
    pub(crate) skip_damaged: bool,

    /// Write an experiment that offers the observed load (TOML), or `-` for stdout.
    #[arg(short, long, visible_alias = "out", help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Show everything: all transfer sizes, all other operations, and files.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Print JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Also write the full observation as an HTML page (.html) or Markdown (.md).
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// I/O log of fio, version 2 or 3.
    Iolog,
    /// Output of strace, best with -f -ttt -T -y.
    Strace,
    /// Capture with NFSv3 over TCP, pcap or pcapng.
    Pcap,
    /// Output of blkparse in its default format.
    Blktrace,
}

/// Units of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IologUnit {
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl ObserveArguments {
    /// What is read of the trace.
    pub(crate) fn options(&self) -> Options {
        Options {
            format: self.format.map(|format| match format {
                TraceFormat::Iolog => Format::Iolog,
                TraceFormat::Strace => Format::Strace,
                TraceFormat::Pcap => Format::Capture,
                TraceFormat::Blktrace => Format::Blktrace,
            }),
            under: self.under.clone(),
            iolog_unit: self.iolog_unit.map(|unit| match unit {
                IologUnit::Ms => TimeUnit::Milli,
                IologUnit::Us => TimeUnit::Micro,
                IologUnit::Ns => TimeUnit::Nano,
            }),
        }
    }
}
