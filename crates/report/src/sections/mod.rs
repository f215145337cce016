//! The sections of a record's report between results and warnings, in reading order and for all
//! outputs; only some records have each.
//!
//! A new finding gets a file here with a function from the findings to an optional [`Section`], and a
//! line in [`of`]. Published figures are not findings: they come with the [`Record`].

mod bottleneck;
mod confidence;
mod curves;
pub(crate) mod environment;
mod mix;
mod network;
mod searches;
mod steady_state;
pub(crate) mod summary;
pub(crate) mod tune;

use analysis::Findings;

use crate::document::Section;
use crate::expect::published::{self, Detail};
use crate::record::Record;

/// Makes a section, if the findings have one.
type Maker = fn(&Findings) -> Option<Section>;

/// The sections of a record.
///
/// * `detail` - how much of the published figures is shown
pub(crate) fn of(record: Record<'_>, detail: Detail) -> Vec<Section> {
    const ANSWERS: &[Maker] = &[tune::answer, tune::settings, bottleneck::section];
    const EVIDENCE: &[Maker] = &[
        curves::section,
        searches::section,
        mix::section,
        confidence::section,
        steady_state::section,
        network::section,
    ];
    let Record { findings, published } = record;
    let made = |makers: &'static [Maker]| makers.iter().filter_map(|section| section(findings));
    let published = published.map(|published| published::section(published, &findings.id, detail));
    made(ANSWERS).chain(published).chain(made(EVIDENCE)).collect()
}
