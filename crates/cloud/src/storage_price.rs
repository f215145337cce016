//! Prices of the file service in a region, and discounts for reserved capacity.
//!
//! Not for: reading them (`price.rs`), or the cost of a design.

use crate::reason::RowRef;
use crate::row::Origin;
use crate::service_level::ServiceLevel;
use crate::usd::Usd;

/// The files' names, for references to their rows.
const STORAGE_FILE: &str = "storage_prices.toml";
const RESERVATION_FILE: &str = "prices.toml";

/// Prices of the service levels whose throughput follows from their size, per GiB of a pool and hour;
/// `None` if the region has no price of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelPrices {
    /// Azure's name: `eastus`.
    pub region: String,
    /// A Standard pool.
    pub standard: Option<Usd>,
    /// A Premium pool.
    pub premium: Option<Usd>,
    /// An Ultra pool.
    pub ultra: Option<Usd>,
    /// Its source.
    pub origin: Origin,
}

/// Prices of the Flexible level in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlexiblePrices {
    /// Azure's name of the region.
    pub region: String,
    /// Per GiB of a pool and hour.
    pub capacity: Usd,
    /// Per MiB/s above the baseline and hour.
    pub throughput: Usd,
    /// Its source.
    pub origin: Origin,
}

/// Prices of the cool tier in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoolPrices {
    /// Azure's name of the region.
    pub region: String,
    /// Per GiB in the cool tier and hour.
    pub capacity: Usd,
    /// Per GiB moved between the tiers, in either direction.
    pub transfer: Usd,
    /// Its source.
    pub origin: Origin,
}

impl CoolPrices {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(STORAGE_FILE, format!("cool {}", self.region), &self.origin)
    }
}

/// Prices of backups in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupPrices {
    /// Azure's name of the region.
    pub region: String,
    /// Per GiB of retained backups and month.
    pub kept_month: Usd,
    /// Per GiB restored.
    pub restore: Usd,
    /// Its source.
    pub origin: Origin,
}

impl BackupPrices {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(STORAGE_FILE, format!("backup {}", self.region), &self.origin)
    }
}

/// How often replication updates a copy.
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
    /// All values.
    pub const ALL: [ReplicationInterval; 3] =
        [ReplicationInterval::TenMinutes, ReplicationInterval::Hour, ReplicationInterval::Day];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ReplicationInterval::TenMinutes => "10min",
            ReplicationInterval::Hour => "hour",
            ReplicationInterval::Day => "day",
        }
    }
}

/// Prices of replication to another region, per GiB replicated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationPrices {
    /// The region of the volume; `None` if the price list names only the destination.
    pub from: Option<String>,
    /// The region of the copy.
    pub to: String,
    /// Every ten minutes.
    pub minutes: Usd,
    /// Every hour.
    pub hours: Usd,
    /// Every day.
    pub days: Usd,
    /// Its source.
    pub origin: Origin,
}

impl ReplicationPrices {
    /// Per GiB replicated at this interval.
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

/// Prices of the file service in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoragePrices<'a> {
    /// The levels whose throughput follows from their size.
    pub levels: &'a LevelPrices,
    /// The Flexible level, if it has a price.
    pub flexible: Option<&'a FlexiblePrices>,
    /// The cool tier, if it has a price.
    pub cool: Option<&'a CoolPrices>,
    /// Backups, if they have a price.
    pub backup: Option<&'a BackupPrices>,
}

impl<'a> StoragePrices<'a> {
    /// Azure's name of the region.
    pub fn region(&self) -> &'a str {
        &self.levels.region
    }

    /// Per GiB of a pool of this level and hour, if it has a price.
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

/// The term of reserved capacity.
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

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ReservationTerm::OneYear => "1y",
            ReservationTerm::ThreeYears => "3y",
        }
    }
}

/// A unit of reserved capacity, with its discounts.
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
    /// Its source.
    pub origin: Origin,
}

impl Reservation {
    /// The price of a unit for `hours`, at a list price of `each` per GiB and hour.
    pub fn unit_cost(&self, each: Usd, term: ReservationTerm, hours: u64) -> Usd {
        let remaining = 100 - self.percent(term);
        let whole = u128::from(each.times(self.unit_gib).times(hours).micros());
        Usd::from_micros(u64::try_from(whole * u128::from(remaining) / 100).unwrap_or(u64::MAX))
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
        RowRef::new(RESERVATION_FILE, row, &self.origin)
    }
}
