//! Why a design is worth its price, in words.

use cloud::throughput::KibPerSec;
use sizing::resource_use::Resource;
use sizing::trade_offs::{FewerHosts, Loss, PoolLack, SmallerPool, TradeOff};
use units::{counted, thousands};

use super::names;

/// One sentence without its full stop: what the next cheaper design lacks, or why none is cheaper.
pub(super) fn sentence(trade_off: &TradeOff) -> String {
    match trade_off {
        TradeOff::Cheaper { saved, all_priced, losses } => {
            let unpriced = if *all_priced { "" } else { " (not counting parts without a price)" };
            let losses = match losses.is_empty() {
                true => "no drawback that is counted here".to_owned(),
                false => losses.iter().map(loss).collect::<Vec<_>>().join(", "),
            };
            format!("the next cheaper design saves {saved}{unpriced} and has {losses}")
        }
        TradeOff::Cheapest { pool, hosts } => {
            let mut reasons = vec![smaller_pool(pool)];
            reasons.extend(hosts.as_ref().map(fewer_hosts));
            format!("nothing is cheaper: {}", reasons.join("; "))
        }
    }
}

fn loss(loss: &Loss) -> String {
    let count = |cheaper: u64, instead_of: u64, what: &str| {
        format!("{} instead of {}", counted(cheaper, what), thousands(instead_of))
    };
    match *loss {
        Loss::Spare { cheaper, instead_of } => {
            format!("{cheaper} spare instead of {instead_of}")
        }
        Loss::Pools { cheaper, instead_of } => count(cheaper, instead_of, "pool"),
        Loss::Volumes { cheaper, instead_of } => count(cheaper, instead_of, "volume"),
        Loss::Hosts { cheaper, instead_of } => count(cheaper, instead_of, "host"),
        Loss::ResponseTime { cheaper, instead_of } => {
            format!("a response time of {cheaper} instead of {instead_of}")
        }
        Loss::Throughput => "a throughput that the model does not reach".to_owned(),
        Loss::Contradicted => "volumes whose capability a published figure contradicts".to_owned(),
    }
}

fn smaller_pool(pool: &SmallerPool) -> String {
    let (tib, several, lack) = match *pool {
        SmallerPool::NotSold => return "no smaller pool is sold".to_owned(),
        SmallerPool::NoCheaperDistribution => {
            return "no other distribution of the parts among pools is cheaper".to_owned();
        }
        SmallerPool::Lacks { tib, several, lack } => (tib, several, lack),
    };
    let pools = if several { "pools of" } else { "a pool of" };
    let together = if several { " together" } else { "" };
    let lack = match lack {
        PoolLack::Distribution => "without room for the volumes as distributed".to_owned(),
        PoolLack::Spare { throughput } => {
            format!("{throughput}, with less than the required spare")
        }
        PoolLack::Throughput { throughput, missing } => format!("{throughput}, {missing} short"),
        PoolLack::Quota { missing_gib } => {
            format!("{} GiB less than the quotas", thousands(missing_gib))
        }
    };
    format!("{pools} {tib} TiB{together}: {lack}")
}

fn fewer_hosts(hosts: &FewerHosts) -> String {
    let amount = |count: u64| match hosts.resource {
        Resource::Slots => format!("{} requests", thousands(count)),
        Resource::VolumeNames => format!("{} ops/s", thousands(count)),
        Resource::Inodes => format!("{} inodes", thousands(count)),
        _ => format!("{:.0}", KibPerSec::new(count)),
    };
    format!(
        "{}: {} of the required {} ({})",
        counted(hosts.count, "host"),
        amount(hosts.limit),
        amount(hosts.used),
        names::resource(hosts.resource)
    )
}
