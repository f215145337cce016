//! What is bought: capacity pools, large enough for what lies on them and for what it moves.

use cloud::pool_throughput::PoolThroughput;
use cloud::price::Usd;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::thousands;

use crate::avs::HOURS_PER_MONTH;
use crate::avs::ask::Facts;

/// GiB in a TiB, and KiB/s in a MiB/s.
const KIBI: u64 = 1024;

/// A capacity pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// As what it is bought.
    pub level: ServiceLevel,
    /// How its throughput is given to volumes.
    pub qos: QosType,
    /// Its size in GiB.
    pub size_gib: u64,
    /// What its volumes can move together.
    pub throughput: KibPerSec,
    /// By the list, each month of 730 hours; `None` without prices.
    pub month: Option<Usd>,
    /// The arithmetic.
    pub reasons: Vec<Reason>,
}

/// The least pool of a level for quotas of `quota_gib` together and volumes that move
/// `mib_per_s` together; without a throughput its volumes have what their quotas give.
///
/// # Errors
/// What is more than the service has, by how much.
pub fn pool(
    level: ServiceLevel,
    quota_gib: u64,
    mib_per_s: Option<u64>,
    facts: &Facts<'_>,
) -> Result<Pool, Reason> {
    let catalog = facts.catalog;
    let wanted = KibPerSec::new(mib_per_s.unwrap_or(0).saturating_mul(KIBI));
    let step = catalog.limit(LimitName::PoolSizeStep);
    let least = catalog.limit(LimitName::PoolSizeMin);
    let mut reasons = Vec::new();
    let for_throughput = catalog.least_size_gib(level, wanted);
    let steps = quota_gib.max(for_throughput).max(least).div_ceil(step);
    let size_gib = steps.saturating_mul(step);
    let by = if for_throughput > quota_gib { "throughput" } else { "capacity" };
    let text = format!(
        "{level}: quotas of {} GiB; {wanted} / {:#} = {} GiB; the pool has {} TiB, by {by}",
        thousands(quota_gib),
        catalog.pool_rate(level),
        thousands(for_throughput),
        thousands(size_gib / KIBI)
    );
    let rows = [catalog.pool_rate_row(level), catalog.limit_row(LimitName::PoolSizeStep)];
    reasons.push(Reason::from_rows(text, rows));
    let most = catalog.limit(LimitName::PoolSizeMax);
    if size_gib > most {
        let text = format!(
            "a {level} pool of {} TiB is {} TiB more than the largest",
            thousands(size_gib / KIBI),
            thousands((size_gib - most) / KIBI)
        );
        return Err(Reason::from_rows(text, [catalog.limit_row(LimitName::PoolSizeMax)]));
    }
    let throughput = match catalog.pool_throughput(level, size_gib) {
        PoolThroughput::BySize(throughput) => throughput,
        PoolThroughput::Bought { .. } => catalog.least_purchase(wanted),
    };
    let qos = qos(level, mib_per_s.is_some(), facts);
    let mut pool = Pool { level, qos, size_gib, throughput, month: None, reasons };
    price(&mut pool, facts);
    Ok(pool)
}

/// Adds the price, where there is one.
fn price(pool: &mut Pool, facts: &Facts<'_>) {
    let Some(prices) = facts.prices else { return };
    let Some(each) = prices.capacity(pool.level) else { return };
    let mut month = each.times(pool.size_gib).times(HOURS_PER_MONTH);
    let mut text = format!(
        "{} GiB x {} per GiB and hour x {HOURS_PER_MONTH} h",
        thousands(pool.size_gib),
        each.exact()
    );
    let mut rows = vec![prices.row(pool.level)];
    if let (None, Some(flexible)) = (facts.catalog.level(pool.level).throughput, prices.flexible) {
        let baseline = facts.catalog.limit(LimitName::FlexibleThroughputBaseline);
        let bought = (pool.throughput.get() - baseline).div_ceil(KIBI);
        let each = flexible.throughput;
        month = month + each.times(bought).times(HOURS_PER_MONTH);
        text.push_str(&format!(
            " + {} MiB/s above the baseline x {} per MiB/s and hour x {HOURS_PER_MONTH} h",
            thousands(bought),
            each.exact()
        ));
        rows.push(facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline));
    }
    pool.reasons.push(Reason::from_rows(format!("{text} = {month} a month"), rows));
    pool.month = Some(month);
}

/// How the throughput of a pool of datastores is given to them: assigned where their loads are
/// known, or where the level has no other way.
pub fn qos(level: ServiceLevel, knows_loads: bool, facts: &Facts<'_>) -> QosType {
    match knows_loads || !facts.catalog.level(level).qos.contains(&QosType::Auto) {
        true => QosType::Manual,
        false => QosType::Auto,
    }
}

/// The most MiB/s that a datastore of a level can have.
pub fn ceiling_mib_per_s(level: ServiceLevel, qos: QosType, facts: &Facts<'_>) -> u64 {
    let ceiling = facts.catalog.volume_ceiling(level, qos, VolumeKind::Regular);
    ceiling.map_or(u64::MAX, |rate| rate.get() / KIBI)
}
