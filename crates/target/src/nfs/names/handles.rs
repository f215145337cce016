//! Handles of directories and files that were used last, in a table of fixed size.

use nfs3::types::Handle;
use workload::random;

/// Entries that may be in one place of the table; the one that was used last stays longest.
const WAYS: usize = 2;

/// A cache of handles by number.
#[derive(Debug)]
pub(super) struct Handles {
    entries: Vec<Option<(u64, Handle)>>,
}

impl Handles {
    /// Room for `entries` handles.
    pub(super) fn new(entries: usize) -> Handles {
        Handles { entries: vec![None; entries.next_multiple_of(WAYS).max(WAYS)] }
    }

    fn set(&mut self, number: u64) -> &mut [Option<(u64, Handle)>] {
        let sets = (self.entries.len() / WAYS) as u64;
        let first = (random::mix64(number) % sets) as usize * WAYS;
        &mut self.entries[first..first + WAYS]
    }

    pub(super) fn get(&mut self, number: u64) -> Option<Handle> {
        let set = self.set(number);
        let found = set.iter().position(|entry| entry.is_some_and(|(known, _)| known == number))?;
        set.swap(0, found);
        set[0].map(|(_, handle)| handle)
    }

    pub(super) fn insert(&mut self, number: u64, handle: Handle) {
        let set = self.set(number);
        let known = set.iter().position(|entry| entry.is_some_and(|(known, _)| known == number));
        let at = known.unwrap_or(WAYS - 1);
        set[at] = Some((number, handle));
        set.swap(0, at);
    }

    /// Forgets a handle and returns it.
    pub(super) fn remove(&mut self, number: u64) -> Option<Handle> {
        let set = self.set(number);
        let found = set.iter().position(|entry| entry.is_some_and(|(known, _)| known == number))?;
        set[found].take().map(|(_, handle)| handle)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn handle(number: u64) -> Handle {
        Handle::new(&number.to_be_bytes()).expect("eight bytes fit")
    }

    #[test]
    fn a_handle_is_the_last_one_inserted_for_its_number_or_none() {
        let mut handles = Handles::new(64);
        let mut all: HashMap<u64, u64> = HashMap::new();
        let mut found = 0;
        for draw in 0..20_000 {
            let number = random::below(random::at(1, draw), 100);
            match random::at(2, draw) % 3 {
                0 => {
                    handles.insert(number, handle(draw));
                    all.insert(number, draw);
                }
                1 => {
                    let known = all.get(&number).copied().map(handle);
                    let cached = handles.get(number);
                    found += usize::from(cached.is_some());
                    assert!(cached.is_none() || cached == known);
                }
                _ => {
                    let known = all.remove(&number).map(handle);
                    let cached = handles.remove(number);
                    assert!(cached.is_none() || cached == known);
                    assert_eq!(handles.get(number), None);
                }
            }
        }
        assert!(found > 500, "{found} hits");
    }
}
