//! A record as a report shows it: what was measured, and the published figures to compare it with.

use analysis::Findings;

use crate::expect::published::Published;

/// What the report of one record contains. Findings alone become one by `into()`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What was measured.
    pub findings: &'a Findings,
    /// Published figures; `None` where they do not apply.
    pub published: Option<&'a Published>,
    /// Label and note, for the head of a page.
    pub remarks: Remarks<'a>,
}

/// What the user wrote about a record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remarks<'a> {
    /// Its name besides the ID.
    pub label: Option<&'a str>,
    /// A note.
    pub note: Option<&'a str>,
}

impl<'a> From<&'a Findings> for Record<'a> {
    fn from(findings: &'a Findings) -> Record<'a> {
        Record { findings, published: None, remarks: Remarks::default() }
    }
}

/// What the user changed in the experiment, for the head of every output.
pub(crate) fn overrides(findings: &Findings) -> Option<String> {
    let given = &findings.overrides;
    (!given.is_empty()).then(|| format!("Overrides of {}: {}", findings.source, given.join(", ")))
}
