//! How a tree differs from what the arithmetic expects.

use std::fmt;
use std::sync::Mutex;

use crate::folder::Kind;

/// Differences that are described; all are counted.
const DESCRIBED_MAX: usize = 16;

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// It does not exist.
    Missing,
    /// It exists and should not.
    Surplus,
    /// It is something else, such as a directory instead of a file.
    WrongKind,
    /// The file has another size.
    WrongSize,
    /// The file has other content, or the link another text.
    WrongContent,
}

impl Difference {
    const ALL: [Difference; 5] = [
        Difference::Missing,
        Difference::Surplus,
        Difference::WrongKind,
        Difference::WrongSize,
        Difference::WrongContent,
    ];

    /// The difference in words.
    pub const fn name(self) -> &'static str {
        match self {
            Difference::Missing => "missing",
            Difference::Surplus => "surplus",
            Difference::WrongKind => "of another type",
            Difference::WrongSize => "of another size",
            Difference::WrongContent => "with wrong content",
        }
    }
}

/// Entries that a walk of a tree found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundEntries {
    /// Names of files, hard links included.
    pub files: u64,
    /// Directories, without the root of the tree.
    pub directories: u64,
    /// Symbolic links.
    pub symbolic_links: u64,
    /// Names that failed operations may have changed: anything about them is accepted.
    pub unknown: u64,
}

impl FoundEntries {
    /// Counts an entry.
    pub(crate) fn add(&mut self, kind: Kind) {
        match kind {
            Kind::File => self.files += 1,
            Kind::Directory => self.directories += 1,
            Kind::Link => self.symbolic_links += 1,
            _ => {}
        }
    }
}

/// The result of comparing a tree with what is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Names that were compared.
    pub names: u64,
    /// What was found.
    pub found: FoundEntries,
    counts: [u64; Difference::ALL.len()],
    /// The first differences in words.
    pub described: Vec<String>,
}

impl Differences {
    /// How many differences of this kind there are.
    pub const fn count(&self, difference: Difference) -> u64 {
        self.counts[difference as usize]
    }

    /// How many differences there are.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn add(&mut self, difference: Difference, describe: impl FnOnce() -> String) {
        self.counts[difference as usize] += 1;
        if self.described.len() < DESCRIBED_MAX {
            self.described.push(describe());
        }
    }
}

impl fmt::Display for Differences {
    /// `3 of 1,000 names differ: 2 missing, 1 of another size`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} names differ: ", self.total(), self.names)?;
        let found = Difference::ALL.into_iter().filter(|one| self.count(*one) > 0);
        let parts: Vec<String> =
            found.map(|one| format!("{} {}", self.count(one), one.name())).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Differences that several threads find.
#[derive(Debug, Default)]
pub(crate) struct Findings(Mutex<Differences>);

impl Findings {
    pub(crate) fn add(&self, difference: Difference, describe: impl FnOnce() -> String) {
        crate::tree::walk::lock(&self.0).add(difference, describe);
    }

    /// Counts names that were compared, and what was found.
    pub(crate) fn compared(&self, names: u64, found: FoundEntries) {
        let mut differences = crate::tree::walk::lock(&self.0);
        differences.names += names;
        let sum = &mut differences.found;
        sum.files += found.files;
        sum.directories += found.directories;
        sum.symbolic_links += found.symbolic_links;
        sum.unknown += found.unknown;
    }

    pub(crate) fn into_differences(self) -> Differences {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
