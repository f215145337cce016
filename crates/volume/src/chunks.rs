//! A list whose memory is not moved, however long it grows, but for its first 1,024 entries.
//!
//! For: tables of whatever there may be 100,000 of. To make room for them by copying those that are
//! there takes milliseconds, in which nothing else is let go. Not for: taking out (`slots.rs`).

/// Entries in one piece of memory.
const CHUNK: usize = 1024;

/// Entries by their number, which is the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T>(Vec<Vec<T>>);

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks(Vec::new())
    }
}

impl<T> Chunks<T> {
    pub(crate) fn push(&mut self, value: T) {
        if self.0.last().is_none_or(|last| last.len() == CHUNK) {
            // Most lists are short, and the first piece grows with them.
            let room = if self.0.is_empty() { 0 } else { CHUNK };
            self.0.push(Vec::with_capacity(room));
        }
        self.0.last_mut().expect("there is one with room").push(value);
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.0.get(index / CHUNK)?.get(index % CHUNK)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.0.get_mut(index / CHUNK)?.get_mut(index % CHUNK)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * CHUNK + last.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stands_where_it_stood_however_many_come() {
        let mut chunks = Chunks::default();
        (0..CHUNK + 1).for_each(|number| chunks.push(number));
        let first: *const usize = chunks.get(CHUNK).unwrap();
        (CHUNK + 1..5 * CHUNK).for_each(|number| chunks.push(number));
        assert!(std::ptr::eq(first, chunks.get(CHUNK).unwrap()));
        assert!(chunks.iter().copied().eq(0..5 * CHUNK));
        assert_eq!((chunks.len(), chunks.get(5 * CHUNK)), (5 * CHUNK, None));
        assert_eq!(chunks.get_mut(7), Some(&mut 7));
    }
}
