//! What a cheaper design would lose: the next cheaper one, a smaller pool, one host fewer.

use cloud::price::Usd;
use cloud::throughput::KibPerSec;
use units::{Nanos, Share};

use crate::resource_use::Resource;

/// Why a design is worth its price.
#[derive(Clone, Debug, PartialEq)]
pub enum TradeOff {
    /// A cheaper design exists.
    Cheaper {
        /// The difference in monthly cost.
        saved: Usd,
        /// Whether every part of this design has a price.
        all_priced: bool,
        /// What the cheaper design lacks, as far as it is counted.
        losses: Vec<Loss>,
    },
    /// This is the cheapest design.
    Cheapest {
        /// Why its pools are no smaller.
        pool: SmallerPool,
        /// Why it has no fewer hosts; `None` where that follows from something else.
        hosts: Option<FewerHosts>,
    },
}

/// Something that the next cheaper design lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Spare throughput.
    Spare {
        /// Of the cheaper design.
        cheaper: Share,
        /// Of this design.
        instead_of: Share,
    },
    /// More pools to manage.
    Pools {
        /// Of the cheaper design.
        cheaper: u64,
        /// Of this design.
        instead_of: u64,
    },
    /// More volumes to manage.
    Volumes {
        /// Of the cheaper design.
        cheaper: u64,
        /// Of this design.
        instead_of: u64,
    },
    /// More hosts to manage.
    Hosts {
        /// Of the cheaper design.
        cheaper: u64,
        /// Of this design.
        instead_of: u64,
    },
    /// A longer mean response time.
    ResponseTime {
        /// Of the cheaper design.
        cheaper: Nanos,
        /// Of this design.
        instead_of: Nanos,
    },
    /// The model predicts that the cheaper design does not reach the throughput.
    Throughput,
    /// A published figure contradicts the capability of the cheaper design's volumes.
    Contradicted,
}

/// Why pools cannot be one step smaller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SmallerPool {
    /// The service sells no smaller pool.
    NotSold,
    /// No other distribution of the parts among pools is cheaper.
    NoCheaperDistribution,
    /// Pools one step smaller lack something.
    Lacks {
        /// Their sizes together.
        tib: u64,
        /// Whether there are several pools.
        several: bool,
        /// What they lack.
        lack: PoolLack,
    },
}

/// What pools one step smaller lack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoolLack {
    /// Room for the volumes as they are distributed.
    Distribution,
    /// The required spare throughput.
    Spare {
        /// Throughput of the smaller pools.
        throughput: KibPerSec,
    },
    /// Throughput.
    Throughput {
        /// Throughput of the smaller pools.
        throughput: KibPerSec,
        /// How much is missing.
        missing: KibPerSec,
    },
    /// Room for the quotas.
    Quota {
        /// How much is missing.
        missing_gib: u64,
    },
}

/// What one host fewer could not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewerHosts {
    /// Hosts that would remain.
    pub count: u64,
    /// The resource that would run out.
    pub resource: Resource,
    /// The limit of the remaining hosts: requests for slots, otherwise KiB/s.
    pub limit: u64,
    /// What the need uses, in the same unit.
    pub used: u64,
}
