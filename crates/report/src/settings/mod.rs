//! A load as the settings of load generators: fio, Vdbench, and an experiment file of fourcorners.
//!
//! For: using the result of a tuning elsewhere. Not for: reading such files. Properties that a
//! generator has no setting for are reported, never omitted silently.

pub mod experiment;
pub mod fio;
pub mod vdbench;

use workload::plan::{Phases, Stream};

/// A load and its target.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// The operations; each host's share has the number outstanding.
    pub stream: &'a Stream,
    /// The duration of the phases.
    pub phases: Phases,
    /// Connections of each host to an export, if given.
    pub connections: Option<u32>,
    /// The directory for generators that need a mount.
    pub directory: &'a str,
    /// The I/O method that measured the load: `io_uring`, `psync` or `nfs_client`.
    pub io_method: &'a str,
}

/// A count of bytes in the largest unit that divides it, as fio and Vdbench write it: `64k`.
fn size(bytes: u64) -> String {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    let unit = units.into_iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    match unit {
        Some((shift, name)) => format!("{}{name}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Whole seconds, at least one.
fn seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000).max(1)
}

/// A share as a percentage without trailing zeros.
fn percent(permille: u16) -> String {
    match permille % 10 {
        0 => format!("{}", permille / 10),
        rest => format!("{}.{rest}", permille / 10),
    }
}
