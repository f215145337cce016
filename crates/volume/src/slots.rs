//! A slab: values by small ids. The id of a removed value never refers to a later one.
//!
//! For: connections, volumes and counters, which are looked up for each request. Not for: ordered
//! values, or deferred replies, whose memory outlives them (`deferred.rs`).

use crate::chunks::Chunks;

/// The index of a slot, and a generation that distinguishes its successive values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SlotId {
    index: u32,
    generation: u32,
}

impl SlotId {
    pub(crate) const fn new(index: u32, generation: u32) -> SlotId {
        SlotId { index, generation }
    }

    /// As one number, for interfaces that carry numbers only.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The inverse of [`SlotId::to_bits`].
    pub(crate) const fn from_bits(bits: u64) -> SlotId {
        SlotId { index: bits as u32, generation: (bits >> 32) as u32 }
    }

    /// The index of the slot, which later values use again.
    pub(crate) const fn index(self) -> usize {
        self.index as usize
    }

    pub(crate) const fn generation(self) -> u32 {
        self.generation
    }
}

/// No slot.
const NONE: u32 = u32::MAX;

/// Values in slots. The slot freed last is used first; free slots are a linked list.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    slots: Chunks<Slot<T>>,
    /// First of the list of free slots.
    free: u32,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    content: Content<T>,
}

#[derive(Clone, Debug)]
enum Content<T> {
    Used(T),
    /// The next free slot.
    Free(u32),
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { slots: Chunks::default(), free: NONE }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> SlotId {
        match self.slots.get_mut(self.free as usize) {
            Some(slot) => {
                let id = SlotId { index: self.free, generation: slot.generation };
                if let Content::Free(next) = slot.content {
                    self.free = next;
                }
                slot.content = Content::Used(value);
                id
            }
            None => {
                let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 of a kind");
                assert!(index != NONE, "fewer than 2^32 - 1 of a kind");
                self.slots.push(Slot { generation: 0, content: Content::Used(value) });
                SlotId { index, generation: 0 }
            }
        }
    }

    pub(crate) fn get(&self, id: SlotId) -> Option<&T> {
        match self.slots.get(id.index()) {
            Some(Slot { generation, content: Content::Used(value) })
                if *generation == id.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, id: SlotId) -> Option<&mut T> {
        match self.slots.get_mut(id.index()) {
            Some(Slot { generation, content: Content::Used(value) })
                if *generation == id.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, id: SlotId) -> Option<T> {
        let slot = self.slots.get_mut(id.index())?;
        if slot.generation != id.generation {
            return None;
        }
        match std::mem::replace(&mut slot.content, Content::Free(self.free)) {
            Content::Used(value) => {
                slot.generation = slot.generation.wrapping_add(1);
                self.free = id.index;
                Some(value)
            }
            free @ Content::Free(_) => {
                slot.content = free;
                None
            }
        }
    }

    /// The number of values.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot.content, Content::Used(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_removed_value_is_invalid_after_its_slot_is_reused() {
        let mut slots = Slots::default();
        let (a, b) = (slots.insert("a"), slots.insert("b"));
        assert_eq!(slots.remove(a), Some("a"));
        let c = slots.insert("c");
        assert_eq!(SlotId::from_bits(c.to_bits()), c);
        assert_eq!((slots.get(a), slots.get(b), slots.get(c)), (None, Some(&"b"), Some(&"c")));
        assert_eq!((slots.remove(a), slots.len()), (None, 2));
        assert_eq!(slots.get_mut(a), None);
        assert_eq!((a.index, slots.slots.len()), (c.index, 2));
    }

    #[test]
    fn new_values_reuse_the_slots_of_removed_ones() {
        let mut slots = Slots::default();
        let ids: Vec<SlotId> = (0..5000).map(|number| slots.insert(number)).collect();
        let gone = |number: usize| !number.is_multiple_of(3);
        for number in (0..5000).filter(|number| gone(*number)) {
            assert_eq!(slots.remove(ids[number]), Some(number));
        }
        assert_eq!(slots.len(), 1667);
        let again: Vec<SlotId> = (0..3333).map(|number| slots.insert(5000 + number)).collect();
        assert_eq!((slots.len(), slots.slots.len()), (5000, 5000));
        for (number, id) in ids.iter().enumerate() {
            let still = (!gone(number)).then_some(number);
            assert_eq!(slots.get(*id).copied(), still);
        }
        for (number, id) in again.iter().enumerate() {
            assert_eq!(slots.get(*id), Some(&(5000 + number)));
        }
    }
}
