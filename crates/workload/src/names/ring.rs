//! The names of one class as a sequence for each lane: which of them exist is arithmetic.
//!
//! Position `p` of a lane's sequence is a name that exists from the operation that adds it to the one
//! that removes it. The first `population` positions exist from the start. In every block of 1,000
//! operations, `adds` positions are added at the head and as many removed at the tail. Numbers of
//! names are used again, once the name has been gone for longer than operations can overlap.

/// One class of names, divided among the lanes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// Names that exist at the start, over all lanes.
    pub(super) names: u64,
    /// Lanes of the stream.
    pub(super) lanes: u64,
    /// Names that a block of 1,000 operations adds and removes.
    pub(super) adds: u64,
    /// Blocks of 1,000 operations within which operations of a lane can overlap.
    pub(super) overlap: u64,
}

impl Ring {
    /// Names of `lane` that exist at the start.
    #[inline]
    pub(super) const fn population(&self, lane: u32) -> u64 {
        self.names / self.lanes + ((lane as u64) < self.names % self.lanes) as u64
    }

    /// The smallest population of a lane in which operations never use a name that an operation at
    /// the same time adds or removes.
    pub(super) const fn population_min(adds: u64, overlap: u64) -> u64 {
        (2 * overlap + 1) * adds + 1
    }

    /// Numbers of a lane beyond those of its population: a name that was removed is not added again
    /// while operations of the time of its removal can be outstanding.
    #[inline]
    const fn spare(&self) -> u64 {
        (self.overlap + 1) * self.adds
    }

    /// The number of the name at `position` of `lane`.
    #[inline]
    pub(super) const fn number(&self, lane: u32, position: u64) -> u64 {
        let population = self.population(lane);
        let slot = match self.adds {
            0 => position,
            _ => position % (population + self.spare()),
        };
        if slot < population {
            return self.first(lane) + slot;
        }
        self.names + lane as u64 * self.spare() + slot - population
    }

    /// The number of a lane's first name.
    #[inline]
    const fn first(&self, lane: u32) -> u64 {
        let (each, rest, lane) = (self.names / self.lanes, self.names % self.lanes, lane as u64);
        each * lane + if lane < rest { lane } else { rest }
    }

    /// The lane that owns the name `number`, and the name's index there; `None` for numbers that no
    /// lane uses.
    pub(super) const fn owner(&self, number: u64) -> Option<(u32, u64)> {
        if number < self.names {
            let (each, rest) = (self.names / self.lanes, self.names % self.lanes);
            let longer = rest * (each + 1);
            let lane =
                if number < longer { number / (each + 1) } else { rest + (number - longer) / each };
            return Some((lane as u32, number - self.first(lane as u32)));
        }
        if self.adds == 0 {
            return None;
        }
        let (lane, slot) =
            ((number - self.names) / self.spare(), (number - self.names) % self.spare());
        if lane >= self.lanes {
            return None;
        }
        Some((lane as u32, self.population(lane as u32) + slot))
    }

    /// The position at index `slot` of a lane that can exist in block `block`, if any: the one from
    /// the oldest of the block on.
    pub(super) const fn position_at(&self, lane: u32, slot: u64, block: u64) -> u64 {
        if self.adds == 0 {
            return slot;
        }
        let capacity = self.population(lane) + self.spare();
        let oldest = block * self.adds;
        oldest + (slot + capacity - oldest % capacity) % capacity
    }

    /// Numbers in use over all lanes; the names are below this number.
    pub(super) const fn numbers(&self) -> u64 {
        self.names + self.lanes * self.spare()
    }

    /// The position that operation `rank` of those that add in `block` adds.
    #[inline]
    pub(super) const fn added(&self, lane: u32, block: u64, rank: u64) -> u64 {
        self.population(lane) + block * self.adds + rank
    }

    /// The position that operation `rank` of those that remove in `block` removes.
    #[inline]
    pub(super) const fn removed(&self, block: u64, rank: u64) -> u64 {
        block * self.adds + rank
    }

    /// The positions that exist during all operations that can overlap with those of `block`: the
    /// first, and how many there are.
    #[inline]
    pub(super) const fn stable(&self, lane: u32, block: u64) -> (u64, u64) {
        let first = (block + self.overlap + 1) * self.adds;
        (first, self.population(lane).saturating_sub((2 * self.overlap + 1) * self.adds))
    }
}
