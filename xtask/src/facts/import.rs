//! `cargo xtask facts --import DIR --date DATE`: makes `data/regions.toml` and
//! `data/storage_prices.toml` from the vendor's own tables (`pricing-data.json`, `regions.json` and
//! `azure_regions.json` of the repository Azure/azure-netapp-files, MIT licence), so that next
//! year's prices are one command. Facts only: names, coordinates, prices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What the vendor calls a feature, and what our rows call it.
const FEATURES: &[(&str, &str)] = &[
    ("azplacement", "availability_zones"),
    ("avsdatastore", "avs_datastores"),
    ("backup", "backup"),
    ("cachevolumes", "cache_volumes"),
    ("standardcool", "cool_access"),
    ("czr", "cross_zone_replication"),
    ("cmk", "customer_managed_keys"),
    ("cmkhsm", "customer_managed_keys_hsm"),
    ("doubleencryption", "double_encryption"),
    ("elasticzrs", "elastic_zrs"),
    ("fileaccesslogs", "file_access_logs"),
    ("flexible", "flexible"),
    ("largevolumes", "large_volumes"),
    ("arp", "ransomware_protection"),
    ("snf", "standard_network_features"),
    ("snfeditwithoutdowntime", "standard_network_features_edit"),
];

/// Tables of prices with a row for each region: their keys, and the meter and unit of each.
type Meters = &'static [(&'static str, &'static str, &'static str)];
const BY_REGION: &[(&str, Meters)] = &[
    (
        "capacity",
        &[
            ("standard", "Standard Capacity", "1 GiB/Hour"),
            ("premium", "Premium Capacity", "1 GiB/Hour"),
            ("ultra", "Ultra Capacity", "1 GiB/Hour"),
        ],
    ),
    (
        "flexible",
        &[
            ("capacity", "Flexible Service Level Capacity", "1 GiB/Hour"),
            ("throughput", "Flexible Service Level Throughput MiBps", "1/Hour"),
        ],
    ),
    (
        "cool",
        &[
            ("capacity", "Standard Storage with Cool Access Capacity", "1 GiB/Hour"),
            ("transfer", "Standard Storage with Cool Access Data Transfer", "1 GiB"),
        ],
    ),
    (
        "backup",
        &[
            ("kept", "Backup Capacity", "1 GiB/Month"),
            ("restore", "Volume Restore Capacity", "1 GiB"),
        ],
    ),
    (
        "double_encrypted",
        &[
            ("standard", "Standard Double Encrypted Capacity", "1 GiB/Hour"),
            ("premium", "Premium Double Encrypted Capacity", "1 GiB/Hour"),
            ("ultra", "Ultra Double Encrypted Capacity", "1 GiB/Hour"),
        ],
    ),
];

/// How often is replicated, as the ends of meters have it.
const INTERVALS: [(&str, &str); 3] =
    [(" Minutes", "minutes"), (" Hours", "hours"), (" Days", "days")];
/// What meters of replication begin with.
const REPLICATION: [&str; 2] = ["Cross Region Replication", "CRR"];
/// Names in meters of replication that are not the location of the region's other meters.
const ALIASES: [(&str, &str); 1] = [("US Gov VA", "US Gov Virginia")];
/// Prices have at most six digits behind the point.
const MICROS: f64 = 1e6;

/// Where rows come from.
const PRICES_SOURCE: &str = "github.com/Azure/azure-netapp-files docs/calc/beta/pricing-data.json \
                             (Azure Retail Prices)";
const REGIONS_SOURCE: &str = "github.com/Azure/azure-netapp-files docs/map/data/regions.json, \
                              docs/azure_regions.json";

const REGIONS_HEAD: &str = "\
# Regions of Azure, with the features of Azure NetApp Files that each has and the regions that its
# volumes can be replicated to. A region without `features` is not in the vendor's list of features.
# Made by `cargo xtask facts --import DIR --date DATE`; read by crates/cloud.
";

const PRICES_HEAD: &str = "\
# List prices of Azure NetApp Files by region, pay as you go, in US dollars.
# Made by `cargo xtask facts --import DIR --date DATE`; read by crates/cloud.
#
# Prices are texts, so that they stay exact: up to six digits behind the point.
# capacity, double_encrypted: each GiB of a capacity pool and hour.
# flexible: each GiB of a Flexible pool and hour, each MiB/s above the baseline and hour.
# cool: each GiB in the cool tier and hour, each GiB moved between the tiers.
# backup: each GiB kept and month, each GiB restored.
# replication: each GiB replicated to another region, by how often. The list has these as GiB and
# hour; the vendor charges what is replicated (learn.microsoft.com/azure/azure-netapp-files/
# replication). Rows without `from` are meters that name no pair: the vendor says that the price
# follows from the destination, so they hold for pairs without a meter.
";

