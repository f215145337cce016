//! Counters by name, of which only so many are kept when nobody is there any more.
//!
//! For: volumes, flows and clients that come and go for days: those that are there and the last of
//! those that went have counters of their own; what older ones counted is kept as one sum, so that
//! totals stay whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::slots::{Place, Slots};
use crate::witness::Counters;

/// Arrival instants that are kept of each volume.
const RECENT: usize = 1024;

/// A volume, flow or client in the witness' book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject(Place);

impl Subject {
    /// A small number that no other of its kind has while it is open.
    pub(crate) fn number(self) -> u32 {
        self.0.index() as u32
    }
}

/// All of one kind that are no longer listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// How many there were.
    pub count: u64,
    /// What they counted together.
    pub counters: Counters,
}

/// One of a kind, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it is called.
    pub name: Arc<str>,
    /// Whether it is still there: a flow that is not closed, a client with a flow, a volume that
    /// was not removed.
    pub open: bool,
    /// What was seen of it.
    pub counters: Counters,
    /// When its last requests came, the latest last: at most 1,024 of a volume, none of a flow or
    /// a client.
    pub recent_arrivals_ns: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Book {
    names: BTreeMap<Arc<str>, Place>,
    entries: Slots<Entry>,
    /// What is not there any more, in the order in which it went.
    closed: BTreeMap<u64, Place>,
    /// Numbers what goes.
    closings: u64,
    keep: usize,
    recent: usize,
    folded: Folded,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Arc<str>,
    counters: Counters,
    /// How many there are of this name.
    open: u32,
    closing: u64,
    /// What it had counted when it was opened again after it had been closed.
    before: Option<Box<Counters>>,
    /// A ring: arrival n stands at place `n % RECENT`.
    recent_ns: Vec<u64>,
}

impl Book {
    /// * `keep` — how many are listed that are not there any more
    pub(super) fn new(keep: usize, with_recent: bool) -> Book {
        Book {
            names: BTreeMap::new(),
            entries: Slots::default(),
            closed: BTreeMap::new(),
            closings: 0,
            keep,
            recent: if with_recent { RECENT } else { 0 },
            folded: Folded::default(),
        }
    }

    /// One of this name is there; known if one was before and is still listed.
    pub(super) fn open(&mut self, name: &str) -> Subject {
        if let Some(&place) = self.names.get(name)
            && let Some(entry) = self.entries.get_mut(place)
        {
            if entry.open == 0 {
                self.closed.remove(&entry.closing);
                // Answers that are still to come count for the one that is open now.
                let before = Counters { outstanding: 0, ..entry.counters.clone() };
                entry.before = Some(Box::new(before));
            }
            entry.open += 1;
            return Subject(place);
        }
        let name: Arc<str> = name.into();
        let entry = Entry {
            name: Arc::clone(&name),
            counters: Counters::default(),
            open: 1,
            closing: 0,
            before: None,
            recent_ns: Vec::new(),
        };
        let place = self.entries.insert(entry);
        self.names.insert(name, place);
        Subject(place)
    }

    /// One of them is gone; as the last of its name it makes room for others when its time comes.
    pub(super) fn close(&mut self, subject: Subject) {
        let Some(entry) = self.entries.get_mut(subject.0) else { return };
        entry.open -= 1;
        if entry.open > 0 {
            return;
        }
        self.closings += 1;
        entry.closing = self.closings;
        self.closed.insert(self.closings, subject.0);
        if self.closed.len() > self.keep
            && let Some((_, oldest)) = self.closed.pop_first()
            && let Some(entry) = self.entries.remove(oldest)
        {
            self.names.remove(&entry.name);
            self.folded.count += 1;
            self.folded.counters.add(&entry.counters);
        }
    }

    pub(super) fn arrive(&mut self, subject: Subject, now_ns: u64) {
        let Some(entry) = self.entries.get_mut(subject.0) else {
            return self.folded.counters.arrive(now_ns);
        };
        if self.recent > 0 {
            let place = entry.counters.arrived as usize % self.recent;
            match entry.recent_ns.get_mut(place) {
                Some(old) => *old = now_ns,
                None => entry.recent_ns.push(now_ns),
            }
        }
        entry.counters.arrive(now_ns);
    }

    /// What a subject counts; that of all folded ones once it is among them.
    pub(super) fn counters(&mut self, subject: Subject) -> &mut Counters {
        match self.entries.get_mut(subject.0) {
            Some(entry) => &mut entry.counters,
            None => &mut self.folded.counters,
        }
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.entries().map(|(name, entry)| (name, &entry.counters))
    }

