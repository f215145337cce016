//! Operations on names: files are created, listed, renamed and removed in a tree of directories.
//!
//! Which names exist is computed, not stored. The names of a class (files, links, directories) form a
//! sequence for each lane (a worker's share of the stream): creating adds the next position, removing
//! takes the oldest. Of every 1,000 operations of a lane the mix fixes how many there are of each
//! kind, so after `b` blocks of 1,000 exactly the positions from `b * adds` to
//! `population + b * adds` exist (`ring`). So the population is constant, ten million names take no
//! memory, hosts split a run by lanes, and the tree can be compared with the arithmetic after a run
//! ([`NameState`]).
//!
//! At most `window` steps of a lane overlap: step `s` is sent only when all steps up to `s - window`
//! are done ([`NameStream::window_steps`]). An operation uses only names that were created, and last
//! changed, at least that many steps before, and that are changed or removed at least that many steps
//! later. So the result does not depend on the order in which outstanding operations complete.
//!
//! If the lanes are users, a block is a user's scenario instead of 1,000 operations, and the operations of
//! a lane do not overlap at all.
//!
//! Not for: sending operations (`target`), making the tree, and walking it.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{counted, thousands};

use crate::scenario::Scenario;

mod classes;
mod content;
mod mix;
mod numbers;
mod problem;
mod ring;
mod set;
mod size;
mod state;
mod stream;
mod tree;

pub use classes::Population;
pub use content::Content;
pub use mix::{KindShare, NameMix};
pub use problem::NameProblem;
pub use set::NameSet;
pub use size::{FileSizes, NameSize, WeightedFileSize};
pub use state::{Expected, NameState};
pub use stream::{NameOp, NameStream};
pub use tree::{Leaf, NameTree};

/// The names of a stream, and what its operations do to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameLoad {
    /// The tree.
    pub tree: TreeShape,
    /// The kinds of operations and their shares.
    pub mix: NameMix,
    /// Bytes that an append adds.
    pub append_bytes: u32,
    /// The order of the operations of users, whose kinds are those of the mix; `None` for operations in
    /// random order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// A tree of directories with files in those of the last level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeShape {
    /// Number of files.
    pub files: u64,
    /// Levels of directories; with 0 all files are in the root.
    pub depth: u32,
    /// Directories in each directory above the last level.
    pub width: u32,
    /// Directories with files, at most `width` to the power of `depth`.
    pub directories: u64,
    /// Bytes in the name of a file.
    pub name_length: u32,
    /// Which directory a file is in.
    pub spread: NameSpread,
    /// Sizes of the files.
    pub sizes: NameSize,
}

impl fmt::Display for TreeShape {
    /// `10,000 files in 400 directories, 4KiB`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.files, "file"))?;
        match self.directories {
            1 => {}
            directories => write!(f, " in {} directories", thousands(directories))?,
        }
        write!(f, ", {}", self.sizes)
    }
}

/// Which directory a file is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameSpread {
    /// Neighbouring numbers are in the same directory: each worker has separate directories.
    Fill,
    /// Neighbouring numbers are in neighbouring directories: all workers use all directories.
    #[default]
    RoundRobin,
    /// Each number is in a random directory.
    Random,
}

impl NameSpread {
    /// All values, in the order of the table of keys.
    pub const ALL: [NameSpread; 3] = [NameSpread::Fill, NameSpread::RoundRobin, NameSpread::Random];
    /// The names in an experiment.
    pub const NAMES: [&'static str; 3] = ["fill", "round_robin", "random"];

    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The class of a name. Operations of one kind use names of one class, so that each class has its
/// own arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NameClass {
    /// A file that is created, changed and removed.
    File,
    /// A file that is never changed: what is copied, and what links refer to.
    Original,
    /// A file that is only renamed.
    Moved,
    /// A hard link to an original.
    Link,
    /// A symbolic link, whose text is the leaf of an original.
    Symlink,
    /// An empty directory that is created and removed.
    Made,
    /// A name that never exists.
    Missing,
    /// A directory of the tree's last level.
    Directory,
}

/// A name: its class, and its number in the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Its class.
    pub class: NameClass,
    /// Its number in the class, from 0.
    pub number: u64,
}

impl Name {
    /// The directory of the tree with this number.
    pub const fn directory(number: u64) -> Name {
        Name { class: NameClass::Directory, number }
    }
}
