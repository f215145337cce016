//! Capacity pools, sized for capacity and throughput.

use cloud::pool_throughput::PoolThroughput;
use cloud::price::Usd;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;

use crate::avs::HOURS_PER_MONTH;
use crate::avs::ask::Facts;
use crate::avs::statement::{Reason, Statement};

/// GiB in a TiB, and KiB/s in a MiB/s.
const KIBI: u64 = 1024;

/// A capacity pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// Its service level.
    pub level: ServiceLevel,
    /// How volumes get their throughput.
    pub qos: QosType,
    /// Its size in GiB.
    pub size_gib: u64,
    /// Throughput of all its volumes together.
    pub throughput: KibPerSec,
    /// Monthly cost by list prices, for 730 hours; `None` without prices.
    pub month: Option<Usd>,
    /// The arithmetic.
    pub reasons: Vec<Reason>,
}

/// The smallest pool of a level for quotas of `quota_gib` and a throughput of `mib_per_s` together;
/// without a throughput, volumes get that of their quotas.
///
/// # Errors
/// The pool would be larger than the service sells.
pub fn pool(
    level: ServiceLevel,
    quota_gib: u64,
    mib_per_s: Option<u64>,
    facts: &Facts<'_>,
) -> Result<Pool, Reason> {
    let catalog = facts.catalog;
    let required = KibPerSec::new(mib_per_s.unwrap_or(0).saturating_mul(KIBI));
    let step = catalog.limit(LimitName::PoolSizeStep);
    let least = catalog.limit(LimitName::PoolSizeMin);
    let for_throughput = catalog.least_size_gib(level, required);
    let steps = quota_gib.max(for_throughput).max(least).div_ceil(step);
    let size_gib = steps.saturating_mul(step);
    let statement = Statement::Pool {
        level,
        quotas_gib: quota_gib,
        throughput: required,
        rate: catalog.pool_rate(level),
        gib_for_throughput: for_throughput,
        size_gib,
    };
    let rows = [catalog.pool_rate_row(level), catalog.limit_row(LimitName::PoolSizeStep)];
    let reasons = vec![Reason::from_rows(statement, rows)];
    let most = catalog.limit(LimitName::PoolSizeMax);
    if size_gib > most {
        let statement = Statement::LargePool { level, size_gib, excess_gib: size_gib - most };
        return Err(Reason::from_rows(statement, [catalog.limit_row(LimitName::PoolSizeMax)]));
    }
    let throughput = match catalog.pool_throughput(level, size_gib) {
        PoolThroughput::BySize(throughput) => throughput,
        PoolThroughput::Bought { .. } => catalog.least_purchase(required),
    };
    let qos = qos(level, mib_per_s.is_some(), facts);
    let mut pool = Pool { level, qos, size_gib, throughput, month: None, reasons };
    price(&mut pool, facts);
    Ok(pool)
}

/// Adds the cost, if there is a price.
fn price(pool: &mut Pool, facts: &Facts<'_>) {
    let Some(prices) = facts.prices else { return };
    let Some(each) = prices.capacity(pool.level) else { return };
    let mut month = each.times(pool.size_gib).times(HOURS_PER_MONTH);
    let mut above_baseline = None;
    let mut rows = vec![prices.row(pool.level)];
    if let (None, Some(flexible)) = (facts.catalog.level(pool.level).throughput, prices.flexible) {
        let baseline = facts.catalog.limit(LimitName::FlexibleThroughputBaseline);
        let bought = (pool.throughput.get() - baseline).div_ceil(KIBI);
        month = month + flexible.throughput.times(bought).times(HOURS_PER_MONTH);
        above_baseline = Some((bought, flexible.throughput));
        rows.push(facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline));
    }
    let statement = Statement::PoolPrice {
        size_gib: pool.size_gib,
        price: each,
        above_baseline,
        hours: HOURS_PER_MONTH,
        month,
    };
    pool.reasons.push(Reason::from_rows(statement, rows));
    pool.month = Some(month);
}

/// The QoS type of a pool of datastores: manual if loads are known or the level has no auto QoS.
pub fn qos(level: ServiceLevel, knows_loads: bool, facts: &Facts<'_>) -> QosType {
    match knows_loads || !facts.catalog.level(level).qos.contains(&QosType::Auto) {
        true => QosType::Manual,
        false => QosType::Auto,
    }
}

/// Highest throughput of a datastore of a level, in MiB/s.
pub fn ceiling_mib_per_s(level: ServiceLevel, qos: QosType, facts: &Facts<'_>) -> u64 {
    let ceiling = facts.catalog.volume_ceiling(level, qos, VolumeKind::Regular);
    ceiling.map_or(u64::MAX, |rate| rate.get() / KIBI)
}
