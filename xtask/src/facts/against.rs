//! `cargo xtask facts --against FILE`: our quotas, limits, pools and prices compared with the
//! answers of the vendor's performance calculator, to the cent.
//!
//! A disagreement counts as documented only where its reason, worked out from facts, gives the
//! calculator's number exactly ([`Reason`]); any other fails. What is compared is one regular
//! volume in one pool of each level: the calculator knows no other design, and no hosts.

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
use sizing::cost;
use sizing::design::Pool;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, POOLS_MAX, Part, Protocol};
use sizing::storage::{self, Choice};

/// Hours of a month, as the calculator has them.
const HOURS: u64 = 730;
/// GiB in a TiB; MiB/s are as many KiB/s.
const KIBI: f64 = 1024.0;
/// What the calculator writes where it has no answer.
const NO_ANSWER: &str = "n/a";

/// Why the calculator's number is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// A quota is a multiple of 1 GiB.
    WholeGib,
    /// Pools are what is paid for.
    QuotaPriced,
    /// The calculator's price is older than the price list.
    OlderPrice,
    /// The calculator has one volume.
    OneVolume,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::WholeGib => {
                "the calculator computes with fractions of a GiB; a quota is a multiple of 1 GiB, \
                 so ours is rounded up and its throughput limit follows"
            }
            Reason::QuotaPriced => {
                "the calculator's cost is that of the volume's quota; the service charges the \
                 pool, which is bought in steps of 1 TiB"
            }
            Reason::OlderPrice => {
                "the calculator has an older price of Flexible (superseded row in prices.toml); \
                 the price list of storage_prices.toml is newer"
            }
            Reason::OneVolume => {
                "the calculator has no answer above the throughput ceiling of one volume; we put \
                 the load on several"
            }
        })
    }
}

/// One answer of the calculator: of a need, for a level.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    line: usize,
    region: String,
    capacity_tib: f64,
    throughput_mib_s: u64,
    level: ServiceLevel,
    /// By name of column, `None` where the calculator has no answer.
    cells: BTreeMap<&'static str, Option<String>>,
}

/// The columns of an answer, each followed by the level in the file.
const COLUMNS: [&str; 4] = ["size", "tput", "cost", "poolsize"];

/// A number of ours that is not the calculator's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Disagreement {
    /// `line 6, West Europe, 3.51 TiB, 1,480 MiB/s, premium: cost`
    what: String,
    ours: String,
    theirs: String,
    /// `None`: undocumented.
    pub(super) reason: Option<Reason>,
}

/// The comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    answers: usize,
    compared: usize,
    pub(super) disagreements: Vec<Disagreement>,
}

impl Comparison {
    /// Numbers that differ without a documented reason.
    pub(super) fn undocumented(&self) -> usize {
        self.disagreements.iter().filter(|one| one.reason.is_none()).count()
    }

    /// Each disagreement, under its reason.
    pub(super) fn text(&self) -> String {
        let mut by_reason: BTreeMap<Option<Reason>, Vec<&Disagreement>> = BTreeMap::new();
        for one in &self.disagreements {
            by_reason.entry(one.reason).or_default().push(one);
        }
        let mut out = String::new();
        for (reason, all) in &by_reason {
            let words = reason.map_or("NOT DOCUMENTED".to_owned(), |reason| reason.to_string());
            out.push_str(&format!("{} disagreements: {words}\n", all.len()));
            for one in all {
                out.push_str(&format!(
                    "  {}: ours {}, calculator {}\n",
                    one.what, one.ours, one.theirs
                ));
            }
        }
        out.push_str(&format!(
            "{} numbers of {} answers compared: {} agree, {} differ for a documented reason, {} \
             differ without one\n",
            self.compared,
            self.answers,
            self.compared - self.disagreements.len(),
            self.disagreements.len() - self.undocumented(),
            self.undocumented()
        ));
        out
    }
}

/// Compares every answer of a table.
pub(super) fn compare(table: &str, facts: &Facts) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    for answer in answers(table)? {
        let about = format!(
            "line {}, {}, {} TiB, {} MiB/s, {}",
            answer.line, answer.region, answer.capacity_tib, answer.throughput_mib_s, answer.level
        );
        comparison.answers += 1;
        comparison.compared += COLUMNS.len();
        let found = disagreements(&answer, facts).with_context(|| about.clone())?;
        comparison.disagreements.extend(found.into_iter().map(|(column, ours, reason)| {
            let theirs = answer.cells[column].clone();
            Disagreement {
                what: format!("{about}: {column}"),
                ours,
                theirs: theirs.unwrap_or_else(|| NO_ANSWER.to_owned()),
                reason,
            }
        }));
    }
    Ok(comparison)
}

