//! `cargo xtask facts --against FILE`: compares our quotas, limits, pools and prices with the
//! answers of the vendor's performance calculator, to the cent.
//!
//! A difference is documented only if a [`Reason`], computed from facts, gives exactly the
//! calculator's number; any other difference fails. The design is one regular volume in one pool of
//! each level, because the calculator knows no other design and no hosts.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, bail};
use cloud::figure::Access;
use cloud::pool_throughput::PoolThroughput;
use cloud::price::{FlexiblePrices, StoragePrices, Usd};
use cloud::row::Status;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::capability::Abilities;
use sizing::choice::Choice;
use sizing::cost;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, POOLS_MAX, Part, Protocol};
use sizing::pool::Pool;
use sizing::storage;
use units::Share;

/// Hours per month in the calculator.
const HOURS: u64 = 730;
/// GiB per TiB, and KiB/s per MiB/s.
const KIBI: f64 = 1024.0;
/// The calculator's text for a missing answer.
const NO_ANSWER: &str = "n/a";

/// A documented reason for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// We round quotas up to 1 GiB.
    WholeGib,
    /// We price the pool, the calculator the quota.
    QuotaPriced,
    /// The calculator's price is older than the price list.
    OlderPrice,
    /// The calculator knows only one volume.
    OneVolume,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::WholeGib => {
                "the calculator uses fractions of a GiB; we round the quota up to 1 GiB, which also \
                 raises the throughput limit"
            }
            Reason::QuotaPriced => {
                "the calculator prices the quota of the volume; the service charges for the pool, \
                 in steps of 1 TiB"
            }
            Reason::OlderPrice => {
                "the calculator has an older price of Flexible (superseded row in prices.toml) than \
                 the price list (storage_prices.toml)"
            }
            Reason::OneVolume => {
                "the calculator has no answer above the throughput ceiling of one volume; we use \
                 several volumes"
            }
        })
    }
}

/// The calculator's answer to one requirement, for one service level.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    line: usize,
    region: String,
    capacity_tib: f64,
    throughput_mib_s: u64,
    level: ServiceLevel,
    /// By column; `None` if the calculator has no answer.
    cells: BTreeMap<&'static str, Option<String>>,
}

/// The columns of an answer; in the file, the service level follows each name.
const COLUMNS: [&str; 4] = ["size", "tput", "cost", "poolsize"];

/// A number that differs from the calculator's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Such as `line 6, West Europe, 3.51 TiB, 1,480 MiB/s, premium: cost`.
    name: String,
    ours: String,
    theirs: String,
    /// `None` if undocumented.
    pub(super) reason: Option<Reason>,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    answers: usize,
    compared: usize,
    pub(super) differences: Vec<Difference>,
}

impl Comparison {
    /// Number of differences without a documented reason.
    pub(super) fn undocumented(&self) -> usize {
        self.differences.iter().filter(|one| one.reason.is_none()).count()
    }

    /// Lists the differences by reason.
    pub(super) fn text(&self) -> String {
        let mut by_reason: BTreeMap<Option<Reason>, Vec<&Difference>> = BTreeMap::new();
        for one in &self.differences {
            by_reason.entry(one.reason).or_default().push(one);
        }
        let mut out = String::new();
        for (reason, all) in &by_reason {
            let heading = reason.map_or("NOT DOCUMENTED".to_owned(), |reason| reason.to_string());
            out.push_str(&format!("{} differences: {heading}\n", all.len()));
            for one in all {
                out.push_str(&format!(
                    "  {}: ours {}, calculator {}\n",
                    one.name, one.ours, one.theirs
                ));
            }
        }
        out.push_str(&format!(
            "{} numbers of {} answers compared: {} agree, {} differ for a documented reason, {} \
             differ without one\n",
            self.compared,
            self.answers,
            self.compared - self.differences.len(),
            self.differences.len() - self.undocumented(),
            self.undocumented()
        ));
        out
    }
}

/// Compares all answers of a table.
pub(super) fn compare(table: &str, facts: &Facts) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    for answer in answers(table)? {
        let about = format!(
            "line {}, {}, {} TiB, {} MiB/s, {}",
            answer.line, answer.region, answer.capacity_tib, answer.throughput_mib_s, answer.level
        );
        comparison.answers += 1;
        comparison.compared += COLUMNS.len();
        let found = differences(&answer, facts).with_context(|| about.clone())?;
        comparison.differences.extend(found.into_iter().map(|(column, ours, reason)| {
            let theirs = answer.cells[column].clone();
            Difference {
                name: format!("{about}: {column}"),
                ours,
                theirs: theirs.unwrap_or_else(|| NO_ANSWER.to_owned()),
                reason,
            }
        }));
    }
    Ok(comparison)
}

