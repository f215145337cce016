//! What the volumes of a capacity pool can have together, and the least pool for a throughput.
//!
//! For: manual QoS, where the assigned throughputs share what the pool has, and Flexible, where
//! that is bought within limits that follow from the pool's size. Not for: the limit of one volume
//! (`volume_limit.rs`), nor prices (`price.rs`).

use crate::catalog::Catalog;
use crate::reason::RowRef;
use crate::row::LimitName;
use crate::service_level::{KibPerSecPerGib, ServiceLevel};
use crate::throughput::KibPerSec;

/// GiB in a TiB.
const GIB_PER_TIB: u64 = 1024;

/// What decides the throughput of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolThroughput {
    /// The pool's size gives it.
    BySize(KibPerSec),
    /// It is bought apart from the size, within these.
    Bought {
        /// The least, which costs nothing.
        least: KibPerSec,
        /// The most, which follows from the size.
        most: KibPerSec,
        /// It is a multiple of this.
        step: KibPerSec,
    },
}

impl PoolThroughput {
    /// The most that the pool can have.
    pub const fn most(&self) -> KibPerSec {
        match self {
            PoolThroughput::BySize(most) | PoolThroughput::Bought { most, .. } => *most,
        }
    }
}

impl Catalog {
    /// What the volumes of a pool can have together.
    ///
    /// * `size_gib` - the pool's size in GiB
    ///
    /// Source: AD:azure-netapp-files-service-levels.md, 2026-01-29.
    pub fn pool_throughput(&self, level: ServiceLevel, size_gib: u64) -> PoolThroughput {
        let most = self.pool_rate(level).throughput(size_gib);
        match self.level(level).throughput {
            Some(_) => PoolThroughput::BySize(most),
            None => PoolThroughput::Bought {
                least: KibPerSec::new(self.limit(LimitName::FlexibleThroughputBaseline)),
                most,
                step: KibPerSec::new(self.limit(LimitName::FlexibleThroughputStep)),
            },
        }
    }

    /// The least GiB that can have a throughput: of a pool, or with auto QoS of the quotas of
    /// several volumes together, none of which reaches its ceiling. The inverse of
    /// [`Catalog::pool_throughput`]; sizes of pools are this or more, in whole steps.
    pub fn least_size_gib(&self, level: ServiceLevel, required: KibPerSec) -> u64 {
        self.pool_rate(level).size_gib(required)
    }

    /// The least throughput that can be bought for a Flexible pool and is at least `required`.
    pub fn least_purchase(&self, required: KibPerSec) -> KibPerSec {
        let least = self.limit(LimitName::FlexibleThroughputBaseline);
        let step = self.limit(LimitName::FlexibleThroughputStep).max(1);
        KibPerSec::new(required.get().max(least).div_ceil(step).saturating_mul(step))
    }

    /// Throughput for each GiB of a pool: what its size gives, or the most that can be bought.
    pub fn pool_rate(&self, level: ServiceLevel) -> KibPerSecPerGib {
        let most_per_tib = || {
            let per_gib = self.limit(LimitName::FlexibleThroughputMaxPerTib) / GIB_PER_TIB;
            KibPerSecPerGib::new(per_gib).expect("the row states whole MiB/s per TiB")
        };
        self.level(level).throughput.unwrap_or_else(most_per_tib)
    }

    /// The row of that rate.
    pub fn pool_rate_row(&self, level: ServiceLevel) -> RowRef {
        match self.level(level).throughput {
            Some(_) => self.level_row(level),
            None => self.limit_row(LimitName::FlexibleThroughputMaxPerTib),
        }
    }
}
