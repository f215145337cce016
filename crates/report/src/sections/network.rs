//! Whether the network counters confirm the bytes that operations moved.

use analysis::Findings;
use analysis::wire::{WireBytes, WireCheck};

use crate::document::{Block, Section};
use crate::warnings::counter_source;

/// The section; `None` if the record has no such counters.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let runs: Vec<_> = findings.wire.iter().flatten().collect();
    let trusted: Vec<&WireCheck> = runs.iter().filter_map(|run| run.believed()).collect();
    let first = trusted.first()?;
    let directions = || trusted.iter().flat_map(|check| [check.read, check.written]);
    let ratios: Vec<f64> = directions().filter_map(|bytes| bytes.ratio()).collect();
    let cached = directions().filter(|bytes| bytes.is_cached).count();
    let others = directions().filter(WireBytes::has_others).count();
    let mut points = Vec::new();
    let counters = counter_source(first.source);
    if ratios.is_empty() {
        points.push(format!("Counted at {counters}: too few bytes were moved for a comparison."));
    } else {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        points.push(format!(
            "Counted at {counters}: {} the bytes that operations moved ({}, reads and writes \
             separately).",
            range(least, most),
            windows(runs.len())
        ));
    }
    if cached > 0 {
        points.push(format!(
            "Not storage: in {} a client cache answered; see the warnings.",
            windows(cached)
        ));
    }
    if others > 0 {
        points.push(format!(
            "In {} more bytes were counted than operations and their headers explain: other \
             programs use {counters} too, or the client reads ahead. The results are not affected.",
            windows(others)
        ));
    }
    Some(Section {
        id: "network-counters",
        title: "Network counters".to_owned(),
        blocks: vec![Block::List(points)],
        method: vec!["Network counters"],
    })
}

fn range(least: f64, most: f64) -> String {
    match most - least < 0.005 {
        true => format!("{least:.3} times"),
        false => format!("{least:.3} to {most:.3} times"),
    }
}

fn windows(count: usize) -> String {
    units::counted(count as u64, "window")
}
