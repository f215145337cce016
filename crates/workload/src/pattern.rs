//! Access patterns over a working set.

use rand_distr::{Distribution, Zipf};
use serde::{Deserialize, Serialize};

use crate::random::{self, CounterRng};

/// The access pattern of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessPattern {
    /// Each worker goes through the working set from its own starting point and wraps at the end.
    Sequential,
    /// Every position is equally likely (with replacement).
    Uniform,
    /// The k-th most popular position has a probability proportional to `k^-theta`; popular positions
    /// are scattered.
    Zipf {
        /// The skew, above 0.
        theta: f64,
    },
    /// `accesses_permille` of the operations go to the first `area_permille` of each file's area.
    HotSet {
        /// Size of the hot part, in thousandths of the area.
        area_permille: u16,
        /// Share of the operations on it, in thousandths.
        accesses_permille: u16,
    },
    /// As [`AccessPattern::Sequential`], but of every 1,000 operations of a worker this many move to a
    /// random position, from which the worker continues.
    PartlySequential {
        /// Operations at a random position, in thousandths; above 0.
        seek_permille: u16,
    },
    /// Each operation starts this far after the last one of its worker and wraps at the end. Each
    /// position is used once before any is repeated.
    Stride {
        /// The distance, a multiple of the transfer size.
        stride_bytes: u64,
    },
}

impl AccessPattern {
    /// Whether each position follows from that of another operation, so that all transfers must be of one
    /// size.
    pub const fn is_ordered(self) -> bool {
        matches!(
            self,
            AccessPattern::Sequential
                | AccessPattern::PartlySequential { .. }
                | AccessPattern::Stride { .. }
        )
    }
}

/// Chooses one of `positions` positions, as a pure function of random bits or of the step.
#[derive(Clone, Debug)]
pub(crate) enum Positions {
    Sequential { positions: u64, lanes: u64 },
    Uniform { positions: u64 },
    Zipf { positions: u64, popular: Zipf<f64>, multiplier: u64 },
    HotSet { hot: u64, cold: u64, accesses_permille: u64, files: u64, positions_per_file: u64 },
    PartlySequential { positions: u64, lanes: u64, seeks: u64 },
    Stride { positions: u64, lanes: u64, stride: u64, round: u64 },
}

/// Operations of a worker that have the exact share of seeks.
const SEEK_BLOCK: u64 = 1000;

impl Positions {
    /// Prepares `pattern` for `files` files with `positions_per_file` positions each, shared by `lanes`
    /// workers. Positions are `align_bytes` apart.
    pub(crate) fn new(
        pattern: AccessPattern,
        files: u32,
        positions_per_file: u64,
        align_bytes: u64,
        lanes: u32,
    ) -> Positions {
        let files = u64::from(files);
        let positions = positions_per_file * files;
        assert!(positions > 0, "a working set has at least one position");
        match pattern {
            // Only a damaged record has no seeks.
            AccessPattern::Sequential | AccessPattern::PartlySequential { seek_permille: 0 } => {
                Positions::Sequential { positions, lanes: u64::from(lanes) }
            }
            AccessPattern::PartlySequential { seek_permille } => Positions::PartlySequential {
                positions,
                lanes: u64::from(lanes),
                seeks: u64::from(seek_permille),
            },
            AccessPattern::Stride { stride_bytes } => {
                let stride = stride_bytes / align_bytes;
                // After this many operations the first position is reached again.
                let round = positions / greatest_common_divisor(stride, positions);
                Positions::Stride { positions, lanes: u64::from(lanes), stride, round }
            }
            AccessPattern::Uniform => Positions::Uniform { positions },
            AccessPattern::Zipf { theta } => Positions::Zipf {
                positions,
                popular: Zipf::new(positions as f64, theta)
                    .expect("the plan allows theta > 0 only"),
                multiplier: scatter_multiplier(positions),
            },
            AccessPattern::HotSet { area_permille, accesses_permille } => {
                let hot = (positions as u128 * u128::from(area_permille) / 1000) as u64;
                let hot = hot.clamp(1, positions);
                let cold = positions - hot;
                // If everything is hot, there is no position for the other accesses.
                let accesses_permille = if cold == 0 { 1000 } else { u64::from(accesses_permille) };
                Positions::HotSet { hot, cold, accesses_permille, files, positions_per_file }
            }
        }
    }

