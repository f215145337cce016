//! Finds what a cheaper design would lose: the next cheaper one, a smaller pool, one host fewer.

use cloud::row::LimitName;
use cloud::throughput::KibPerSec;

use crate::design::Design;
use crate::facts::Facts;
use crate::need::Need;
use crate::pool::PoolSizedBy;
use crate::resource_use::Use;
use crate::trade_offs::{FewerHosts, Loss, PoolLack, SmallerPool, TradeOff};

/// Response times that differ by less than this share count as equal.
const SAME_TIME: f64 = 0.01;

/// What `cheaper`, the next cheaper design, lacks compared with `design`.
pub(crate) fn next_cheaper(design: &Design, cheaper: &Design) -> TradeOff {
    let mut losses = Vec::new();
    let (has, instead_of) = (cheaper.spare(), design.spare());
    if has < instead_of {
        losses.push(Loss::Spare { cheaper: has, instead_of });
    }
    let (has, instead_of) = (cheaper.pools.len() as u64, design.pools.len() as u64);
    if has > instead_of {
        losses.push(Loss::Pools { cheaper: has, instead_of });
    }
    let (has, instead_of) = (cheaper.volume_count(), design.volume_count());
    if has > instead_of {
        losses.push(Loss::Volumes { cheaper: has, instead_of });
    }
    let (has, instead_of) = (cheaper.host_count(), design.host_count());
    if has > instead_of {
        losses.push(Loss::Hosts { cheaper: has, instead_of });
    }
    match (&cheaper.response, &design.response) {
        (Some(has), Some(instead)) if has.mean.0 > instead.mean.0 * (1.0 + SAME_TIME) => {
            losses.push(Loss::ResponseTime { cheaper: has.mean, instead_of: instead.mean });
        }
        (None, Some(_)) => losses.push(Loss::Throughput),
        _ => {}
    }
    if cheaper.contradicted && !design.contradicted {
        losses.push(Loss::Contradicted);
    }
    TradeOff::Cheaper {
        saved: design.cost.month().less(cheaper.cost.month()),
        all_priced: design.cost.missing.is_empty(),
        losses,
    }
}

/// Why nothing is cheaper than `design`, the cheapest.
pub(crate) fn cheapest(design: &Design, need: &Need, facts: &Facts) -> TradeOff {
    TradeOff::Cheapest { pool: smaller_pool(design, need, facts), hosts: fewer_hosts(design) }
}

fn smaller_pool(design: &Design, need: &Need, facts: &Facts) -> SmallerPool {
    let catalog = &facts.catalog;
    let step = catalog.limit(LimitName::PoolSizeStep);
    let gib = design.pool_gib();
    if design.sized_by == PoolSizedBy::Minimum || gib <= step * design.pools.len() as u64 {
        return SmallerPool::NotSold;
    }
    if design.levels().len() > 1 {
        return SmallerPool::NoCheaperDistribution;
    }
    let smaller_gib = gib - step;
    let several = design.pools.len() > 1;
    let lack = if design.sized_by == PoolSizedBy::Throughput {
        let throughput = catalog.pool_throughput(design.level, smaller_gib).most();
        let required = need.grown().throughput();
        match required.get().saturating_sub(throughput.get()) {
            0 if several => PoolLack::Distribution,
            0 => PoolLack::Spare { throughput },
            missing => PoolLack::Throughput { throughput, missing: KibPerSec::new(missing) },
        }
    } else {
        match design.quota_gib().saturating_sub(smaller_gib) {
            0 => PoolLack::Distribution,
            missing_gib => PoolLack::Quota { missing_gib },
        }
    };
    SmallerPool::Lacks { tib: smaller_gib >> 10, several, lack }
}

fn fewer_hosts(design: &Design) -> Option<FewerHosts> {
    let hosts = design.hosts.as_ref().filter(|hosts| hosts.is_charged && hosts.count > 1)?;
    let (count, fewer) = (u64::from(hosts.count), u64::from(hosts.count) - 1);
    let limit = |one: &Use| {
        let less = u128::from(one.limit) * u128::from(fewer) / u128::from(count);
        u64::try_from(less).unwrap_or(u64::MAX)
    };
    let short = design
        .uses
        .iter()
        .filter(|one| one.resource.is_of_hosts())
        .find(|one| limit(one) < one.used)?;
    let (resource, used) = (short.resource, short.used);
    Some(FewerHosts { count: fewer, resource, limit: limit(short), used })
}
