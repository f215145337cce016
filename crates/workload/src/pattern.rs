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
}

/// Chooses one of `positions` positions, as a pure function of random bits or of the step.
#[derive(Clone, Debug)]
pub(crate) enum Positions {
    Sequential { positions: u64, lanes: u64 },
    Uniform { positions: u64 },
    Zipf { positions: u64, popular: Zipf<f64>, multiplier: u64 },
    HotSet { hot: u64, cold: u64, accesses_permille: u64, files: u64, positions_per_file: u64 },
}

impl Positions {
    /// Prepares `pattern` for `files` files with `positions_per_file` positions each, shared by `lanes`
    /// workers.
    pub(crate) fn new(
        pattern: AccessPattern,
        files: u32,
        positions_per_file: u64,
        lanes: u32,
    ) -> Positions {
        let files = u64::from(files);
        let positions = positions_per_file * files;
        assert!(positions > 0, "a working set has at least one position");
        match pattern {
            AccessPattern::Sequential => {
                Positions::Sequential { positions, lanes: u64::from(lanes) }
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

    /// The position of step `step` of worker `lane`; `bits` are 64 random bits of this operation.
    #[inline]
    pub(crate) fn position(&self, lane: u32, step: u64, bits: u64) -> u64 {
        match self {
            Positions::Uniform { positions } => random::below(bits, *positions),
            Positions::Sequential { positions, lanes } => {
                let start = (u128::from(lane) * u128::from(*positions) / u128::from(*lanes)) as u64;
                (start + step) % positions
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

    /// `counts[position]` after `draws` steps.
    fn draw(positions: &Positions, count: u64, draws: u64) -> Vec<u64> {
        let mut counts = vec![0; count as usize];
        for step in 0..draws {
            counts[positions.position(0, step, random::at(7, step)) as usize] += 1;
        }
        counts
    }

    #[test]
    fn uniform_positions_are_equally_likely() {
        let positions = Positions::new(AccessPattern::Uniform, 4, 250, 1);
        let counts = draw(&positions, 1000, 400_000);
        let found = chi_square(&counts, |_| 400.0);
        assert!(found < one_percent_limit(999), "{found}");
    }

    #[test]
    fn popularity_follows_the_power_law_of_the_rank() {
        for theta in [0.5, 1.0, 1.4] {
            let positions = Positions::new(AccessPattern::Zipf { theta }, 2, 250, 1);
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
        let counts = draw(&Positions::new(pattern, 4, 100, 1), 400, 400_000);
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
        ] {
            assert_eq!(draw(&Positions::new(pattern, 1, 1, 3), 1, 100), [100]);
        }
    }
}
