//! The files that remain on a target after a run, and the command that removes them.

use std::fmt;

use target::directory::TargetDirectory;
use units::{Bytes, counted};
use workload::plan::TargetSpec;

use crate::refusal::quoted;

/// The files that fourcorners created on a target, those of earlier runs included: `clean` removes
/// all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOnTarget {
    /// The target as the user names it.
    pub target: String,
    /// Number of files, without those of trees.
    pub files: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Trees of operations on names.
    pub trees: u64,
}

impl LeftOnTarget {
    /// For each target with files; nothing remains on `null:`, and files of emulated volumes end with them.
    pub(super) fn of_each(
        targets: &[TargetSpec],
        directories: &[TargetDirectory],
    ) -> Vec<LeftOnTarget> {
        // A target that cannot be read any more is reported by the run itself.
        let left = |(target, directory): (&TargetSpec, &TargetDirectory)| {
            LeftOnTarget::new(target, directory.existing_files().ok(), directory.existing_trees())
        };
        targets.iter().zip(directories).filter_map(left).collect()
    }

    /// The same from the number and the size of the files, and the number of trees.
    pub(super) fn new(
        target: &TargetSpec,
        files: Option<(u64, u64)>,
        trees: u64,
    ) -> Option<LeftOnTarget> {
        if matches!(target, TargetSpec::Null | TargetSpec::Emulated { .. }) {
            return None;
        }
        let (files, bytes) = files?;
        let target = target.in_words();
        let left = LeftOnTarget { target, files, bytes: Bytes::new(bytes), trees };
        (files > 0 || trees > 0).then_some(left)
    }

    /// The command that removes the files.
    pub fn remove_command(&self) -> String {
        format!("fourcorners clean {}", quoted(&self.target))
    }
}

impl fmt::Display for LeftOnTarget {
    /// `4 GiB in 64 files and 1 tree of names; to remove: fourcorners clean /mnt/vol1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files =
            (self.files > 0).then(|| format!("{} in {}", self.bytes, counted(self.files, "file")));
        let trees = (self.trees > 0).then(|| format!("{} of names", counted(self.trees, "tree")));
        let left: Vec<String> = files.into_iter().chain(trees).collect();
        write!(f, "{}; to remove: {}", left.join(" and "), self.remove_command())
    }
}
