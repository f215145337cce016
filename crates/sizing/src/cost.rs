//! Monthly cost of a design by list prices, exact to a millionth of a dollar.

use cloud::price::{Reservation, ReservationTerm, StoragePrices, Usd};
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::Share;

use crate::avs::HOURS_PER_MONTH;
use crate::claim::Claim;
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::Need;
use crate::pool::Pool;
use crate::statement::{CostNote, CostStatement, Hourly, MissingPrice, ReservedUnits};

/// Seconds in an hour.
const SECONDS: u64 = 3600;
const HOURS_PER_DAY: u64 = 24;
/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;
/// Bytes in a GB, the unit of traffic charges.
const BYTES_PER_GB: u128 = 1_000_000_000;

/// Items of the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Pool capacity, pay as you go, without snapshots.
    Capacity,
    /// Reserved capacity.
    Reserved,
    /// Pool capacity that snapshots use.
    Snapshots,
    /// Flexible throughput above the baseline.
    Throughput,
    /// Hosts.
    Hosts,
    /// Capacity in the cool tier.
    CoolCapacity,
    /// Transfers between the cool and the hot tier.
    CoolTraffic,
    /// Retained backups.
    Backup,
    /// Data replicated to another region.
    Replication,
    /// Pool capacity of the replicas in the other region.
    Replicas,
    /// Traffic across a network peering.
    Traffic,
}

/// Monthly cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Its items.
    pub items: Vec<(Item, Usd)>,
    /// Parts that are not in the sum because their price is unknown.
    pub missing: Vec<MissingPrice>,
    /// What a reader of the sum must know.
    pub notes: Vec<CostNote>,
    /// The arithmetic on list prices.
    pub reasons: Vec<Claim>,
}

impl Cost {
    /// The sum of all items.
    pub fn month(&self) -> Usd {
        self.items.iter().map(|(_, amount)| *amount).sum()
    }

    /// The cost of one item; zero if there is none.
    pub fn of(&self, item: Item) -> Usd {
        self.items.iter().filter(|(other, _)| *other == item).map(|(_, amount)| *amount).sum()
    }

    fn add(&mut self, item: Item, amount: Usd, statement: CostStatement, rows: Vec<RowRef>) {
        self.items.push((item, amount));
        self.reasons.push(Claim::derived(statement, rows));
    }
}

/// Cost of a pool's capacity: `GiB x price x hours`. The region must have a price for its level.
pub fn capacity(pool: &Pool, prices: &StoragePrices<'_>, hours: u64) -> Usd {
    price(prices, pool.level).times(pool.size_gib).times(hours)
}

/// Price of a GiB for an hour.
fn price(prices: &StoragePrices<'_>, level: ServiceLevel) -> Usd {
    prices.capacity(level).expect("the need was checked: its levels have a price in the region")
}

/// Cost of a Flexible pool's throughput above the baseline: `(MiB/s - baseline) x price x hours`;
/// zero for other levels.
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

/// Monthly cost of pools, hosts that are charged, and usage in the need's region.
pub fn month(need: &Need, pools: &[Pool], hosts: Option<&Hosts>, facts: &Facts) -> Cost {
    let mut cost = Cost::default();
    let hours = u64::from(need.hours_per_month);
    if let Some(prices) = facts.prices.storage(&need.region) {
        add_pools(&mut cost, need, pools, facts, &prices);
        add_backups(&mut cost, need, &prices);
    }
    add_replication(&mut cost, need, pools, facts);
    if let Some(hosts) = hosts.filter(|hosts| hosts.is_charged) {
        match facts.prices.vm(&hosts.vm, &need.region) {
            Some(price) => {
                let hourly = Hourly::new(u64::from(hosts.count), price.hour, hours);
                let vm = hosts.vm.clone();
                if !price.is_verified {
                    cost.notes.push(CostNote::UnverifiedPrice { vm: vm.clone() });
                }
                let statement = CostStatement::Hosts { vm, cost: hourly };
                cost.add(Item::Hosts, hourly.amount, statement, vec![price.row()]);
            }
            None => {
                let (vm, region) = (hosts.vm.clone(), need.region.clone());
                cost.missing.push(MissingPrice::Hosts { vm, region });
            }
        }
    }
    if need.charges.crossing > Share::ZERO {
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
        // Cool data and snapshots are distributed like the quotas.
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

/// Adds the hot capacity of pools of a level: reserved as far as that is cheaper, the rest pay as
/// you go, with snapshots as a separate item.
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
        let hourly = Hourly::new(data_gib, each, hours);
        let statement = CostStatement::Capacity(hourly);
        cost.add(Item::Capacity, hourly.amount, statement, vec![row.clone()]);
    }
    if snapshot_paid_gib > 0 {
        let hourly = Hourly::new(snapshot_paid_gib, each, hours);
        cost.add(Item::Snapshots, hourly.amount, CostStatement::Snapshots(hourly), vec![row]);
    }
    if snapshot_gib > snapshot_paid_gib {
        let size_gib = snapshot_gib - snapshot_paid_gib;
        cost.notes.push(CostNote::SnapshotsReserved { size_gib });
    }
}

