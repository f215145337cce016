//! What a design costs in a month, by list prices, exact in millionths of a dollar.

use cloud::price::{StoragePrices, Usd};
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{percent, thousands};

use crate::claim::Claim;
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
    /// What lies in the cool tier, by size.
    CoolCapacity,
    /// What is moved between the cool tier and the hot one.
    CoolTraffic,
    /// What backups keep.
    Backup,
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
            Item::CoolCapacity => "cool tier",
            Item::CoolTraffic => "cool tier traffic",
            Item::Backup => "backups",
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
    /// The arithmetic on published list prices.
    pub reasons: Vec<Claim>,
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
        self.reasons.push(Claim::derived(text, rows));
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

/// The cost of pools, hosts and what is paid by use in the need's region. The region has prices:
/// the need was checked.
pub fn month(need: &Need, pools: &[Pool], hosts: Option<&Hosts>, facts: &Facts) -> Cost {
    let mut cost = Cost::default();
    let hours = u64::from(need.hours_per_month);
    if let Some(prices) = facts.prices.storage(&need.region) {
        add_pools(&mut cost, need, pools, facts, prices);
        add_backups(&mut cost, need, prices);
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
    if need.charges.crossing_permille > 0 {
        add_traffic(&mut cost, need, facts, hours);
    }
    cost
}

fn add_pools(cost: &mut Cost, need: &Need, pools: &[Pool], facts: &Facts, prices: &StoragePrices) {
    let hours = u64::from(need.hours_per_month);
    let quotas: u64 = pools.iter().map(Pool::quota_gib).sum();
    let cool_of_all = cool_gib(need);
    for level in ServiceLevel::ALL {
        let of: Vec<&Pool> = pools.iter().filter(|pool| pool.level == level).collect();
        if of.is_empty() {
            continue;
        }
        let gib: u64 = of.iter().map(|pool| pool.size_gib).sum();
        // What is cool is spread as the quotas are.
        let quota: u64 = of.iter().map(|pool| pool.quota_gib()).sum();
        let cool = u128::from(cool_of_all) * u128::from(quota) / u128::from(quotas.max(1));
        let cool_gib = u64::try_from(cool).unwrap_or(u64::MAX).min(gib);
        let hot_gib = gib - cool_gib;
        let each = prices.capacity(level);
        let amount = each.times(hot_gib).times(hours);
        let text = format!(
            "capacity: {} GiB x {} x {hours} h = {amount}",
            thousands(hot_gib),
            each.exact()
        );
        cost.add(Item::Capacity, amount, text, vec![prices.row()]);
        if cool_gib > 0 {
            add_cool(cost, need, cool_gib, facts, prices);
        }
        add_throughput(cost, need, &of, facts, prices);
    }
}

fn add_throughput(
    cost: &mut Cost,
    need: &Need,
    pools: &[&Pool],
    facts: &Facts,
    prices: &StoragePrices,
) {
    let hours = u64::from(need.hours_per_month);
    let of = |pool: &&Pool| match facts.catalog.level(pool.level).throughput {
        Some(_) => 0,
        None => above_baseline_mib(pool.throughput, facts),
    };
    let mib: u64 = pools.iter().map(of).sum();
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

/// What lies in the cool tier: a share of what is stored, rounded down.
fn cool_gib(need: &Need) -> u64 {
    let stored: u64 = need.parts.iter().map(|part| part.capacity_gib).sum();
    share(stored, need.charges.cool_permille)
}

fn share(whole: u64, permille: u64) -> u64 {
    let part = u128::from(whole) * u128::from(permille) / u128::from(PERMILLE);
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// What is cool is paid at its own price in place of the pool's, and for each GiB that is moved.
fn add_cool(cost: &mut Cost, need: &Need, gib: u64, facts: &Facts, prices: &StoragePrices) {
    let hours = u64::from(need.hours_per_month);
    let price = facts.prices.transfer("cool");
    let amount = prices.cool.times(gib).times(hours);
    let text = format!(
        "cool tier: {} of the capacity, {} GiB x {} x {hours} h = {amount}{}",
        percent(need.charges.cool_permille),
        thousands(gib),
        prices.cool.exact(),
        match price {
            Some(price) => format!("; to move it there costs {} once", price.gib.times(gib)),
            None => String::new(),
        }
    );
    cost.add(Item::CoolCapacity, amount, text, vec![prices.row()]);
    let moved = need.charges.cool_moved_permille;
    let (Some(price), true) = (price, moved > 0) else { return };
    // Thousandths of a GiB, so that small shares are not lost.
    let thousandths = gib.saturating_mul(moved);
    let amount = Usd::from_micros(price.gib.times(thousandths).micros() / PERMILLE);
    let text = format!(
        "cool tier traffic: {} of {} GiB in a month x {} = {amount}",
        percent(moved),
        thousands(gib),
        price.gib.exact()
    );
    cost.add(Item::CoolTraffic, amount, text, vec![price.row()]);
}

/// Backups are paid by what they keep, whatever the pools' level.
fn add_backups(cost: &mut Cost, need: &Need, prices: &StoragePrices) {
    let gib = need.charges.backup_gib;
    if gib == 0 {
        return;
    }
    let amount = prices.backup_month.times(gib);
    let text = format!(
        "backups: {} GiB x {} a month = {amount}",
        thousands(gib),
        prices.backup_month.exact()
    );
    cost.add(Item::Backup, amount, text, vec![prices.row()]);
}

/// Every byte is paid on its way out of one network and into the other.
fn add_traffic(cost: &mut Cost, need: &Need, facts: &Facts, hours: u64) {
    let (wanted, charges) = (need.throughput(), need.charges);
    let permille = u128::from(PERMILLE);
    let bytes = u128::from(wanted.bytes_per_s())
        * u128::from(charges.mean_permille)
        * u128::from(charges.crossing_permille)
        / (permille * permille)
        * u128::from(SECONDS)
        * u128::from(hours);
    let gb = u64::try_from(bytes.div_ceil(BYTES_PER_GB)).unwrap_or(u64::MAX);
    let prices = facts.prices.peering();
    let each: Usd = prices.iter().map(|price| price.gb).sum();
    let amount = each.times(gb);
    let text = format!(
        "peering: a mean of {} of {wanted}, {} of which crosses, over {hours} h = {} GB x {} for \
         both ways = {amount}",
        percent(charges.mean_permille),
        percent(charges.crossing_permille),
        thousands(gb),
        each.exact()
    );
    cost.add(Item::Traffic, amount, text, prices.iter().map(|price| price.row()).collect());
}
