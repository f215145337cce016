//! What a design costs in a month, by list prices, exact in millionths of a dollar.

use cloud::price::{StoragePrices, Usd};
use cloud::reason::{Reason, RowRef};
use cloud::row::LimitName;
use cloud::throughput::KibPerSec;
use units::thousands;

use crate::design::Pool;
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Need, PERMILLE};

/// Seconds in an hour.
const SECONDS: u64 = 3600;
/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;
/// Bytes in a GB, as traffic is charged.
const BYTES_PER_GB: u128 = 1_000_000_000;

/// What a part of the cost is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Pools, by size.
    Capacity,
    /// Flexible throughput above the baseline.
    Throughput,
    /// Hosts, by the hour.
    Hosts,
    /// Traffic through a peering.
    Traffic,
}

impl Item {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Item::Capacity => "pool capacity",
            Item::Throughput => "Flexible throughput",
            Item::Hosts => "hosts",
            Item::Traffic => "peering traffic",
        }
    }
}

/// A month's cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// What it consists of.
    pub items: Vec<(Item, Usd)>,
    /// What is not in it because no price is known, in words.
    pub unknown: Vec<String>,
    /// The arithmetic.
    pub reasons: Vec<Reason>,
}

impl Cost {
    /// All that is known, together.
    pub fn month(&self) -> Usd {
        self.items.iter().map(|(_, amount)| *amount).sum()
    }

    /// The part for `wanted`; nothing where there is none.
    pub fn of(&self, wanted: Item) -> Usd {
        self.items.iter().filter(|(item, _)| *item == wanted).map(|(_, amount)| *amount).sum()
    }

    fn add(&mut self, item: Item, amount: Usd, text: String, rows: Vec<RowRef>) {
        self.items.push((item, amount));
        self.reasons.push(Reason::from_rows(text, rows));
    }
}

/// What a pool of a size costs for some hours: `GiB x price x hours`.
pub fn capacity(pool: &Pool, prices: &StoragePrices, hours: u64) -> Usd {
    prices.capacity(pool.level).times(pool.size_gib).times(hours)
}

/// What a Flexible pool's throughput above the baseline costs: `(MiB/s - baseline) x price x
/// hours`; nothing for pools of other levels.
pub fn throughput(pool: &Pool, facts: &Facts, prices: &StoragePrices, hours: u64) -> Usd {
    match facts.catalog.level(pool.level).throughput {
        Some(_) => Usd::ZERO,
        None => {
            let mib = above_baseline_mib(pool.throughput, facts);
            prices.flexible_throughput.times(mib).times(hours)
        }
    }
}

fn above_baseline_mib(throughput: KibPerSec, facts: &Facts) -> u64 {
    let baseline = facts.catalog.limit(LimitName::FlexibleThroughputBaseline);
    throughput.get().saturating_sub(baseline).div_ceil(KIB_PER_MIB)
}

/// The cost of pools and hosts in the need's region. The region has prices: the need was checked.
pub fn month(need: &Need, pools: &[Pool], hosts: Option<&Hosts>, facts: &Facts) -> Cost {
    let mut cost = Cost::default();
    let hours = u64::from(need.hours_per_month);
    if let Some(prices) = facts.prices.storage(&need.region) {
        add_pools(&mut cost, pools, facts, prices, hours);
    }
    if let Some(hosts) = hosts {
        match facts.prices.vm(&hosts.vm, &need.region) {
            Some(price) => {
                let amount = price.hour.times(u64::from(hosts.count)).times(hours);
                let text = format!(
                    "hosts: {} {} x {} x {hours} h = {amount}",
                    hosts.count,
                    hosts.vm,
                    price.hour.exact()
                );
                cost.add(Item::Hosts, amount, text, vec![price.row()]);
            }
            None => {
                cost.unknown.push(format!("hosts: no price of {} in {}", hosts.vm, need.region))
            }
        }
    }
    if let Some(mean) = need.peered_permille {
        add_traffic(&mut cost, need, mean, facts, hours);
    }
    cost
}

fn add_pools(cost: &mut Cost, pools: &[Pool], facts: &Facts, prices: &StoragePrices, hours: u64) {
    let Some(first) = pools.first() else { return };
    let gib: u64 = pools.iter().map(|pool| pool.size_gib).sum();
    let amount = pools.iter().map(|pool| capacity(pool, prices, hours)).sum();
    let text = format!(
        "capacity: {} GiB x {} x {hours} h = {amount}",
        thousands(gib),
        prices.capacity(first.level).exact()
    );
    cost.add(Item::Capacity, amount, text, vec![prices.row()]);
    let mib: u64 = match facts.catalog.level(first.level).throughput {
        Some(_) => 0,
        None => pools.iter().map(|pool| above_baseline_mib(pool.throughput, facts)).sum(),
    };
    if mib > 0 {
        let amount = pools.iter().map(|pool| throughput(pool, facts, prices, hours)).sum();
        let text = format!(
            "throughput above the baseline: {} MiB/s x {} x {hours} h = {amount}",
            thousands(mib),
            prices.flexible_throughput.exact()
        );
        let baseline = facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline);
        cost.add(Item::Throughput, amount, text, vec![prices.row(), baseline]);
    }
}

/// Every byte is paid on its way out of one network and into the other.
fn add_traffic(cost: &mut Cost, need: &Need, mean_permille: u64, facts: &Facts, hours: u64) {
    let wanted = need.throughput();
    let bytes = u128::from(wanted.bytes_per_s()) * u128::from(mean_permille) / u128::from(PERMILLE)
        * u128::from(SECONDS)
        * u128::from(hours);
    let gb = u64::try_from(bytes.div_ceil(BYTES_PER_GB)).unwrap_or(u64::MAX);
    let prices = facts.prices.peering();
    let each: Usd = prices.iter().map(|price| price.gb).sum();
    let amount = each.times(gb);
    let text = format!(
        "peering: {} of {wanted} over {hours} h = {} GB x {} for both ways = {amount}",
        crate::need::percent(mean_permille),
        thousands(gb),
        each.exact()
    );
    cost.add(Item::Traffic, amount, text, prices.iter().map(|price| price.row()).collect());
}
