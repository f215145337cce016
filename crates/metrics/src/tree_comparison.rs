//! Whether a tree of names was, after a run, what its operations must have left.
//!
//! Not for: the comparison itself (`target::tree`).

use serde::{Deserialize, Serialize};

/// The tree of a stream on one target after a run. Journals store the fields in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeComparison {
    /// The name of the stream.
    pub stream: String,
    /// The target's position in the plan.
    pub target: u32,
    /// The result.
    pub result: TreeResult,
}

/// The result of comparing a tree. Journals store a variant as its position here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeResult {
    /// It was compared.
    Compared(ComparedTree),
    /// It was not compared.
    NotCompared(NotCompared),
}

/// What a walk of a tree found. Journals store the fields in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedTree {
    /// Names of files, hard links included.
    pub files: u64,
    /// Directories, without the root of the tree.
    pub directories: u64,
    /// Symbolic links.
    pub symbolic_links: u64,
    /// Names of these that failed operations may have changed: anything about them is accepted.
    pub unknown: u64,
    /// Names that differ from what the operations must have left.
    pub differences: u64,
    /// Every byte of the files was compared, not only types and sizes.
    pub with_content: bool,
}

/// Why a tree was not compared. Journals store a variant as its position here: new ones are added at
/// the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotCompared {
    /// The run did not complete, so operations may have been abandoned.
    RunEndedEarly,
    /// More operations failed than are kept, so what they changed is not known.
    TooManyFailed,
    /// A host that used the tree was lost, and what it did is not known.
    HostLost,
    /// The comparison failed or was stopped.
    Incomplete,
}

impl NotCompared {
    /// All reasons.
    pub const ALL: [NotCompared; 4] = [
        NotCompared::RunEndedEarly,
        NotCompared::TooManyFailed,
        NotCompared::HostLost,
        NotCompared::Incomplete,
    ];

    /// Its name in JSON and events.
    pub const fn name(self) -> &'static str {
        match self {
            NotCompared::RunEndedEarly => "run_ended_early",
            NotCompared::TooManyFailed => "too_many_failed",
            NotCompared::HostLost => "host_lost",
            NotCompared::Incomplete => "incomplete",
        }
    }
}
