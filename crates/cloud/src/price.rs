//! List prices, from `data/storage_prices.toml` and `data/prices.toml`: exact, in millionths of a
//! US dollar.
//!
//! For: what a design costs by the list, and what reserved capacity takes off it. Not for: other
//! discounts, taxes, other currencies; a region or a size of machine that has no row has no price,
//! and none is guessed.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use crate::catalog::{CatalogError, Row, rows};
use crate::reason::RowRef;
use crate::row::{Dimension, Origin, Status};
use crate::service_level::ServiceLevel;
pub use crate::storage_price::{
    BackupPrices, CoolPrices, FlexiblePrices, LevelPrices, ReplicationInterval, ReplicationPrices,
    Reservation, ReservationTerm, StoragePrices,
};

/// Prices of virtual machines and traffic, and the terms of reserved capacity.
const PRICES: &str = include_str!("../../../data/prices.toml");
/// Prices of the file service by region.
const STORAGE_PRICES: &str = include_str!("../../../data/storage_prices.toml");
/// The file's name, for references to its rows.
pub(crate) const FILE: &str = "prices.toml";

/// The qualifier of a price whose source cannot be followed.
const UNVERIFIED: &str = "unverified";

/// Millionths in a dollar.
const MICROS: u64 = 1_000_000;

/// An amount of money in millionths of a US dollar. Prints in whole dollars from 100 on, otherwise
/// with cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);

    /// `micros` millionths of a dollar.
    pub const fn from_micros(micros: u64) -> Usd {
        Usd(micros)
    }

    /// In millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// In dollars, for exports.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// So many times the amount; at the largest number where it does not fit.
    pub const fn times(self, count: u64) -> Usd {
        Usd(self.0.saturating_mul(count))
    }

    /// This less `other`; nothing where `other` is more.
    pub const fn less(self, other: Usd) -> Usd {
        Usd(self.0.saturating_sub(other.0))
    }

    /// Reads `0.000202`: digits, and up to six behind a point.
    pub fn parse(text: &str) -> Option<Usd> {
        let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || behind.len() > 6 || !digits(whole) || !digits(behind) {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let behind: u64 = format!("{behind:0<6}").parse().ok()?;
        whole.checked_mul(MICROS)?.checked_add(behind).map(Usd)
    }

    /// All digits that are not zero behind the point, at least two: how a unit price is shown.
    pub fn exact(self) -> String {
        let behind = format!("{:06}", self.0 % MICROS);
        let shown = behind.trim_end_matches('0').len().max(2);
        format!("${}.{}", self.0 / MICROS, &behind[..shown])
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 100 * MICROS {
            let dollars = (self.0 + MICROS / 2) / MICROS;
            return write!(f, "${}", units::thousands(dollars));
        }
        let cents = (self.0 + 5_000) / 10_000;
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

impl Add for Usd {
    type Output = Usd;

    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(all: I) -> Usd {
        all.fold(Usd::ZERO, Add::add)
    }
}

/// What a virtual machine costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmPrice {
    /// Its size: `Standard_D32s_v5`.
    pub name: String,
    /// Where.
    pub region: String,
    /// Each hour.
    pub hour: Usd,
    /// Whether the source can be followed to a list of the vendor's.
    pub is_verified: bool,
    /// Where from.
    pub origin: Origin,
}

impl VmPrice {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("vm {} {}", self.name, self.region), &self.origin)
    }
}

/// What traffic costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficPrice {
    /// Which: `peering_in`, `peering_out`.
    pub name: String,
    /// Each GB, 10^9 bytes.
    pub gb: Usd,
    /// Where from.
    pub origin: Origin,
}

impl TrafficPrice {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("traffic {}", self.name), &self.origin)
    }
}

/// Every price, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Of pools of Standard, Premium and Ultra, by region.
    pub capacity: Vec<LevelPrices>,
    /// Of the same pools with double encryption, by region.
    pub double_encrypted: Vec<LevelPrices>,
    /// Of the Flexible level, by region.
    pub flexible: Vec<FlexiblePrices>,
    /// Of the cool tier, by region.
    pub cool: Vec<CoolPrices>,
    /// Of backups, by region.
    pub backup: Vec<BackupPrices>,
    /// Of replication, by pair of regions.
    pub replication: Vec<ReplicationPrices>,
    /// Units of reserved capacity, the smallest first of each level.
    pub reservations: Vec<Reservation>,
    /// Of virtual machines, by size and region.
    pub vms: Vec<VmPrice>,
    /// Of traffic.
    pub traffic: Vec<TrafficPrice>,
}