/// A meter's price in a region.
struct Meter {
    region: String,
    location: String,
    name: String,
    unit: String,
    price: f64,
}

/// The texts of the two files.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) regions: String,
    pub(super) prices: String,
    /// Meters that no row was made of.
    pub(super) left_out: Vec<String>,
}

/// Reads the vendor's tables in `folder` and writes the rows to `data`; gives the meters that are
/// in no row.
pub(super) fn run(folder: &Path, date: &str, data: &Path) -> Result<Vec<String>> {
    let read = |name: &str| -> Result<Value> {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        // One place name in a list of the vendor's is not UTF-8; none of ours is made of it.
        let text = String::from_utf8_lossy(&bytes);
        serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))
    };
    let files = rows(
        &read("pricing-data.json")?,
        &read("regions.json")?,
        &read("azure_regions.json")?,
        date,
    )?;
    for (name, text) in [("regions.toml", &files.regions), ("storage_prices.toml", &files.prices)] {
        let path = data.join(name);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(files.left_out)
}

/// The two files, from the vendor's three.
fn rows(prices: &Value, features: &Value, azure: &Value, date: &str) -> Result<Files> {
    let meters = meters(prices)?;
    let mut left_out: BTreeSet<String> = meters.iter().map(|meter| meter.name.clone()).collect();
    let mut text = format!("{PRICES_HEAD}\n{}", default(PRICES_SOURCE, date));
    for (table, keys) in BY_REGION {
        text.push_str(&format!("\n{table} = [\n{}]\n", by_region(&meters, keys)?));
        for (_, name, _) in *keys {
            left_out.remove(*name);
        }
    }
    let (replication, done) = replication(&meters)?;
    text.push_str(&format!("\nreplication = [\n{replication}]\n"));
    left_out.retain(|name| !done.contains(name));
    let priced = meters.iter().map(|meter| meter.region.clone()).collect();
    let regions = format!(
        "{REGIONS_HEAD}\n{}{}",
        default(REGIONS_SOURCE, date),
        regions(features, azure, priced)?
    );
    Ok(Files { regions, prices: text, left_out: left_out.into_iter().collect() })
}

fn default(source: &str, date: &str) -> String {
    format!(
        "default.status = \"current\"\ndefault.source = \"{source}\"\ndefault.date = \"{date}\"\n"
    )
}

/// The meters with a price, in a region.
fn meters(document: &Value) -> Result<Vec<Meter>> {
    let items = document["Items"].as_array().context("`Items` is not a list")?;
    let mut meters = Vec::new();
    for item in items {
        let text = |key: &str| -> Result<String> {
            Ok(item[key].as_str().with_context(|| format!("`{key}` is not a text"))?.to_owned())
        };
        let meter = Meter {
            region: text("armRegionName")?,
            location: text("location")?,
            name: text("meterName")?,
            unit: text("unitOfMeasure")?,
            price: item["unitPrice"].as_f64().context("`unitPrice` is not a number")?,
        };
        if text("currencyCode")? != "USD" || item["tierMinimumUnits"].as_f64() != Some(0.0) {
            bail!("{} in {}: another currency, or a price by tiers", meter.name, meter.region);
        }
        // The placeholder of reservations: no region, and a price of 0.
        if !meter.region.is_empty() && meter.price > 0.0 {
            meters.push(meter);
        }
    }
    Ok(meters)
}

/// `0.000202`
fn exact(price: f64) -> Result<String> {
    let micros = (price * MICROS).round();
    if (price * MICROS - micros).abs() > 1e-3 {
        bail!("a price of {price} has more than six digits behind the point");
    }
    let text = format!("{:.6}", micros / MICROS);
    let text = text.trim_end_matches('0');
    Ok(if text.ends_with('.') { format!("{text}0") } else { text.to_owned() })
}

/// A row for each region that has a price of any of the meters; the Flexible level, the cool tier
/// and backups are sold with both of theirs or not at all.
fn by_region(meters: &[Meter], keys: Meters) -> Result<String> {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (key, name, unit) in keys {
        for meter in meters.iter().filter(|meter| meter.name == *name) {
            if meter.unit != *unit {
                bail!("{name} in {}: unit {}", meter.region, meter.unit);
            }
            let row = rows.entry(&meter.region).or_default();
            row.push(format!("{key} = \"{}\"", exact(meter.price)?));
        }
    }
    let line = |(region, prices): (&&str, &Vec<String>)| {
        format!("  {{ region = \"{region}\", {} }},\n", prices.join(", "))
    };
    Ok(rows.iter().map(line).collect())
}

