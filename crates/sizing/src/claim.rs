//! A statement with a number, and what kind of evidence it rests on.
//!
//! For: showing a reader whether a number is a limit from the service's documents, a published
//! figure, arithmetic on those, or an extrapolation beyond them. Not for: the numbers themselves.

use cloud::reason::RowRef;

/// What a number rests on, the firmest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimKind {
    /// A limit, size step or setting that the service's documents state.
    DocumentedLimit,
    /// A figure that was measured and published for this configuration, or a published price.
    Published,
    /// Calculated from the requirement, documented limits and published figures, within the range
    /// that those cover.
    Derived,
    /// Calculated beyond what was published: other sizes or counts than those measured.
    Extrapolated,
}

impl ClaimKind {
    /// All of them, the firmest first.
    pub const ALL: [ClaimKind; 4] = [
        ClaimKind::DocumentedLimit,
        ClaimKind::Published,
        ClaimKind::Derived,
        ClaimKind::Extrapolated,
    ];

    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            ClaimKind::DocumentedLimit => "documented limit",
            ClaimKind::Published => "published",
            ClaimKind::Derived => "derived",
            ClaimKind::Extrapolated => "extrapolated",
        }
    }

    /// What it means, for a legend.
    pub const fn meaning(self) -> &'static str {
        match self {
            ClaimKind::DocumentedLimit => "stated by the service's documents",
            ClaimKind::Published => "measured for this configuration and published",
            ClaimKind::Derived => "calculated from those, within what they cover",
            ClaimKind::Extrapolated => "calculated beyond what was published; measure it first",
        }
    }
}

/// One line of a design's explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What the number rests on.
    pub kind: ClaimKind,
    /// The arithmetic, with units.
    pub text: String,
    /// The rows of `data/` that it uses; none where it follows from the requirement.
    pub rows: Vec<RowRef>,
}

impl Claim {
    /// A claim of a kind that uses these rows.
    pub fn new(
        kind: ClaimKind,
        text: impl Into<String>,
        rows: impl IntoIterator<Item = RowRef>,
    ) -> Claim {
        Claim { kind, text: text.into(), rows: rows.into_iter().collect() }
    }

    /// A limit or setting that documents state.
    pub fn documented(text: impl Into<String>, rows: impl IntoIterator<Item = RowRef>) -> Claim {
        Claim::new(ClaimKind::DocumentedLimit, text, rows)
    }

    /// Arithmetic on the requirement and these rows.
    pub fn derived(text: impl Into<String>, rows: impl IntoIterator<Item = RowRef>) -> Claim {
        Claim::new(ClaimKind::Derived, text, rows)
    }
}
