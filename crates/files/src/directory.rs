//! A directory: entries in the order in which they were made, and a hash table that finds them.
//!
//! Every entry gets a number when it is made, its cookie, and numbers are never used twice in one
//! directory. A listing goes on after a cookie, whether that entry still exists or not: so an entry
//! that is there from the beginning of a listing to its end is given exactly once, whatever is
//! added and removed meanwhile. The idea is that of the sequential directory offsets of
//! Linux's tmpfs (`simple_offset`), for the same reason.
//!
//! Cookies only grow, so the entries are a plain vector that is sorted by them; what is removed
//! leaves a gap until there are more gaps than entries. The table is probed linearly; its hash is
//! keyed by the volume's instance, so that nobody outside can choose names that collide. The order
//! in the table is never shown.

/// Cookies of "." and ".."; entries follow.
pub(crate) const DOT: u64 = 1;
pub(crate) const DOT_DOT: u64 = 2;

/// What the memory budget is charged for a name beside its bytes: an entry of 40 bytes, two slots
/// of the table, each with the room that vectors keep for growing and gaps, rounded up.
const ENTRY_BYTES: u64 = 128;

/// The charge of one name.
pub(crate) fn entry_bytes(name: &[u8]) -> u64 {
    ENTRY_BYTES + name.len() as u64
}

/// Names of this length lie in their entry, which saves a look at another place in memory.
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

/// `fileid` of an entry that was removed.
const GONE: u64 = 0;

#[derive(Clone, Debug)]
struct Entry {
    cookie: u64,
    fileid: u64,
    name: Name,
}

/// A place of the table: the hash, and one more than the index of the entry; 0 if it is empty.
type Slot = u64;