impl Prices {
    /// The prices that are part of the binary.
    pub fn embedded() -> Prices {
        Prices::parse(&[STORAGE_PRICES, PRICES]).expect("a test reads the embedded prices")
    }

    /// Reads the texts of lists of prices.
    ///
    /// # Errors
    /// The first thing that is wrong with them; two current prices for the same.
    pub fn parse(texts: &[&str]) -> Result<Prices, CatalogError> {
        let mut prices = Prices::default();
        let mut keys: Vec<String> = Vec::new();
        for text in texts {
            let read = rows(text, |table, row| prices.add(table, row))?;
            keys.extend(read.into_iter().flatten());
        }
        keys.sort();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(CatalogError::NotOneCurrent { of: pair[0].clone(), rows: 2 }),
            None => Ok(prices),
        }
    }

    /// What the file service costs in a region now; `None` where that is not known.
    pub fn storage(&self, region: &str) -> Option<StoragePrices<'_>> {
        fn of<T>(all: &[T], is_it: impl Fn(&T) -> bool) -> Option<&T> {
            all.iter().find(|one| is_it(one))
        }
        let is_it =
            |name: &str, origin: &Origin| current(origin) && name.eq_ignore_ascii_case(region);
        Some(StoragePrices {
            levels: of(&self.capacity, |p| is_it(&p.region, &p.origin))?,
            flexible: of(&self.flexible, |p| is_it(&p.region, &p.origin)),
            cool: of(&self.cool, |p| is_it(&p.region, &p.origin)),
            backup: of(&self.backup, |p| is_it(&p.region, &p.origin)),
        })
    }

    /// What a size of machine costs in a region now; `None` where that is not known.
    pub fn vm(&self, name: &str, region: &str) -> Option<&VmPrice> {
        self.vms.iter().find(|p| {
            current(&p.origin)
                && p.name.eq_ignore_ascii_case(name)
                && p.region.eq_ignore_ascii_case(region)
        })
    }

    /// What each GB through a peering costs now, out of one network and into the other.
    pub fn peering(&self) -> Vec<&TrafficPrice> {
        let peering = |p: &&TrafficPrice| current(&p.origin) && p.name.starts_with("peering_");
        self.traffic.iter().filter(peering).collect()
    }

    /// What replication from one region to another costs now: the price of the pair, or that of
    /// the destination where the list has none of the pair; `None` where it has neither.
    pub fn replication(&self, from: &str, to: &str) -> Option<&ReplicationPrices> {
        let into = |p: &&ReplicationPrices| current(&p.origin) && p.to == to;
        let of = |wanted: Option<&str>| {
            self.replication.iter().filter(into).find(|p| p.from.as_deref() == wanted)
        };
        of(Some(from)).or_else(|| of(None))
    }

    /// The units in which capacity of a level can be reserved now.
    pub fn reservations(&self, level: ServiceLevel) -> Vec<&Reservation> {
        self.reservations.iter().filter(|r| current(&r.origin) && r.level == level).collect()
    }

    /// The regions in which the file service has a price.
    pub fn regions(&self) -> Vec<&str> {
        self.capacity.iter().filter(|p| current(&p.origin)).map(|p| p.region.as_str()).collect()
    }

    /// Adds a row; what tells it from others where it is current.
    fn add(&mut self, table: &str, row: &mut Row) -> Result<Option<String>, String> {
        let (key, origin) = match table {
            "capacity" | "double_encrypted" => {
                let region = row.text("region")?;
                let mut price = |key: &str| row.optional(key, amount);
                let [standard, premium, ultra] =
                    [price("standard")?, price("premium")?, price("ultra")?];
                let origin = row.origin()?;
                let (key, from) = (region.clone(), origin.clone());
                let prices = LevelPrices { region, standard, premium, ultra, origin };
                match table {
                    "capacity" => self.capacity.push(prices),
                    _ => self.double_encrypted.push(prices),
                }
                (key, from)
            }
            "flexible" => {
                let region = row.text("region")?;
                let (capacity, throughput) = (amount(row, "capacity")?, amount(row, "throughput")?);
                let origin = row.origin()?;
                let (key, from) = (region.clone(), origin.clone());
                self.flexible.push(FlexiblePrices { region, capacity, throughput, origin });
                (key, from)
            }
            "cool" => {
                let region = row.text("region")?;
                let (capacity, transfer) = (amount(row, "capacity")?, amount(row, "transfer")?);
                let origin = row.origin()?;
                let (key, from) = (region.clone(), origin.clone());
                self.cool.push(CoolPrices { region, capacity, transfer, origin });
                (key, from)
            }
            "backup" => {
                let region = row.text("region")?;
                let (kept_month, restore) = (amount(row, "kept")?, amount(row, "restore")?);
                let origin = row.origin()?;
                let (key, from) = (region.clone(), origin.clone());
                self.backup.push(BackupPrices { region, kept_month, restore, origin });
                (key, from)
            }
            "replication" => {
                let from = row.optional("from", |row, key| row.text(key))?;
                let to = row.text("to")?;
                let mut price = |key: &str| amount(row, key);
                let [minutes, hours, days] = [price("minutes")?, price("hours")?, price("days")?];
                let origin = row.origin()?;
                let key = format!("{} {to}", from.as_deref().unwrap_or("any"));
                let whence = origin.clone();
                self.replication.push(ReplicationPrices { from, to, minutes, hours, days, origin });
                (key, whence)
            }
            "reservation" => {
                let level = row.named("level", ServiceLevel::named)?;
                let unit_gib = row.quantity(Dimension::Gib)?;
                let mut percent = |key: &str| match row.number(key)? {
                    percent if percent < 100 => Ok(percent),
                    percent => Err(format!("`{key}` is no discount: {percent}")),
                };
                let one_year_percent = percent("one_year_percent")?;
                let three_years_percent = percent("three_years_percent")?;
                let origin = row.origin()?;
                let from = origin.clone();
                self.reservations.push(Reservation {
                    level,
                    unit_gib,
                    one_year_percent,
                    three_years_percent,
                    origin,
                });
                (format!("{level} {unit_gib}"), from)
            }
            "vm" => {
                let (name, region) = (row.text("name")?, row.text("region")?);
                let hour = amount_in(row, "USD/hour")?;
                let unverified = |name: &str| (name == UNVERIFIED).then_some(());
                let mark = row.optional("qualifier", |row, key| row.named(key, unverified))?;
                let origin = row.origin()?;
                let (key, from) = (format!("{name} {region}"), origin.clone());
                self.vms.push(VmPrice { name, region, hour, is_verified: mark.is_none(), origin });
                (key, from)
            }
            "traffic" => {
                let name = row.text("name")?;
                let gb = amount_in(row, "USD/GB")?;
                let origin = row.origin()?;
                let (key, from) = (name.clone(), origin.clone());
                self.traffic.push(TrafficPrice { name, gb, origin });
                (key, from)
            }
            _ => return Err("an unknown table".to_owned()),
        };
        Ok(current(&origin).then(|| format!("{table} {key}")))
    }
}

