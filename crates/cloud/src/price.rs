//! List prices, from `data/prices.toml`: exact, in millionths of a US dollar.
//!
//! For: what a design costs by the list. Not for: reservations, discounts, taxes, other currencies;
//! a region or a size of machine that has no row has no price, and none is guessed.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use crate::catalog::{CatalogError, Row, rows};
use crate::reason::RowRef;
use crate::row::{Origin, Status};
use crate::service_level::ServiceLevel;

/// The prices that the product knows.
const PRICES: &str = include_str!("../../../data/prices.toml");
/// The file's name, for references to its rows.
pub const FILE: &str = "prices.toml";

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

/// What the file service costs in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoragePrices {
    /// As Azure names it: `eastus`.
    pub region: String,
    /// Each GiB of a Standard pool and hour.
    pub standard: Usd,
    /// Each GiB of a Premium pool and hour.
    pub premium: Usd,
    /// Each GiB of an Ultra pool and hour.
    pub ultra: Usd,
    /// Each GiB of a Flexible pool and hour.
    pub flexible: Usd,
    /// Each MiB/s of a Flexible pool above the baseline and hour.
    pub flexible_throughput: Usd,
    /// Each GiB in the cool tier and hour.
    pub cool: Usd,
    /// Each GiB of backup and month.
    pub backup_month: Usd,
    /// Where from.
    pub origin: Origin,
}

impl StoragePrices {
    /// Each GiB of a pool of this level and hour.
    pub fn capacity(&self, level: ServiceLevel) -> Usd {
        match level {
            ServiceLevel::Standard => self.standard,
            ServiceLevel::Premium => self.premium,
            ServiceLevel::Ultra => self.ultra,
            ServiceLevel::Flexible => self.flexible,
        }
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("storage {}", self.region), &self.origin)
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

/// What moving data inside the service costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPrice {
    /// Which: `cool`, between the hot tier and the cool one.
    pub name: String,
    /// Each GiB, in either direction.
    pub gib: Usd,
    /// Where from.
    pub origin: Origin,
}

impl TransferPrice {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("transfer {}", self.name), &self.origin)
    }
}

/// Every price, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Of the file service, by region.
    pub storage: Vec<StoragePrices>,
    /// Of virtual machines, by size and region.
    pub vms: Vec<VmPrice>,
    /// Of traffic.
    pub traffic: Vec<TrafficPrice>,
    /// Of moving data inside the service.
    pub transfers: Vec<TransferPrice>,
}

impl Prices {
    /// The prices that are part of the binary.
    pub fn embedded() -> Prices {
        Prices::parse(PRICES).expect("a test reads the embedded prices")
    }

