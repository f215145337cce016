//! A list that grows without moving its entries, except the first 1,024.
//!
//! For: tables of up to 100,000 entries. Growing a `Vec` copies all entries, which takes milliseconds
//! during which no reply is sent. Not for: removing entries (`slots.rs`).

/// Entries in one allocation.
const CHUNK: usize = 1024;

/// Entries by index.
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
            // Most lists are short, so the first chunk grows as needed.
            let room = if self.0.is_empty() { 0 } else { CHUNK };
            self.0.push(Vec::with_capacity(room));
        }
        self.0.last_mut().expect("the last chunk has room").push(value);
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
    fn entries_beyond_the_first_chunk_are_not_moved_when_the_list_grows() {
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
