//! A warning with the places where it was seen as JSON.

use analysis::warnings::WarningGroup;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct WarningJson<'a> {
    mark: char,
    code: &'a str,
    matters: &'a str,
    remedy: &'a str,
    sightings: Vec<SightingJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct SightingJson<'a> {
    load_point: Option<usize>,
    stream: Option<&'a str>,
    repeats: &'a [u32],
    seen: &'a str,
}

pub(super) fn warning(group: &WarningGroup) -> WarningJson<'_> {
    let sightings = group.sightings.iter().map(|s| SightingJson {
        load_point: s.load_point,
        stream: s.stream.as_deref(),
        repeats: &s.repeats,
        seen: &s.seen,
    });
    WarningJson {
        mark: group.mark,
        code: group.code,
        matters: group.matters,
        remedy: group.remedy,
        sightings: sightings.collect(),
    }
}
