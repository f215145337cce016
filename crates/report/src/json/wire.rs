//! What the wire counted in each run, as JSON.

use analysis::Findings;
use analysis::wire::{RunWire, WireBytes, WireCheck};
use serde_json::{Value, json};

use crate::number::exported;

/// One entry for each load point, in their order; nothing where no run knows of the wire.
pub(super) fn wire(findings: &Findings) -> Option<Value> {
    let points = || findings.wire.iter();
    let any = points().any(|runs| !runs.is_empty());
    any.then(|| points().map(|runs| runs.iter().map(run).collect::<Vec<_>>()).collect())
}

fn run(run: &RunWire) -> Value {
    let place = |check: &WireCheck| {
        let intervals = check.intervals.iter().map(|ratio| ratio.map(exported));
        json!({
            "place": check.place.name(),
            "read": bytes(check.read),
            "written": bytes(check.written),
            "interval_ratios": intervals.collect::<Vec<_>>(),
        })
    };
    json!({
        "repeat": run.repeat,
        "places": run.places.iter().map(place).collect::<Vec<_>>(),
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