    /// The position of step `step` of worker `lane`; `bits` are 64 random bits of this operation, and
    /// `bits_of` returns those of another step.
    #[inline]
    pub(crate) fn position(
        &self,
        lane: u32,
        step: u64,
        bits: u64,
        bits_of: impl Fn(u64) -> u64,
    ) -> u64 {
        match self {
            Positions::Uniform { positions } => random::below(bits, *positions),
            Positions::Sequential { positions, lanes } => {
                (start(lane, *lanes, *positions) + step) % positions
            }
            Positions::PartlySequential { positions, lanes, seeks } => {
                match last_seek(step, *seeks, &bits_of) {
                    None => (start(lane, *lanes, *positions) + step) % positions,
                    Some(seek) => {
                        (random::below(bits_of(seek), *positions) + (step - seek)) % positions
                    }
                }
            }
            Positions::Stride { positions, lanes, stride, round } => {
                let step = step % positions;
                let (rounds, within) = (step / round, step % round);
                let moved = u128::from(within) * u128::from(*stride) % u128::from(*positions);
                (start(lane, *lanes, *positions) + moved as u64 + rounds) % positions
            }
            Positions::Zipf { positions, popular, multiplier } => {
                let rank = popular.sample(&mut Adapter(CounterRng::new(bits))) as u64;
                let rank = rank.clamp(1, *positions) - 1;
                ((u128::from(rank) * u128::from(*multiplier)) % u128::from(*positions)) as u64
            }
            Positions::HotSet { hot, cold, accesses_permille, files, positions_per_file } => {
                let coin = random::below(random::mix64(bits), 1000);
                let rank = if coin < *accesses_permille {
                    random::below(bits, *hot)
                } else {
                    hot + random::below(bits, *cold)
                };
                // Positions alternate between the files, so that the hot part is the start of each.
                (rank % files) * positions_per_file + rank / files
            }
        }
    }
}

/// Where worker `lane` begins.
fn start(lane: u32, lanes: u64, positions: u64) -> u64 {
    (u128::from(lane) * u128::from(positions) / u128::from(lanes)) as u64
}

/// The last step up to `step` that moves to a random position, if there is one.
///
/// A block of 1,000 steps is divided into as many slots as it has seeks, and each slot has its seek at a
/// random step. So the share is exact, and the last seek is in the slot of `step` or in the one before.
#[inline]
fn last_seek(step: u64, seeks: u64, bits_of: impl Fn(u64) -> u64) -> Option<u64> {
    let slot = step / SEEK_BLOCK * seeks + step % SEEK_BLOCK * seeks / SEEK_BLOCK;
    let first = |slot: u64| slot / seeks * SEEK_BLOCK + (slot % seeks * SEEK_BLOCK).div_ceil(seeks);
    let seek_in = |slot: u64| {
        let (start, end) = (first(slot), first(slot + 1));
        start + random::below(random::mix64(bits_of(start)), end - start)
    };
    let seek = seek_in(slot);
    if seek <= step { Some(seek) } else { Some(seek_in(slot.checked_sub(1)?)) }
}

