//! A hierarchical timer wheel: a hundred thousand delayed requests at a few operations each.
//!
//! For: holding what is to be released at an instant. Nothing is released before its instant; what
//! is due is released in the order of instants, and at one instant in the order of insertion. Not
//! for: reading a clock or waiting; `now` is an argument, and `next_ns` says when to come again.
//!
//! Idea: Varghese and Lauck, "Hashed and hierarchical timing wheels", SOSP 1987, with the level
//! chosen by the highest bit in which deadline and time differ, so that an entry moves down at most
//! once per level. Entries of the tick that time has reached stand in a heap, which gives the exact
//! order; all others stand in lists that nobody sorts. Insertion and cancellation are O(1) outside
//! of the tick of now, and O(log of the entries of that tick) inside.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A tick is 2^14 ns, 16.4 us: below the 20 us that the accuracy of 50 us leaves for it.
const TICK_SHIFT: u32 = 14;
/// Slots of a level, as a power of two.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Enough for every instant that 64 bits of nanoseconds can name: 50 bits of ticks in 6 each.
const LEVELS: usize = 9;
/// No entry.
const NONE: u32 = u32::MAX;

/// Names an entry until it is released or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerId {
    index: u32,
    sequence: u64,
}

/// Values with the instants at which they are to be released.
#[derive(Debug)]
pub struct Wheel<T> {
    /// Entries, used and free.
    entries: Vec<Entry<T>>,
    /// First of the list of free entries.
    free: u32,
    /// heads[level][slot]: first entry of each slot's list.
    heads: [[u32; SLOTS]; LEVELS],
    /// firsts[level][slot]: no entry of the slot is due before; only while the slot has any.
    firsts: [[u64; SLOTS]; LEVELS],
    /// occupied[level]: a bit for each slot that has an entry.
    occupied: [u64; LEVELS],
    /// Entries whose tick has been reached, with those cancelled since.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// The tick that time has reached; every entry outside of `due` is later.
    tick: u64,
    /// Numbers entries in the order of insertion.
    sequence: u64,
    /// Entries that are neither released nor cancelled.
    len: usize,
}

#[derive(Debug)]
struct Entry<T> {
    /// `None` while free.
    value: Option<T>,
    deadline_ns: u64,
    sequence: u64,
    /// Neighbours in the slot's list; `next` also links free entries.
    next: u32,
    previous: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Slot { level: u8, slot: u8 },
    Due,
}

impl<T> Wheel<T> {
    /// An empty wheel that has reached `now_ns`, with room for `capacity` entries before it
    /// allocates.
    pub fn new(now_ns: u64, capacity: usize) -> Wheel<T> {
        Wheel {
            entries: Vec::with_capacity(capacity),
            free: NONE,
            heads: [[NONE; SLOTS]; LEVELS],
            firsts: [[0; SLOTS]; LEVELS],
            occupied: [0; LEVELS],
            due: BinaryHeap::new(),
            tick: now_ns >> TICK_SHIFT,
            sequence: 0,
            len: 0,
        }
    }

    /// Entries that wait.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a value to be released at `deadline_ns`, at once if that has passed.
    pub fn insert(&mut self, deadline_ns: u64, value: T) -> TimerId {
        let sequence = self.sequence;
        self.sequence += 1;
        let entry = Entry {
            value: Some(value),
            deadline_ns,
            sequence,
            next: NONE,
            previous: NONE,
            place: Place::Due,
        };
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
        self.len += 1;
        self.put(index);
        TimerId { index, sequence }
    }