/// The answers of a table with a heading; lines that begin with `#` say where it is from.
fn answers(table: &str) -> Result<Vec<Answer>> {
    let mut lines = table.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let (_, heading) = lines.next().context("the table is empty")?;
    let heading: Vec<&str> = heading.split('\t').collect();
    let mut all = Vec::new();
    for (index, line) in lines {
        let line_number = index + 1;
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| {
            let place = heading.iter().position(|one| *one == name);
            let cell = place.and_then(|place| cells.get(place));
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
        bail!("the table has no answer");
    }
    Ok(all)
}

/// Our pool for an answer's need: the fewest regular volumes that its limits allow.
fn pool(answer: &Answer, region: &str, facts: &Facts) -> Result<Pool> {
    let throughput = KibPerSec::from_mib(answer.throughput_mib_s).context("the throughput")?;
    let demand = Demand {
        throughput,
        transfer_bytes: 64 << 10,
        read_permille: 1000,
        access: Access::Sequential,
    };
    let part = |demands| Part {
        name: "data".to_owned(),
        capacity_gib: (answer.capacity_tib * KIBI).ceil() as u64,
        demands,
    };
    let need = |demands| Need {
        parts: vec![part(demands)],
        growth_permille: 0,
        headroom_permille: 0,
        response_time_ns: None,
        region: region.to_owned(),
        protocol: Protocol::Nfs3,
        hosts: None,
        vm: None,
        levels: vec![answer.level],
        previews: false,
        hours_per_month: HOURS as u32,
        charges: Charges::default(),
        pools_max: POOLS_MAX,
    };
    let qos = match facts.catalog.level(answer.level).throughput {
        Some(_) => QosType::Auto,
        None => QosType::Manual,
    };
    let kind = VolumeKind::Regular;
    let level = answer.level;
    let choice = Choice { level, qos, kind, more_volumes: 0, pools: 1, spare_permille: 0 };
    // The calculator goes by limits alone: what volumes were measured to do is of no demand.
    let abilities = Abilities::of(&need(Vec::new()), kind, facts);
    let built = storage::build(&need(vec![demand]), &choice, &abilities, &facts.catalog);
    let pools = built.map_err(|why| anyhow::anyhow!("{}", why.text))?.pools;
    pools.into_iter().next().context("no pool")
}

/// Columns in which we differ, with our number and the reason.
fn disagreements(
    answer: &Answer,
    facts: &Facts,
) -> Result<Vec<(&'static str, String, Option<Reason>)>> {
    let region = facts.regions.find(&answer.region).context("the region is not known")?;
    let prices = facts.prices.storage(&region.name).context("the region has no prices")?;
    let each = prices.capacity(answer.level).context("the region has no price of the level")?;
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

    // The quota in fractions of a GiB, and what follows from it.
    let (capacity, wanted) = (answer.capacity_tib, answer.throughput_mib_s as f64);
    let exact_tib = per_tib.map_or(capacity, |per_tib| capacity.max(wanted / per_tib));
    let ceiling = facts.catalog.volume_ceiling(answer.level, QosType::Auto, VolumeKind::Regular);
    let exact_limit = per_tib.map(|per_tib| {
        let most = ceiling.map_or(f64::INFINITY, KibPerSec::as_mib);
        (exact_tib * per_tib).min(most)
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
                let holds = |(reason, number): &(Reason, String)| {
                    number == theirs && (*reason != Reason::WholeGib || is_whole_gib)
                };
                let reason = reasons.iter().find(|one| holds(one)).map(|(reason, _)| *reason);
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

/// The price of Flexible that the calculator has, where it is not that of the price list.
fn older_flexible<'a>(region: &str, facts: &'a Facts) -> Option<&'a FlexiblePrices> {
    facts
        .prices
        .flexible
        .iter()
        .find(|prices| prices.region == region && prices.origin.status == Status::Superseded)
}

/// Two digits behind the point; a half is rounded up, as the calculator does.
fn rounded(number: f64) -> String {
    format!("{:.2}", (number * 100.0).round() / 100.0)
}

/// Dollars with two digits, rounded to the nearest cent.
fn cents(amount: Usd) -> String {
    let cents = (amount.micros() + 5_000) / 10_000;
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../fixtures/calc-answers.tsv");

    #[test]
    fn the_vendors_calculator_agrees_but_for_documented_reasons() {
        let comparison = compare(SAMPLE, &Facts::embedded()).expect("a comparison");
        assert_eq!(comparison.undocumented(), 0, "{}", comparison.text());
        let reasons =
            [Reason::WholeGib, Reason::QuotaPriced, Reason::OlderPrice, Reason::OneVolume];
        for reason in reasons {
            let is_used = comparison.disagreements.iter().any(|one| one.reason == Some(reason));
            assert!(is_used, "the sample has no example of: {reason}");
        }
    }

    #[test]
    fn a_number_that_no_reason_gives_is_undocumented() {
        let facts = Facts::embedded();
        // A cent, a TiB of a pool, and an answer where there is one from us with one volume.
        for (from, to) in [
            ("9707.29", "9707.30"),
            ("\t86\t86\t86\t86", "\t86\t86\t86\t87"),
            ("25907.55", NO_ANSWER),
        ] {
            let table: String = SAMPLE.replacen(from, to, 1);
            assert_ne!(table, SAMPLE, "{from}");
            let comparison = compare(&table, &facts).expect("a comparison");
            assert_eq!(comparison.undocumented(), 1, "{from}: {}", comparison.text());
            assert!(comparison.text().contains("NOT DOCUMENTED"), "{from}");
        }
    }

    #[test]
    fn a_table_without_a_column_or_of_an_unknown_region_is_refused() {
        let facts = Facts::embedded();
        let problem = |table: &str| format!("{:#}", compare(table, &facts).unwrap_err());
        let no_column = problem(&SAMPLE.replace("cost_ultra_cell", "x"));
        assert!(no_column.contains("cost_ultra_cell"), "{no_column}");
        let unknown = problem(&SAMPLE.replace("West US 3", "Atlantis"));
        assert!(unknown.contains("the region is not known"), "{unknown}");
        assert!(problem("").contains("the table is empty"));
    }
}
