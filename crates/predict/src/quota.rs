//! What a quota is allowed to be, and the throughput limit that it gives.

use cloud::catalog::Catalog;
use cloud::reason::{Reason, RowRef};
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::facts;

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// What is allowed, where a quota of so many bytes is not.
pub(crate) fn outside(kind: VolumeKind, quota: u64) -> Option<String> {
    let (least, most) = facts::of().catalog.quota_range(kind);
    let is_allowed = (least * GIB..=most * GIB).contains(&quota);
    let allowed = || format!("allowed: {} to {}", Bytes::new(least * GIB), Bytes::new(most * GIB));
    (!is_allowed).then(allowed)
}

/// The throughput limit of a volume with automatic QoS, exactly.
pub(crate) fn limit(
    level: ServiceLevel,
    kind: VolumeKind,
    quota: u64,
) -> Result<(KibPerSec, Reason), String> {
    let catalog: &Catalog = &facts::of().catalog;
    let row = catalog.level(level);
    let Some(rate) = row.throughput else {
        return Err(format!("volumes of {level} have no throughput by quota"));
    };
    let gib = quota / GIB;
    let by_quota = rate.limit(gib);
    let ceiling = catalog.ceiling(level, kind);
    let limit = ceiling.map_or(by_quota, |ceiling| ceiling.min(by_quota));
    let mut text = format!("{gib} GiB x {} KiB/s per GiB = {by_quota}", rate.get());
    let mut rows =
        vec![RowRef::new("service_levels.toml", format!("service_level {level}"), &row.origin)];
    if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling < by_quota) {
        text.push_str(&format!("; a {} volume has at most {ceiling}", kind.name()));
        let current = catalog.ceilings.iter().find(|row| {
            row.level == level
                && row.kind == kind
                && row.origin.status == cloud::row::Status::Current
        });
        rows.extend(current.map(|row| {
            let name = format!("ceiling {level} {}", kind.name());
            RowRef::new("service_levels.toml", name, &row.origin)
        }));
    }
    Ok((limit, Reason::from_rows(text, rows)))
}
