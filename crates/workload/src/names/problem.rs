//! Loads whose operations cannot be computed: unbalanced mixes, and trees that are too small.

use super::NameLoad;
use super::classes::{Classes, changing, overlap};
use super::ring::Ring;
use super::tree::NameTree;
use crate::op::OpKind;

/// Why the operations of a stream cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// More or fewer names are removed than added.
    Unbalanced {
        /// Names that 1,000 operations add.
        added: u64,
        /// Names that 1,000 operations remove.
        removed: u64,
        /// Whether they are directories (mkdir, rmdir).
        are_directories: bool,
    },
    /// Files only grow: appends without an operation that ends their growth.
    OnlyGrows,
    /// Names too short for their number.
    ShortNames {
        /// The smallest length, in bytes.
        name_length_min: u32,
    },
    /// Too few files for the operations that can overlap.
    TooFewFiles {
        /// The smallest number of files, over all lanes.
        files_min: u64,
    },
}

impl NameLoad {
    /// The first problem of this load for `workers` workers with `queue_depth` each.
    pub fn problem(&self, workers: u32, queue_depth: u32) -> Option<NameProblem> {
        use OpKind::{
            Append, Copy, Create, Link, Mkdir, Rmdir, Symlink, Truncate, Unlink, WriteFile,
        };
        let mix = &self.mix;
        let balances = [
            (mix.sum(&[Create, Copy, Link, Symlink]), mix.permille(Unlink), false),
            (mix.permille(Mkdir), mix.permille(Rmdir), true),
        ];
        for (added, removed, are_directories) in balances {
            if added != removed {
                return Some(NameProblem::Unbalanced { added, removed, are_directories });
            }
        }
        if mix.permille(Append) > 0 && mix.sum(&[Truncate, WriteFile, Create, Copy]) == 0 {
            return Some(NameProblem::OnlyGrows);
        }
        let files_min = u64::from(workers) * self.files_of_lane_min(overlap(queue_depth));
        if self.tree.files < files_min {
            return Some(NameProblem::TooFewFiles { files_min });
        }
        let classes = Classes::of(self, workers, queue_depth);
        let name_length_min = NameTree::name_length_min(classes.numbers_max());
        let are_short = self.tree.name_length < name_length_min;
        are_short.then_some(NameProblem::ShortNames { name_length_min })
    }

    /// The first problem of this load in a search for the number of outstanding operations.
    ///
    /// * `workers` - the most workers that share them
    /// * `outstanding` - the most of them, over all workers
    pub fn problem_up_to(&self, workers: u32, outstanding: u32) -> Option<NameProblem> {
        // With a number of workers, the largest queue depth needs the most names.
        let shares = (1..=workers.clamp(1, outstanding.max(1))).rev();
        let problems = shares.filter_map(|workers| self.problem(workers, outstanding / workers));
        problems.reduce(|one, other| match (one, other) {
            (
                NameProblem::TooFewFiles { files_min: first },
                NameProblem::TooFewFiles { files_min: second },
            ) => NameProblem::TooFewFiles { files_min: first.max(second) },
            (NameProblem::ShortNames { .. }, NameProblem::TooFewFiles { .. }) => other,
            _ => one,
        })
    }

    /// The smallest number of files of a lane: those that are added, removed and changed by operations
    /// that can overlap, and one to read.
    fn files_of_lane_min(&self, overlap: u64) -> u64 {
        let adds = self.mix.sum(&[OpKind::Create, OpKind::Copy]);
        let changes = self.mix.sum(&[OpKind::Append, OpKind::Truncate, OpKind::WriteFile]);
        Ring::population_min(adds, overlap) + changing(adds, changes, overlap)
    }
}
