//! What a reader of designs must know first: that they go beyond anything that was published, or
//! beyond what a subscription may have in a region.
//!
//! For: telling an extrapolation from what others have seen. Not for: refusing it; no limit of the
//! service says how much a whole region can do.

use cloud::figure::{Figure, Value};
use cloud::row::LimitName;
use units::{Bytes, part_of, thousands};

use crate::claim::{Claim, ClaimKind};
use crate::design::Design;
use crate::facts::Facts;
use crate::need::Need;

/// Bytes in a KiB.
const KIB: f64 = 1024.0;
/// KiB in a MiB.
const KIB_PER_MIB: u64 = 1024;

/// The cautions of designs for `need`, of which `cheapest` is the first; none where it is within
/// what was published and what a subscription may have.
pub(crate) fn of(need: &Need, cheapest: &Design, facts: &Facts) -> Vec<Claim> {
    [beyond_published(need, cheapest, facts), beyond_region(cheapest, facts)]
        .into_iter()
        .flatten()
        .collect()
}

fn beyond_published(need: &Need, cheapest: &Design, facts: &Facts) -> Option<Claim> {
    let rate = |figure: &&Figure| bytes_per_s(figure).unwrap_or(0.0);
    let most = facts.figures.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (required, published) = (need.throughput().get() as f64 * KIB, bytes_per_s(most)?);
    if required <= published {
        return None;
    }
    let mib = |bytes: f64| thousands((bytes / KIB) as u64 / KIB_PER_MIB);
    let mut text = format!(
        "Beyond what is published: {} MiB/s is {} the highest published throughput, {} MiB/s ({}). \
         The designs assume that volumes and hosts add up without end",
        mib(required),
        part_of(required / published),
        mib(published),
        most.id
    );
    let hosts_most = facts.figures.iter().filter_map(|figure| figure.hosts).max().unwrap_or(0);
    let hosts = cheapest.hosts.as_ref().map(|hosts| u64::from(hosts.count));
    if let Some(count) = hosts.filter(|count| *count > hosts_most) {
        text.push_str(&format!(
            "; no published figure has more than {hosts_most} hosts, and the cheapest design has \
             {}",
            thousands(count)
        ));
    }
    text.push_str(". Ask the vendor before you rely on them.");
    Some(Claim::new(ClaimKind::Extrapolated, text, [most.row_ref()]))
}

fn beyond_region(cheapest: &Design, facts: &Facts) -> Option<Claim> {
    let (pools, region) = (cheapest.pool_gib(), facts.catalog.limit(LimitName::RegionCapacityMax));
    (pools > region).then(|| {
        let text = format!(
            "The cheapest design's pools of {} exceed what a subscription may have in a region by \
             default, {}: request a higher capacity quota first.",
            Bytes::gib(pools),
            Bytes::gib(region)
        );
        Claim::documented(text, [facts.catalog.limit_row(LimitName::RegionCapacityMax)])
    })
}

/// The throughput of a figure, where it is a rate of known transfers.
fn bytes_per_s(figure: &Figure) -> Option<f64> {
    match figure.value {
        Value::BytesPerSec(rate) => Some(rate),
        Value::OpsPerSec(rate) => Some(rate * figure.transfer_bytes? as f64),
        Value::Seconds(_) => None,
    }
}
