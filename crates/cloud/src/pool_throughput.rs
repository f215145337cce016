//! The throughput of a capacity pool, which its volumes share, and the smallest pool for a throughput.
//!
//! For: manual QoS, where volumes are assigned parts of it, and Flexible, where it is bought within
//! limits that follow from the pool's size. Not for: the limit of one volume (`volume_limit.rs`), or
//! prices (`price.rs`).

use crate::catalog::Catalog;
use crate::reason::RowRef;
use crate::row::LimitName;
use crate::service_level::{KibPerSecPerGib, ServiceLevel};
use crate::throughput::KibPerSec;

/// GiB in a TiB.
const GIB_PER_TIB: u64 = 1024;

/// The throughput of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolThroughput {
    /// Determined by the pool's size.
    BySize(KibPerSec),
    /// Bought separately, within these limits.
    Bought {
        /// The minimum, which is included.
        least: KibPerSec,
        /// The maximum, which follows from the size.
        most: KibPerSec,
        /// The increment.
        step: KibPerSec,
    },
}

impl PoolThroughput {
    /// The maximum.
    pub const fn most(&self) -> KibPerSec {
        match self {
            PoolThroughput::BySize(most) | PoolThroughput::Bought { most, .. } => *most,
        }
    }
}

impl Catalog {
    /// The throughput of a pool.
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

    /// The smallest size in GiB for a throughput: of a pool, or with auto QoS of the sum of quotas of
    /// volumes below their ceilings. The inverse of [`Catalog::pool_throughput`]; actual pool sizes
    /// are rounded up to whole steps.
    pub fn least_size_gib(&self, level: ServiceLevel, required: KibPerSec) -> u64 {
        self.pool_rate(level).size_gib(required)
    }

    /// The smallest throughput of a Flexible pool that is at least `required`.
    pub fn least_purchase(&self, required: KibPerSec) -> KibPerSec {
        let least = self.limit(LimitName::FlexibleThroughputBaseline);
        let step = self.limit(LimitName::FlexibleThroughputStep).max(1);
        KibPerSec::new(required.get().max(least).div_ceil(step).saturating_mul(step))
    }

    /// Throughput per GiB of a pool: by its size, or the maximum that can be bought.
    pub fn pool_rate(&self, level: ServiceLevel) -> KibPerSecPerGib {
        let most_per_tib = || {
            let per_gib = self.limit(LimitName::FlexibleThroughputMaxPerTib) / GIB_PER_TIB;
            KibPerSecPerGib::new(per_gib).expect("the row states whole MiB/s per TiB")
        };
        self.level(level).throughput.unwrap_or_else(most_per_tib)
    }

    /// The row of this rate.
    pub fn pool_rate_row(&self, level: ServiceLevel) -> RowRef {
        match self.level(level).throughput {
            Some(_) => self.level_row(level),
            None => self.limit_row(LimitName::FlexibleThroughputMaxPerTib),
        }
    }
}
