//! Things by number, where the number of one that is gone names nothing.
//!
//! For: connections, volumes and held requests, which are looked up for each request and named by
//! small keys that are copied about. Not for: order.

use crate::chunks::Chunks;

/// Where something stands, and which of those that stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    index: u32,
    generation: u32,
}

impl Place {
    /// As a number, for whoever carries numbers only.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The place that a number came from.
    pub(crate) const fn from_bits(bits: u64) -> Place {
        Place { index: bits as u32, generation: (bits >> 32) as u32 }
    }

    /// A small number that is used again.
    pub(crate) const fn index(self) -> usize {
        self.index as usize
    }
}

/// No place.
const NONE: u32 = u32::MAX;

/// Things with their places; those of what was removed are used again, the last one first.
///
/// Which places are free is written in the places themselves: a list beside them would grow as
/// 100,000 held replies leave, and what an allocator does before it gives out a large piece of
/// memory, after many small ones came back to it, takes up to 20 ms.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    slots: Chunks<Slot<T>>,
    /// First of the list of free places.
    free: u32,
    used: usize,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    content: Content<T>,
}

#[derive(Clone, Debug)]
enum Content<T> {
    Used(T),
    /// The next free place.
    Free(u32),
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { slots: Chunks::default(), free: NONE, used: 0 }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> Place {
        let place = self.next_place();
        self.used += 1;
        match self.slots.get_mut(place.index()) {
            Some(slot) => {
                if let Content::Free(next) = slot.content {
                    self.free = next;
                }
                slot.content = Content::Used(value);
            }
            None => {
                assert!(place.index != NONE, "fewer than 2^32 - 1 of a kind");
                self.slots.push(Slot { generation: 0, content: Content::Used(value) });
            }
        }
        place
    }

    /// Makes room for `count` things together, those that are there among them.
    pub(crate) fn make_room(&mut self, count: usize) {
        while self.slots.len() < count {
            let index = self.slots.len() as u32;
            self.slots.push(Slot { generation: 0, content: Content::Free(self.free) });
            self.free = index;
        }
    }

    /// The place that the next thing will have.
    pub(crate) fn next_place(&self) -> Place {
        match self.slots.get(self.free as usize) {
            Some(slot) => Place { index: self.free, generation: slot.generation },
            None => Place { index: self.slots.len() as u32, generation: 0 },
        }
    }

    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        match self.slots.get(place.index()) {
            Some(Slot { generation, content: Content::Used(value) })
                if *generation == place.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        match self.slots.get_mut(place.index()) {
            Some(Slot { generation, content: Content::Used(value) })
                if *generation == place.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, place: Place) -> Option<T> {
        let slot = self.slots.get_mut(place.index())?;
        if slot.generation != place.generation {
            return None;
        }
        match std::mem::replace(&mut slot.content, Content::Free(self.free)) {
            Content::Used(value) => {
                slot.generation = slot.generation.wrapping_add(1);
                self.free = place.index;
                self.used -= 1;
                Some(value)
            }
            // A place that is free names nothing; it stays as it was.
            free @ Content::Free(_) => {
                slot.content = free;
                None
            }
        }
    }

    /// Where everything is.
    pub(crate) fn places(&self) -> Vec<Place> {
        let used = |slot: &Slot<T>| matches!(slot.content, Content::Used(_));
        let all = self.slots.iter().zip(0..).filter(|(slot, _)| used(slot));
        all.map(|(slot, index)| Place { index, generation: slot.generation }).collect()
    }

    pub(crate) const fn len(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_what_is_gone_names_nothing_though_it_is_used_again() {
        let mut slots = Slots::default();
        let (a, b) = (slots.insert("a"), slots.insert("b"));
        assert_eq!(slots.remove(a), Some("a"));
        let next = slots.next_place();
        let c = slots.insert("c");
        assert_eq!((next, slots.places()), (c, vec![c, b]));
        assert_eq!(Place::from_bits(c.to_bits()), c);
        assert_eq!((slots.get(a), slots.get(b), slots.get(c)), (None, Some(&"b"), Some(&"c")));
        assert_eq!((slots.remove(a), slots.len()), (None, 2));
        assert_eq!(slots.get_mut(a), None);
        assert_eq!((a.index, slots.slots.len()), (c.index, 2));
    }

    #[test]
    fn what_room_was_made_for_comes_into_it() {
        let mut slots = Slots::default();
        let first = slots.insert(0);
        slots.make_room(2000);
        slots.make_room(10);
        let places: Vec<Place> = (1..2001).map(|number| slots.insert(number)).collect();
        assert_eq!((slots.len(), slots.slots.len()), (2001, 2001));
        assert_eq!(slots.get(first), Some(&0));
        assert!(places.iter().zip(1..).all(|(place, number)| slots.get(*place) == Some(&number)));
    }

    #[test]
    fn what_comes_after_others_went_takes_their_room() {
        let mut slots = Slots::default();
        let places: Vec<Place> = (0..5000).map(|number| slots.insert(number)).collect();
        assert_eq!(slots.places(), places);
        let gone = |number: usize| !number.is_multiple_of(3);
        for number in (0..5000).filter(|number| gone(*number)) {
            assert_eq!(slots.remove(places[number]), Some(number));
        }
        assert_eq!(slots.len(), 1667);
        let again: Vec<Place> = (0..3333).map(|number| slots.insert(5000 + number)).collect();
        assert_eq!((slots.len(), slots.slots.len()), (5000, 5000));
        for (number, place) in places.iter().enumerate() {
            let still = (!gone(number)).then_some(number);
            assert_eq!(slots.get(*place).copied(), still);
        }
        for (number, place) in again.iter().enumerate() {
            assert_eq!(slots.get(*place), Some(&(5000 + number)));
        }
    }
}
