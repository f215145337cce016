//! Distinct blocks and their accesses in bounded memory.
//!
//! Distinct sampling: a block is kept if the hash of its address ends in `level` zero bits, so every
//! access of a kept block is counted from its first. When the memory is full, `level` rises and half of the
//! blocks are dropped. Exact while `level` is 0.
//!
//! Source: P. Gibbons, Distinct sampling for highly-accurate answers to distinct values queries and event
//! reports, VLDB 2001.

use std::collections::BTreeMap;

/// Blocks that are kept: exact up to 4 GiB in blocks of 4 KiB.
const KEPT_MAX: usize = 1 << 20;
/// Half-width of a 95 % interval in standard deviations.
const DEVIATIONS_95: f64 = 1.96;
/// Above this mean the distribution of accesses is close enough to its mean that it need not be summed.
const MEAN_SUMMED_MAX: f64 = 10_000.0;

/// A sample of the touched blocks.
#[derive(Debug)]
pub(crate) struct Blocks {
    kept_max: usize,
    level: u32,
    accesses: BTreeMap<(u32, u64), u64>,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { kept_max: KEPT_MAX, level: 0, accesses: BTreeMap::new() }
    }
}

impl Blocks {
    /// Counts an access of a block of a file.
    pub(crate) fn touch(&mut self, file: u32, block: u64) {
        if !is_kept(self.level, file, block) {
            return;
        }
        *self.accesses.entry((file, block)).or_default() += 1;
        while self.accesses.len() > self.kept_max {
            self.level += 1;
            let level = self.level;
            self.accesses.retain(|(file, block), _| is_kept(level, *file, *block));
        }
    }

    /// Touched blocks.
    pub(crate) fn distinct(&self) -> u64 {
        (self.accesses.len() as u64) << self.level
    }

    /// Half-width of the 95 % interval of [`Self::distinct`] as a share of it.
    pub(crate) fn error(&self) -> f64 {
        match (self.level, self.accesses.len()) {
            (0, _) | (_, 0) => 0.0,
            // The number of kept blocks is binomial.
            (level, kept) => {
                let dropped = 1.0 - 0.5f64.powi(level as i32);
                DEVIATIONS_95 * (dropped / kept as f64).sqrt()
            }
        }
    }

    /// Accesses of a touched block, on average.
    pub(crate) fn mean_accesses(&self) -> f64 {
        let sum: u64 = self.accesses.values().sum();
        sum as f64 / self.accesses.len().max(1) as f64
    }

    /// The share of the accesses that go to the most accessed tenth of the blocks.
    pub(crate) fn hottest_tenth(&self) -> f64 {
        let mut counts: Vec<u64> = self.accesses.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum: u64 = counts.iter().sum();
        let tenth = counts.len() as f64 / 10.0;
        let whole: u64 = counts.iter().take(tenth as usize).sum();
        let part = counts.get(tenth as usize).map_or(0.0, |next| tenth.fract() * *next as f64);
        (whole as f64 + part) / sum.max(1) as f64
    }
}

/// What [`Blocks::hottest_tenth`] would be if all touched blocks were equally likely: their accesses are
/// then Poisson distributed, without those that are 0.
pub(crate) fn hottest_tenth_uniform(mean_accesses: f64) -> f64 {
    if mean_accesses > MEAN_SUMMED_MAX {
        return 0.1;
    }
    let rate = rate_of_touched(mean_accesses);
    // Without zeros, so the tenth is of 1 - e^-rate.
    let mut room = (1.0 - (-rate).exp()) / 10.0;
    let last = (rate + 10.0 * rate.sqrt() + 20.0) as u64;
    let mut log_factorial = 0.0;
    let mut probabilities = Vec::new();
    for count in 1..=last {
        log_factorial += (count as f64).ln();
        probabilities.push((count, (count as f64 * rate.ln() - rate - log_factorial).exp()));
    }
    let mut accesses = 0.0;
    for (count, probability) in probabilities.into_iter().rev() {
        let part = probability.min(room);
        accesses += part * count as f64;
        room -= part;
    }
    accesses / rate
}

/// The rate of Poisson arrivals whose mean without zeros is `mean`.
fn rate_of_touched(mean: f64) -> f64 {
    // rate / (1 - e^-rate) = mean; the fixed point iteration contracts, slowest near a mean of 1.
    let mut rate = mean.max(1.000_001);
    for _ in 0..200 {
        rate = mean.max(1.000_001) * (1.0 - (-rate).exp());
    }
    rate.max(1e-9)
}

fn is_kept(level: u32, file: u32, block: u64) -> bool {
    level == 0 || hash(file, block).trailing_zeros() >= level
}

/// The finaliser of SplitMix64 over file and block.
fn hash(file: u32, block: u64) -> u64 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    mix(mix(u64::from(file).wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_estimates_distinct_blocks_within_its_error() {
        let mut blocks = Blocks { kept_max: 1 << 12, ..Blocks::default() };
        for round in 0..3u64 {
            for block in 0..100_000 {
                blocks.touch(round as u32 % 2, block);
            }
        }
        // The hash has no seed, so the result is always the same; an interval of 95 % holds here.
        let relative = blocks.distinct() as f64 / 200_000.0 - 1.0;
        assert!(relative.abs() < blocks.error(), "{relative} {}", blocks.error());
        assert!(blocks.error() < 0.05 && blocks.accesses.len() <= 1 << 12);
        assert!((blocks.mean_accesses() - 1.5).abs() < 0.05);
    }

    #[test]
    fn small_sets_are_exact() {
        let mut blocks = Blocks::default();
        for at in 0..1000 {
            blocks.touch(0, at % 100);
        }
        assert_eq!((blocks.distinct(), blocks.error(), blocks.mean_accesses()), (100, 0.0, 10.0));
        assert!((blocks.hottest_tenth() - 0.1).abs() < 1e-12);
        for _ in 0..1000 {
            blocks.touch(0, 7);
        }
        // Ten blocks have 1,010 + 9 x 10 of 2,000 accesses.
        assert!((blocks.hottest_tenth() - 1100.0 / 2000.0).abs() < 1e-12);
    }

    #[test]
    fn equally_likely_blocks_have_the_hottest_tenth_of_a_poisson_distribution() {
        // Means of zero-truncated Poisson distributions: a rate of 1 has e / (e - 1).
        assert!((rate_of_touched(1.0 / (1.0 - (-1.0f64).exp())) - 1.0).abs() < 1e-9);
        // Nearly every block is accessed once.
        assert!((hottest_tenth_uniform(1.0) - 0.1).abs() < 0.01);
        // A normal distribution: its upper tenth has a mean of 1.755 deviations above the mean.
        let expected = 0.1 * (1.0 + 1.755 / 10.0);
        assert!((hottest_tenth_uniform(100.0) - expected).abs() < 0.001);
        assert!((hottest_tenth_uniform(1e9) - 0.1).abs() < 1e-9);
    }
}
