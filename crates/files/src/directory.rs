//! A directory: entries in the order of their creation, and a hash table to find them by name.
//!
//! Each new entry gets a cookie, which is never reused in its directory. A listing resumes after a
//! cookie, whether or not its entry still exists. So an entry that exists during a whole listing is
//! returned exactly once, whatever is added and removed meanwhile. Linux's tmpfs does the same
//! (`simple_offset`).
//!
//! Cookies only increase, so entries are a vector sorted by cookie. A removed entry leaves a gap
//! until gaps outnumber entries. The hash table uses linear probing. Its hash is keyed by the
//! volume's instance, so that clients cannot choose names that collide. The order in the table is
//! not visible.

/// Cookies of "." and ".."; entries follow.
pub(crate) const DOT: u64 = 1;
pub(crate) const DOT_DOT: u64 = 2;

/// Charge of a name to the memory budget in addition to its bytes: an entry of 40 bytes and two
/// slots of the table, each with the spare capacity of vectors and gaps, rounded up.
const ENTRY_BYTES: u64 = 128;

/// The charge of a name in bytes.
pub(crate) fn entry_bytes(name: &[u8]) -> u64 {
    ENTRY_BYTES + name.len() as u64
}

/// Names up to this length are stored in their entry, which saves a memory access.
const SHORT: usize = 22;

#[derive(Clone, Debug)]
enum Name {
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

impl Name {
    fn of(name: &[u8]) -> Name {
        if name.len() > SHORT {
            return Name::Long(name.into());
        }
        let mut bytes = [0; SHORT];
        bytes[..name.len()].copy_from_slice(name);
        Name::Short(name.len() as u8, bytes)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Name::Short(length, bytes) => &bytes[..usize::from(*length)],
            Name::Long(bytes) => bytes,
        }
    }
}

/// `fileid` of a removed entry.
const REMOVED: u64 = 0;

#[derive(Clone, Debug)]
struct Entry {
    cookie: u64,
    fileid: u64,
    name: Name,
}

/// A slot of the table: the hash, and the index of the entry plus 1; 0 if it is empty.
type Slot = u64;

#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// The inode of ".."; for the root, the root.
    pub(crate) parent: u64,
    /// Number of subdirectories, each of which has a ".." link to this one.
    pub(crate) subdirectories: u32,
    /// In the order of cookies, including removed entries.
    entries: Vec<Entry>,
    /// Number of entries that are not removed.
    live: usize,
    /// Empty, or a power of two of at least twice the number of entries.
    table: Vec<Slot>,
    next_cookie: u64,
    seed: u64,
}