/// Adds the reserved units that minimize the cost including the rest at the hourly price. Returns
/// the GiB that they cover. Reserved capacity is paid for all hours of the term.
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
        cost.notes.push(CostNote::NotReservable { level });
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
        let (required_gib, unit_gib) = (hot_gib, smallest.unit_gib);
        cost.notes.push(CostNote::NothingReserved { level, required_gib, unit_gib, term });
        return 0;
    };
    let used = counts.iter().zip(&units).filter(|(count, _)| **count > 0);
    let reserved = |(count, unit): (&u64, &&Reservation)| ReservedUnits {
        count: *count,
        size_gib: unit.unit_gib,
        discount: Share::from_percent(unit.percent(term)),
    };
    let amount = amount(&counts);
    let statement = CostStatement::Reserved {
        term,
        level,
        units: used.clone().map(reserved).collect(),
        price: each,
        hours: HOURS_PER_MONTH,
        amount,
    };
    let mut rows = vec![prices.row(level)];
    rows.extend(used.map(|(_, unit)| unit.row()));
    cost.add(Item::Reserved, amount, statement, rows);
    gib(&counts)
}

/// Candidate counts of each unit: of the largest as many as fit or one more, of each smaller one as
/// many as fit the remainder or one more.
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
        let hourly = Hourly::new(mib, flexible.throughput, hours);
        let baseline = facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline);
        let rows = vec![prices.row(ServiceLevel::Flexible), baseline];
        cost.add(Item::Throughput, hourly.amount, CostStatement::Throughput(hourly), rows);
    }
}

/// Stored data including snapshots.
fn stored_gib(need: &Need) -> u64 {
    need.parts.iter().map(|part| part.capacity_gib).sum()
}

/// Data in the cool tier, rounded down.
fn cool_gib(need: &Need) -> u64 {
    need.charges.cool.floor_of(stored_gib(need))
}

/// Snapshots within the stored data: `stored x share / (1 + share)`, rounded up.
fn snapshot_gib(need: &Need) -> u64 {
    let share = need.charges.snapshots;
    let part = u128::from(stored_gib(need)) * u128::from(share.permille());
    let whole = u128::from(share.added_to_whole().permille());
    u64::try_from(part.div_ceil(whole)).unwrap_or(u64::MAX)
}

/// Adds the cool tier: a lower price per GiB instead of the pool's, and a price per transferred
/// GiB.
fn add_cool(cost: &mut Cost, need: &Need, gib: u64, prices: &StoragePrices<'_>) {
    let Some(cool) = prices.cool else { return };
    let hours = u64::from(need.hours_per_month);
    let hourly = Hourly::new(gib, cool.capacity, hours);
    let statement = CostStatement::CoolCapacity {
        cool: need.charges.cool,
        cost: hourly,
        transfer: cool.transfer.times(gib),
    };
    cost.add(Item::CoolCapacity, hourly.amount, statement, vec![cool.row()]);
    let moved = need.charges.cool_moved;
    if moved == Share::ZERO {
        return;
    }
    // In thousandths of a GiB, so that small shares are not lost.
    let thousandths = gib.saturating_mul(moved.permille());
    let amount = Usd::from_micros(cool.transfer.times(thousandths).micros() / 1000);
    let price = cool.transfer;
    let statement = CostStatement::CoolTraffic { moved, capacity_gib: gib, price, amount };
    cost.add(Item::CoolTraffic, amount, statement, vec![cool.row()]);
}

