//! The sections of a record's report between results and warnings, in reading order and for all
//! outputs; only some records have each.
//!
//! A new finding gets a file here with a function from the findings to an optional [`Section`], and a
//! line in [`of`]. Published figures are not findings: they come with the [`Record`].

pub(crate) mod bottleneck;
mod confidence;
mod curves;
pub(crate) mod environment;
pub(crate) mod hosts;
pub(crate) mod kinds;
pub(crate) mod metric;
mod mix;
mod network;
mod requirements;
mod scaling;
pub(crate) mod scraped;
mod searches;
mod steady_state;
pub(crate) mod summary;
pub(crate) mod targets;
pub(crate) mod tune;
pub(crate) mod users;

use analysis::Findings;

use crate::document::Section;
use crate::expect::published::{self, Detail};
use crate::record::Record;

/// Makes a section, if the findings have one.
type Maker = fn(&Findings) -> Option<Section>;

/// Whether a section is the answer that the experiment was made for, rather than evidence.
pub(crate) fn is_answer(section: &Section) -> bool {
    section.id == tune::ANSWER
}

/// The sections of a record.
///
/// * `detail` - how much of the published figures is shown
pub(crate) fn of(record: Record<'_>, detail: Detail) -> Vec<Section> {
    const ANSWERS: &[Maker] = &[
        requirements::section,
        tune::answer,
        tune::settings,
        metric::section,
        bottleneck::section,
    ];
    const EVIDENCE: &[Maker] = &[
        users::section,
        kinds::section,
        scaling::section,
        targets::section,
        hosts::section,
        curves::section,
        searches::section,
        mix::section,
        confidence::section,
        steady_state::section,
        network::section,
        scraped::section,
    ];
    let Record { findings, published, .. } = record;
    let made = |makers: &'static [Maker]| makers.iter().filter_map(|section| section(findings));
    let published = published.map(|published| published::section(published, &findings.id, detail));
    made(ANSWERS).chain(published).chain(made(EVIDENCE)).collect()
}