fn current(origin: &Origin) -> bool {
    origin.status == Status::Current
}

fn amount(row: &mut Row, key: &str) -> Result<Usd, String> {
    let text = row.text(key)?;
    let wrong = || format!("`{key}` is no price: `{text}`");
    Usd::parse(&text).filter(|price| *price > Usd::ZERO).ok_or_else(wrong)
}

fn amount_in(row: &mut Row, wanted: &str) -> Result<Usd, String> {
    let price = amount(row, "price")?;
    let unit = row.text("unit")?;
    if unit == wanted { Ok(price) } else { Err(format!("wrong unit `{unit}`")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_prices_are_read_and_each_size_with_a_price_is_known() {
        let prices = Prices::parse(&[STORAGE_PRICES, PRICES]).unwrap();
        assert_eq!(prices.regions().len(), 51);
        assert_eq!(prices.peering().len(), 2);
        for price in &prices.vms {
            assert!(crate::vm_size::named(&price.name).is_some(), "{}", price.name);
            assert!(!price.is_verified, "{}: its source names no list of the vendor", price.name);
        }
        let d32 = prices.vm("standard_d32s_v5", "eastus").unwrap();
        assert_eq!(d32.hour.exact(), "$1.536");
        assert_eq!(prices.vm("Standard_D32s_v5", "westeurope"), None);
        assert_eq!(prices.storage("nowhere"), None);
        let west = prices.storage("westeurope").unwrap();
        let flexible = west.capacity(ServiceLevel::Flexible).unwrap();
        assert_eq!(flexible.exact(), "$0.000216");
        assert_eq!(west.backup.unwrap().kept_month.exact(), "$0.065");
        assert_eq!(west.cool.unwrap().transfer.exact(), "$0.0213");
    }

    #[test]
    fn every_region_of_the_price_list_is_a_region_and_what_it_has_has_a_price() {
        use crate::region::{Feature, Regions};
        let (prices, regions) = (Prices::embedded(), Regions::embedded());
        for name in prices.regions() {
            assert!(regions.find(name).is_some(), "{name}");
        }
        for region in regions.iter().filter(|region| region.features.is_some()) {
            let storage = prices.storage(&region.name).unwrap();
            for level in ServiceLevel::ALL {
                let is_priced = storage.capacity(level).is_some();
                let flexible = level == ServiceLevel::Flexible && !region.has(Feature::Flexible);
                assert!(is_priced || flexible, "{} {level}", region.name);
            }
            assert!(storage.cool.is_some() || !region.has(Feature::CoolAccess), "{}", region.name);
            assert!(storage.backup.is_some() || !region.has(Feature::Backup), "{}", region.name);
            for to in &region.replicates_to {
                assert!(prices.replication(&region.name, to).is_some(), "{} {to}", region.name);
            }
        }
    }

    #[test]
    fn reserved_capacity_has_a_discount_for_each_level_that_can_be_reserved() {
        let prices = Prices::embedded();
        let of = |level, term| {
            let all = prices.reservations(level);
            all.iter().map(|one| (one.unit_gib >> 10, one.percent(term))).collect::<Vec<_>>()
        };
        use ReservationTerm::{OneYear, ThreeYears};
        assert_eq!(of(ServiceLevel::Standard, OneYear), [(100, 18), (1024, 22)]);
        assert_eq!(of(ServiceLevel::Ultra, ThreeYears), [(100, 30), (1024, 34)]);
        assert_eq!(of(ServiceLevel::Flexible, OneYear), []);
        // 102,400 GiB x $0.000202 x 730 h = $15,099.904; 18 % less are $12,381.92128.
        let unit = prices.reservations(ServiceLevel::Standard)[0];
        assert_eq!(unit.unit_cost(Usd(202), OneYear, 730), Usd(12_381_921_280));
    }

    #[test]
    fn prices_are_exact_and_print_as_money() {
        assert_eq!(Usd::parse("0.000202"), Some(Usd(202)));
        assert_eq!(Usd::parse("3"), Some(Usd(3_000_000)));
        for text in ["", ".5", "-1", "1.2.3", "0.0000001", "1e3", "1 "] {
            assert_eq!(Usd::parse(text), None, "{text}");
        }
        assert_eq!(Usd(1_608_663_000).to_string(), "$1,609");
        assert_eq!(Usd(99_990_000).to_string(), "$99.99");
        assert_eq!(Usd(4_000).to_string(), "$0.00");
        assert_eq!(Usd(1_500_000).exact(), "$1.50");
        assert_eq!(Usd(u64::MAX).times(2), Usd(u64::MAX));
        assert_eq!(Usd(3).less(Usd(5)), Usd::ZERO);
    }

    #[test]
    fn a_price_without_unit_origin_or_digits_is_refused() {
        let row = "[[vm]]\nname = \"A\"\nregion = \"r\"\nprice = \"1.5\"\nunit = \"USD/hour\"\n\
                   status = \"current\"\nsource = \"s\"\ndate = \"2026\"\n";
        assert_eq!(Prices::parse(&[row]).unwrap().vms.len(), 1);
        let problem = |from: &str, to: &str| {
            Prices::parse(&[&row.replace(from, to)]).unwrap_err().to_string()
        };
        assert!(problem("USD/hour", "USD/month").contains("wrong unit `USD/month`"));
        assert!(problem("\"1.5\"", "\"cheap\"").contains("`price` is no price: `cheap`"));
        assert!(problem("\"1.5\"", "\"0\"").contains("`price` is no price"));
        assert!(problem("source = \"s\"\n", "").contains("`source` is missing"));
        assert!(problem("[[vm]]", "[[disk]]").contains("an unknown table"));
        let marked = row.replace("status", "qualifier = \"unverified\"\nstatus");
        assert!(!Prices::parse(&[&marked]).unwrap().vms[0].is_verified);
        assert!(problem("status", "qualifier = \"good\"\nstatus").contains("unknown: `good`"));
        let twice = format!("{row}{row}");
        assert!(Prices::parse(&[&twice]).unwrap_err().to_string().contains("vm A r has 2 current"));
    }
}