/// Rows of replication, and the names of the meters that they are made of.
fn replication(meters: &[Meter]) -> Result<(String, BTreeSet<String>)> {
    let by_location: BTreeMap<&str, &str> =
        meters.iter().map(|meter| (meter.location.as_str(), meter.region.as_str())).collect();
    let region = |location: &str| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == location);
        by_location.get(alias.map_or(location, |(_, usual)| usual)).copied()
    };
    let mut rows: BTreeMap<(String, String), BTreeMap<&str, String>> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for meter in meters {
        let Some(rest) = REPLICATION.iter().find_map(|start| meter.name.strip_prefix(start)) else {
            continue;
        };
        let ends = INTERVALS.iter().find_map(|(end, key)| Some((rest.strip_suffix(end)?, *key)));
        let (pair, key) = ends.with_context(|| format!("{}: how often?", meter.name))?;
        let pair = pair.trim_start_matches([' ', '-']);
        let pair = match pair.split_once(" to ") {
            Some((from, to)) => match (region(from), region(to)) {
                (Some(from), Some(to)) => (from.to_owned(), to.to_owned()),
                // A region that has no other meter is not sold yet.
                _ => continue,
            },
            None if pair.is_empty() => (String::new(), meter.region.clone()),
            None => bail!("{}: from where to where?", meter.name),
        };
        let price = exact(meter.price)?;
        let row = rows.entry(pair.clone()).or_default();
        if row.insert(key, price.clone()).is_some_and(|other| other != price) {
            bail!("{}: two prices", meter.name);
        }
        done.insert(meter.name.clone());
    }
    let mut text = String::new();
    for ((from, to), prices) in &rows {
        if prices.len() != INTERVALS.len() {
            bail!("replication from {from} to {to} has no price of some interval");
        }
        let from = if from.is_empty() { String::new() } else { format!("from = \"{from}\", ") };
        let prices = INTERVALS.map(|(_, key)| format!("{key} = \"{}\"", prices[key]));
        text.push_str(&format!("  {{ {from}to = \"{to}\", {} }},\n", prices.join(", ")));
    }
    Ok((text, done))
}

/// A region as the vendor's lists have it.
#[derive(Default)]
struct Found {
    display_name: String,
    position: Option<(f64, f64)>,
    features: Option<Vec<&'static str>>,
    replicates_to: Vec<String>,
}

