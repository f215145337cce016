//! The read/write mix: an exact share of every 1,000 operations, in random order.
//!
//! The data operations of each lane (a worker's share of the stream) are split into blocks of 1,000.
//! A key from the seed selects a permutation of the block; operations with the lowest images are
//! reads. The permutation is a Feistel network (Luby, Rackoff, "How to construct pseudorandom
//! permutations from pseudorandom functions", SIAM J. Comput. 17(2), 1988) that walks cycles
//! (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). So the cost does not
//! depend on the position in the stream, and nothing is stored. The order is statistically random,
//! not secret.

use crate::random;

/// Operations in a block.
pub(crate) const BLOCK: u32 = 1000;
/// Bits in each half of a permuted number: 2^10 = 1,024 is the smallest power that holds a block.
const HALF_BITS: u32 = 5;
/// Rounds of the network. Two inputs that differ in one half only differ in the same way two rounds
/// later with a probability of 1/32. After six rounds that correlates operations 512 apart by
/// 1/1,024, which half a million blocks show with 17 standard deviations; after seven rounds it is
/// 1/32,768.
const ROUNDS: usize = 7;
/// The odd multipliers of each round's hash, from the generator.
const MULTIPLIERS: [[u64; 2]; ROUNDS] = {
    let mut multipliers = [[0; 2]; ROUNDS];
    let mut number = 0;
    while number < 2 * ROUNDS {
        multipliers[number / 2][number % 2] = random::mix64(number as u64) | 1;
        number += 1;
    }
    multipliers
};

/// The read/write mix of a stream. Of every 1,000 consecutive data operations of a lane, exactly
/// `read_permille` are reads, in a new random order for each block.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    read_permille: u32,
    lanes: u32,
    seed: u64,
}

impl Mix {
    /// A mix of `read_permille` reads in a thousand for each of `lanes` lanes, their order drawn
    /// from `seed`.
    pub fn new(read_permille: u16, lanes: u32, seed: u64) -> Mix {
        assert!(read_permille <= 1000, "a share is at most 1,000 thousandths");
        Mix { read_permille: u32::from(read_permille), lanes, seed: random::derive(seed, 0x313) }
    }

    /// Whether data operation `step` of lane `lane` is a read.
    #[inline]
    pub fn is_read(&self, lane: u32, step: u64) -> bool {
        if self.read_permille == BLOCK {
            return true;
        }
        if self.read_permille == 0 {
            return false;
        }
        let (block, index) = (step / u64::from(BLOCK), (step % u64::from(BLOCK)) as u32);
        permute_block(self.key(lane, block), index) < self.read_permille
    }

    /// The key of a block. It differs for every block of every lane, because [`random::at`] is a
    /// bijection of the number of the block over all lanes.
    #[inline]
    fn key(&self, lane: u32, block: u64) -> u64 {
        debug_assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        random::at(self.seed, block * u64::from(self.lanes) + u64::from(lane))
    }
}

/// The image of `index` (below 1,000) under the permutation of 0..1,000 that `key` selects.
///
/// Numbers from 1,000 on are permuted again. This ends after at most 24 repetitions, because the cycle
/// of `index` leads back to `index`; the mean is 1.024 passes.
#[inline]
pub(crate) fn permute_block(key: u64, index: u32) -> u32 {
    let mut number = permute(key, index);
    while number >= BLOCK {
        number = permute(key, number);
    }
    number
}

/// The image of `number` under the permutation of 0..1,024 that `key` selects.
#[inline]
fn permute(key: u64, number: u32) -> u32 {
    let (mut left, mut right) = (number >> HALF_BITS, number & ((1 << HALF_BITS) - 1));
    for [spread, gather] in MULTIPLIERS {
        // The first product spreads five bits over 64; the high bits of the second depend on all.
        let hash = (u64::from(right).wrapping_mul(spread) ^ key).wrapping_mul(gather);
        (left, right) = (right, left ^ (hash >> (64 - HALF_BITS)) as u32);
    }
    left << HALF_BITS | right
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_block_of_1000_has_the_exact_mix() {
        for read_permille in [1, 100, 333, 500, 700, 999] {
            let mix = Mix::new(read_permille, 4, 42);
            for thousand in 0..20u64 {
                let reads = (0..1000).filter(|p| mix.is_read(3, thousand * 1000 + p)).count();
                assert_eq!(reads, usize::from(read_permille));
            }
        }
    }

    #[test]
    fn every_key_permutes_a_block_within_25_passes() {
        for draw in 0..2000 {
            // Keys of the generator, and those with few bits.
            let key = if draw < 1000 { random::mix64(draw) } else { draw - 1000 };
            let mut seen = [false; BLOCK as usize];
            for index in 0..BLOCK {
                seen[permute_block(key, index) as usize] = true;
                let passes = (1..=25).scan(index, |number, _| {
                    *number = permute(key, *number);
                    Some(*number)
                });
                assert!(passes.into_iter().any(|number| number < BLOCK), "{key:#x} {index}");
            }
            assert!(seen.iter().all(|seen| *seen), "{key:#x}");
        }
    }

    #[test]
    fn no_two_blocks_of_any_lanes_have_the_same_key() {
        let mut keys = HashSet::new();
        let lanes = [0, 1, 2, 1 << 24, (1 << 24) + 1, u32::MAX - 1];
        let blocks = [0, 1, 2, 1 << 24, (1 << 24) + 1, 1 << 31];
        let mix = Mix::new(500, u32::MAX, 1);
        for lane in lanes {
            for block in blocks {
                assert!(keys.insert(mix.key(lane, block)), "lane {lane}, block {block}");
            }
        }
    }
}
