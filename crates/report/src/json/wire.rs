//! The network counters of each run as JSON.

use analysis::Findings;
use analysis::wire::{RunWire, WireBytes, WireCheck};
use serde_json::{Value, json};

use crate::number::exported;

/// An entry for each load point, in order; `None` if no run has network counters.
pub(super) fn wire(findings: &Findings) -> Option<Value> {
    let points = || findings.wire.iter();
    let any = points().any(|runs| !runs.is_empty());
    any.then(|| points().map(|runs| runs.iter().map(run).collect::<Vec<_>>()).collect())
}

fn run(run: &RunWire) -> Value {
    let source = |check: &WireCheck| {
        let intervals = check.intervals.iter().map(|ratio| ratio.map(exported));
        json!({
            "source": check.source.name(),
            "read": bytes(check.read),
            "written": bytes(check.written),
            "interval_ratios": intervals.collect::<Vec<_>>(),
        })
    };
    json!({
        "repeat": run.repeat,
        "sources": run.sources.iter().map(source).collect::<Vec<_>>(),
    })
}

fn bytes(bytes: WireBytes) -> Value {
    json!({
        "moved_bytes": bytes.counted,
        "wire_bytes": bytes.wire,
        "ratio": bytes.ratio().map(exported),
        "cached": bytes.is_cached,
    })
}
