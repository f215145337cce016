//! Whether what operations moved went over the wire.

use analysis::Findings;
use analysis::wire::{WireBytes, WireCheck};

use crate::document::{Block, Section};

/// The section, where a record knows of the wire.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let runs: Vec<_> = findings.wire.iter().flatten().collect();
    let believed: Vec<&WireCheck> = runs.iter().filter_map(|run| run.believed()).collect();
    let first = believed.first()?;
    let directions = || believed.iter().flat_map(|check| [check.read, check.written]);
    let judged: Vec<f64> = directions().filter_map(|bytes| bytes.ratio()).collect();
    let cached = directions().filter(|bytes| bytes.is_cached).count();
    let others = directions().filter(WireBytes::has_others).count();
    let mut points = Vec::new();
    let place = first.place.in_words();
    if judged.is_empty() {
        points.push(format!("Counted at {place}: too little was moved to be judged."));
    } else {
        let least = judged.iter().copied().fold(f64::INFINITY, f64::min);
        let most = judged.iter().copied().fold(0.0, f64::max);
        points.push(format!(
            "Counted at {place}: {} the bytes that operations moved ({}, reads and writes apart).",
            range(least, most),
            windows(runs.len())
        ));
    }
    if cached > 0 {
        points.push(format!(
            "Not storage: in {} a cache of this host answered; see the warnings.",
            windows(cached)
        ));
    }
    if others > 0 {
        points.push(format!(
            "In {} more passed than operations and their headers explain: others use {place} too, \
             or more is read than was asked for. That is no error of these figures.",
            windows(others)
        ));
    }
    Some(Section {
        id: "wire",
        title: "Wire".to_owned(),
        blocks: vec![Block::List(points)],
        method: vec!["Wire"],
    })
}

fn range(least: f64, most: f64) -> String {
    match most - least < 0.005 {
        true => format!("{least:.3} times"),
        false => format!("{least:.3} to {most:.3} times"),
    }
}

fn windows(count: usize) -> String {
    format!("{count} {}", if count == 1 { "window" } else { "windows" })
}
