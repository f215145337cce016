//! The network counters of each run as JSON.

use analysis::Findings;
use analysis::wire::{RunWire, WireBytes, WireCheck};
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// The network counters of a run.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunWireJson {
    /// The repeat, from 0.
    repeat: u32,
    /// The counters, by source.
    sources: Vec<WireCheckJson>,
}

/// Bytes counted by the kernel, compared with those of the load generator.
#[derive(Serialize, JsonSchema)]
struct WireCheckJson {
    /// What counted: `nfs_mount`, for example.
    source: &'static str,
    /// Bytes read.
    read: WireBytesJson,
    /// Bytes written.
    written: WireBytesJson,
    /// Bytes on the wire divided by bytes moved, of each interval; null where nothing was moved.
    interval_ratios: Vec<Option<f64>>,
}

/// Bytes of one direction.
#[derive(Serialize, JsonSchema)]
struct WireBytesJson {
    /// Bytes that the load generator moved.
    moved_bytes: u64,
    /// Bytes that the source counted.
    wire_bytes: u64,
    /// `wire_bytes` divided by `moved_bytes`; null if nothing was moved.
    ratio: Option<f64>,
    /// Fewer bytes were on the wire than moved: a client cache served the rest.
    cached: bool,
}

/// What the kernel of one of several hosts counted in a run.
#[derive(Serialize, JsonSchema)]
pub(super) struct HostWireJson {
    /// The repeat, from 0.
    repeat: u32,
    /// What counted: `nfs_mount`, for example.
    source: &'static str,
    /// Bytes read.
    read: WireBytesJson,
    /// Bytes written.
    written: WireBytesJson,
}

/// The most reliable counters of each run.
pub(super) fn of_host(runs: &[RunWire]) -> Vec<HostWireJson> {
    let of_run = |run: &RunWire| {
        let check = run.believed()?;
        Some(HostWireJson {
            repeat: run.repeat,
            source: check.source.name(),
            read: bytes(check.read),
            written: bytes(check.written),
        })
    };
    runs.iter().filter_map(of_run).collect()
}

/// An entry for each load point, in order; `None` if no run has network counters.
pub(super) fn wire(findings: &Findings) -> Option<Vec<Vec<RunWireJson>>> {
    let points = || findings.wire.iter();
    let any = points().any(|runs| !runs.is_empty());
    any.then(|| points().map(|runs| runs.iter().map(run).collect()).collect())
}

fn run(run: &RunWire) -> RunWireJson {
    let source = |check: &WireCheck| WireCheckJson {
        source: check.source.name(),
        read: bytes(check.read),
        written: bytes(check.written),
        interval_ratios: check.intervals.iter().map(|ratio| ratio.map(exported)).collect(),
    };
    RunWireJson { repeat: run.repeat, sources: run.sources.iter().map(source).collect() }
}

fn bytes(bytes: WireBytes) -> WireBytesJson {
    WireBytesJson {
        moved_bytes: bytes.counted,
        wire_bytes: bytes.wire,
        ratio: bytes.ratio().map(exported),
        cached: bytes.is_cached,
    }
}