/// Parses a table with a heading; lines that start with `#` describe its origin.
fn answers(table: &str) -> Result<Vec<Answer>> {
    let mut lines = table.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let (_, heading) = lines.next().context("the table is empty")?;
    let heading: Vec<&str> = heading.split('\t').collect();
    let mut all = Vec::new();
    for (index, line) in lines {
        let line_number = index + 1;
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| {
            let index = heading.iter().position(|one| *one == name);
            let cell = index.and_then(|index| cells.get(index));
            cell.copied().with_context(|| format!("line {line_number} has no `{name}`"))
        };
        for level in ServiceLevel::ALL {
            let mut of_level = BTreeMap::new();
            for column in COLUMNS {
                let text = cell(&format!("{column}_{level}_cell"))?;
                of_level.insert(column, (text != NO_ANSWER).then(|| text.to_owned()));
            }
            all.push(Answer {
                line: line_number,
                region: cell("region")?.to_owned(),
                capacity_tib: cell("capacity_tib")?.parse().context("capacity_tib")?,
                throughput_mib_s: cell("throughput_mib_s")?.parse().context("throughput_mib_s")?,
                level,
                cells: of_level,
            });
        }
    }
    if all.is_empty() {
        bail!("the table has no answers");
    }
    Ok(all)
}

/// Our pool for the requirement of an answer, with as few regular volumes as the limits allow.
fn pool(answer: &Answer, region: &str, facts: &Facts) -> Result<Pool> {
    let throughput = KibPerSec::from_mib(answer.throughput_mib_s).context("the throughput")?;
    let demand = Demand {
        throughput,
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    let part = |demands| Part {
        name: "data".to_owned(),
        capacity_gib: (answer.capacity_tib * KIBI).ceil() as u64,
        inodes: 0,
        demands,
    };
    let need = |demands| Need {
        parts: vec![part(demands)],
        growth: Share::ZERO,
        headroom: Share::ZERO,
        response_time: None,
        region: region.to_owned(),
        protocol: Protocol::Nfs3,
        hosts: None,
        vm: None,
        levels: vec![answer.level],
        previews: false,
        hours_per_month: HOURS as u32,
        charges: Charges::default(),
        pools_max: POOLS_MAX,
        business: None,
    };
    let qos = match facts.catalog.level(answer.level).throughput {
        Some(_) => QosType::Auto,
        None => QosType::Manual,
    };
    let kind = VolumeKind::Regular;
    let level = answer.level;
    let choice = Choice { level, qos, kind, more_volumes: 0, pools: 1, spare: Share::ZERO };
    // The calculator uses only limits, so the measured abilities of volumes must not matter: they
    // are those of a need without demands.
    let abilities = Abilities::of(&need(Vec::new()), kind, facts);
    let built = storage::build(&need(vec![demand]), &choice, &abilities, &facts.catalog);
    let pools = built.map_err(|why| anyhow::anyhow!("{:?}", why.lack))?.pools;
    pools.into_iter().next().context("no pool")
}

/// Columns with a difference, our number and the reason.
fn differences(
    answer: &Answer,
    facts: &Facts,
) -> Result<Vec<(&'static str, String, Option<Reason>)>> {
    let region = facts.regions.find(&answer.region).context("unknown region")?;
    let prices = facts.prices.storage(&region.name).context("the region has no prices")?;
    let each = prices.capacity(answer.level).context("the region has no price for the level")?;
    let pool = pool(answer, &region.name, facts)?;
    let volumes: u64 = pool.volumes.iter().map(|volumes| volumes.count).sum();
    let quota_gib = pool.quota_gib();
    let month =
        cost::capacity(&pool, &prices, HOURS) + cost::throughput(&pool, facts, &prices, HOURS);

    let per_tib = match facts.catalog.pool_throughput(answer.level, KIBI as u64) {
        PoolThroughput::BySize(throughput) => Some(throughput.as_mib()),
        PoolThroughput::Bought { .. } => None,
    };
    let limit = if per_tib.is_some() { pool.limits() } else { pool.throughput };

    // The quota in fractions of a GiB, with its throughput limit and its cost.
    let (capacity, required) = (answer.capacity_tib, answer.throughput_mib_s as f64);
    let exact_tib = per_tib.map_or(capacity, |per_tib| capacity.max(required / per_tib));
    let ceiling = facts.catalog.volume_ceiling(answer.level, QosType::Auto, VolumeKind::Regular);
    let exact_limit = per_tib.map(|per_tib| {
        let max = ceiling.map_or(f64::INFINITY, KibPerSec::as_mib);
        (exact_tib * per_tib).min(max)
    });
    let is_one_volume_enough = volumes == 1;
    let is_whole_gib = quota_gib as f64 == (exact_tib * KIBI).ceil();
    let quota_cost = exact_tib * KIBI * each.as_dollars() * HOURS as f64;
    let older = older_flexible(&region.name, facts);
    let older_cost = older.map(|older| {
        let prices = StoragePrices { flexible: Some(older), ..prices };
        cost::capacity(&pool, &prices, HOURS) + cost::throughput(&pool, facts, &prices, HOURS)
    });

    let mut found = Vec::new();
    for column in COLUMNS {
        let (ours, reasons): (String, Vec<(Reason, String)>) = match column {
            "size" => {
                let ours = rounded(quota_gib as f64 / KIBI);
                (ours, vec![(Reason::WholeGib, rounded(exact_tib))])
            }
            "tput" => {
                let ours = rounded(limit.as_mib());
                let exact = exact_limit.map(|limit| (Reason::WholeGib, rounded(limit)));
                (ours, exact.into_iter().collect())
            }
            "poolsize" => (format!("{}", pool.size_gib / KIBI as u64), Vec::new()),
            _ => {
                let mut reasons = Vec::new();
                if per_tib.is_some() {
                    reasons.push((Reason::QuotaPriced, rounded(quota_cost)));
                } else if answer.level == ServiceLevel::Flexible {
                    reasons.extend(older_cost.map(|cost| (Reason::OlderPrice, cents(cost))));
                }
                (cents(month), reasons)
            }
        };
        match &answer.cells[column] {
            Some(theirs) if *theirs == ours => {}
            Some(theirs) => {
                let explains = |(reason, number): &(Reason, String)| {
                    number == theirs && (*reason != Reason::WholeGib || is_whole_gib)
                };
                let reason = reasons.iter().find(|one| explains(one)).map(|(reason, _)| *reason);
                found.push((column, ours, reason));
            }
            None => {
                let reason = (!is_one_volume_enough).then_some(Reason::OneVolume);
                found.push((column, ours, reason));
            }
        }
    }
    Ok(found)
}

/// The calculator's price of Flexible, if it is older than the price list.
fn older_flexible<'a>(region: &str, facts: &'a Facts) -> Option<&'a FlexiblePrices> {
    facts
        .prices
        .flexible
        .iter()
        .find(|prices| prices.region == region && prices.origin.status == Status::Superseded)
}

