//! A hierarchical timer wheel for 100,000 deferred requests, at a few operations each.
//!
//! For: releasing values at their deadlines, never before: in the order of deadlines, and of
//! insertion among equal deadlines. Not for: timers that move (`agenda.rs`), reading a clock, or
//! waiting; `now` is an argument, and `next_ns` returns when to call again.
//!
//! Idea: Varghese and Lauck, "Hashed and hierarchical timing wheels", SOSP 1987, with the level
//! chosen by the highest bit in which deadline and time differ, so that an entry moves down at most
//! once per level. Entries of the current tick are in a heap, which gives the exact order; all
//! others are in unsorted lists. Insertion is O(1) outside of the current tick, and
//! O(log of the entries of that tick) inside.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A tick is 2^14 ns, 16.4 us: below the 20 us that the accuracy of 50 us leaves for it.
const TICK_SHIFT: u32 = 14;
/// Slots of a level, as a power of two.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Covers 64 bits of nanoseconds: 50 bits of ticks, 6 in each level.
const LEVELS: usize = 9;
/// No entry.
const NONE: u32 = u32::MAX;

/// Values with their deadlines.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    /// Entries, used and free.
    entries: Vec<Entry<T>>,
    /// First of the list of free entries.
    free: u32,
    /// heads[level][slot]: first entry of each slot's list.
    heads: [[u32; SLOTS]; LEVELS],
    /// firsts[level][slot]: the first deadline of the slot, while it has entries.
    firsts: [[u64; SLOTS]; LEVELS],
    /// occupied[level]: a bit for each slot that has an entry.
    occupied: [u64; LEVELS],
    /// Entries of ticks that time has reached: deadline, sequence, index.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// The tick that time has reached; every entry outside of `due` is later.
    tick: u64,
    /// Numbers entries in the order of insertion.
    sequence: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    value: T,
    deadline_ns: u64,
    sequence: u64,
    /// The next entry of the slot's list, or of the free list.
    next: u32,
}

impl<T: Copy> Wheel<T> {
    /// An empty wheel that has reached `now_ns`, with room for `capacity` entries before it
    /// allocates.
    pub(crate) fn new(now_ns: u64, capacity: usize) -> Wheel<T> {
        Wheel {
            entries: Vec::with_capacity(capacity),
            free: NONE,
            heads: [[NONE; SLOTS]; LEVELS],
            firsts: [[0; SLOTS]; LEVELS],
            occupied: [0; LEVELS],
            due: BinaryHeap::new(),
            tick: now_ns >> TICK_SHIFT,
            sequence: 0,
        }
    }

    /// Adds a value to be released at `deadline_ns`, or immediately if that has passed.
    pub(crate) fn insert(&mut self, deadline_ns: u64, value: T) {
        let sequence = self.sequence;
        self.sequence += 1;
        let entry = Entry { value, deadline_ns, sequence, next: NONE };
        let index = match self.free {
            NONE => {
                let index = u32::try_from(self.entries.len()).expect("fewer entries than 2^32");
                assert!(index != NONE, "fewer entries than 2^32 - 1");
                self.entries.push(entry);
                index
            }
            free => {
                self.free = self.entries[free as usize].next;
                self.entries[free as usize] = entry;
                free
            }
        };
        self.put(index);
    }

    /// Releases everything due by `now_ns` in order: `release(deadline_ns, value)`.
    pub(crate) fn advance(&mut self, now_ns: u64, mut release: impl FnMut(u64, T)) {
        let target = now_ns >> TICK_SHIFT;
        loop {
            // Entries in the heap have earlier ticks than all others.
            while let Some(&Reverse((deadline_ns, _, index))) = self.due.peek() {
                if deadline_ns > now_ns {
                    break;
                }
                self.due.pop();
                let entry = &mut self.entries[index as usize];
                entry.next = std::mem::replace(&mut self.free, index);
                release(deadline_ns, entry.value);
            }
            match self.next_slot() {
                Some((level, slot, tick)) if tick <= target => {
                    self.tick = tick;
                    self.empty_slot(level, slot);
                }
                _ => break,
            }
        }
        self.tick = self.tick.max(target);
    }

