//! What a design costs in a month, by list prices, exact in millionths of a dollar.

use cloud::price::{Reservation, ReservationTerm, StoragePrices, Usd};
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{Bytes, percent, thousands};

use crate::avs::HOURS_PER_MONTH;
use crate::claim::Claim;
use crate::design::Pool;
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Need, PERMILLE};

/// Seconds in an hour.
const SECONDS: u64 = 3600;
/// Hours in a day.
const HOURS_PER_DAY: u64 = 24;
/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;
/// Bytes in a GB, as traffic is charged.
const BYTES_PER_GB: u128 = 1_000_000_000;

/// What a part of the cost is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Pools, by size, pay as you go; without what snapshots take.
    Capacity,
    /// Units of capacity that are reserved.
    Reserved,
    /// The part of the pools that snapshots take.
    Snapshots,
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
    /// Data that replication to another region moves.
    Replication,
    /// Pools of the replicas in the other region.
    Replicas,
    /// Traffic through a peering.
    Traffic,
}

impl Item {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Item::Capacity => "pool capacity",
            Item::Reserved => "reserved capacity",
            Item::Snapshots => "snapshots",
            Item::Throughput => "Flexible throughput",
            Item::Hosts => "hosts",
            Item::CoolCapacity => "cool tier",
            Item::CoolTraffic => "cool tier traffic",
            Item::Backup => "backups",
            Item::Replication => "replication",
            Item::Replicas => "replica capacity",
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
    /// What a reader of the sum must know: prices that are not verified, reservations that do not
    /// apply.
    pub notes: Vec<String>,
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

/// What a pool of a size costs for some hours: `GiB x price x hours`. The region has a price of the
/// level: the need was checked.
pub fn capacity(pool: &Pool, prices: &StoragePrices<'_>, hours: u64) -> Usd {
    price(prices, pool.level).times(pool.size_gib).times(hours)
}

/// Each GiB of a pool of a level and hour.
fn price(prices: &StoragePrices<'_>, level: ServiceLevel) -> Usd {
    prices.capacity(level).expect("only levels that have a price in the region are looked at")
}

/// What a Flexible pool's throughput above the baseline costs: `(MiB/s - baseline) x price x
/// hours`; nothing for pools of other levels.
pub fn throughput(pool: &Pool, facts: &Facts, prices: &StoragePrices<'_>, hours: u64) -> Usd {
    match (facts.catalog.level(pool.level).throughput, prices.flexible) {
        (None, Some(flexible)) => {
            let mib = above_baseline_mib(pool.throughput, facts);
            flexible.throughput.times(mib).times(hours)
        }
        _ => Usd::ZERO,
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
        add_pools(&mut cost, need, pools, facts, &prices);
        add_backups(&mut cost, need, &prices);
    }
    add_replication(&mut cost, need, pools, facts);
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
                if !price.is_verified {
                    let vm = &hosts.vm;
                    cost.notes.push(format!(
                        "the price of {vm} is unverified: its source cannot be followed"
                    ));
                }
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

fn add_pools(
    cost: &mut Cost,
    need: &Need,
    pools: &[Pool],
    facts: &Facts,
    prices: &StoragePrices<'_>,
) {
    let quotas: u64 = pools.iter().map(Pool::quota_gib).sum();
    for level in ServiceLevel::ALL {
        let of: Vec<&Pool> = pools.iter().filter(|pool| pool.level == level).collect();
        if of.is_empty() {
            continue;
        }
        let gib: u64 = of.iter().map(|pool| pool.size_gib).sum();
        // What is cool, and what snapshots take, is spread as the quotas are.
        let quota: u64 = of.iter().map(|pool| pool.quota_gib()).sum();
        let share_of_quotas = |gib: u64| {
            let share = u128::from(gib) * u128::from(quota) / u128::from(quotas.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let cool_gib = share_of_quotas(cool_gib(need)).min(gib);
        add_hot(
            cost,
            need,
            level,
            gib - cool_gib,
            share_of_quotas(snapshot_gib(need)),
            facts,
            prices,
        );
        if cool_gib > 0 {
            add_cool(cost, need, cool_gib, prices);
        }
        add_throughput(cost, need, &of, facts, prices);
    }
}

/// The hot capacity of pools of a level: reserved as far as units of it are worth their price,
/// otherwise pay as you go, of which snapshots are shown separately.
fn add_hot(
    cost: &mut Cost,
    need: &Need,
    level: ServiceLevel,
    hot_gib: u64,
    snapshot_gib: u64,
    facts: &Facts,
    prices: &StoragePrices<'_>,
) {
    let hours = u64::from(need.hours_per_month);
    let (each, row) = (price(prices, level), prices.row(level));
    let reserved_gib = match need.charges.reserved {
        Some(term) => add_reserved(cost, level, hot_gib, hours, term, facts, prices),
        None => 0,
    };
    let paid_gib = hot_gib.saturating_sub(reserved_gib);
    let snapshot_paid_gib = snapshot_gib.min(paid_gib);
    let data_gib = paid_gib - snapshot_paid_gib;
    if data_gib > 0 || reserved_gib == 0 {
        let amount = each.times(data_gib).times(hours);
        let (gib, each) = (thousands(data_gib), each.exact());
        let text = format!("capacity: {gib} GiB x {each} x {hours} h = {amount}");
        cost.add(Item::Capacity, amount, text, vec![row.clone()]);
    }
    if snapshot_paid_gib > 0 {
        let amount = each.times(snapshot_paid_gib).times(hours);
        let (gib, each) = (thousands(snapshot_paid_gib), each.exact());
        let text = format!("snapshots: {gib} GiB x {each} x {hours} h = {amount}");
        cost.add(Item::Snapshots, amount, text, vec![row]);
    }
    if snapshot_gib > snapshot_paid_gib {
        cost.notes.push(format!(
            "{} GiB of snapshots are in the reserved capacity",
            thousands(snapshot_gib - snapshot_paid_gib)
        ));
    }
}

/// Adds the units of reserved capacity that cost least together with the rest at the price by the
/// hour; gives the GiB that they cover. Reserved capacity is paid for all hours of the term.
fn add_reserved(
    cost: &mut Cost,
    level: ServiceLevel,
    hot_gib: u64,
    hours: u64,
    term: ReservationTerm,
    facts: &Facts,
    prices: &StoragePrices<'_>,
) -> u64 {
    let each = price(prices, level);
    let units = facts.prices.reservations(level);
    let Some(smallest) = units.iter().min_by_key(|unit| unit.unit_gib) else {
        cost.notes.push(format!("{level} capacity cannot be reserved: it is paid as you go"));
        return 0;
    };
    let of_month = |unit: &Reservation| unit.unit_cost(each, term, HOURS_PER_MONTH);
    let amount = |counts: &[u64]| -> Usd {
        counts.iter().zip(&units).map(|(count, unit)| of_month(unit).times(*count)).sum()
    };
    let gib = |counts: &[u64]| -> u64 {
        counts.iter().zip(&units).map(|(count, unit)| count * unit.unit_gib).sum()
    };
    let rest = |counts: &[u64]| each.times(hot_gib.saturating_sub(gib(counts))).times(hours);
    let best = unit_counts(hot_gib, &units)
        .into_iter()
        .min_by_key(|counts| (amount(counts) + rest(counts), gib(counts)));
    let Some(counts) = best.filter(|counts| gib(counts) > 0) else {
        cost.notes.push(format!(
            "no {level} capacity is reserved: {} is not worth a unit of {} for {}",
            Bytes::gib(hot_gib),
            Bytes::gib(smallest.unit_gib),
            term.name()
        ));
        return 0;
    };
    let used = counts.iter().zip(&units).filter(|(count, _)| **count > 0);
    let words: Vec<String> = used
        .clone()
        .map(|(count, unit)| {
            let (size, off) = (Bytes::gib(unit.unit_gib), unit.percent(term));
            format!("{count} x {size} x {} less {off} % x {HOURS_PER_MONTH} h", each.exact())
        })
        .collect();
    let amount = amount(&counts);
    let text =
        format!("reserved capacity for {}, {level}: {} = {amount}", term.name(), words.join(" + "));
    let mut rows = vec![prices.row(level)];
    rows.extend(used.map(|(_, unit)| unit.row()));
    cost.add(Item::Reserved, amount, text, rows);
    gib(&counts)
}

/// Counts of each unit that can be worth their price: of the largest as many as fit or one more,
/// of a smaller one as many as fill what is left or one more.
fn unit_counts(gib: u64, units: &[&Reservation]) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for unit in units.iter().rev() {
        all = all
            .into_iter()
            .flat_map(|larger| {
                let taken: u64 =
                    larger.iter().zip(units.iter().rev()).map(|(n, unit)| n * unit.unit_gib).sum();
                let fit = gib.saturating_sub(taken) / unit.unit_gib.max(1);
                (fit..=fit + 1).map(move |count| [larger.clone(), vec![count]].concat())
            })
            .collect();
    }
    all.iter_mut().for_each(|counts| counts.reverse());
    all.push(vec![0; units.len()]);
    all
}

fn add_throughput(
    cost: &mut Cost,
    need: &Need,
    pools: &[&Pool],
    facts: &Facts,
    prices: &StoragePrices<'_>,
) {
    let hours = u64::from(need.hours_per_month);
    let of = |pool: &&Pool| match facts.catalog.level(pool.level).throughput {
        Some(_) => 0,
        None => above_baseline_mib(pool.throughput, facts),
    };
    let mib: u64 = pools.iter().map(of).sum();
    if let Some(flexible) = prices.flexible.filter(|_| mib > 0) {
        let amount = pools.iter().map(|pool| throughput(pool, facts, prices, hours)).sum();
        let text = format!(
            "throughput above the baseline: {} MiB/s x {} x {hours} h = {amount}",
            thousands(mib),
            flexible.throughput.exact()
        );
        let baseline = facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline);
        let rows = vec![prices.row(ServiceLevel::Flexible), baseline];
        cost.add(Item::Throughput, amount, text, rows);
    }
}

/// What is stored, snapshots included.
fn stored_gib(need: &Need) -> u64 {
    need.parts.iter().map(|part| part.capacity_gib).sum()
}

/// What lies in the cool tier: a share of what is stored, rounded down.
fn cool_gib(need: &Need) -> u64 {
    share(stored_gib(need), need.charges.cool_permille)
}

/// What snapshots take of what is stored: `stored x share / (1 + share)`, rounded up.
fn snapshot_gib(need: &Need) -> u64 {
    let permille = need.charges.snapshot_permille;
    let part = u128::from(stored_gib(need)) * u128::from(permille);
    u64::try_from(part.div_ceil(u128::from(PERMILLE + permille))).unwrap_or(u64::MAX)
}

fn share(whole: u64, permille: u64) -> u64 {
    let part = u128::from(whole) * u128::from(permille) / u128::from(PERMILLE);
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// What is cool is paid at its own price in place of the pool's, and for each GiB that is moved.
/// The region has a price of it: the need was checked.
fn add_cool(cost: &mut Cost, need: &Need, gib: u64, prices: &StoragePrices<'_>) {
    let Some(cool) = prices.cool else { return };
    let hours = u64::from(need.hours_per_month);
    let amount = cool.capacity.times(gib).times(hours);
    let text = format!(
        "cool tier: {} of the capacity, {} GiB x {} x {hours} h = {amount}; to move it there costs \
         {} once",
        percent(need.charges.cool_permille),
        thousands(gib),
        cool.capacity.exact(),
        cool.transfer.times(gib)
    );
    cost.add(Item::CoolCapacity, amount, text, vec![cool.row()]);
    let moved = need.charges.cool_moved_permille;
    if moved == 0 {
        return;
    }
    // Thousandths of a GiB, so that small shares are not lost.
    let thousandths = gib.saturating_mul(moved);
    let amount = Usd::from_micros(cool.transfer.times(thousandths).micros() / PERMILLE);
    let text = format!(
        "cool tier traffic: {} of {} GiB in a month x {} = {amount}",
        percent(moved),
        thousands(gib),
        cool.transfer.exact()
    );
    cost.add(Item::CoolTraffic, amount, text, vec![cool.row()]);
}

/// Backups are paid by what they keep, whatever the pools' level. The region has a price of them:
/// the need was checked.
fn add_backups(cost: &mut Cost, need: &Need, prices: &StoragePrices<'_>) {
    let gib = need.charges.backup_gib;
    let Some(backup) = prices.backup.filter(|_| gib > 0) else { return };
    let amount = backup.kept_month.times(gib);
    let text = format!(
        "backups: {} GiB x {} a month = {amount}",
        thousands(gib),
        backup.kept_month.exact()
    );
    cost.add(Item::Backup, amount, text, vec![backup.row()]);
}

/// What replication moves in a month is paid by how often and where to; the replicas lie in pools
/// as large as those that they are replicas of.
fn add_replication(cost: &mut Cost, need: &Need, pools: &[Pool], facts: &Facts) {
    let Some(replication) = &need.charges.replication else { return };
    let (from, to, hours) = (&need.region, &replication.to, u64::from(need.hours_per_month));
    let data_gib = stored_gib(need) - snapshot_gib(need);
    match facts.prices.replication(from, to) {
        Some(prices) => {
            // Days are 24 hours; a part of a GiB counts as one.
            let changed = u128::from(data_gib)
                * u128::from(replication.daily_change_permille)
                * u128::from(hours);
            let gib = changed.div_ceil(u128::from(PERMILLE) * u128::from(HOURS_PER_DAY));
            let gib = u64::try_from(gib).unwrap_or(u64::MAX);
            let each = prices.gib(replication.interval);
            let amount = each.times(gib);
            let text = format!(
                "replication to {to} every {}: {} of {} GiB change in a day, {} GiB in {hours} h x \
                 {} = {amount}; the first copy costs {} once",
                replication.interval.name(),
                percent(replication.daily_change_permille),
                thousands(data_gib),
                thousands(gib),
                each.exact(),
                each.times(data_gib)
            );
            cost.add(Item::Replication, amount, text, vec![prices.row()]);
        }
        None => cost.unknown.push(format!("replication: no price from {from} to {to}")),
    }
    let Some(prices) = facts.prices.storage(to) else {
        return cost.unknown.push(format!("replicas: no prices in {to}"));
    };
    for level in ServiceLevel::ALL {
        let of = pools.iter().filter(|pool| replication.level.unwrap_or(pool.level) == level);
        let gib: u64 = of.map(|pool| pool.size_gib).sum();
        if gib == 0 {
            continue;
        }
        match prices.capacity(level) {
            Some(each) => {
                let amount = each.times(gib).times(hours);
                let (gib, each) = (thousands(gib), each.exact());
                let text =
                    format!("replicas in {to}, {level}: {gib} GiB x {each} x {hours} h = {amount}");
                cost.add(Item::Replicas, amount, text, vec![prices.row(level)]);
            }
            None => cost.unknown.push(format!("replicas: no price of {level} in {to}")),
        }
    }
}

/// Every byte is paid on its way out of one network and into the other.
fn add_traffic(cost: &mut Cost, need: &Need, facts: &Facts, hours: u64) {
    let (wanted, charges) = (need.throughput(), &need.charges);
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
