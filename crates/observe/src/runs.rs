//! Sequential runs of one file.
//!
//! An operation that begins where a run ends continues it. Applications read a file at several
//! positions concurrently, so the ends of the most recent runs are remembered. Packets and threads
//! reorder neighbouring operations; when a run reaches the begin of another one, both are one run.

use crate::observation::Direction;

/// Runs of a file whose ends are remembered.
pub(crate) const OPEN_RUNS_MAX: usize = 64;

/// Distance of a decoy in sizes of the operation: near, and rarely a stride of an application.
const DECOY_SIZES: u64 = 7;

/// The runs of one file, the most recent last.
#[derive(Debug, Default)]
pub(crate) struct OpenRuns {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    begin: u64,
    end: u64,
    /// Direction and size of its first operation.
    first: (Direction, u64),
    /// Whether it has no other operation.
    is_single: bool,
}

/// What an operation does to the runs of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// It continues a run.
    pub(crate) continues: bool,
    /// The first operation of the run that it joined to the continued one.
    pub(crate) joined: Option<(Direction, u64)>,
    /// Runs that no longer have one operation only.
    pub(crate) grown: u64,
}

impl OpenRuns {
    /// Adds an operation from `begin` to `end`.
    pub(crate) fn add(&mut self, direction: Direction, begin: u64, end: u64) -> Step {
        let Some(at) = self.runs.iter().rposition(|run| run.end == begin) else {
            if self.runs.len() == OPEN_RUNS_MAX {
                self.runs.remove(0);
            }
            self.runs.push(Run { begin, end, first: (direction, end - begin), is_single: true });
            return Step { continues: false, joined: None, grown: 0 };
        };
        let mut run = self.runs.remove(at);
        run.end = end;
        let mut grown = u64::from(std::mem::take(&mut run.is_single));
        let next = self.runs.iter().rposition(|next| next.begin == end);
        let joined = next.map(|next| {
            let next = self.runs.remove(next);
            run.end = next.end;
            grown += u64::from(next.is_single);
            next.first
        });
        self.runs.push(run);
        Step { continues: true, joined, grown }
    }

    /// The share of decoys that an operation hits: whether it begins a few sizes after the end of a run,
    /// or before it. Without sequential access, this is as likely as to begin exactly there, however
    /// popular some offsets are.
    pub(crate) fn decoys_hit(&self, begin: u64, end: u64) -> f64 {
        let shift = DECOY_SIZES.saturating_mul(end - begin);
        let is_hit =
            |at: Option<u64>| at.is_some_and(|at| self.runs.iter().any(|run| run.end == at));
        let hits = [begin.checked_sub(shift), begin.checked_add(shift)].map(is_hit);
        f64::from(u8::from(hits[0]) + u8::from(hits[1])) / 2.0
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
    fn runs_with_one_operation_are_counted() {
        let mut runs = OpenRuns::default();
        let mut single = 0;
        // Two runs of three, one of one; the second run grows from a gap that is filled.
        for block in [0, 1, 2, 10, 12, 11, 50] {
            let step = runs.add(Read, block * 10, block * 10 + 10);
            single += u64::from(!step.continues);
            single -= step.grown;
        }
        assert_eq!(single, 1);
    }

    #[test]
    fn swapped_neighbours_do_not_break_a_run() {
        assert_eq!(sequential(&[0, 1, 3, 2, 4, 5]), 5);
    }

    #[test]
    fn random_operations_hit_decoys_as_often_as_they_continue_runs_and_sequential_ones_never_do() {
        // Multiplicative congruential generator of Lehmer, over 1,000 blocks.
        let (mut state, mut runs, mut continued, mut hits) = (1u64, OpenRuns::default(), 0.0, 0.0);
        for _ in 0..20_000 {
            state = state * 48271 % 0x7fff_ffff;
            let begin = state % 1000 * 10;
            hits += runs.decoys_hit(begin, begin + 10);
            continued += f64::from(u8::from(runs.add(Read, begin, begin + 10).continues));
        }
        // About 1,200 each; five deviations of a Poisson count are 175.
        assert!((continued - hits).abs() < 175.0 && continued > 900.0, "{continued} {hits}");
        let mut runs = OpenRuns::default();
        for block in 0..1000 {
            assert_eq!(runs.decoys_hit(block * 10, block * 10 + 10), 0.0);
            runs.add(Read, block * 10, block * 10 + 10);
        }
    }

    #[test]
    fn a_backward_scan_is_not_sequential() {
        assert_eq!(sequential(&[9, 8, 7, 6, 5]), 0);
    }
}