    /// The first deadline; `None` if the wheel is empty.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        match self.due.peek() {
            Some(Reverse((deadline_ns, ..))) => Some(*deadline_ns),
            None => self.next_slot().map(|(level, slot, _)| self.firsts[level][slot]),
        }
    }

    /// Puts an entry into the heap or into the slot of its deadline.
    fn put(&mut self, index: u32) {
        let Entry { deadline_ns, sequence, .. } = self.entries[index as usize];
        let tick = deadline_ns >> TICK_SHIFT;
        if tick <= self.tick {
            self.due.push(Reverse((deadline_ns, sequence, index)));
            return;
        }
        let level = ((63 - (tick ^ self.tick).leading_zeros()) / SLOT_BITS) as usize;
        let slot = (tick >> (level as u32 * SLOT_BITS)) as usize % SLOTS;
        let head = self.heads[level][slot];
        let first_ns = &mut self.firsts[level][slot];
        *first_ns = if head == NONE { deadline_ns } else { deadline_ns.min(*first_ns) };
        self.entries[index as usize].next = head;
        self.heads[level][slot] = index;
        self.occupied[level] |= 1 << slot;
    }

    /// The slot that time reaches next, with the tick at which it does. All entries of a level
    /// share the higher digits of the tick with now, so the lowest level that has any comes first.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        let level = self.occupied.iter().position(|slots| *slots != 0)?;
        let slot = self.occupied[level].trailing_zeros() as usize;
        let shift = level as u32 * SLOT_BITS;
        let higher = self.tick >> shift >> SLOT_BITS << SLOT_BITS;
        Some((level, slot, (higher | slot as u64) << shift))
    }

    /// Moves the entries of a slot that time has reached down a level or into the heap.
    fn empty_slot(&mut self, level: usize, slot: usize) {
        let mut index = std::mem::replace(&mut self.heads[level][slot], NONE);
        self.occupied[level] &= !(1 << slot);
        while index != NONE {
            let next = self.entries[index as usize].next;
            self.put(index);
            index = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u64),
        Advance(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Spans from within a tick to hours, so that every level is used.
        let span = || (0u32..44).prop_flat_map(|bits| 0u64..(1 << bits).max(2));
        let step = prop_oneof![
            4 => span().prop_map(Step::Insert),
            2 => span().prop_map(Step::Advance),
        ];
        prop::collection::vec(step, 1..120)
    }

    proptest! {
        #[test]
        fn entries_are_released_as_from_a_sorted_queue(steps in steps()) {
            let mut now_ns = 123_456_789;
            let mut wheel = Wheel::new(now_ns, 0);
            // The oracle: every entry with its deadline and number, ordered by both.
            let mut oracle: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
            let mut inserted = 0;
            for step in steps {
                match step {
                    Step::Insert(after_ns) => {
                        wheel.insert(now_ns + after_ns, inserted);
                        oracle.push(Reverse((now_ns + after_ns, inserted)));
                        inserted += 1;
                    }
                    Step::Advance(by_ns) => {
                        now_ns += by_ns;
                        let mut expected = Vec::new();
                        while let Some(Reverse((deadline_ns, number))) = oracle.peek().copied() {
                            if deadline_ns > now_ns {
                                break;
                            }
                            oracle.pop();
                            expected.push((deadline_ns, number));
                        }
                        let mut released = Vec::new();
                        wheel.advance(now_ns, |deadline_ns, number| {
                            released.push((deadline_ns, number));
                        });
                        prop_assert_eq!(released, expected);
                    }
                }
                let first = oracle.peek().map(|Reverse((deadline_ns, _))| *deadline_ns);
                prop_assert_eq!(wheel.next_ns(), first);
            }
        }
    }

    #[test]
    fn advancing_to_next_ns_releases_each_entry_at_its_deadline() {
        let mut wheel = Wheel::new(0, 16);
        let deadlines = [1, 16_383, 16_384, 16_385, 40_000, 1_048_576, 5_000_000_000, 1 << 60];
        for deadline_ns in deadlines {
            wheel.insert(deadline_ns, ());
        }
        let (mut wakes, mut released) = (0, Vec::new());
        while let Some(next_ns) = wheel.next_ns() {
            wakes += 1;
            wheel.advance(next_ns, |deadline_ns, ()| released.push((next_ns, deadline_ns)));
        }
        assert_eq!(released, deadlines.map(|deadline_ns| (deadline_ns, deadline_ns)));
        assert_eq!(wakes, deadlines.len(), "one wake-up per deadline");
    }

    #[test]
    fn entries_with_equal_deadlines_are_released_in_order_of_insertion() {
        let mut wheel = Wheel::new(0, 4);
        for number in 0..100 {
            wheel.insert(1_000_000 + (number % 2), number);
        }
        let mut released = Vec::new();
        wheel.advance(2_000_000, |_, number| released.push(number));
        let expected: Vec<u64> = (0..100).step_by(2).chain((1..100).step_by(2)).collect();
        assert_eq!(released, expected);
    }

    #[test]
    fn a_hundred_thousand_entries_are_released_in_order_and_their_memory_is_reused() {
        let mut wheel = Wheel::new(0, 100_000);
        let insert_all = |wheel: &mut Wheel<u64>, base_ns: u64| {
            for number in 0..100_000u64 {
                // A permutation of the microseconds of 0.1 s.
                wheel.insert(base_ns + number * 7919 % 100_000 * 1000, number);
            }
        };
        for base_ns in [0, 1_000_000_000] {
            insert_all(&mut wheel, base_ns);
            let (mut now_ns, mut last_ns, mut count) = (base_ns, 0, 0);
            while wheel.next_ns().is_some() {
                wheel.advance(now_ns, |deadline_ns, _| {
                    assert!(deadline_ns >= last_ns && deadline_ns <= now_ns);
                    (last_ns, count) = (deadline_ns, count + 1);
                });
                now_ns += 10_000;
            }
            assert_eq!(count, 100_000);
        }
        assert_eq!(wheel.entries.len(), 100_000);
    }
}
