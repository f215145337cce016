//! A statement with the evidence that it rests on.
//!
//! For: showing whether a number is a documented limit, a published figure, arithmetic on those, or
//! an extrapolation beyond them. Not for: the numbers themselves.

use cloud::reason::RowRef;

use crate::statement::Statement;

/// The evidence for a number, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimKind {
    /// A limit, size step or setting in the service's documentation.
    DocumentedLimit,
    /// A figure measured and published for this configuration, or a published price.
    Published,
    /// Calculated from the requirement, documented limits and published figures, within the range
    /// that those cover.
    Derived,
    /// Calculated beyond the sizes or counts that were published.
    Extrapolated,
}

impl ClaimKind {
    /// All kinds, the strongest first.
    pub const ALL: [ClaimKind; 4] = [
        ClaimKind::DocumentedLimit,
        ClaimKind::Published,
        ClaimKind::Derived,
        ClaimKind::Extrapolated,
    ];
}

/// One line of a design's explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The evidence.
    pub kind: ClaimKind,
    /// The arithmetic.
    pub statement: Statement,
    /// The rows of `data/` used; none if it follows from the requirement.
    pub rows: Vec<RowRef>,
}

impl Claim {
    /// A claim of `kind` that uses these rows.
    pub fn new(
        kind: ClaimKind,
        statement: impl Into<Statement>,
        rows: impl IntoIterator<Item = RowRef>,
    ) -> Claim {
        Claim { kind, statement: statement.into(), rows: rows.into_iter().collect() }
    }

    /// A documented limit or setting.
    pub fn documented(
        statement: impl Into<Statement>,
        rows: impl IntoIterator<Item = RowRef>,
    ) -> Claim {
        Claim::new(ClaimKind::DocumentedLimit, statement, rows)
    }

    /// Arithmetic on the requirement and these rows.
    pub fn derived(
        statement: impl Into<Statement>,
        rows: impl IntoIterator<Item = RowRef>,
    ) -> Claim {
        Claim::new(ClaimKind::Derived, statement, rows)
    }
}
