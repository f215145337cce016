//! The written blocks of a file whose data is in a [`Storage`](crate::Storage).

use std::collections::BTreeMap;

use crate::BLOCK_BYTES;

/// Written blocks as ranges. `used` and the quota count them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    /// `ranges[first block] = first block after the range`. Ranges neither overlap nor touch.
    ranges: BTreeMap<u64, u64>,
    blocks: u64,
}

/// Charge of a range to the memory budget: its share of a node of the map.
const RANGE_BYTES: u64 = 32;

impl Extents {
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.ranges.len() as u64 * RANGE_BYTES
    }

    /// How many blocks from `first` up to, but not including, `after` are written.
    fn covered(&self, first: u64, after: u64) -> u64 {
        let before = self.ranges.range(..first).next_back();
        let inside = self.ranges.range(first..after);
        before
            .into_iter()
            .chain(inside)
            .map(|(from, to)| (*to).min(after).saturating_sub((*from).max(first)))
            .sum()
    }

    /// Whether any block of a range of bytes is written.
    pub(crate) fn any(&self, offset: u64, length: u64) -> bool {
        let (first, after) = blocks(offset, length);
        self.covered(first, after) > 0
    }

    /// Blocks, and an upper bound on bytes of memory, that writing this range would add.
    pub(crate) fn cost_of(&self, offset: u64, length: u64) -> (u64, u64) {
        let (first, after) = blocks(offset, length);
        let more = after - first - self.covered(first, after);
        (more, if more > 0 { RANGE_BYTES } else { 0 })
    }

    /// Adds the blocks that these bytes touch.
    pub(crate) fn add(&mut self, offset: u64, length: u64) {
        let (mut first, mut after) = blocks(offset, length);
        self.blocks += after - first - self.covered(first, after);
        if let Some((from, to)) = self.ranges.range(..=first).next_back().map(|(f, t)| (*f, *t))
            && to >= first
        {
            if to >= after {
                return;
            }
            first = from;
        }
        while let Some((from, to)) = self.ranges.range(first..=after).next().map(|(f, t)| (*f, *t))
        {
            after = after.max(to);
            self.ranges.remove(&from);
        }
        self.ranges.insert(first, after);
    }

    /// Removes every block that begins at `size` or after it.
    pub(crate) fn truncate(&mut self, size: u64) {
        let end = size.div_ceil(BLOCK_BYTES);
        for (from, to) in self.ranges.split_off(&end) {
            self.blocks -= to - from;
        }
        if let Some(mut last) = self.ranges.last_entry()
            && *last.get() > end
        {
            self.blocks -= *last.get() - end;
            *last.get_mut() = end;
        }
    }
}

/// The first block of a range of at least one byte, and the first block after the range.
fn blocks(offset: u64, length: u64) -> (u64, u64) {
    (offset / BLOCK_BYTES, (offset + length).div_ceil(BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_equal_a_list_of_blocks_and_costs_are_predicted(
            steps in proptest::collection::vec((0..4u8, 0..400_000u64, 1..60_000u64), 1..60)
        ) {
            let mut extents = Extents::default();
            let mut written = [false; 120];
            for (what, offset, length) in steps {
                let (first, after) = (offset / 4096, (offset + length).div_ceil(4096));
                let inside = &mut written[first as usize..after as usize];
                prop_assert_eq!(extents.any(offset, length), inside.contains(&true));
                if what == 0 {
                    extents.truncate(offset);
                    written[offset.div_ceil(4096) as usize..].fill(false);
                } else {
                    let more = inside.iter().filter(|block| !**block).count() as u64;
                    let (cost, memory) = extents.cost_of(offset, length);
                    prop_assert_eq!(cost, more);
                    let before = extents.memory_bytes();
                    extents.add(offset, length);
                    prop_assert!(extents.memory_bytes() <= before + memory);
                    inside.fill(true);
                }
                let count = written.iter().filter(|block| **block).count() as u64;
                prop_assert_eq!(extents.blocks(), count);
                let ranges: Vec<(u64, u64)> =
                    extents.ranges.iter().map(|(from, to)| (*from, *to)).collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let sum: u64 = ranges.iter().map(|(from, to)| to - from).sum();
                prop_assert_eq!(sum, count);
            }
        }
    }
}
