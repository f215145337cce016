//! Sequential runs of one file.
//!
//! An operation that begins where a run ends continues it. Applications read a file at several
//! positions concurrently, so the ends of the most recent runs are remembered. Packets and threads
//! reorder neighbouring operations; when a run reaches the begin of another one, both are one run.

use crate::observation::Direction;

/// Runs of a file whose ends are remembered.
pub(crate) const OPEN_RUNS_MAX: usize = 64;

/// The runs of one file, the most recent last.
#[derive(Debug, Default)]
pub(crate) struct OpenRuns {
    runs: Vec<Run>,
    /// The smallest operation, of which offsets are usually a multiple; 0 before the first.
    size_min: u64,
}

#[derive(Debug)]
struct Run {
    begin: u64,
    end: u64,
    /// Direction and size of its first operation.
    first: (Direction, u64),
}

/// What an operation does to the runs of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// It continues a run.
    pub(crate) continues: bool,
    /// The first operation of the run that it joined to the continued one.
    pub(crate) joined: Option<(Direction, u64)>,
}

impl OpenRuns {
    /// Adds an operation from `begin` to `end`.
    pub(crate) fn add(&mut self, direction: Direction, begin: u64, end: u64) -> Step {
        let size = end - begin;
        self.size_min = if self.size_min == 0 { size } else { self.size_min.min(size) };
        let Some(at) = self.runs.iter().rposition(|run| run.end == begin) else {
            if self.runs.len() == OPEN_RUNS_MAX {
                self.runs.remove(0);
            }
            self.runs.push(Run { begin, end, first: (direction, size) });
            return Step { continues: false, joined: None };
        };
        let mut run = self.runs.remove(at);
        run.end = end;
        let next = self.runs.iter().rposition(|next| next.begin == end);
        let joined = next.map(|next| {
            let next = self.runs.remove(next);
            run.end = next.end;
            next.first
        });
        self.runs.push(run);
        Step { continues: true, joined }
    }

    /// The probability that an operation at a random offset of a file of `file_bytes` continues a run.
    pub(crate) fn chance(&self, file_bytes: u64) -> f64 {
        let positions = (file_bytes / self.size_min.max(1)).max(1);
        (self.runs.len() as f64 / positions as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::Read;

    /// Operations that continue a run, of blocks of 10 bytes at these numbers.
    fn sequential(blocks: &[u64]) -> u64 {
        let mut runs = OpenRuns::default();
        blocks.iter().fold(0, |sum, block| {
            let step = runs.add(Read, block * 10, block * 10 + 10);
            sum + u64::from(step.continues) + u64::from(step.joined.is_some())
        })
    }

    #[test]
    fn the_first_operation_of_a_run_does_not_continue_it() {
        assert_eq!(sequential(&[0, 1, 2, 3]), 3);
        assert_eq!(sequential(&[5, 3, 9, 1]), 0);
    }

    #[test]
    fn interleaved_runs_are_kept_apart() {
        let lanes = OPEN_RUNS_MAX as u64;
        let blocks: Vec<u64> =
            (0..100).flat_map(|step| (0..lanes).map(move |lane| lane * 1000 + step)).collect();
        assert_eq!(sequential(&blocks), 99 * lanes);
    }

    #[test]
    fn swapped_neighbours_do_not_break_a_run() {
        assert_eq!(sequential(&[0, 1, 3, 2, 4, 5]), 5);
    }

    #[test]
    fn a_backward_scan_is_not_sequential() {
        assert_eq!(sequential(&[9, 8, 7, 6, 5]), 0);
    }
}
