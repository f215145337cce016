//! A warning and its sightings as JSON.

use analysis::warnings::WarningGroup;
use schemars::JsonSchema;
use serde::Serialize;

use crate::warnings::{Advice, found, group_advice};

/// A warning.
#[derive(Serialize, JsonSchema)]
pub(super) struct WarningJson<'a> {
    /// Its letter in tables.
    mark: char,
    /// Its code.
    code: &'a str,
    /// What it means for the results.
    effect: &'a str,
    /// What to do about it.
    remedy: &'a str,
    /// Where it was found.
    sightings: Vec<SightingJson<'a>>,
}

/// Where a warning was found.
#[derive(Serialize, JsonSchema)]
pub(super) struct SightingJson<'a> {
    /// The load point, by its index in `load_points`; null for the whole experiment.
    load_point: Option<usize>,
    /// The stream's name; null for all streams.
    stream: Option<&'a str>,
    /// The repeats, from 0.
    repeats: &'a [u32],
    /// What was found, in words.
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