/// Adds backups, which are charged by retained size, independent of the level.
fn add_backups(cost: &mut Cost, need: &Need, prices: &StoragePrices<'_>) {
    let gib = need.charges.backup_gib;
    let Some(backup) = prices.backup.filter(|_| gib > 0) else { return };
    let (price, amount) = (backup.kept_month, backup.kept_month.times(gib));
    let statement = CostStatement::Backups { kept_gib: gib, price, amount };
    cost.add(Item::Backup, amount, statement, vec![backup.row()]);
}

/// Adds replication: replicated data at a price that depends on interval and regions, and pools of
/// the same size in the other region.
fn add_replication(cost: &mut Cost, need: &Need, pools: &[Pool], facts: &Facts) {
    let Some(replication) = &need.charges.replication else { return };
    let (from, to, hours) = (&need.region, &replication.to, u64::from(need.hours_per_month));
    let data_gib = stored_gib(need) - snapshot_gib(need);
    match facts.prices.replication(from, to) {
        Some(prices) => {
            // A fraction of a GiB counts as one.
            let daily_change = replication.daily_change;
            let changed =
                u128::from(data_gib) * u128::from(daily_change.permille()) * u128::from(hours);
            let changed_gib = changed.div_ceil(1000 * u128::from(HOURS_PER_DAY));
            let changed_gib = u64::try_from(changed_gib).unwrap_or(u64::MAX);
            let price = prices.gib(replication.interval);
            let amount = price.times(changed_gib);
            let statement = CostStatement::Replication {
                to: to.clone(),
                interval: replication.interval,
                daily_change,
                data_gib,
                changed_gib,
                hours,
                price,
                amount,
                first_copy: price.times(data_gib),
            };
            cost.add(Item::Replication, amount, statement, vec![prices.row()]);
        }
        None => {
            let (from, to) = (from.clone(), to.clone());
            cost.missing.push(MissingPrice::Replication { from, to });
        }
    }
    let Some(prices) = facts.prices.storage(to) else {
        return cost.missing.push(MissingPrice::Replicas { region: to.clone() });
    };
    for level in ServiceLevel::ALL {
        let of = pools.iter().filter(|pool| replication.level.unwrap_or(pool.level) == level);
        let gib: u64 = of.map(|pool| pool.size_gib).sum();
        if gib == 0 {
            continue;
        }
        match prices.capacity(level) {
            Some(each) => {
                let hourly = Hourly::new(gib, each, hours);
                let statement = CostStatement::Replicas { to: to.clone(), level, cost: hourly };
                cost.add(Item::Replicas, hourly.amount, statement, vec![prices.row(level)]);
            }
            None => {
                let region = to.clone();
                cost.missing.push(MissingPrice::ReplicasOfLevel { level, region });
            }
        }
    }
}

/// Adds peering traffic: each byte is charged leaving one network and entering the other.
fn add_traffic(cost: &mut Cost, need: &Need, facts: &Facts, hours: u64) {
    let (throughput, charges) = (need.throughput(), &need.charges);
    let bytes = u128::from(throughput.bytes_per_s())
        * u128::from(charges.mean.permille())
        * u128::from(charges.crossing.permille())
        / (1000 * 1000)
        * u128::from(SECONDS)
        * u128::from(hours);
    let gb = u64::try_from(bytes.div_ceil(BYTES_PER_GB)).unwrap_or(u64::MAX);
    let prices = facts.prices.peering();
    let price: Usd = prices.iter().map(|price| price.gb).sum();
    let amount = price.times(gb);
    let (mean, crossing) = (charges.mean, charges.crossing);
    let statement = CostStatement::Peering { throughput, mean, crossing, hours, gb, price, amount };
    cost.add(Item::Traffic, amount, statement, prices.iter().map(|price| price.row()).collect());
}
