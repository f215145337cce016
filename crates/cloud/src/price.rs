//! List prices, from `data/storage_prices.toml` and `data/prices.toml`: exact, in millionths of a
//! US dollar.
//!
//! For: list prices, and discounts for reserved capacity. Not for: other discounts, taxes, or other
//! currencies. A region or VM size without a row has no price.

use crate::reason::RowRef;
use crate::row::{Dimension, Origin, Status};
use crate::row_reader::{Row, RowsError, rows};
use crate::service_level::ServiceLevel;
pub use crate::storage_price::{
    BackupPrices, CoolPrices, FlexiblePrices, LevelPrices, ReplicationInterval, ReplicationPrices,
    Reservation, ReservationTerm, StoragePrices,
};
pub use crate::usd::Usd;

/// Prices of virtual machines and traffic, and the terms of reserved capacity.
const PRICES: &str = include_str!("../../../data/prices.toml");
/// Prices of the file service by region.
const STORAGE_PRICES: &str = include_str!("../../../data/storage_prices.toml");
/// All price lists.
const FILES: [(&str, &str); 2] = [("storage_prices.toml", STORAGE_PRICES), ("prices.toml", PRICES)];
/// The file's name, for references to its rows.
const FILE: &str = "prices.toml";

/// The qualifier of a price whose source cannot be verified.
const UNVERIFIED: &str = "unverified";

/// The price of a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmPrice {
    /// Its size: `Standard_D32s_v5`.
    pub name: String,
    /// The region.
    pub region: String,
    /// Per hour.
    pub hour: Usd,
    /// Whether the source refers to a price list of the vendor.
    pub is_verified: bool,
    /// Its source.
    pub origin: Origin,
}

impl VmPrice {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("vm {} {}", self.name, self.region), &self.origin)
    }
}

/// The price of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficPrice {
    /// `peering_in` or `peering_out`.
    pub name: String,
    /// Per GB (10^9 bytes).
    pub gb: Usd,
    /// Its source.
    pub origin: Origin,
}

impl TrafficPrice {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("traffic {}", self.name), &self.origin)
    }
}

/// All prices, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Standard, Premium and Ultra pools, by region.
    pub capacity: Vec<LevelPrices>,
    /// The same pools with double encryption, by region.
    pub double_encrypted: Vec<LevelPrices>,
    /// The Flexible level, by region.
    pub flexible: Vec<FlexiblePrices>,
    /// The cool tier, by region.
    pub cool: Vec<CoolPrices>,
    /// Backups, by region.
    pub backup: Vec<BackupPrices>,
    /// Replication, by pair of regions.
    pub replication: Vec<ReplicationPrices>,
    /// Units of reserved capacity; the smallest of each level first.
    pub reservations: Vec<Reservation>,
    /// Virtual machines, by size and region.
    pub vms: Vec<VmPrice>,
    /// Traffic.
    pub traffic: Vec<TrafficPrice>,
}

impl Prices {
    /// The embedded prices.
    pub fn embedded() -> Prices {
        Prices::parse(&FILES).expect("a test reads the embedded prices")
    }

