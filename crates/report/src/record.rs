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
}

impl<'a> From<&'a Findings> for Record<'a> {
    fn from(findings: &'a Findings) -> Record<'a> {
        Record { findings, published: None }
    }
}

/// What the user changed in the experiment, for the head of every output.
pub(crate) fn overrides(findings: &Findings) -> Option<String> {
    let given = &findings.overrides;
    (!given.is_empty()).then(|| format!("Overrides of {}: {}", findings.source, given.join(", ")))
}
