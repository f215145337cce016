//! Counts of transfer sizes.

use std::collections::BTreeMap;

use crate::observation::SizeCount;

/// Distinct sizes that are kept apart; further ones are rounded to a power of two.
const SIZES_MAX: usize = 4096;

/// Operations by transfer size: all, and those that continue a run.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    counts: BTreeMap<u64, [u64; 2]>,
    pub(crate) rounded: u64,
}

impl Sizes {
    /// Counts an operation.
    pub(crate) fn add(&mut self, size_bytes: u64, is_sequential: bool) {
        let key = self.key(size_bytes);
        self.rounded += u64::from(key != size_bytes);
        let counts = self.counts.entry(key).or_default();
        counts[0] += 1;
        counts[1] += u64::from(is_sequential);
    }

    /// An operation that was counted as the first of its run continues another one.
    pub(crate) fn joined(&mut self, size_bytes: u64) {
        let key = self.key(size_bytes);
        self.counts.entry(key).or_default()[1] += 1;
    }

    fn key(&self, size_bytes: u64) -> u64 {
        match self.counts.contains_key(&size_bytes) || self.counts.len() < SIZES_MAX {
            true => size_bytes,
            false => size_bytes.checked_next_power_of_two().unwrap_or(1 << 63),
        }
    }

    /// The commonest first.
    pub(crate) fn counted(&self) -> Vec<SizeCount> {
        let of = |(size_bytes, [operations, sequential]): (&u64, &[u64; 2])| SizeCount {
            size_bytes: *size_bytes,
            operations: *operations,
            sequential: *sequential,
        };
        let mut sizes: Vec<SizeCount> = self.counts.iter().map(of).collect();
        sizes.sort_by_key(|size| (std::cmp::Reverse(size.operations), size.size_bytes));
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_the_maximum_are_rounded_and_counted() {
        let mut sizes = Sizes::default();
        for size in 1..=5000 {
            sizes.add(size, false);
        }
        let total: u64 = sizes.counted().iter().map(|size| size.operations).sum();
        assert_eq!((total, sizes.rounded), (5000, 5000 - 4096));
        assert_eq!(sizes.counted()[0].size_bytes, 8192);
    }
}
