//! The shares of the kinds of operations: exact in every block of a lane. A block has 1,000 operations,
//! or those of a user's scenario.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::op::OpKind;

impl fmt::Display for NameMix {
    /// `2% create, 96% stat, 2% unlink`, the largest share first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shares = self.shares.clone();
        shares.sort_by_key(|share| (std::cmp::Reverse(share.permille), share.kind));
        for (at, share) in shares.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}% {}", f64::from(share.permille) / 10.0, share.kind.name())?;
        }
        Ok(())
    }
}

/// A kind and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindShare {
    /// The kind, one of those on names.
    pub kind: OpKind,
    /// Operations of this kind in every 1,000 of a lane, or in a user's scenario.
    pub permille: u16,
}

/// The kinds of a stream, ordered by number; their shares add up to 1,000, or to the operations of a
/// scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameMix {
    /// The shares, above 0.
    pub shares: Vec<KindShare>,
}

impl NameMix {
    /// A mix of these shares; those of 0 are left out.
    pub fn of(shares: &[(OpKind, u16)]) -> NameMix {
        let mut shares: Vec<KindShare> = shares
            .iter()
            .filter(|(_, permille)| *permille > 0)
            .map(|(kind, permille)| KindShare { kind: *kind, permille: *permille })
            .collect();
        shares.sort_by_key(|share| share.kind);
        NameMix { shares }
    }

    /// Operations of a block: 1,000, or those of a scenario.
    pub fn block(&self) -> u32 {
        self.shares.iter().map(|share| u32::from(share.permille)).sum()
    }

    /// Operations of `kind` in a block.
    pub fn permille(&self, kind: OpKind) -> u64 {
        let mut shares = self.shares.iter();
        shares.find(|share| share.kind == kind).map_or(0, |share| u64::from(share.permille))
    }

    /// The sum of the shares of these kinds.
    pub(crate) fn sum(&self, kinds: &[OpKind]) -> u64 {
        kinds.iter().map(|kind| self.permille(*kind)).sum()
    }

    /// The kinds, in the order of their numbers.
    pub fn kinds(&self) -> impl Iterator<Item = OpKind> + '_ {
        self.shares.iter().map(|share| share.kind)
    }

    /// The kind for each number of a block, and the first number of each kind.
    pub(crate) fn table(&self) -> (Box<[OpKind]>, [u16; OpKind::COUNT]) {
        let mut kinds = Vec::with_capacity(self.block() as usize);
        let mut first = [0; OpKind::COUNT];
        for share in &self.shares {
            first[share.kind as usize] = kinds.len() as u16;
            kinds.extend(std::iter::repeat_n(share.kind, usize::from(share.permille)));
        }
        (kinds.into_boxed_slice(), first)
    }
}
