//! Warnings as every output lists them: what was found, and where.

mod brief;
mod words;

use analysis::Findings;
use analysis::warnings::{Sighting, WarningGroup};

use crate::results::load_point_name;
pub(crate) use brief::brief;
pub(crate) use words::counter_source;
pub use words::{Advice, advice, found};

/// Why a group of warnings matters, and what to do next.
pub fn group_advice(group: &WarningGroup) -> Advice {
    advice(&group.sightings[0].warning)
}

/// Each thing that was found, once, with all locations where it was.
pub(crate) fn sightings(findings: &Findings, group: &WarningGroup) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for sighting in &group.sightings {
        let (text, location) = (found(&sighting.warning), location(findings, sighting));
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, locations)) => locations.push(location),
            None => all.push((text, vec![location])),
        }
    }
    all
}

/// Where a warning applies: `random read 8 KiB, queue_depth=4, stream log, repeats 1, 2`.
fn location(findings: &Findings, sighting: &Sighting) -> String {
    let Some(load_point) = sighting.load_point.map(|index| &findings.load_points[index]) else {
        return "the whole experiment".to_owned();
    };
    let mut text = load_point_name(load_point);
    if let Some(stream) = &sighting.stream {
        text.push_str(&format!(", stream {stream}"));
    }
    if load_point.runs.len() > 1 && !sighting.repeats.is_empty() {
        let numbers: Vec<String> = sighting.repeats.iter().map(|r| (r + 1).to_string()).collect();
        let noun = if numbers.len() > 1 { "repeats" } else { "repeat" };
        text.push_str(&format!(", {noun} {}", numbers.join(", ")));
    }
    text
}