/// A multiplier coprime to `positions`, near its golden section: `rank * multiplier mod positions` is a
/// bijection that puts neighbouring ranks far apart.
fn scatter_multiplier(positions: u64) -> u64 {
    let mut multiplier = ((positions as f64 * 0.618_033_988_749_894_8) as u64).max(1);
    while greatest_common_divisor(multiplier, positions) != 1 {
        multiplier += 1;
    }
    multiplier
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The counter generator with the interface of `rand_distr`.
struct Adapter(CounterRng);

impl rand_core::TryRng for Adapter {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok((self.0.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.0.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of (observed - expected)^2 / expected.
    fn chi_square(observed: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
        let term =
            |(at, count): (usize, &u64)| (*count as f64 - expected(at)).powi(2) / expected(at);
        observed.iter().enumerate().map(term).sum()
    }

    /// The 99th percentile of chi-square with `freedom` degrees of freedom.
    /// Source: Wilson and Hilferty, PNAS 17(12), 1931; good to three digits above 30 degrees.
    fn one_percent_limit(freedom: usize) -> f64 {
        let k = freedom as f64;
        let z = 2.326_348;
        k * (1.0 - 2.0 / (9.0 * k) + z * (2.0 / (9.0 * k)).sqrt()).powi(3)
    }

    fn at(positions: &Positions, lane: u32, step: u64) -> u64 {
        positions.position(lane, step, random::at(7, step), |step| random::at(7, step))
    }

    /// `counts[position]` after `draws` steps.
    fn draw(positions: &Positions, count: u64, draws: u64) -> Vec<u64> {
        let mut counts = vec![0; count as usize];
        for step in 0..draws {
            counts[at(positions, 0, step) as usize] += 1;
        }
        counts
    }

    #[test]
    fn uniform_positions_are_equally_likely() {
        let positions = Positions::new(AccessPattern::Uniform, 4, 250, 512, 1);
        let counts = draw(&positions, 1000, 400_000);
        let found = chi_square(&counts, |_| 400.0);
        assert!(found < one_percent_limit(999), "{found}");
    }

    #[test]
    fn popularity_follows_the_power_law_of_the_rank() {
        for theta in [0.5, 1.0, 1.4] {
            let positions = Positions::new(AccessPattern::Zipf { theta }, 2, 250, 512, 1);
            let counts = draw(&positions, 500, 400_000);
            let Positions::Zipf { multiplier, .. } = positions else {
                unreachable!("zipf is zipf")
            };
            let sum: f64 = (1..=500).map(|rank| f64::from(rank).powf(-theta)).sum();
            let by_rank: Vec<u64> =
                (0..500).map(|rank| counts[(rank * multiplier % 500) as usize]).collect();
            let expected = |rank: usize| 400_000.0 * ((rank + 1) as f64).powf(-theta) / sum;
            let found = chi_square(&by_rank, expected);
            assert!(found < one_percent_limit(499), "theta {theta}: {found}");
        }
    }

    #[test]
    fn popular_positions_are_scattered_and_every_position_has_one_rank() {
        for positions in [1, 2, 3, 10, 97, 1000, 65_536] {
            let multiplier = scatter_multiplier(positions);
            let mut seen = vec![false; positions as usize];
            for rank in 0..positions {
                seen[(rank * multiplier % positions) as usize] = true;
            }
            assert!(seen.iter().all(|seen| *seen), "{positions}");
        }
        let multiplier = scatter_multiplier(65_536);
        assert!(multiplier % 65_536 > 1000, "neighbours in rank are far apart");
    }

    #[test]
    fn the_hot_set_gets_its_share_at_the_start_of_each_file() {
        let pattern = AccessPattern::HotSet { area_permille: 200, accesses_permille: 800 };
        let counts = draw(&Positions::new(pattern, 4, 100, 512, 1), 400, 400_000);
        let is_hot = |position: usize| position % 100 < 20;
        let found =
            chi_square(
                &counts,
                |position| {
                    if is_hot(position) { 320_000.0 / 80.0 } else { 80_000.0 / 320.0 }
                },
            );
        assert!(found < one_percent_limit(399), "{found}");
    }

    #[test]
    fn a_working_set_of_one_position_always_gives_that_position() {
        for pattern in [
            AccessPattern::Sequential,
            AccessPattern::Uniform,
            AccessPattern::Zipf { theta: 1.1 },
            AccessPattern::HotSet { area_permille: 1, accesses_permille: 1 },
            AccessPattern::PartlySequential { seek_permille: 300 },
            AccessPattern::Stride { stride_bytes: 1024 },
        ] {
            assert_eq!(draw(&Positions::new(pattern, 1, 1, 512, 3), 1, 100), [100]);
        }
    }

    #[test]
    fn every_block_of_1000_has_the_exact_share_of_seeks() {
        for seek_permille in [1, 3, 250, 333, 500, 999, 1000] {
            let pattern = AccessPattern::PartlySequential { seek_permille };
            // So many positions that a random one is never the next.
            let positions = Positions::new(pattern, 1, 1 << 50, 512, 4);
            let is_seek = |step: u64| at(&positions, 2, step) != at(&positions, 2, step - 1) + 1;
            for block in 0..20u64 {
                let steps = (block * 1000).max(1)..(block + 1) * 1000;
                let first = u64::from(
                    block == 0
                        && last_seek(0, u64::from(seek_permille), |step| random::at(7, step))
                            == Some(0),
                );
                let seeks = steps.filter(|step| is_seek(*step)).count() as u64 + first;
                assert_eq!(seeks, u64::from(seek_permille), "block {block}");
            }
        }
    }

    #[test]
    fn seeks_go_to_every_position_equally_often() {
        let pattern = AccessPattern::PartlySequential { seek_permille: 1000 };
        let counts = draw(&Positions::new(pattern, 4, 250, 512, 1), 1000, 400_000);
        let found = chi_square(&counts, |_| 400.0);
        assert!(found < one_percent_limit(999), "{found}");
    }

    #[test]
    fn a_stride_uses_each_position_once_before_any_is_repeated() {
        for (stride, positions) in [(1u64, 12), (5, 12), (4, 12), (8, 12), (6, 1000), (999, 1000)] {
            let pattern = AccessPattern::Stride { stride_bytes: stride * 8192 };
            let of = Positions::new(pattern, 1, positions, 8192, 3);
            for lane in 0..3 {
                let visited: Vec<u64> = (0..positions).map(|step| at(&of, lane, step)).collect();
                let mut sorted = visited.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..positions).collect::<Vec<_>>(), "stride {stride}");
                assert_eq!(at(&of, lane, positions), visited[0], "then from the start");
                let follows = |pair: &&[u64]| pair[1] == (pair[0] + stride) % positions;
                let rounds = greatest_common_divisor(stride, positions);
                let others = visited.windows(2).filter(|pair| !follows(pair)).count() as u64;
                assert_eq!(others, rounds - 1, "only a new round starts elsewhere");
            }
        }
    }
}