/// Two decimals, half rounded up, as in the calculator.
fn rounded(number: f64) -> String {
    format!("{:.2}", (number * 100.0).round() / 100.0)
}

/// Dollars, rounded to the nearest cent.
fn cents(amount: Usd) -> String {
    let cents = (amount.micros() + 5_000) / 10_000;
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../fixtures/calc-answers.tsv");

    #[test]
    fn the_vendors_calculator_agrees_but_for_documented_reasons() {
        let comparison = compare(SAMPLE, &Facts::embedded()).expect("the table is valid");
        assert_eq!(comparison.undocumented(), 0, "{}", comparison.text());
        let reasons =
            [Reason::WholeGib, Reason::QuotaPriced, Reason::OlderPrice, Reason::OneVolume];
        for reason in reasons {
            let is_used = comparison.differences.iter().any(|one| one.reason == Some(reason));
            assert!(is_used, "the sample has no example of: {reason}");
        }
    }

    #[test]
    fn a_difference_that_no_reason_explains_is_undocumented() {
        let facts = Facts::embedded();
        // A cost off by a cent, a pool off by a TiB, and no answer where one volume is enough.
        for (from, to) in [
            ("9707.29", "9707.30"),
            ("\t86\t86\t86\t86", "\t86\t86\t86\t87"),
            ("25907.55", NO_ANSWER),
        ] {
            let table: String = SAMPLE.replacen(from, to, 1);
            assert_ne!(table, SAMPLE, "{from}");
            let comparison = compare(&table, &facts).expect("the table is valid");
            assert_eq!(comparison.undocumented(), 1, "{from}: {}", comparison.text());
            assert!(comparison.text().contains("NOT DOCUMENTED"), "{from}");
        }
    }

    #[test]
    fn a_missing_column_or_an_unknown_region_is_refused() {
        let facts = Facts::embedded();
        let problem = |table: &str| format!("{:#}", compare(table, &facts).unwrap_err());
        let no_column = problem(&SAMPLE.replace("cost_ultra_cell", "x"));
        assert!(no_column.contains("cost_ultra_cell"), "{no_column}");
        let unknown = problem(&SAMPLE.replace("West US 3", "Atlantis"));
        assert!(unknown.contains("unknown region"), "{unknown}");
        assert!(problem("").contains("the table is empty"));
    }
}
