//! An indexed heap of timers that can be moved.
//!
//! For: up to ten thousand queues whose first request waits for a limit. Each queue is in the heap at
//! most once, and moves when its limit changes. Not for: deferred replies, which never move and are
//! too many for a heap (`wheel.rs`).
//!
//! The position of each number is stored, so moving or removing one is O(log n), and no stale entry
//! remains.

/// Not in the heap.
const NONE: u32 = u32::MAX;

/// Numbers by instant. At the same instant the lower number is first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<(u64, u32)>,
    /// positions[number]: its index in `heap`.
    positions: Vec<u32>,
}

impl Agenda {
    /// The first number, with its instant.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.heap.first().copied()
    }

    /// The instant that a number waits for.
    pub(crate) fn at_ns(&self, number: u32) -> Option<u64> {
        let position = self.positions.get(number as usize).filter(|position| **position != NONE)?;
        Some(self.heap[*position as usize].0)
    }

    /// Inserts a number, or moves it to another instant.
    pub(crate) fn set(&mut self, number: u32, at_ns: u64) {
        let index = number as usize;
        if index >= self.positions.len() {
            self.positions.resize(index + 1, NONE);
        }
        let position = match self.positions[index] {
            NONE => {
                self.heap.push((at_ns, number));
                self.heap.len() - 1
            }
            position => {
                self.heap[position as usize].0 = at_ns;
                position as usize
            }
        };
        self.sift(position);
    }

    /// Removes a number, if it is in the heap.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(position) = self.positions.get_mut(number as usize) else { return };
        let position = std::mem::replace(position, NONE);
        if position == NONE {
            return;
        }
        let position = position as usize;
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            self.sift(position);
        }
    }

    /// Restores the heap order after the entry at `position` changed.
    fn sift(&mut self, mut position: usize) {
        let moved = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.heap[parent] <= moved {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        loop {
            let left = 2 * position + 1;
            let Some(&first) = self.heap.get(left) else { break };
            let (child, least) = match self.heap.get(left + 1) {
                Some(&second) if second < first => (left + 1, second),
                _ => (left, first),
            };
            if moved <= least {
                break;
            }
            self.put(position, least);
            position = child;
        }
        self.put(position, moved);
    }

    fn put(&mut self, position: usize, entry: (u64, u32)) {
        self.heap[position] = entry;
        self.positions[entry.1 as usize] = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_number_always_has_the_earliest_instant(
            steps in prop::collection::vec((0u32..24, prop::option::of(0u64..50)), 1..300),
        ) {
            let mut agenda = Agenda::default();
            let mut oracle = BTreeMap::new();
            for (number, at_ns) in steps {
                match at_ns {
                    Some(at_ns) => {
                        agenda.set(number, at_ns);
                        oracle.insert(number, at_ns);
                    }
                    None => {
                        agenda.remove(number);
                        oracle.remove(&number);
                    }
                }
                let least = oracle.iter().map(|(number, at_ns)| (*at_ns, *number)).min();
                prop_assert_eq!(agenda.first(), least);
                prop_assert_eq!(agenda.at_ns(number), at_ns);
                prop_assert_eq!(agenda.heap.len(), oracle.len());
            }
        }
    }
}
