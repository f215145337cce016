//! What would be lost with less: with the next cheaper design, a smaller pool, one host fewer.

use cloud::row::LimitName;
use cloud::throughput::KibPerSec;
use units::{Nanos, percent, thousands};

use crate::design::{Decides, Design, Resource, Use};
use crate::facts::Facts;
use crate::need::Need;

/// Response times that differ by less than this share are taken for the same.
const SAME_TIME: f64 = 0.01;

/// What `cheaper` saves and what it lacks beside `design`.
pub(crate) fn lost(design: &Design, cheaper: &Design) -> String {
    let saved = design.cost.month().less(cheaper.cost.month());
    let mut lost = Vec::new();
    if cheaper.spare_permille() < design.spare_permille() {
        let (less, more) = (cheaper.spare_permille(), design.spare_permille());
        lost.push(format!("{} spare instead of {}", percent(less), percent(more)));
    }
    let counts = [
        (cheaper.pools.len() as u64, design.pools.len() as u64, "pool"),
        (cheaper.volume_count(), design.volume_count(), "volume"),
        (cheaper.host_count(), design.host_count(), "host"),
    ];
    for (has, instead, what) in counts.into_iter().filter(|(has, instead, _)| has > instead) {
        let s = if has == 1 { "" } else { "s" };
        lost.push(format!("{has} {what}{s} instead of {instead}"));
    }
    match (&cheaper.response, &design.response) {
        (Some(has), Some(instead)) if has.mean_ns > instead.mean_ns * (1.0 + SAME_TIME) => {
            lost.push(format!("{} instead of {}", Nanos(has.mean_ns), Nanos(instead.mean_ns)));
        }
        (None, Some(_)) => lost.push("a throughput that the model does not reach".to_owned()),
        _ => {}
    }
    if cheaper.contradicted && !design.contradicted {
        lost.push("volumes that a published figure contradicts".to_owned());
    }
    let lost =
        if lost.is_empty() { "nothing that is counted here".to_owned() } else { lost.join(", ") };
    let unpriced = match design.cost.unknown.is_empty() {
        true => "",
        false => " of what has a price",
    };
    format!("the next cheaper saves {saved}{unpriced} and has {lost}")
}

/// What a smaller pool and one host fewer would lack: why nothing is cheaper than the cheapest.
pub(crate) fn without_a_step(design: &Design, need: &Need, facts: &Facts) -> String {
    let mut said = vec![smaller_pool(design, need, facts)];
    said.extend(one_host_fewer(design));
    format!("less would not do: {}", said.join("; "))
}

fn smaller_pool(design: &Design, need: &Need, facts: &Facts) -> String {
    let catalog = &facts.catalog;
    let step = catalog.limit(LimitName::PoolSizeStep);
    let gib = design.pool_gib();
    if design.decides == Decides::Minimum || gib <= step * design.pools.len() as u64 {
        return "no smaller pool can be bought".to_owned();
    }
    if design.levels().len() > 1 {
        return "no other division of the parts among pools is cheaper".to_owned();
    }
    let less = gib - step;
    let tib = less >> 10;
    let pools = if design.pools.len() > 1 { "pools" } else { "a pool" };
    if design.decides == Decides::Throughput {
        let gives = catalog.pool_throughput(design.level, less).most();
        let wanted = need.grown().throughput();
        let lack = KibPerSec::new(wanted.get().saturating_sub(gives.get()));
        return match lack.get() {
            0 if design.pools.len() > 1 => {
                format!("pools of {tib} TiB together do not hold the volumes as they are dealt out")
            }
            0 => format!("{pools} of {tib} TiB: {gives}, with less spare than is asked for"),
            _ => format!("{pools} of {tib} TiB: {gives}, {lack} short"),
        };
    }
    match design.quota_gib().saturating_sub(less) {
        0 => format!("{pools} of {tib} TiB together do not hold the volumes as they are dealt out"),
        lack => format!("{pools} of {tib} TiB: {} GiB less than the quotas", thousands(lack)),
    }
}

/// What one host fewer could not do; `None` where that follows from something else.
fn one_host_fewer(design: &Design) -> Option<String> {
    let hosts = design.hosts.as_ref().filter(|hosts| hosts.count > 1)?;
    let (count, fewer) = (u64::from(hosts.count), u64::from(hosts.count) - 1);
    let of_hosts = |one: &&Use| {
        use Resource::{Egress, Flows, HostCapability, Slots};
        matches!(one.resource, Egress | Flows | HostCapability | Slots)
    };
    let limit = |one: &Use| {
        let less = u128::from(one.limit) * u128::from(fewer) / u128::from(count);
        u64::try_from(less).unwrap_or(u64::MAX)
    };
    let short = design.uses.iter().filter(of_hosts).find(|one| limit(one) < one.used)?;
    let amount = |count: u64| match short.resource {
        Resource::Slots => format!("{} requests", thousands(count)),
        _ => format!("{:.0}", KibPerSec::new(count)),
    };
    let s = if fewer == 1 { "" } else { "s" };
    Some(format!(
        "{fewer} host{s}: {} of {} by {}",
        amount(limit(short)),
        amount(short.used),
        short.resource.name()
    ))
}
