//! The tree of directories, files and links that a stream's operations on names need: made, compared
//! with the arithmetic of [`workload::names`], repaired, and removed.
//!
//! Which names exist is computed, and a walk compares it with what is there, directory by directory.
//! So an interrupted fill resumes, and the tree is the one of the start again before each run. A tree is
//! listed in the manifest with its shape before its first directory is made; nothing else is
//! touched. Measured operations: [`crate::names`].

pub(crate) mod access;
mod content;
pub(crate) mod differences;
mod directory;
mod expected;
pub(crate) mod export;
pub(crate) mod local;
mod remove;
mod repair;
mod required;
mod seen;
mod walk;

pub use differences::{Difference, Differences, FoundEntries};
pub use directory::TreeProgress;
pub use expected::{LaneSteps, TreeState};
pub use required::RequiredTree;

pub use repair::Repaired;

pub(crate) use directory::refuse_other_trees;
pub(crate) use remove::remove;
pub(crate) use walk::Workers;

use std::io;
use std::path::{Path, PathBuf};

use workload::names::NameTree;

use self::access::TreeAccess;
use crate::folder::Folder;

/// A tree in a folder.
pub(crate) struct TreeLocation<'a> {
    /// The file system.
    pub(crate) folder: &'a dyn Folder,
    /// The path of the tree's root.
    pub(crate) root: &'a Path,
    /// The paths in it.
    pub(crate) tree: &'a NameTree,
}

impl TreeLocation<'_> {
    /// Access for one thread.
    pub(crate) fn open(&self) -> io::Result<Box<dyn TreeAccess>> {
        self.folder.open_tree(self.root, self.tree)
    }
}

/// Why a tree could not be made, compared or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    /// The user stopped it.
    #[error("it was stopped")]
    Stopped,
    /// It contains what none of its operations can have created.
    #[error("`{}` is {found}, which fourcorners did not create", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// A call failed.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}
