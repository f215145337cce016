//! The table of outstanding operations of one worker: fixed memory, the tag is the index.

use workload::op::{Op, OpKind};

/// One outstanding operation.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// When it should have been issued, in nanoseconds from the run's start.
    pub intended_ns: u64,
    /// When it was issued.
    pub issued_ns: u64,
    /// What was issued.
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
            slots: vec![Slot { intended_ns: 0, issued_ns: u64::MAX, op }; queue_depth as usize],
            // Slot 0 on top: a stack keeps the memory of few slots warm at low load.
            free: (0..queue_depth).rev().collect(),
        }
    }

    /// Whether no slot is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes a free slot for an operation; `None` when all are taken.
    #[inline]
    pub fn take(&mut self, intended_ns: u64, issued_ns: u64, op: Op) -> Option<u32> {
        let tag = self.free.pop()?;
        self.slots[tag as usize] = Slot { intended_ns, issued_ns, op };
        Some(tag)
    }

    /// Frees a slot and says what was in it.
    #[inline]
    pub fn release(&mut self, tag: u32) -> Slot {
        let slot = &mut self.slots[tag as usize];
        let was = *slot;
        debug_assert_ne!(was.issued_ns, u64::MAX, "slot {tag} was free");
        slot.issued_ns = u64::MAX;
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
            self.slots.iter().filter(|slot| slot.issued_ns != u64::MAX).copied().collect();
        taken.sort_by_key(|slot| slot.issued_ns);
        taken.truncate(count);
        taken
    }

    /// When the oldest outstanding operation was issued; `u64::MAX` when none is.
    pub fn oldest_issued_ns(&self) -> u64 {
        self.slots.iter().map(|slot| slot.issued_ns).min().unwrap_or(u64::MAX)
    }
}