    /// Reads price lists, as names and texts of files.
    ///
    /// # Errors
    /// All problems of a text; two current prices of the same item.
    pub fn parse(files: &[(&str, &str)]) -> Result<Prices, RowsError> {
        let mut prices = Prices::default();
        let mut keys: Vec<String> = Vec::new();
        for (file, text) in files {
            let read = rows(text, file, |table, row| prices.add(table, row))?;
            keys.extend(read.into_iter().flatten());
        }
        keys.sort();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(RowsError::NotOneCurrent { of: pair[0].clone(), rows: 2 }),
            None => Ok(prices),
        }
    }

    /// The current prices of the file service in a region, if known.
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

    /// The current price of a VM size in a region, if known.
    pub fn vm(&self, name: &str, region: &str) -> Option<&VmPrice> {
        self.vms.iter().find(|p| {
            current(&p.origin)
                && p.name.eq_ignore_ascii_case(name)
                && p.region.eq_ignore_ascii_case(region)
        })
    }

    /// The current prices of traffic between peered networks, out of one and into the other.
    pub fn peering(&self) -> Vec<&TrafficPrice> {
        let peering = |p: &&TrafficPrice| current(&p.origin) && p.name.starts_with("peering_");
        self.traffic.iter().filter(peering).collect()
    }

    /// The current price of replication between regions: that of the pair, or else of the destination.
    pub fn replication(&self, from: &str, to: &str) -> Option<&ReplicationPrices> {
        let into = |p: &&ReplicationPrices| current(&p.origin) && p.to == to;
        let of = |source: Option<&str>| {
            self.replication.iter().filter(into).find(|p| p.from.as_deref() == source)
        };
        of(Some(from)).or_else(|| of(None))
    }

    /// The current units of reserved capacity of a level.
    pub fn reservations(&self, level: ServiceLevel) -> Vec<&Reservation> {
        self.reservations.iter().filter(|r| current(&r.origin) && r.level == level).collect()
    }

    /// The regions in which the file service has a price.
    pub fn regions(&self) -> Vec<&str> {
        self.capacity.iter().filter(|p| current(&p.origin)).map(|p| p.region.as_str()).collect()
    }

    /// Adds a row. Returns the key of a current row.
    fn add(&mut self, table: &str, row: &mut Row<'_, '_>) -> Result<Option<String>, String> {
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
                let row_origin = origin.clone();
                self.replication.push(ReplicationPrices { from, to, minutes, hours, days, origin });
                (key, row_origin)
            }
            "reservation" => {
                let level = row.named("level", ServiceLevel::named)?;
                let unit_gib = row.quantity(Dimension::Gib)?;
                let mut percent = |key: &str| match row.number(key)? {
                    percent if percent < 100 => Ok(percent),
                    percent => Err(format!("`{key}` is not a discount: {percent}")),
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
            _ => return Err("unknown table".to_owned()),
        };
        Ok(current(&origin).then(|| format!("{table} {key}")))
    }
}

fn current(origin: &Origin) -> bool {
    origin.status == Status::Current
}

fn amount(row: &mut Row<'_, '_>, key: &str) -> Result<Usd, String> {
    let text = row.text(key)?;
    let wrong = || format!("`{key}` is not a price: `{text}`");
    Usd::parse(&text).filter(|price| *price > Usd::ZERO).ok_or_else(wrong)
}

fn amount_in(row: &mut Row<'_, '_>, expected: &str) -> Result<Usd, String> {
    let price = amount(row, "price")?;
    let unit = row.text("unit")?;
    if unit == expected { Ok(price) } else { Err(format!("wrong unit `{unit}`")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_prices_are_read_and_every_priced_vm_size_exists() {
        let prices = Prices::parse(&FILES).unwrap();
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
    fn every_region_with_a_price_exists_and_every_feature_has_a_price() {
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
    fn every_level_that_can_be_reserved_has_its_discounts() {
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
        assert_eq!(
            unit.unit_cost(Usd::from_micros(202), OneYear, 730),
            Usd::from_micros(12_381_921_280)
        );
    }

    #[test]
    fn a_price_without_unit_origin_or_digits_is_refused() {
        let row = "[[vm]]\nname = \"A\"\nregion = \"r\"\nprice = \"1.5\"\nunit = \"USD/hour\"\n\
                   status = \"current\"\nsource = \"s\"\ndate = \"2026\"\n";
        assert_eq!(Prices::parse(&[("p.toml", row)]).unwrap().vms.len(), 1);
        let problem = |from: &str, to: &str| {
            Prices::parse(&[("p.toml", &row.replace(from, to))]).unwrap_err().to_string()
        };
        assert!(problem("USD/hour", "USD/month").contains("wrong unit `USD/month`"));
        assert!(problem("\"1.5\"", "\"cheap\"").contains("`price` is not a price: `cheap`"));
        assert!(problem("\"1.5\"", "\"0\"").contains("`price` is not a price"));
        assert!(problem("source = \"s\"\n", "").contains("`source` is missing"));
        assert!(problem("[[vm]]", "[[disk]]").contains("unknown table"));
        let marked = row.replace("status", "qualifier = \"unverified\"\nstatus");
        assert!(!Prices::parse(&[("p.toml", &marked)]).unwrap().vms[0].is_verified);
        assert!(problem("status", "qualifier = \"good\"\nstatus").contains("unknown: `good`"));
        let twice = format!("{row}{row}");
        assert!(
            Prices::parse(&[("p.toml", &twice)])
                .unwrap_err()
                .to_string()
                .contains("vm A r has 2 current")
        );
    }
}
