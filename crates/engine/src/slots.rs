//! The table of outstanding operations of one worker: fixed memory, the tag is the index.

use workload::op::{Op, OpKind};

/// The instant of issue of an operation that has a slot and is not issued, and of a free slot.
pub const NOT_ISSUED_NS: u64 = u64::MAX;

/// One outstanding operation.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// When it should have been issued, in nanoseconds from the run's start.
    pub intended_ns: u64,
    /// When it was issued; [`NOT_ISSUED_NS`] while its data is being made.
    pub issued_ns: u64,
    /// What it is.
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
            // Slot 0 on top: a stack keeps the memory of few slots warm at low load.
            free: (0..queue_depth).rev().collect(),
        }
    }

    /// Whether no slot is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes a free slot for an operation; `None` when all are taken. One that is not issued yet
    /// has [`NOT_ISSUED_NS`] until [`Slots::issue`].
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

    /// Notes when the operation in a slot was issued, and returns it.
    #[inline]
    pub fn issue(&mut self, tag: u32, issued_ns: u64) -> &Op {
        let slot = &mut self.slots[tag as usize];
        slot.issued_ns = issued_ns;
        &slot.op
    }

    /// Frees a slot and says what was in it.
    #[inline]
    pub fn release(&mut self, tag: u32) -> Slot {
        let slot = &mut self.slots[tag as usize];
        let was = *slot;
        debug_assert_ne!(was.issued_ns, NOT_ISSUED_NS, "slot {tag} was not issued");
        slot.issued_ns = NOT_ISSUED_NS;
        self.free.push(tag);
        was
    }

    /// Slots in use.
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The outstanding operations, oldest first, at most `count`. For the rare question "what
    /// hangs?": it allocates.
    pub fn oldest(&self, count: usize) -> Vec<Slot> {
        let mut taken: Vec<Slot> =
            self.slots.iter().filter(|slot| slot.issued_ns != NOT_ISSUED_NS).copied().collect();
        taken.sort_by_key(|slot| slot.issued_ns);
        taken.truncate(count);
        taken
    }

    /// When the oldest outstanding operation was issued; [`NOT_ISSUED_NS`] when none is.
    pub fn oldest_issued_ns(&self) -> u64 {
        self.slots.iter().map(|slot| slot.issued_ns).min().unwrap_or(NOT_ISSUED_NS)
    }
}

#[cfg(test)]
mod tests {
    use workload::op::OpKind;

    use super::*;

    #[test]
    fn the_oldest_operations_come_first_whichever_slots_they_have() {
        let mut slots = Slots::new(3);
        let op = |index| Op { index, offset_bytes: 0, size_bytes: 1, file: 0, kind: OpKind::Read };
        for index in 0..3 {
            slots.take(0, 10 + index, op(index)).expect("there is room");
        }
        // The first ends, and the fourth takes its slot.
        slots.release(0);
        assert_eq!(slots.take(0, 13, op(3)), Some(0));
        let oldest =
            |count| slots.oldest(count).iter().map(|slot| slot.op.index).collect::<Vec<_>>();
        assert_eq!(oldest(8), [1, 2, 3]);
        assert_eq!(oldest(2), [1, 2]);
    }
}
