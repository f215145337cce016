//! Numbered things, each with the instant that it waits for, and which comes first.
//!
//! For: the few hundred or ten thousand queues whose first request waits for a limit; each stands
//! here at most once, and is moved when its limit changes. Not for: requests themselves
//! (`wheel.rs`).
//!
//! Idea: a binary heap that knows where each number stands, so that one can be moved or taken out
//! in O(log n) and nothing stale is ever left behind, however long the first of them waits.

/// Not in the heap.
const NONE: u32 = u32::MAX;

/// Numbers by the instant that each waits for; at one instant the lower number comes first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<(u64, u32)>,
    /// places[number]: where it stands in `heap`.
    places: Vec<u32>,
}

impl Agenda {
    /// The first, with its instant.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.heap.first().copied()
    }

    /// The instant that a number waits for, if it is here.
    pub(crate) fn at_ns(&self, number: u32) -> Option<u64> {
        let place = self.places.get(number as usize).filter(|place| **place != NONE)?;
        Some(self.heap[*place as usize].0)
    }

    /// Lets a number wait for this instant, and no longer for another.
    pub(crate) fn set(&mut self, number: u32, at_ns: u64) {
        let index = number as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, NONE);
        }
        let place = match self.places[index] {
            NONE => {
                self.heap.push((at_ns, number));
                self.heap.len() - 1
            }
            place => {
                self.heap[place as usize].0 = at_ns;
                place as usize
            }
        };
        self.settle(place);
    }

    /// Takes a number out, if it is there.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(place) = self.places.get_mut(number as usize) else { return };
        let place = std::mem::replace(place, NONE);
        if place == NONE {
            return;
        }
        let place = place as usize;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.settle(place);
        }
    }

    /// Brings what stands at `place` to where it belongs; everything else is in order.
    fn settle(&mut self, mut place: usize) {
        let moved = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= moved {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        loop {
            let left = 2 * place + 1;
            let Some(&first) = self.heap.get(left) else { break };
            let (child, least) = match self.heap.get(left + 1) {
                Some(&second) if second < first => (left + 1, second),
                _ => (left, first),
            };
            if moved <= least {
                break;
            }
            self.put(place, least);
            place = child;
        }
        self.put(place, moved);
    }

    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_always_the_least(
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