/// Rows of regions: those of the list of features, all others of Azure that are places, and those
/// that have a price.
fn regions(features: &Value, azure: &Value, priced: BTreeSet<String>) -> Result<String> {
    let mut all: BTreeMap<String, Found> = BTreeMap::new();
    for one in azure.as_array().context("`azure_regions.json` is not a list")? {
        let (Some(name), Some(display_name)) = (one["name"].as_str(), one["displayName"].as_str())
        else {
            bail!("a region of `azure_regions.json` has no name");
        };
        let degrees = |key: &str| one["metadata"][key].as_str()?.parse().ok();
        let position = degrees("latitude").zip(degrees("longitude"));
        // Regions in early access are for tests of the vendor's.
        if position.is_some() && !name.ends_with("euap") {
            let display_name = display_name.to_owned();
            let found = Found { display_name, position, ..Found::default() };
            all.insert(name.to_owned(), found);
        }
    }
    for one in features["regions"].as_array().context("`regions` is not a list")? {
        let name = one["shortname"].as_str().context("`shortname` is not a text")?;
        let display_name = one["longname"].as_str().context("`longname` is not a text")?;
        let place = features["regionLocations"][name].as_array();
        let degrees = |index: usize| place?.get(index)?.as_f64();
        let mut has = Vec::new();
        for (key, is_there) in one.as_object().context("a region is not an object")? {
            let Some(is_there) = is_there.as_bool() else { continue };
            let known = FEATURES.iter().find(|(theirs, _)| theirs == key);
            let (_, ours) = known.with_context(|| format!("the feature `{key}` is new"))?;
            has.extend(is_there.then_some(*ours));
        }
        has.sort_unstable();
        let to = one["crrregions"].as_array().context("`crrregions` is not a list")?;
        let found = Found {
            display_name: display_name.to_owned(),
            position: degrees(1).zip(degrees(0)),
            features: Some(has),
            replicates_to: to.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        all.insert(name.to_owned(), found);
    }
    for name in priced {
        let display_name = name.clone();
        all.entry(name).or_insert(Found { display_name, ..Found::default() });
    }
    Ok(all.iter().map(|(name, found)| row(name, found)).collect())
}

fn row(name: &str, found: &Found) -> String {
    let mut text =
        format!("\n[[region]]\nname = \"{name}\"\ndisplay_name = \"{}\"\n", found.display_name);
    if let Some((latitude, longitude)) = found.position {
        text.push_str(&format!("latitude = {latitude:?}\nlongitude = {longitude:?}\n"));
    }
    if let Some(features) = &found.features {
        text.push_str(&list("features", features));
    }
    if !found.replicates_to.is_empty() {
        text.push_str(&list("replicates_to", &found.replicates_to));
    }
    text
}

/// A list with a line for each, so that a change of one is a line in a difference.
fn list(key: &str, items: &[impl AsRef<str>]) -> String {
    let items: String = items.iter().map(|one| format!("  \"{}\",\n", one.as_ref())).collect();
    format!("{key} = [\n{items}]\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meter(region: &str, location: &str, name: &str, unit: &str, price: f64) -> Value {
        json!({
            "armRegionName": region, "location": location, "meterName": name,
            "unitOfMeasure": unit, "unitPrice": price, "currencyCode": "USD",
            "tierMinimumUnits": 0.0,
        })
    }

    fn imported(meters: Vec<Value>) -> Result<Files> {
        let features = json!({
            "regionLocations": { "westeurope": [4.9, 52.3667] },
            "regions": [{
                "shortname": "westeurope", "longname": "West Europe", "crrregions": ["northeurope"],
                "backup": true, "flexible": false, "standardcool": true,
            }],
        });
        let azure = json!([
            { "name": "northeurope", "displayName": "North Europe",
              "metadata": { "latitude": "53.3478", "longitude": "-6.2597" } },
            { "name": "europe", "displayName": "Europe", "metadata": {} },
        ]);
        rows(&json!({ "Items": meters }), &features, &azure, "2026-05-09")
    }

    #[test]
    fn meters_become_rows_by_region_and_pair_and_those_that_do_not_are_reported() {
        let hour = "1 GiB/Hour";
        let found = imported(vec![
            meter("westeurope", "EU West", "Standard Capacity", hour, 0.000202),
            meter("westeurope", "EU West", "Premium Capacity", hour, 8.9e-05),
            meter("northeurope", "EU North", "Standard Capacity", hour, 0.1),
            meter("westeurope", "EU West", "CRR - EU West to EU North Days", hour, 0.14795),
            meter("westeurope", "EU West", "CRR - EU West to EU North Hours", hour, 0.15),
            meter("westeurope", "EU West", "CRR - EU West to EU North Minutes", hour, 0.18),
            meter("westeurope", "EU West", "CRR - EU West to TW North Minutes", hour, 0.18),
            meter("westeurope", "EU West", "Novelty", hour, 0.18),
            meter("", "", "Standard Capacity", hour, 0.0),
        ])
        .expect("rows");
        for line in [
            "  { region = \"westeurope\", standard = \"0.000202\", premium = \"0.000089\" },\n",
            "  { region = \"northeurope\", standard = \"0.1\" },\n",
            "  { from = \"westeurope\", to = \"northeurope\", minutes = \"0.18\", \
             hours = \"0.15\", days = \"0.14795\" },\n",
            "default.date = \"2026-05-09\"\n",
        ] {
            assert!(found.prices.contains(line), "{line}\n{}", found.prices);
        }
        assert_eq!(found.left_out, ["CRR - EU West to TW North Minutes", "Novelty"]);
        let west = "[[region]]\nname = \"westeurope\"\ndisplay_name = \"West Europe\"\n\
                    latitude = 52.3667\nlongitude = 4.9\nfeatures = [\n  \"backup\",\n  \
                    \"cool_access\",\n]\nreplicates_to = [\n  \"northeurope\",\n]\n";
        assert!(found.regions.contains(west), "{}", found.regions);
        assert!(found.regions.contains("longitude = -6.2597\n"), "{}", found.regions);
        assert!(!found.regions.contains("\"europe\""), "{}", found.regions);
    }

    #[test]
    fn a_price_that_would_not_stay_exact_and_a_unit_that_is_another_are_refused() {
        let problem = |unit: &str, price: f64| {
            let one = meter("westeurope", "EU West", "Standard Capacity", unit, price);
            imported(vec![one]).unwrap_err().to_string()
        };
        assert!(problem("1 GiB/Hour", 0.0000001).contains("more than six digits"));
        assert!(problem("1 GiB/Month", 0.1).contains("unit 1 GiB/Month"));
        let one =
            |price| meter("westeurope", "EU West", "CRR - EU West to EU West Days", "", price);
        let twice = imported(vec![one(0.1), one(0.2)]).unwrap_err().to_string();
        assert!(twice.contains("two prices"), "{twice}");
    }
}
