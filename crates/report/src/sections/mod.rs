//! Sections of a report that only some records have, in the order in which they are read. They
//! stand between the results and the warnings, in all outputs.
//!
//! A new finding gets a file here with a function from the findings to a [`Section`] (or nothing),
//! and one line in [`of`].

mod curves;
mod limits;
mod mix;
mod percentiles;
mod searches;
mod steadiness;
pub(crate) mod summary;
pub(crate) mod tune;
mod wire;

use analysis::Findings;

use crate::document::Section;

/// Makes a section where the findings have one.
type Maker = fn(&Findings) -> Option<Section>;

/// The sections that these findings have.
pub fn of(findings: &Findings) -> Vec<Section> {
    const MAKERS: &[Maker] = &[
        tune::answer,
        tune::settings,
        limits::section,
        curves::section,
        searches::section,
        mix::section,
        percentiles::section,
        steadiness::section,
        wire::section,
    ];
    MAKERS.iter().filter_map(|section| section(findings)).collect()
}
