//! Counters by name, with a bounded number of closed entries.
//!
//! For: volumes, flows and clients that come and go for days. Open ones and those closed last have
//! their own counters; what older ones counted is kept as one sum, so that totals stay complete.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::subject::Counters;
use crate::slots::{SlotId, Slots};

/// A volume, flow or client in the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectId(SlotId);

impl SubjectId {
    /// A small number, unique among the open subjects of its kind.
    pub(crate) fn number(self) -> u32 {
        self.0.index() as u32
    }
}

/// Totals of closed subjects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedTotals {
    /// How many subjects.
    pub count: u64,
    /// The sum of their counters.
    pub counters: Counters,
}

/// One volume, flow or client with its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectCounters {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it is open: a volume that was not removed, a flow that was not closed, a client with
    /// an open flow.
    pub open: bool,
    /// Its counters.
    pub counters: Counters,
}

/// All subjects of one kind.
#[derive(Clone, Debug)]
pub(super) struct CounterTable {
    names: BTreeMap<Arc<str>, SlotId>,
    entries: Slots<Entry>,
    /// Closed entries in the order in which they were closed.
    closed: BTreeMap<u64, SlotId>,
    /// Numbers closings.
    closings: u64,
    closed_listed_max: usize,
    unlisted: ClosedTotals,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Arc<str>,
    counters: Counters,
    /// How often it is open.
    open: u32,
    /// Its key in `closed`.
    closing: u64,
    /// Its counters when it was last opened after being closed.
    before: Option<Box<Counters>>,
}

impl CounterTable {
    pub(super) fn new(closed_listed_max: usize) -> CounterTable {
        CounterTable {
            names: BTreeMap::new(),
            entries: Slots::default(),
            closed: BTreeMap::new(),
            closings: 0,
            closed_listed_max,
            unlisted: ClosedTotals::default(),
        }
    }

    /// Opens an entry, or the listed one of this name once more.
    pub(super) fn open(&mut self, name: &str) -> SubjectId {
        if let Some(&id) = self.names.get(name)
            && let Some(entry) = self.entries.get_mut(id)
        {
            if entry.open == 0 {
                self.closed.remove(&entry.closing);
                // Replies still outstanding will count for the subject that is open now.
                let before = Counters { outstanding: 0, ..entry.counters.clone() };
                entry.before = Some(Box::new(before));
            }
            entry.open += 1;
            return SubjectId(id);
        }
        let name: Arc<str> = name.into();
        let entry = Entry {
            name: Arc::clone(&name),
            counters: Counters::default(),
            open: 1,
            closing: 0,
            before: None,
        };
        let id = self.entries.insert(entry);
        self.names.insert(name, id);
        SubjectId(id)
    }

    /// Closes an entry once. If it is no longer open, it stays listed until enough others closed.
    pub(super) fn close(&mut self, subject: SubjectId) {
        let Some(entry) = self.entries.get_mut(subject.0) else { return };
        entry.open -= 1;
        if entry.open > 0 {
            return;
        }
        self.closings += 1;
        entry.closing = self.closings;
        self.closed.insert(self.closings, subject.0);
        if self.closed.len() > self.closed_listed_max
            && let Some((_, oldest)) = self.closed.pop_first()
            && let Some(entry) = self.entries.remove(oldest)
        {
            self.names.remove(&entry.name);
            self.unlisted.count += 1;
            self.unlisted.counters.add(&entry.counters);
        }
    }

    /// A subject's counters, or the sum of the unlisted ones if it is among them.
    pub(super) fn counters(&mut self, subject: SubjectId) -> &mut Counters {
        match self.entries.get_mut(subject.0) {
            Some(entry) => &mut entry.counters,
            None => &mut self.unlisted.counters,
        }
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.entries().map(|(name, entry)| (name, &entry.counters))
    }

    /// Totals of closed subjects that are no longer listed.
    pub(super) const fn unlisted(&self) -> &ClosedTotals {
        &self.unlisted
    }

    /// Open subjects, with what each counted since it was opened.
    pub(super) fn open_by_name(&self) -> impl Iterator<Item = (&str, Counters)> {
        self.entries().filter(|(_, entry)| entry.open > 0).map(|(name, entry)| {
            let counters = &entry.counters;
            let since = entry.before.as_ref().map(|before| counters.since(before));
            (name, since.unwrap_or_else(|| counters.clone()))
        })
    }

    /// Totals of all closed subjects, listed or not. They never fall, also when one is reopened.
    pub(super) fn closed(&self) -> ClosedTotals {
        let mut sum =
            ClosedTotals { count: self.closings, counters: self.unlisted.counters.clone() };
        for (_, entry) in self.entries() {
            let closed =
                if entry.open > 0 { entry.before.as_deref() } else { Some(&entry.counters) };
            if let Some(counters) = closed {
                sum.counters.add(counters);
            }
        }
        sum
    }

    pub(super) fn snapshot(&self) -> Vec<SubjectCounters> {
        let subject = |(_, entry): (&str, &Entry)| SubjectCounters {
            name: Arc::clone(&entry.name),
            open: entry.open > 0,
            counters: entry.counters.clone(),
        };
        self.entries().map(subject).collect()
    }

    fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.names.iter().filter_map(|(name, id)| Some((&**name, self.entries.get(*id)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flows_closed_last_are_listed_and_older_ones_are_one_sum() {
        let mut table = CounterTable::new(2);
        let mut subjects = Vec::new();
        for number in 0..5u64 {
            let subject = table.open(&format!("flow {number}"));
            table.counters(subject).arrive(10 * number);
            subjects.push(subject);
        }
        for subject in &subjects[..4] {
            table.close(*subject);
        }
        let names: Vec<&str> = table.by_name().map(|(name, _)| name).collect();
        assert_eq!(names, ["flow 2", "flow 3", "flow 4"]);
        assert_eq!((table.unlisted.count, table.unlisted.counters.arrived), (2, 2));
        // A later reply of an unlisted flow counts in the sum.
        table.counters(subjects[0]).drop_one();
        assert_eq!((table.unlisted.counters.outstanding, table.unlisted.counters.dropped), (1, 1));
        // A listed flow continues its counters when it is reopened; an unlisted one starts at 0.
        assert_eq!(table.open("flow 2"), subjects[2]);
        assert_ne!(table.open("flow 0"), subjects[0]);
        let open: Vec<bool> = table.snapshot().iter().map(|subject| subject.open).collect();
        assert_eq!(open, [true, true, false, true]);
        assert_eq!(table.snapshot()[0].counters.arrived, 0);
    }

    #[test]
    fn ten_thousand_closed_flows_leave_a_bounded_table() {
        let mut table = CounterTable::new(16);
        for number in 0..10_000u64 {
            let subject = table.open(&format!("flow {number}"));
            table.counters(subject).arrive(number);
            table.close(subject);
        }
        assert_eq!((table.names.len(), table.entries.len(), table.closed.len()), (16, 16, 16));
        let listed: u64 = table.by_name().map(|(_, counters)| counters.arrived).sum();
        assert_eq!(listed + table.unlisted.counters.arrived, 10_000);
        // Reopening the same flow adds no entry.
        for _ in 0..10_000 {
            let subject = table.open("again");
            table.close(subject);
        }
        assert_eq!((table.names.len(), table.closed.len()), (16, 16));
    }
}
