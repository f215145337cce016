//! Sections of a report that only some records have, in the order in which they are read. They
//! stand between the results and the warnings, in all outputs.
//!
//! A new finding gets a file here with a function from the findings to a [`Section`] (or nothing),
//! and one line in [`of`]. What was published beside a record is no finding: it comes with the
//! [`Record`].

mod bottleneck;
mod curves;
mod mix;
mod percentiles;
mod searches;
mod steadiness;
pub(crate) mod summary;
pub(crate) mod tune;
mod wire;

use analysis::Findings;

use crate::document::Section;
use crate::expect::published::{self, Detail};
use crate::record::Record;

/// Makes a section where the findings have one.
type Maker = fn(&Findings) -> Option<Section>;

/// The sections that a record has.
///
/// * `detail` - of what was published beside it
pub(crate) fn of(record: Record<'_>, detail: Detail) -> Vec<Section> {
    const ANSWERS: &[Maker] = &[tune::answer, tune::settings, bottleneck::section];
    const MAKERS: &[Maker] = &[
        curves::section,
        searches::section,
        mix::section,
        percentiles::section,
        steadiness::section,
        wire::section,
    ];
    let Record { findings, published } = record;
    let made = |makers: &'static [Maker]| makers.iter().filter_map(|section| section(findings));
    let beside = published.map(|some| published::section(some, &findings.id, detail));
    made(ANSWERS).chain(beside).chain(made(MAKERS)).collect()
}
