//! The table of a worker's outstanding operations in preallocated memory; the tag is the index.

use workload::op::{Op, OpKind};

/// The time of issue of a free slot, and of an operation that is not issued yet.
pub const NOT_ISSUED_NS: u64 = u64::MAX;

/// One outstanding operation.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// When it should have been issued, in nanoseconds from the run's start.
    pub intended_ns: u64,
    /// When it was issued; [`NOT_ISSUED_NS`] while its data is generated.
    pub issued_ns: u64,
    /// The operation.
    pub op: Op,
}

/// `queue_depth` slots and the list of free ones.
#[derive(Debug)]
pub struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    /// All slots free.
    pub fn new(queue_depth: u32) -> Slots {
        let op = Op { index: 0, offset_bytes: 0, size_bytes: 0, file: 0, kind: OpKind::Read };
        Slots {
            slots: vec![
                Slot { intended_ns: 0, issued_ns: NOT_ISSUED_NS, op };
                queue_depth as usize
            ],
            // Slot 0 on top: a stack keeps using the same memory at low load.
            free: (0..queue_depth).rev().collect(),
        }
    }

    /// Whether no slot is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes a free slot for an operation; `None` if none is free. An operation that is not issued
    /// yet has [`NOT_ISSUED_NS`] until [`Slots::issue`].
    #[inline]
    pub fn take(&mut self, intended_ns: u64, issued_ns: u64, op: Op) -> Option<u32> {
        let tag = self.free.pop()?;
        self.slots[tag as usize] = Slot { intended_ns, issued_ns, op };
        Some(tag)
    }

    /// The operation in a slot.
    #[inline]
    pub fn op(&self, tag: u32) -> &Op {
        &self.slots[tag as usize].op
    }

    /// When the operation in a slot should have been issued, in nanoseconds from the run's start.
    #[inline]
    pub fn intended_ns(&self, tag: u32) -> u64 {
        self.slots[tag as usize].intended_ns
    }

    /// Sets when the operation in a slot was issued, and returns it.
    #[inline]
    pub fn issue(&mut self, tag: u32, issued_ns: u64) -> &Op {
        let slot = &mut self.slots[tag as usize];
        slot.issued_ns = issued_ns;
        &slot.op
    }

    /// Frees a slot and returns its content.
    #[inline]
    pub fn release(&mut self, tag: u32) -> Slot {
        let slot = &mut self.slots[tag as usize];
        let released = *slot;
        debug_assert_ne!(released.issued_ns, NOT_ISSUED_NS, "slot {tag} was not issued");
        slot.issued_ns = NOT_ISSUED_NS;
        self.free.push(tag);
        released
    }

    /// Number of slots in use.
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The oldest outstanding operations, at most `count`. Allocates, so only for reports of stuck
    /// operations.
    pub fn oldest(&self, count: usize) -> Vec<Slot> {
        let mut taken: Vec<Slot> =
            self.slots.iter().filter(|slot| slot.issued_ns != NOT_ISSUED_NS).copied().collect();
        taken.sort_by_key(|slot| slot.issued_ns);
        taken.truncate(count);
        taken
    }

    /// When the oldest outstanding operation was issued; [`NOT_ISSUED_NS`] if there is none.
    pub fn oldest_issued_ns(&self) -> u64 {
        self.slots.iter().map(|slot| slot.issued_ns).min().unwrap_or(NOT_ISSUED_NS)
    }
}

#[cfg(test)]
mod tests {
    use workload::op::OpKind;

    use super::*;

    #[test]
    fn the_oldest_operations_come_first_in_any_slots() {
        let mut slots = Slots::new(3);
        let op = |index| Op { index, offset_bytes: 0, size_bytes: 1, file: 0, kind: OpKind::Read };
        for index in 0..3 {
            slots.take(0, 10 + index, op(index)).expect("there is room");
        }
        // The first completes, and the fourth takes its slot.
        slots.release(0);
        assert_eq!(slots.take(0, 13, op(3)), Some(0));
        let oldest =
            |count| slots.oldest(count).iter().map(|slot| slot.op.index).collect::<Vec<_>>();
        assert_eq!(oldest(8), [1, 2, 3]);
        assert_eq!(oldest(2), [1, 2]);
    }
}
