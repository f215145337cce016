//! What makes numbers doubtful, one line for each kind of warning.

use analysis::Findings;
use analysis::summary;
use analysis::warnings::WarningGroup;

use crate::warnings::{brief, group_advice, sightings};

/// More caveats are counted.
const CAVEATS_MAX: usize = 5;
/// What was found is quoted up to this length; otherwise its kind is named.
const QUOTED_MAX: usize = 56;
/// Warnings because of which the numbers may not be those of the target; they are never left out for
/// others.
const SEVERE: [&str; 7] = [
    "hosts_lost",
    "errors_seen",
    "overloaded",
    "served_from_cache",
    "held_in_cache",
    "ended_early",
    "nothing_measured",
];
/// Warnings that name a host are quoted whatever their length.
const NAMING_HOSTS: [&str; 2] = ["hosts_lost", "host_slower"];
/// The legend of the table explains missing percentiles.
const IN_LEGEND: &str = "few_samples_for_percentile";

/// A kind of warnings that makes numbers doubtful.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    /// Its letter in the tables.
    pub mark: char,
    /// One line: `warm-up too short (3 of 16 load points)`.
    pub line: String,
    /// Why it matters.
    pub explanation: String,
    /// Load points it affects.
    pub load_points: usize,
}

/// The most severe caveats, and then those of most load points, by their letters; and how many are left
/// out.
pub(super) fn caveats(findings: &Findings) -> (Vec<Caveat>, usize) {
    let group = |caveat: &summary::Caveat| &findings.warnings[caveat.warning];
    let all = findings.summary.caveats.iter();
    let mut shown: Vec<&summary::Caveat> =
        all.filter(|caveat| group(caveat).code != IN_LEGEND).collect();
    shown.sort_by_key(|caveat| !SEVERE.contains(&group(caveat).code));
    let left_out = shown.len().saturating_sub(CAVEATS_MAX);
    shown.truncate(CAVEATS_MAX);
    shown.sort_by_key(|caveat| group(caveat).mark);
    let caveat = |caveat: &summary::Caveat| {
        let group = group(caveat);
        Caveat {
            mark: group.mark,
            line: line(findings, group, caveat.load_points),
            explanation: group_advice(group).effect.to_owned(),
            load_points: caveat.load_points,
        }
    };
    (shown.into_iter().map(caveat).collect(), left_out)
}

fn line(findings: &Findings, group: &WarningGroup, concerned: usize) -> String {
    let found = found(findings, group);
    match findings.load_points.len() {
        1 => found,
        all if concerned == all => format!("{found} (all load points)"),
        all => format!("{found} ({concerned} of {all} load points)"),
    }
}

/// What was found if that is short and the same everywhere, or the kind of warning.
fn found(findings: &Findings, group: &WarningGroup) -> String {
    match &sightings(findings, group)[..] {
        [(text, _)]
            if !text.contains('\n')
                && (text.chars().count() <= QUOTED_MAX || NAMING_HOSTS.contains(&group.code)) =>
        {
            text.clone()
        }
        _ => brief(&group.sightings[0].warning).to_owned(),
    }
}