    pub(super) const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Those that are there, with what each counted since it was opened.
    pub(super) fn open_by_name(&self) -> impl Iterator<Item = (&str, Counters)> {
        self.entries().filter(|(_, entry)| entry.open > 0).map(|(name, entry)| {
            let counters = &entry.counters;
            let since = entry.before.as_ref().map(|before| counters.since(before));
            (name, since.unwrap_or_else(|| counters.clone()))
        })
    }

    /// What all counted that were closed: it never falls, also when one is opened again.
    pub(super) fn closed_sum(&self) -> Folded {
        let mut sum = Folded { count: self.closings, counters: self.folded.counters.clone() };
        for (_, entry) in self.entries() {
            let closed =
                if entry.open > 0 { entry.before.as_deref() } else { Some(&entry.counters) };
            if let Some(counters) = closed {
                sum.counters.add(counters);
            }
        }
        sum
    }

    pub(super) fn snapshot(&self) -> Vec<Named> {
        let named = |(_, entry): (&str, &Entry)| {
            // Until the ring is full its first is its oldest.
            let full = self.recent > 0 && entry.recent_ns.len() == self.recent;
            let oldest = if full { entry.counters.arrived as usize % self.recent } else { 0 };
            let (newer, older) = entry.recent_ns.split_at(oldest);
            Named {
                name: Arc::clone(&entry.name),
                open: entry.open > 0,
                counters: entry.counters.clone(),
                recent_arrivals_ns: [older, newer].concat(),
            }
        };
        self.entries().map(named).collect()
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.names.iter().filter_map(|(name, place)| Some((&**name, self.entries.get(*place)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_went_are_listed_and_older_ones_are_one_sum() {
        let mut book = Book::new(2, false);
        let mut subjects = Vec::new();
        for number in 0..5u64 {
            let subject = book.open(&format!("flow {number}"));
            book.arrive(subject, 10 * number);
            subjects.push(subject);
        }
        for subject in &subjects[..4] {
            book.close(*subject);
        }
        let names: Vec<&str> = book.by_name().map(|(name, _)| name).collect();
        assert_eq!(names, ["flow 2", "flow 3", "flow 4"]);
        assert_eq!((book.folded.count, book.folded.counters.arrived), (2, 2));
        // An answer to one of them that comes later counts in the sum.
        book.counters(subjects[0]).drop_one();
        assert_eq!((book.folded.counters.outstanding, book.folded.counters.dropped), (1, 1));
        // Who comes back in time goes on; who comes back later begins anew.
        assert_eq!(book.open("flow 2"), subjects[2]);
        assert_ne!(book.open("flow 0"), subjects[0]);
        let open: Vec<bool> = book.snapshot().iter().map(|named| named.open).collect();
        assert_eq!(open, [true, true, false, true]);
        assert_eq!(book.snapshot()[0].counters.arrived, 0);
    }

    #[test]
    fn ten_thousand_that_come_and_go_leave_no_more_than_are_kept() {
        let mut book = Book::new(16, false);
        for number in 0..10_000u64 {
            let subject = book.open(&format!("flow {number}"));
            book.arrive(subject, number);
            book.close(subject);
        }
        assert_eq!((book.names.len(), book.entries.len(), book.closed.len()), (16, 16, 16));
        let listed: u64 = book.by_name().map(|(_, counters)| counters.arrived).sum();
        assert_eq!(listed + book.folded.counters.arrived, 10_000);
        // The same one again and again leaves nothing at all.
        for _ in 0..10_000 {
            let subject = book.open("again");
            book.close(subject);
        }
        assert_eq!((book.names.len(), book.closed.len()), (16, 16));
    }

    #[test]
    fn the_last_arrivals_of_a_volume_are_kept_in_their_order() {
        let mut book = Book::new(1, true);
        let volume = book.open("vol1");
        for now_ns in 0..10 {
            book.arrive(volume, now_ns);
        }
        assert_eq!(book.snapshot()[0].recent_arrivals_ns, (0..10).collect::<Vec<u64>>());
        for now_ns in 10..3000 {
            book.arrive(volume, now_ns);
        }
        let last: Vec<u64> = (3000 - RECENT as u64..3000).collect();
        assert_eq!(book.snapshot()[0].recent_arrivals_ns, last);
    }
}
