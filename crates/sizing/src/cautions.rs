//! Cautions: designs beyond any published figure, or beyond the regional quota of a subscription.
//!
//! For: marking extrapolations. Not for: refusing them; the service documents no limit of a
//! region's throughput.

use cloud::figure::{Figure, Value};
use cloud::row::LimitName;
use units::BytesPerSec;

use crate::claim::{Claim, ClaimKind};
use crate::design::Design;
use crate::facts::Facts;
use crate::need::Need;
use crate::statement::Caution;

/// The cautions of designs for `need`, `cheapest` being the first.
pub(crate) fn of(need: &Need, cheapest: &Design, facts: &Facts) -> Vec<Claim> {
    [beyond_published(need, cheapest, facts), beyond_region(cheapest, facts)]
        .into_iter()
        .flatten()
        .collect()
}

fn beyond_published(need: &Need, cheapest: &Design, facts: &Facts) -> Option<Claim> {
    let rate = |figure: &&Figure| throughput(figure).map_or(0.0, BytesPerSec::get);
    let most = facts.figures.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let required = BytesPerSec::from(need.throughput());
    let published = throughput(most)?;
    if required <= published {
        return None;
    }
    let hosts_most = facts.figures.iter().filter_map(|figure| figure.hosts).max().unwrap_or(0);
    let hosts = cheapest.hosts.as_ref().map(|hosts| u64::from(hosts.count));
    let caution = Caution::BeyondPublished {
        required,
        published,
        id: most.id.clone(),
        hosts: hosts.filter(|count| *count > hosts_most).map(|count| (count, hosts_most)),
    };
    Some(Claim::new(ClaimKind::Extrapolated, caution, [most.row_ref()]))
}

fn beyond_region(cheapest: &Design, facts: &Facts) -> Option<Claim> {
    let (pools, region) = (cheapest.pool_gib(), facts.catalog.limit(LimitName::RegionCapacityMax));
    let caution = Caution::BeyondRegion { pools_gib: pools, default_gib: region };
    let row = || facts.catalog.limit_row(LimitName::RegionCapacityMax);
    (pools > region).then(|| Claim::documented(caution, [row()]))
}

/// The throughput of a figure; `None` unless it is a rate with a known transfer size.
fn throughput(figure: &Figure) -> Option<BytesPerSec> {
    match figure.value {
        Value::Throughput(rate) => Some(rate),
        Value::Rate(rate) => Some(BytesPerSec::new(rate.get() * figure.transfer_bytes? as f64)),
        Value::Seconds(_) => None,
    }
}