/// A directory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// The inode that ".." names; the root's is itself.
    pub(crate) parent: u64,
    /// Directories in it, each of which has a ".." that names it.
    pub(crate) subdirectories: u32,
    /// In the order of cookies, those that are gone among them.
    entries: Vec<Entry>,
    /// Entries that are not gone.
    live: usize,
    /// As long as a power of two, at least twice as long as there are entries; or empty.
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
        self.place(name).map(|place| self.entry(place).fileid)
    }

    /// Cookie and inode number.
    pub(crate) fn find_entry(&self, name: &[u8]) -> Option<(u64, u64)> {
        let entry = self.entry(self.place(name)?);
        Some((entry.cookie, entry.fileid))
    }

    /// The cookie that the next name gets.
    pub(crate) fn next_cookie(&self) -> u64 {
        self.next_cookie
    }

    /// Lets cookies go on from here, unless they are further already.
    pub(crate) fn set_next_cookie(&mut self, cookie: u64) {
        self.next_cookie = self.next_cookie.max(cookie);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Adds a name that is not there.
    pub(crate) fn insert(&mut self, name: &[u8], fileid: u64) {
        debug_assert!(self.find(name).is_none(), "the caller looked first");
        if self.entries.len() == self.entries.capacity() && self.live * 2 < self.entries.len() {
            self.entries.retain(|entry| entry.fileid != GONE);
            self.index();
        }
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.push(Entry { cookie, fileid, name: Name::of(name) });
    }

    /// Adds a name as it was kept, with its cookie; false if that is not later than all others.
    pub(crate) fn restore(&mut self, name: &[u8], fileid: u64, cookie: u64) -> bool {
        let ordered = self.entries.last().is_none_or(|last| last.cookie < cookie);
        if ordered && cookie > DOT_DOT && fileid != GONE {
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
            self.index();
        } else {
            self.point_to(self.entries.len() - 1);
        }
    }

    /// Lets a name that is there mean another object. It keeps its cookie: the name was there all
    /// the time, so no listing may skip it or give it twice.
    pub(crate) fn replace(&mut self, name: &[u8], fileid: u64) {
        if let Some(place) = self.place(name) {
            let index = entry_of(self.table[place]);
            self.entries[index].fileid = fileid;
        }
    }

    /// Takes a name away.
    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<u64> {
        let place = self.place(name)?;
        let index = entry_of(self.table[place]);
        let entry = &mut self.entries[index];
        let fileid = entry.fileid;
        entry.fileid = GONE;
        entry.name = Name::of(b"");
        self.live -= 1;
        while self.entries.last().is_some_and(|entry| entry.fileid == GONE) {
            self.entries.pop();
        }
        self.close_gap(place);
        Some(fileid)
    }

    /// `(cookie, name, fileid)` of the entries after a cookie, without "." and "..".
    pub(crate) fn after(&self, cookie: u64) -> impl Iterator<Item = (u64, &[u8], u64)> {
        let first = self.entries.partition_point(|entry| entry.cookie <= cookie);
        let live = self.entries[first..].iter().filter(|entry| entry.fileid != GONE);
        live.map(|entry| (entry.cookie, entry.name.bytes(), entry.fileid))
    }

    /// Bytes as `fattr3.size` shows them: grows with the entries, as on other servers.
    pub(crate) fn size(&self) -> u64 {
        (self.live as u64 / 64 + 1) * 4096
    }

    fn entry(&self, place: usize) -> &Entry {
        &self.entries[entry_of(self.table[place])]
    }

    /// The place in the table of a name that is there.
    fn place(&self, name: &[u8]) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let hash = hash(name, self.seed);
        let mut place = hash as usize & mask;
        loop {
            let slot = self.table[place];
            if slot == 0 {
                return None;
            }
            if slot as u32 == hash && self.entry(place).name.bytes() == name {
                return Some(place);
            }
            place = (place + 1) & mask;
        }
    }

    /// Makes the table anew, for the entries there are.
    fn index(&mut self) {
        self.table.clear();
        self.table.resize((self.live * 3).next_power_of_two().max(8), 0);
        for index in 0..self.entries.len() {
            if self.entries[index].fileid != GONE {
                self.point_to(index);
            }
        }
    }

    /// Lets the table find an entry. There is room.
    fn point_to(&mut self, index: usize) {
        let hash = hash(self.entries[index].name.bytes(), self.seed);
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        while self.table[place] != 0 {
            place = (place + 1) & mask;
        }
        self.table[place] = (index as u64 + 1) << 32 | u64::from(hash);
    }

    /// Empties a place and moves up what lies further from its own place than it must (Knuth, The
    /// Art of Computer Programming, volume 3, section 6.4, algorithm R).
    fn close_gap(&mut self, place: usize) {
        let mask = self.table.len() - 1;
        let mut gap = place;
        let mut at = place;
        loop {
            at = (at + 1) & mask;
            let slot = self.table[at];
            if slot == 0 {
                break;
            }
            let own = slot as u32 as usize & mask;
            if at.wrapping_sub(own) & mask >= at.wrapping_sub(gap) & mask {
                self.table[gap] = slot;
                gap = at;
            }
        }
        self.table[gap] = 0;
    }
}

fn entry_of(slot: Slot) -> usize {
    (slot >> 32) as usize - 1
}

/// Eight bytes at a time are mixed by a multiplication of which both halves are kept, as wyhash
/// does.
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
    fn a_name_that_comes_to_mean_another_object_keeps_its_cookie() {
        let mut directory = Directory::new(2, 7);
        directory.insert(b"a", 10);
        directory.insert(b"b", 11);
        directory.replace(b"a", 12);
        let listed: Vec<_> =
            directory.after(0).map(|(cookie, _, fileid)| (cookie, fileid)).collect();
        assert_eq!(listed, [(3, 12), (4, 11)]);
    }

    #[test]
    fn a_name_made_again_gets_a_new_cookie() {
        let mut directory = Directory::new(2, 7);
        directory.insert(b"a", 10);
        assert_eq!(directory.remove(b"a"), Some(10));
        directory.insert(b"a", 11);
        assert_eq!(directory.after(0).next(), Some((4, &b"a"[..], 11)));
        assert_eq!(directory.after(u64::MAX).next(), None);
    }

    proptest! {
        /// Two maps: by name, and by the order in which names were made.
        #[test]
        fn names_are_found_and_listed_as_in_two_maps(
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
                        let gone = names.remove(&name).map(|entry| entry.1);
                        prop_assert_eq!(directory.remove(&name), gone);
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
