//! What a tree needs on a target: names, directories and bytes.

use super::classes::{Classes, Population};
use super::size::FileSizes;
use super::tree::NameTree;
use super::{NameLoad, TreeShape};
use crate::random;

/// Sizes whose mean stands for that of all files.
const SIZES_SAMPLED: u64 = 65_536;

/// The names of a stream on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct NameSet {
    /// The stream.
    pub stream: String,
    /// The tree.
    pub tree: TreeShape,
    /// Names of each class; those of the run with the most.
    pub population: Population,
}

impl NameSet {
    /// The names of a load for `workers` workers with `queue_depth` each.
    pub fn of(stream: &str, load: &NameLoad, workers: u32, queue_depth: u32) -> NameSet {
        NameSet {
            stream: stream.to_owned(),
            tree: load.tree.clone(),
            population: Classes::of(load, workers, queue_depth).population(),
        }
    }

    /// Directories of the tree, without its root.
    pub fn directories(&self) -> u64 {
        NameTree::new(&self.tree).directories_total()
    }

    /// Inodes of the tree: hard links share those of the files that they refer to.
    pub fn inodes(&self) -> u64 {
        self.population.total() - self.population.links + self.directories()
    }

    /// Bytes in the files before the first operation: their number times the mean of a sample of
    /// sizes, exact for files of one size.
    pub fn bytes(&self) -> u64 {
        let Population { files, originals, moved, .. } = self.population;
        let sizes = FileSizes::new(&self.tree.sizes);
        let sum: u64 =
            (0..SIZES_SAMPLED).map(|index| u64::from(sizes.size_bytes(random::at(0, index)))).sum();
        let bytes = u128::from(files + originals + moved) * u128::from(sum);
        u64::try_from(bytes / u128::from(SIZES_SAMPLED)).unwrap_or(u64::MAX)
    }
}

impl Population {
    /// The larger number of each class.
    #[must_use]
    pub fn max(&self, other: &Population) -> Population {
        Population {
            files: self.files.max(other.files),
            originals: self.originals.max(other.originals),
            moved: self.moved.max(other.moved),
            links: self.links.max(other.links),
            symlinks: self.symlinks.max(other.symlinks),
            made: self.made.max(other.made),
        }
    }
}