impl Directory {
    pub(crate) fn new(parent: u64, seed: u64) -> Directory {
        Directory {
            parent,
            subdirectories: 0,
            entries: Vec::new(),
            live: 0,
            table: Vec::new(),
            next_cookie: DOT_DOT + 1,
            seed,
        }
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<u64> {
        self.find_slot(name).map(|slot| self.entry(slot).fileid)
    }

    /// Cookie and inode number of a name.
    pub(crate) fn find_entry(&self, name: &[u8]) -> Option<(u64, u64)> {
        let entry = self.entry(self.find_slot(name)?);
        Some((entry.cookie, entry.fileid))
    }

    /// The cookie of the next new entry.
    pub(crate) fn next_cookie(&self) -> u64 {
        self.next_cookie
    }

    /// Raises the next cookie to at least this value.
    pub(crate) fn raise_next_cookie(&mut self, cookie: u64) {
        self.next_cookie = self.next_cookie.max(cookie);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Adds a name that does not exist.
    pub(crate) fn insert(&mut self, name: &[u8], fileid: u64) {
        debug_assert!(self.find(name).is_none(), "the caller checked that the name is free");
        if self.entries.len() == self.entries.capacity() && self.live * 2 < self.entries.len() {
            self.entries.retain(|entry| entry.fileid != REMOVED);
            self.rebuild_table();
        }
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.push(Entry { cookie, fileid, name: Name::of(name) });
    }

    /// Adds a stored name with its cookie; false if the cookie is not higher than all others.
    pub(crate) fn restore(&mut self, name: &[u8], fileid: u64, cookie: u64) -> bool {
        let ordered = self.entries.last().is_none_or(|last| last.cookie < cookie);
        if ordered && cookie > DOT_DOT && fileid != REMOVED {
            self.next_cookie = self.next_cookie.max(cookie + 1);
            self.push(Entry { cookie, fileid, name: Name::of(name) });
            return true;
        }
        false
    }

    fn push(&mut self, entry: Entry) {
        self.live += 1;
        self.entries.push(entry);
        if self.live * 2 > self.table.len() {
            self.rebuild_table();
        } else {
            self.add_to_table(self.entries.len() - 1);
        }
    }

    /// Assigns an existing name to another object. It keeps its cookie, so that a listing neither
    /// skips it nor returns it twice.
    pub(crate) fn replace(&mut self, name: &[u8], fileid: u64) {
        if let Some(slot) = self.find_slot(name) {
            let index = entry_of(self.table[slot]);
            self.entries[index].fileid = fileid;
        }
    }

    /// Removes a name; returns its inode number.
    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<u64> {
        let slot = self.find_slot(name)?;
        let index = entry_of(self.table[slot]);
        let entry = &mut self.entries[index];
        let fileid = entry.fileid;
        entry.fileid = REMOVED;
        entry.name = Name::of(b"");
        self.live -= 1;
        while self.entries.last().is_some_and(|entry| entry.fileid == REMOVED) {
            self.entries.pop();
        }
        self.close_gap(slot);
        Some(fileid)
    }

    /// `(cookie, name, fileid)` of the entries after a cookie, except "." and "..".
    pub(crate) fn after(&self, cookie: u64) -> impl Iterator<Item = (u64, &[u8], u64)> {
        let first = self.entries.partition_point(|entry| entry.cookie <= cookie);
        let live = self.entries[first..].iter().filter(|entry| entry.fileid != REMOVED);
        live.map(|entry| (entry.cookie, entry.name.bytes(), entry.fileid))
    }

    /// Size for `fattr3.size`; like on other servers, it grows with the number of entries.
    pub(crate) fn size(&self) -> u64 {
        (self.live as u64 / 64 + 1) * 4096
    }

    fn entry(&self, slot: usize) -> &Entry {
        &self.entries[entry_of(self.table[slot])]
    }

    /// The slot of a name, if it exists.
    fn find_slot(&self, name: &[u8]) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let hash = hash(name, self.seed);
        let mut slot = hash as usize & mask;
        loop {
            let value = self.table[slot];
            if value == 0 {
                return None;
            }
            if value as u32 == hash && self.entry(slot).name.bytes() == name {
                return Some(slot);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Rebuilds the table from the entries.
    fn rebuild_table(&mut self) {
        self.table.clear();
        self.table.resize((self.live * 3).next_power_of_two().max(8), 0);
        for index in 0..self.entries.len() {
            if self.entries[index].fileid != REMOVED {
                self.add_to_table(index);
            }
        }
    }

    /// Adds an entry to the table, which has a free slot.
    fn add_to_table(&mut self, index: usize) {
        let hash = hash(self.entries[index].name.bytes(), self.seed);
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = (index as u64 + 1) << 32 | u64::from(hash);
    }

    /// Empties a slot, and moves later entries closer to the slot of their hash (Knuth, The Art of
    /// Computer Programming, volume 3, section 6.4, algorithm R).
    fn close_gap(&mut self, slot: usize) {
        let mask = self.table.len() - 1;
        let mut gap = slot;
        let mut at = slot;
        loop {
            at = (at + 1) & mask;
            let value = self.table[at];
            if value == 0 {
                break;
            }
            let home = value as u32 as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.table[gap] = value;
                gap = at;
            }
        }
        self.table[gap] = 0;
    }
}

fn entry_of(value: Slot) -> usize {
    (value >> 32) as usize - 1
}

/// Mixes eight bytes at a time by a multiplication and combines both halves of the product, like
/// wyhash.
fn hash(name: &[u8], seed: u64) -> u32 {
    let mix = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = seed ^ 0xa076_1d64_78bd_642f ^ name.len() as u64;
    for eight in name.chunks(8) {
        let mut word = [0; 8];
        word[..eight.len()].copy_from_slice(eight);
        state = mix(state ^ u64::from_le_bytes(word), 0xe703_7ed1_a0b4_28db ^ seed.rotate_left(32));
    }
    let end = mix(state, 0x8ebc_6af0_9c88_c6e3);
    (end ^ (end >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_name_that_is_assigned_to_another_object_keeps_its_cookie() {
        let mut directory = Directory::new(2, 7);
        directory.insert(b"a", 10);
        directory.insert(b"b", 11);
        directory.replace(b"a", 12);
        let listed: Vec<_> =
            directory.after(0).map(|(cookie, _, fileid)| (cookie, fileid)).collect();
        assert_eq!(listed, [(3, 12), (4, 11)]);
    }

    #[test]
    fn a_recreated_name_gets_a_new_cookie() {
        let mut directory = Directory::new(2, 7);
        directory.insert(b"a", 10);
        assert_eq!(directory.remove(b"a"), Some(10));
        directory.insert(b"a", 11);
        assert_eq!(directory.after(0).next(), Some((4, &b"a"[..], 11)));
        assert_eq!(directory.after(u64::MAX).next(), None);
    }

    proptest! {
        #[test]
        fn names_are_found_and_listed_as_in_a_map(
            steps in proptest::collection::vec((0..4u8, 0..400u32), 1..800),
            seed in any::<u64>(),
        ) {
            let mut directory = Directory::new(2, seed);
            let mut names: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
            let (mut cookie, mut fileid) = (DOT_DOT, 10);
            for (what, number) in steps {
                let name = "n".repeat(number as usize % 40) + &number.to_string();
                let name = name.into_bytes();
                fileid += 1;
                match (what, names.contains_key(&name)) {
                    (0..=1, false) => {
                        cookie += 1;
                        directory.insert(&name, fileid);
                        names.insert(name.clone(), (cookie, fileid));
                    }
                    (2, true) => {
                        directory.replace(&name, fileid);
                        names.entry(name.clone()).and_modify(|entry| entry.1 = fileid);
                    }
                    _ => {
                        let removed = names.remove(&name).map(|entry| entry.1);
                        prop_assert_eq!(directory.remove(&name), removed);
                    }
                }
                prop_assert_eq!(directory.find(&name), names.get(&name).map(|entry| entry.1));
                prop_assert_eq!(directory.is_empty(), names.is_empty());
            }
            let mut listed: Vec<(u64, &[u8], u64)> =
                names.iter().map(|(name, entry)| (entry.0, &name[..], entry.1)).collect();
            listed.sort_unstable();
            prop_assert_eq!(directory.after(0).collect::<Vec<_>>(), listed.clone());
            for name in names.keys() {
                prop_assert_eq!(directory.find(name), names.get(name).map(|entry| entry.1));
            }
            let half = cookie / 2;
            listed.retain(|entry| entry.0 > half);
            prop_assert_eq!(directory.after(half).collect::<Vec<_>>(), listed);
        }
    }
}
