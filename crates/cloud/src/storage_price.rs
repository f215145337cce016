//! What the file service costs in a region, and what a reservation takes off it.
//!
//! For: the prices of pools, the cool tier, backups and replication, as `price.rs` reads them. Not
//! for: reading them, nor for what a design costs.

use crate::price::{FILE, Usd};
use crate::reason::RowRef;
use crate::row::Origin;
use crate::service_level::ServiceLevel;

/// The file's name, for references to its rows.
const STORAGE_FILE: &str = "storage_prices.toml";

/// What the three service levels cost whose throughput follows from their size, each GiB of a pool
/// and hour; `None` where the region has no price of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelPrices {
    /// As Azure names it: `eastus`.
    pub region: String,
    /// A Standard pool.
    pub standard: Option<Usd>,
    /// A Premium pool.
    pub premium: Option<Usd>,
    /// An Ultra pool.
    pub ultra: Option<Usd>,
    /// Where from.
    pub origin: Origin,
}

/// What the Flexible level costs in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlexiblePrices {
    /// As Azure names it.
    pub region: String,
    /// Each GiB of a pool and hour.
    pub capacity: Usd,
    /// Each MiB/s of a pool above the baseline and hour.
    pub throughput: Usd,
    /// Where from.
    pub origin: Origin,
}

/// What the cool tier costs in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoolPrices {
    /// As Azure names it.
    pub region: String,
    /// Each GiB in the cool tier and hour.
    pub capacity: Usd,
    /// Each GiB that is moved between the tiers, in either direction.
    pub transfer: Usd,
    /// Where from.
    pub origin: Origin,
}

impl CoolPrices {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(STORAGE_FILE, format!("cool {}", self.region), &self.origin)
    }
}

/// What backups cost in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupPrices {
    /// As Azure names it.
    pub region: String,
    /// Each GiB that is kept and month.
    pub kept_month: Usd,
    /// Each GiB that is restored.
    pub restore: Usd,
    /// Where from.
    pub origin: Origin,
}

impl BackupPrices {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(STORAGE_FILE, format!("backup {}", self.region), &self.origin)
    }
}

/// How often replication brings a copy up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicationInterval {
    /// Every ten minutes.
    TenMinutes,
    /// Every hour.
    Hour,
    /// Every day.
    Day,
}

impl ReplicationInterval {
    /// All of them.
    pub const ALL: [ReplicationInterval; 3] =
        [ReplicationInterval::TenMinutes, ReplicationInterval::Hour, ReplicationInterval::Day];

    /// As a user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            ReplicationInterval::TenMinutes => "10min",
            ReplicationInterval::Hour => "hour",
            ReplicationInterval::Day => "day",
        }
    }
}

/// What replication to another region costs, each GiB that is replicated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationPrices {
    /// The region of the volume; `None` where the price list names the destination only.
    pub from: Option<String>,
    /// The region of its copy.
    pub to: String,
    /// Every ten minutes.
    pub minutes: Usd,
    /// Every hour.
    pub hours: Usd,
    /// Every day.
    pub days: Usd,
    /// Where from.
    pub origin: Origin,
}

impl ReplicationPrices {
    /// Each GiB that is replicated so often.
    pub fn gib(&self, interval: ReplicationInterval) -> Usd {
        match interval {
            ReplicationInterval::TenMinutes => self.minutes,
            ReplicationInterval::Hour => self.hours,
            ReplicationInterval::Day => self.days,
        }
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        let pair = match &self.from {
            Some(from) => format!("replication {from} {}", self.to),
            None => format!("replication {}", self.to),
        };
        RowRef::new(STORAGE_FILE, pair, &self.origin)
    }
}

/// What the file service costs in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoragePrices<'a> {
    /// The levels whose throughput follows from their size.
    pub levels: &'a LevelPrices,
    /// The Flexible level; `None` where the region has no price of it.
    pub flexible: Option<&'a FlexiblePrices>,
    /// The cool tier; `None` where the region has no price of it.
    pub cool: Option<&'a CoolPrices>,
    /// Backups; `None` where the region has no price of them.
    pub backup: Option<&'a BackupPrices>,
}

impl<'a> StoragePrices<'a> {
    /// As Azure names it.
    pub fn region(&self) -> &'a str {
        &self.levels.region
    }

    /// Each GiB of a pool of this level and hour; `None` where the region has no price of it.
    pub fn capacity(&self, level: ServiceLevel) -> Option<Usd> {
        match level {
            ServiceLevel::Standard => self.levels.standard,
            ServiceLevel::Premium => self.levels.premium,
            ServiceLevel::Ultra => self.levels.ultra,
            ServiceLevel::Flexible => self.flexible.map(|prices| prices.capacity),
        }
    }

    /// The row with the price of a level.
    pub fn row(&self, level: ServiceLevel) -> RowRef {
        match (self.flexible, level) {
            (Some(prices), ServiceLevel::Flexible) => {
                let row = format!("flexible {}", prices.region);
                RowRef::new(STORAGE_FILE, row, &prices.origin)
            }
            _ => {
                let row = format!("capacity {}", self.region());
                RowRef::new(STORAGE_FILE, row, &self.levels.origin)
            }
        }
    }
}

/// How long capacity is reserved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservationTerm {
    /// One year.
    OneYear,
    /// Three years.
    ThreeYears,
}

impl ReservationTerm {
    /// Both.
    pub const ALL: [ReservationTerm; 2] = [ReservationTerm::OneYear, ReservationTerm::ThreeYears];

    /// As a user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            ReservationTerm::OneYear => "1y",
            ReservationTerm::ThreeYears => "3y",
        }
    }
}

/// A unit in which capacity can be reserved, and what that takes off the price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The level of the pools.
    pub level: ServiceLevel,
    /// Its size.
    pub unit_gib: u64,
    /// Discount for one year, in percent.
    pub one_year_percent: u64,
    /// Discount for three years, in percent.
    pub three_years_percent: u64,
    /// Where from.
    pub origin: Origin,
}

impl Reservation {
    /// What a unit costs for `hours` where each GiB and hour costs `each` by the list.
    pub fn unit_cost(&self, each: Usd, term: ReservationTerm, hours: u64) -> Usd {
        let kept = 100 - self.percent(term);
        let whole = u128::from(each.times(self.unit_gib).times(hours).micros());
        Usd::from_micros(u64::try_from(whole * u128::from(kept) / 100).unwrap_or(u64::MAX))
    }

    /// The discount in percent.
    pub fn percent(&self, term: ReservationTerm) -> u64 {
        match term {
            ReservationTerm::OneYear => self.one_year_percent,
            ReservationTerm::ThreeYears => self.three_years_percent,
        }
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        let row = format!("reservation {} {} GiB", self.level, self.unit_gib);
        RowRef::new(FILE, row, &self.origin)
    }
}
