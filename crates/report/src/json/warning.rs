//! A warning and its sightings as JSON.

use analysis::warnings::WarningGroup;
use serde::Serialize;

use crate::warnings::{Advice, found, group_advice};

#[derive(Serialize)]
pub(super) struct WarningJson<'a> {
    mark: char,
    code: &'a str,
    effect: &'a str,
    remedy: &'a str,
    sightings: Vec<SightingJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct SightingJson<'a> {
    load_point: Option<usize>,
    stream: Option<&'a str>,
    repeats: &'a [u32],
    found: String,
}

pub(super) fn warning(group: &WarningGroup) -> WarningJson<'_> {
    let sightings = group.sightings.iter().map(|s| SightingJson {
        load_point: s.load_point,
        stream: s.stream.as_deref(),
        repeats: &s.repeats,
        found: found(&s.warning),
    });
    let Advice { effect, remedy } = group_advice(group);
    WarningJson {
        mark: group.mark,
        code: group.code,
        effect,
        remedy,
        sightings: sightings.collect(),
    }
}
