//! A record as a report shows it: what was measured, and what was published beside it.

use analysis::Findings;

use crate::expect::published::Published;

/// What one record is shown with. Findings alone become one by `into()`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What was measured.
    pub findings: &'a Findings,
    /// What was published beside it; nothing where that would mean nothing.
    pub published: Option<&'a Published>,
}

impl<'a> From<&'a Findings> for Record<'a> {
    fn from(findings: &'a Findings) -> Record<'a> {
        Record { findings, published: None }
    }
}