    /// Reads the text of a list of prices.
    ///
    /// # Errors
    /// The first thing that is wrong with it; two current prices for the same.
    pub fn parse(text: &str) -> Result<Prices, CatalogError> {
        let mut prices = Prices::default();
        rows(text, |table, row| prices.add(table, row))?;
        let mut keys: Vec<String> = Vec::new();
        keys.extend(prices.storage.iter().filter(|p| current(&p.origin)).map(|p| p.row().row));
        keys.extend(prices.vms.iter().filter(|p| current(&p.origin)).map(|p| p.row().row));
        keys.extend(prices.transfers.iter().filter(|p| current(&p.origin)).map(|p| p.row().row));
        keys.extend(prices.traffic.iter().filter(|p| current(&p.origin)).map(|p| p.row().row));
        keys.sort();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(CatalogError::NotOneCurrent { of: pair[0].clone(), rows: 2 }),
            None => Ok(prices),
        }
    }

    /// What the file service costs in a region now; `None` where that is not known.
    pub fn storage(&self, region: &str) -> Option<&StoragePrices> {
        self.storage.iter().find(|p| current(&p.origin) && p.region.eq_ignore_ascii_case(region))
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

    /// What moving a GiB inside the service costs now; `None` where that is not known.
    pub fn transfer(&self, name: &str) -> Option<&TransferPrice> {
        self.transfers.iter().find(|p| current(&p.origin) && p.name == name)
    }

    /// The regions in which the file service has a price.
    pub fn regions(&self) -> Vec<&str> {
        self.storage.iter().filter(|p| current(&p.origin)).map(|p| p.region.as_str()).collect()
    }

    fn add(&mut self, table: &str, row: &mut Row) -> Result<(), String> {
        match table {
            "storage" => {
                let region = row.text("region")?;
                let mut price = |key: &str| amount(row, key);
                let [standard, premium, ultra, flexible] =
                    [price("standard")?, price("premium")?, price("ultra")?, price("flexible")?];
                let [flexible_throughput, cool, backup_month] =
                    [price("flexible_throughput")?, price("cool")?, price("backup")?];
                let origin = row.origin()?;
                self.storage.push(StoragePrices {
                    region,
                    standard,
                    premium,
                    ultra,
                    flexible,
                    flexible_throughput,
                    cool,
                    backup_month,
                    origin,
                });
            }
            "vm" => {
                let (name, region) = (row.text("name")?, row.text("region")?);
                let hour = amount_in(row, "USD/hour")?;
                self.vms.push(VmPrice { name, region, hour, origin: row.origin()? });
            }
            "traffic" => {
                let name = row.text("name")?;
                let gb = amount_in(row, "USD/GB")?;
                self.traffic.push(TrafficPrice { name, gb, origin: row.origin()? });
            }
            "transfer" => {
                let name = row.text("name")?;
                let gib = amount_in(row, "USD/GiB")?;
                self.transfers.push(TransferPrice { name, gib, origin: row.origin()? });
            }
            _ => return Err("an unknown table".to_owned()),
        }
        Ok(())
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
        let prices = Prices::parse(PRICES).unwrap();
        assert_eq!(prices.regions().len(), 12);
        assert_eq!(prices.peering().len(), 2);
        assert_eq!(prices.transfer("cool").map(|p| p.gib.exact()), Some("$0.02".to_owned()));
        assert_eq!(prices.transfer("warm"), None);
        for price in &prices.vms {
            assert!(crate::vm_size::named(&price.name).is_some(), "{}", price.name);
        }
        let d32 = prices.vm("standard_d32s_v5", "eastus").unwrap();
        assert_eq!(d32.hour.exact(), "$1.536");
        assert_eq!(prices.vm("Standard_D32s_v5", "westeurope"), None);
        assert_eq!(prices.storage("nowhere"), None);
        let west = prices.storage("westeurope").unwrap();
        assert_eq!(west.capacity(ServiceLevel::Flexible).exact(), "$0.000216");
        assert_eq!(west.backup_month.exact(), "$0.065");
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
        assert_eq!(Prices::parse(row).unwrap().vms.len(), 1);
        let problem =
            |from: &str, to: &str| Prices::parse(&row.replace(from, to)).unwrap_err().to_string();
        assert!(problem("USD/hour", "USD/month").contains("wrong unit `USD/month`"));
        assert!(problem("\"1.5\"", "\"cheap\"").contains("`price` is no price: `cheap`"));
        assert!(problem("\"1.5\"", "\"0\"").contains("`price` is no price"));
        assert!(problem("source = \"s\"\n", "").contains("`source` is missing"));
        assert!(problem("[[vm]]", "[[disk]]").contains("an unknown table"));
        let transfer = row.replace("[[vm]]", "[[transfer]]").replace("region = \"r\"\n", "");
        let gib = transfer.replace("USD/hour", "USD/GiB");
        assert_eq!(Prices::parse(&gib).unwrap().transfers.len(), 1);
        assert!(Prices::parse(&transfer).unwrap_err().to_string().contains("wrong unit"));
        let twice = format!("{row}{row}");
        assert!(Prices::parse(&twice).unwrap_err().to_string().contains("vm A r has 2 current"));
    }
}
