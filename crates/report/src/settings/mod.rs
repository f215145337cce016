//! A load as the settings of load generators: fio, Vdbench, and our own experiment file.
//!
//! For: what a tuning found, to be typed elsewhere as it is. Not for: reading such files. What a
//! generator cannot say is said in words beside, never left out.

pub mod experiment;
pub mod fio;
pub mod vdbench;

use workload::plan::{Phases, Stream};

/// A load, and where it goes.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// What the operations are; how many are outstanding each host's share says.
    pub stream: &'a Stream,
    /// How long.
    pub phases: Phases,
    /// Connections of each host to an export, where their number was given.
    pub connections: Option<u32>,
    /// The directory, as generators that need a mount are told it.
    pub directory: &'a str,
    /// The engine that measured it: `io_uring`, `psync` or `nfs_client`.
    pub engine: &'a str,
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

/// Percent of reads without a tail of zeros.
fn percent(permille: u16) -> String {
    match permille % 10 {
        0 => format!("{}", permille / 10),
        rest => format!("{}.{rest}", permille / 10),
    }
}
