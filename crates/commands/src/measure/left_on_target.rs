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
    /// Number of files.
    pub files: u64,
    /// Their size.
    pub bytes: Bytes,
}

impl LeftOnTarget {
    /// For each target with files; nothing remains on `null:`, and files of emulated volumes end with them.
    pub(super) fn of_each(
        targets: &[TargetSpec],
        directories: &[TargetDirectory],
    ) -> Vec<LeftOnTarget> {
        // A target that cannot be read any more is reported by the run itself.
        let left = |(target, directory): (&TargetSpec, &TargetDirectory)| {
            LeftOnTarget::new(target, directory.existing_files().ok())
        };
        targets.iter().zip(directories).filter_map(left).collect()
    }

    /// The same from the number and the size of the files.
    pub(super) fn new(target: &TargetSpec, files: Option<(u64, u64)>) -> Option<LeftOnTarget> {
        if matches!(target, TargetSpec::Null | TargetSpec::Emulated { .. }) {
            return None;
        }
        let (files, bytes) = files?;
        let target = target.in_words();
        (files > 0).then_some(LeftOnTarget { target, files, bytes: Bytes::new(bytes) })
    }

    /// The command that removes the files.
    pub fn remove_command(&self) -> String {
        format!("fourcorners clean {}", quoted(&self.target))
    }
}

impl fmt::Display for LeftOnTarget {
    /// `4 GiB in 64 files; to remove: fourcorners clean /mnt/vol1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = counted(self.files, "file");
        write!(f, "{} in {files}; to remove: {}", self.bytes, self.remove_command())
    }
}