    /// Takes an entry out before its time; `None` if it was released or cancelled already.
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let entry = self.entries.get(id.index as usize)?;
        if entry.sequence != id.sequence || entry.value.is_none() {
            return None;
        }
        // An entry of the heap is dropped when its turn comes: its sequence is no longer there.
        if let Place::Slot { level, slot } = entry.place {
            self.unlink(id.index, usize::from(level), usize::from(slot));
        }
        self.take(id.index)
    }

    /// Releases everything due at `now_ns` in its order: `release(deadline_ns, value)`.
    pub fn advance(&mut self, now_ns: u64, mut release: impl FnMut(u64, T)) {
        let target = now_ns >> TICK_SHIFT;
        loop {
            // Whatever is in the heap has an earlier tick than whatever is not.
            while let Some(&Reverse((deadline_ns, sequence, index))) = self.due.peek() {
                if deadline_ns > now_ns {
                    break;
                }
                self.due.pop();
                if self.entries[index as usize].sequence == sequence
                    && let Some(value) = self.take(index)
                {
                    release(deadline_ns, value);
                }
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

    /// When to call [`Wheel::advance`] next: at the first deadline. It may be earlier only where
    /// the first entry of a slot was cancelled.
    pub fn next_ns(&mut self) -> Option<u64> {
        while let Some(&Reverse((deadline_ns, sequence, index))) = self.due.peek() {
            let entry = &self.entries[index as usize];
            if entry.sequence == sequence && entry.value.is_some() {
                return Some(deadline_ns);
            }
            self.due.pop();
        }
        self.next_slot().map(|(level, slot, _)| self.firsts[level][slot])
    }

    /// Puts an entry where its deadline belongs, as seen from the tick that time has reached.
    fn put(&mut self, index: u32) {
        let Entry { deadline_ns, sequence, .. } = self.entries[index as usize];
        let tick = deadline_ns >> TICK_SHIFT;
        if tick <= self.tick {
            self.entries[index as usize].place = Place::Due;
            self.due.push(Reverse((deadline_ns, sequence, index)));
            return;
        }
        let level = ((63 - (tick ^ self.tick).leading_zeros()) / SLOT_BITS) as usize;
        let slot = (tick >> (level as u32 * SLOT_BITS)) as usize % SLOTS;
        let head = self.heads[level][slot];
        let first_ns = &mut self.firsts[level][slot];
        if head != NONE {
            self.entries[head as usize].previous = index;
            *first_ns = deadline_ns.min(*first_ns);
        } else {
            *first_ns = deadline_ns;
        }
        let entry = &mut self.entries[index as usize];
        (entry.next, entry.previous) = (head, NONE);
        entry.place = Place::Slot { level: level as u8, slot: slot as u8 };
        self.heads[level][slot] = index;
        self.occupied[level] |= 1 << slot;
    }

    fn unlink(&mut self, index: u32, level: usize, slot: usize) {
        let Entry { next, previous, .. } = self.entries[index as usize];
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        if previous != NONE {
            self.entries[previous as usize].next = next;
        } else {
            self.heads[level][slot] = next;
            if next == NONE {
                self.occupied[level] &= !(1 << slot);
            }
        }
    }

    /// Gives an entry back to the free list.
    fn take(&mut self, index: u32) -> Option<T> {
        let entry = &mut self.entries[index as usize];
        let value = entry.value.take()?;
        entry.next = self.free;
        self.free = index;
        self.len -= 1;
        Some(value)
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
        Cancel(usize),
        Advance(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Spans from within a tick to hours, so that every level is met.
        let span = || (0u32..44).prop_flat_map(|bits| 0u64..(1 << bits).max(2));
        let step = prop_oneof![
            4 => span().prop_map(Step::Insert),
            1 => (0usize..64).prop_map(Step::Cancel),
            2 => span().prop_map(Step::Advance),
        ];
        prop::collection::vec(step, 1..120)
    }

    proptest! {
        #[test]
        fn releases_as_a_sorted_queue_does(steps in steps()) {
            let mut now_ns = 123_456_789;
            let mut wheel = Wheel::new(now_ns, 0);
            // The oracle: every entry with its deadline and number, ordered by both.
            let mut oracle: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
            let mut ids = Vec::new();
            let mut cancelled = std::collections::BTreeSet::new();
            for step in steps {
                match step {
                    Step::Insert(after_ns) => {
                        let number = ids.len();
                        ids.push(wheel.insert(now_ns + after_ns, number));
                        oracle.push(Reverse((now_ns + after_ns, number)));
                    }
                    Step::Cancel(number) if number < ids.len() => {
                        let waits = oracle.iter().any(|Reverse((_, other))| *other == number)
                            && !cancelled.contains(&number);
                        prop_assert_eq!(wheel.cancel(ids[number]), waits.then_some(number));
                        cancelled.insert(number);
                    }
                    Step::Cancel(_) => {}
                    Step::Advance(by_ns) => {
                        now_ns += by_ns;
                        let mut expected = Vec::new();
                        while let Some(Reverse((deadline_ns, number))) = oracle.peek().copied() {
                            if deadline_ns > now_ns {
                                break;
                            }
                            oracle.pop();
                            if !cancelled.contains(&number) {
                                expected.push((deadline_ns, number));
                            }
                        }
                        let mut released = Vec::new();
                        wheel.advance(now_ns, |deadline_ns, number| {
                            released.push((deadline_ns, number));
                        });
                        prop_assert_eq!(released, expected);
                    }
                }
                let waiting: Vec<u64> = oracle.iter()
                    .filter(|Reverse((_, number))| !cancelled.contains(number))
                    .map(|Reverse((deadline_ns, _))| *deadline_ns)
                    .collect();
                prop_assert_eq!(wheel.len(), waiting.len());
                let first = waiting.iter().min();
                let next = wheel.next_ns();
                prop_assert_eq!(next.is_some(), first.is_some());
                prop_assert!(next.zip(first).is_none_or(|(next, first)| next <= *first));
                if cancelled.is_empty() {
                    prop_assert_eq!(next, first.copied(), "nobody is woken in vain");
                }
            }
        }
    }

    #[test]
    fn coming_back_when_told_releases_each_entry_at_its_very_instant() {
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
        assert_eq!(wakes, deadlines.len(), "once for each");
    }

    #[test]
    fn at_one_instant_what_was_inserted_first_is_released_first() {
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
    fn a_hundred_thousand_entries_come_out_sorted_and_their_room_is_used_again() {
        let mut wheel = Wheel::new(0, 100_000);
        let insert_all = |wheel: &mut Wheel<u64>, base_ns: u64| {
            for number in 0..100_000u64 {
                // A permutation of the microseconds of 0.1 s.
                wheel.insert(base_ns + number * 7919 % 100_000 * 1000, number);
            }
        };
        for base_ns in [0, 1_000_000_000] {
            insert_all(&mut wheel, base_ns);
            assert_eq!(wheel.len(), 100_000);
            let (mut now_ns, mut last_ns, mut count) = (base_ns, 0, 0);
            while !wheel.is_empty() {
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

    #[test]
    fn a_cancelled_entry_does_not_come_back_when_its_room_is_used_again() {
        let mut wheel = Wheel::new(0, 1);
        // In the tick of now, so that the heap still knows it.
        let first = wheel.insert(100, "first");
        assert_eq!(wheel.cancel(first), Some("first"));
        assert_eq!(wheel.cancel(first), None);
        wheel.insert(200, "second");
        assert_eq!(wheel.cancel(first), None);
        let mut released = Vec::new();
        wheel.advance(150, |_, value| released.push(value));
        assert!(released.is_empty());
        wheel.advance(200, |_, value| released.push(value));
        assert_eq!(released, ["second"]);
        assert_eq!(wheel.next_ns(), None);
    }
}
