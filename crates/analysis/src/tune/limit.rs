//! What each service level would have to be given for a rate.

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::NoQuota;
use units::Bytes;

/// What a service level would have to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelQuota {
    /// The level, as data and configuration write it.
    pub level: &'static str,
    /// The least quota whose limit is what is wanted, in bytes; `None` where none is: the most of a
    /// regular volume is below.
    pub quota_bytes: Option<u64>,
    /// The most throughput of a regular volume at this level, in bytes per second.
    pub ceiling_bytes_per_s: Option<u64>,
}

/// For each service level that gives throughput by quota, the least quota of a regular volume that
/// gives `wanted_bytes_per_s`.
///
/// Source: [`Catalog::least_quota`].
pub fn quotas(wanted_bytes_per_s: f64) -> Vec<LevelQuota> {
    let catalog = Catalog::embedded();
    let kind = VolumeKind::Regular;
    let of = |level: ServiceLevel| {
        let quota = least_quota(&catalog, level, kind, wanted_bytes_per_s);
        let ceiling = catalog.volume_ceiling(level, QosType::Auto, kind);
        let level_quota = LevelQuota {
            level: level.name(),
            quota_bytes: quota.ok().map(Bytes::get),
            ceiling_bytes_per_s: ceiling.map(KibPerSec::bytes_per_s),
        };
        (!matches!(quota, Err(NoQuota::BoughtApart { .. }))).then_some(level_quota)
    };
    ServiceLevel::ALL.into_iter().filter_map(of).collect()
}

/// The least quota of a volume that gives `wanted_bytes_per_s`.
///
/// # Errors
/// No quota of this level does for a volume of this kind.
pub fn least_quota(
    catalog: &Catalog,
    level: ServiceLevel,
    kind: VolumeKind,
    wanted_bytes_per_s: f64,
) -> Result<Bytes, NoQuota> {
    let wanted = KibPerSec::new((wanted_bytes_per_s / 1024.0).ceil() as u64);
    catalog.least_quota(level, kind, wanted)
}

/// The most throughput that any volume of the service is said to get, in bytes per second.
pub fn most_bytes_per_s() -> u64 {
    Catalog::embedded().highest_volume_ceiling().bytes_per_s()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_mib_per_s_need_12800_gib_of_standard_and_1600_of_ultra() {
        let gib: Vec<(&str, Option<u64>)> = quotas(f64::from(200 << 20))
            .iter()
            .map(|quota| (quota.level, quota.quota_bytes.map(|bytes| bytes >> 30)))
            .collect();
        // 200 x 1,024 KiB/s over 16, 64 and 128 KiB/s per GiB.
        assert_eq!(
            gib,
            [("standard", Some(12_800)), ("premium", Some(3200)), ("ultra", Some(1600))]
        );
    }

    #[test]
    fn no_quota_below_the_smallest_volume_is_proposed() {
        let gib: Vec<_> = quotas(1_048_576.0).iter().map(|one| one.quota_bytes).collect();
        // 1 MiB/s is 64, 16 and 8 GiB by the rates alone.
        assert_eq!(gib, [64, 50, 50].map(|gib| Some(Bytes::gib(gib).get())));
    }

    #[test]
    fn beyond_the_ceiling_of_a_level_no_quota_helps() {
        let quotas = quotas(5000.0 * 1_048_576.0);
        assert!(quotas.iter().all(|quota| quota.quota_bytes.is_none()), "{quotas:?}");
        assert!(most_bytes_per_s() >= 12_800 << 20);
    }
}
