//! Things by number, where the number of one that is gone names nothing.
//!
//! For: connections, volumes and held requests, which are looked up for each request and named by
//! small keys that are copied about. Not for: order.

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

/// Places in one piece of memory.
const CHUNK: usize = 1024;

/// Things with their places; those of what was removed are used again.
///
/// They stand in pieces of memory that are never moved: to make room for 100,000 held replies by
/// copying those that are there takes milliseconds, in which nothing else is let go.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    chunks: Vec<Vec<Slot<T>>>,
    count: u32,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { chunks: Vec::new(), count: 0, free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, value: T) -> Place {
        if let Some(index) = self.free.pop() {
            let slot = self.slot_mut(index).expect("what is free was used");
            slot.value = Some(value);
            return Place { index, generation: slot.generation };
        }
        let index = self.count;
        self.count = index.checked_add(1).expect("fewer than 2^32 of a kind");
        if (index as usize).is_multiple_of(CHUNK) {
            // Most kinds have few, and the first chunk grows with them.
            let room = if index == 0 { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        let last = self.chunks.last_mut().expect("the first place of a chunk makes it");
        last.push(Slot { generation: 0, value: Some(value) });
        Place { index, generation: 0 }
    }

    /// The place that the next thing will have.
    pub(crate) fn next_place(&self) -> Place {
        let index = self.free.last().copied().unwrap_or(self.count);
        let generation = self.slot(index).map_or(0, |slot| slot.generation);
        Place { index, generation }
    }

    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        let slot = self.slot(place.index)?;
        slot.value.as_ref().filter(|_| slot.generation == place.generation)
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let slot = self.slot_mut(place.index)?;
        slot.value.as_mut().filter(|_| slot.generation == place.generation)
    }

    pub(crate) fn remove(&mut self, place: Place) -> Option<T> {
        let slot = self.slot_mut(place.index)?;
        if slot.generation != place.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(place.index);
        Some(value)
    }

    /// Where everything is.
    pub(crate) fn places(&self) -> Vec<Place> {
        let used = self.chunks.iter().flatten().zip(0..).filter(|(slot, _)| slot.value.is_some());
        used.map(|(slot, index)| Place { index, generation: slot.generation }).collect()
    }

    pub(crate) const fn len(&self) -> usize {
        self.count as usize - self.free.len()
    }

    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        self.chunks.get(index as usize / CHUNK)?.get(index as usize % CHUNK)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<T>> {
        self.chunks.get_mut(index as usize / CHUNK)?.get_mut(index as usize % CHUNK)
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
        assert_eq!((a.index, slots.count), (c.index, 2));
    }

    #[test]
    fn what_is_there_stands_where_it_stood_however_many_come() {
        let mut slots = Slots::default();
        let places: Vec<Place> = (0..3 * CHUNK + 1).map(|number| slots.insert(number)).collect();
        let first: *const usize = slots.get(places[CHUNK]).unwrap();
        let more: Vec<Place> = (0..5 * CHUNK).map(|number| slots.insert(number)).collect();
        assert!(std::ptr::eq(first, slots.get(places[CHUNK]).unwrap()));
        for (number, place) in places.iter().enumerate() {
            assert_eq!(slots.get(*place), Some(&number));
        }
        assert_eq!(slots.places(), [places, more].concat());
        assert_eq!(slots.len(), 8 * CHUNK + 1);
    }
}
