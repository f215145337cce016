//! Values by operation kind, only for the kinds that occur: most streams have few of the 25.

use std::ops::{Index, IndexMut};

use crate::op::OpKind;

/// Values by operation kind, in the order of the kinds' numbers. Kinds without a value read as the
/// value that nothing was added to.
#[derive(Clone, Debug)]
pub struct KindTable<T> {
    entries: Vec<(OpKind, T)>,
}

/// A value that nothing was added to.
pub trait Blank: Default + PartialEq + 'static {
    /// That value.
    fn blank() -> &'static Self;
}

impl Blank for u64 {
    fn blank() -> &'static u64 {
        &0
    }
}

impl<T> Default for KindTable<T> {
    fn default() -> KindTable<T> {
        KindTable { entries: Vec::new() }
    }
}

impl<T> KindTable<T> {
    /// The value of a kind, if there is one.
    pub fn get(&self, kind: OpKind) -> Option<&T> {
        // Few entries, so that a search by halves is not faster.
        self.entries.iter().find(|(of, _)| *of == kind).map(|(_, value)| value)
    }

    /// The values, without their kinds.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// The kinds that have a value, with it.
    pub fn entries(&self) -> impl Iterator<Item = (OpKind, &T)> {
        self.entries.iter().map(|(kind, value)| (*kind, value))
    }

    /// The numbers of kinds up to the largest that has a value, and those of data in any case: a record
    /// stores a value for each.
    pub fn stored_kinds(&self) -> &'static [OpKind] {
        let last = self.entries.last().map_or(0, |(kind, _)| *kind as usize + 1);
        &OpKind::ALL[..last.max(OpKind::DATA.len())]
    }
}

impl<T: Blank> KindTable<T> {
    /// The value of a kind, which is added if there is none.
    pub fn entry(&mut self, kind: OpKind) -> &mut T {
        let found = self.entries.binary_search_by_key(&kind, |(of, _)| *of);
        let at = found.unwrap_or_else(|at| {
            self.entries.reserve_exact(1);
            self.entries.insert(at, (kind, T::default()));
            at
        });
        &mut self.entries[at].1
    }

    fn used(&self) -> impl Iterator<Item = &(OpKind, T)> {
        self.entries.iter().filter(|(_, value)| value != T::blank())
    }
}

impl<T: Blank> PartialEq for KindTable<T> {
    fn eq(&self, other: &KindTable<T>) -> bool {
        self.used().eq(other.used())
    }
}

impl<T: Blank + Eq> Eq for KindTable<T> {}

impl<T: Blank> Index<OpKind> for KindTable<T> {
    type Output = T;

    fn index(&self, kind: OpKind) -> &T {
        self.get(kind).unwrap_or(T::blank())
    }
}

impl<T: Blank> IndexMut<OpKind> for KindTable<T> {
    fn index_mut(&mut self, kind: OpKind) -> &mut T {
        self.entry(kind)
    }
}

/// By the number of a kind: `table[kind as usize]`.
impl<T: Blank> Index<usize> for KindTable<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self[OpKind::ALL[number]]
    }
}

impl<T: Blank> IndexMut<usize> for KindTable<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        self.entry(OpKind::ALL[number])
    }
}

impl<'t, T> IntoIterator for &'t KindTable<T> {
    type Item = &'t T;
    type IntoIter = std::iter::Map<std::slice::Iter<'t, (OpKind, T)>, fn(&'t (OpKind, T)) -> &'t T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(_, value)| value)
    }
}

impl<T> FromIterator<(OpKind, T)> for KindTable<T> {
    /// Each kind at most once.
    fn from_iter<I: IntoIterator<Item = (OpKind, T)>>(values: I) -> KindTable<T> {
        let mut entries: Vec<(OpKind, T)> = values.into_iter().collect();
        entries.sort_by_key(|(kind, _)| *kind);
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 != pair[1].0), "each kind once");
        KindTable { entries }
    }
}

/// The values of reads, writes and fsyncs.
impl<T> From<[T; 3]> for KindTable<T> {
    fn from(values: [T; 3]) -> KindTable<T> {
        OpKind::DATA.into_iter().zip(values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_values_only_for_kinds_that_were_written() {
        let mut table = KindTable::<u64>::default();
        assert_eq!(table[OpKind::Stat], 0);
        assert_eq!(table.stored_kinds(), OpKind::DATA);
        table[OpKind::Stat] += 5;
        table[OpKind::Write as usize] += 2;
        let entries: Vec<(OpKind, u64)> = table.entries().map(|(kind, of)| (kind, *of)).collect();
        assert_eq!(entries, [(OpKind::Write, 2), (OpKind::Stat, 5)]);
        assert_eq!(table.stored_kinds().last(), Some(&OpKind::Stat));
        assert_eq!((table[1], table[OpKind::Stat as usize], table[2]), (2, 5, 0));
    }

    #[test]
    fn kinds_without_a_value_equal_those_with_a_blank_one() {
        let mut table = KindTable::from([7, 0, 0]);
        assert_eq!(table, [(OpKind::Read, 7)].into_iter().collect());
        table[OpKind::Create] = 1;
        assert_ne!(table, KindTable::from([7, 0, 0]));
    }
}
