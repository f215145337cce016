//! How a tree differs from what the arithmetic expects.

use std::fmt;
use std::sync::Mutex;

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

/// The result of comparing a tree with what is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Names that were compared.
    pub names: u64,
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

    pub(crate) fn compared(&self, names: u64) {
        crate::tree::walk::lock(&self.0).names += names;
    }

    pub(crate) fn into_differences(self) -> Differences {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
