//! The quota that a rate requires at each service level.

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::NoQuota;
use units::{Bytes, BytesPerSec};

/// The quota that a rate requires at a service level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelQuota {
    /// The level, as data and configuration write it.
    pub level: &'static str,
    /// The least quota with that throughput limit; `None` if the most of a regular volume is below
    /// it.
    pub quota: Option<Bytes>,
    /// The most throughput of a regular volume at this level.
    pub ceiling: Option<KibPerSec>,
}

/// The least quota of a regular volume for `required`, for each service level whose
/// throughput depends on the quota.
///
/// Source: [`Catalog::least_quota`].
pub fn quotas(required: BytesPerSec) -> Vec<LevelQuota> {
    let catalog = Catalog::embedded();
    let kind = VolumeKind::Regular;
    let of = |level: ServiceLevel| {
        let quota = least_quota(&catalog, level, kind, required);
        let ceiling = catalog.volume_ceiling(level, QosType::Auto, kind);
        let level_quota = LevelQuota { level: level.name(), quota: quota.ok(), ceiling };
        (!matches!(quota, Err(NoQuota::BoughtSeparately { .. }))).then_some(level_quota)
    };
    ServiceLevel::ALL.into_iter().filter_map(of).collect()
}

/// The least quota of a volume for `required`.
///
/// # Errors
/// No quota of a volume of this kind reaches the rate at this level.
pub fn least_quota(
    catalog: &Catalog,
    level: ServiceLevel,
    kind: VolumeKind,
    required: BytesPerSec,
) -> Result<Bytes, NoQuota> {
    let required = KibPerSec::new((required.get() / 1024.0).ceil() as u64);
    catalog.least_quota(level, kind, required)
}

/// The highest throughput of any volume of the service.
pub fn highest_throughput() -> BytesPerSec {
    Catalog::embedded().highest_volume_ceiling().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_mib_per_s_need_12800_gib_of_standard_and_1600_of_ultra() {
        let gib: Vec<(&str, Option<u64>)> = quotas(BytesPerSec::new(f64::from(200 << 20)))
            .iter()
            .map(|quota| (quota.level, quota.quota.map(|bytes| bytes.get() >> 30)))
            .collect();
        // 200 x 1,024 KiB/s over 16, 64 and 128 KiB/s per GiB.
        assert_eq!(
            gib,
            [("standard", Some(12_800)), ("premium", Some(3200)), ("ultra", Some(1600))]
        );
    }

    #[test]
    fn no_quota_below_the_smallest_volume_is_proposed() {
        let gib: Vec<_> =
            quotas(BytesPerSec::new(1_048_576.0)).iter().map(|one| one.quota).collect();
        // By the rates alone 1 MiB/s requires 64, 16 and 8 GiB.
        assert_eq!(gib, [64, 50, 50].map(|gib| Some(Bytes::gib(gib))));
    }

    #[test]
    fn beyond_the_ceiling_of_a_level_no_quota_helps() {
        let quotas = quotas(BytesPerSec::new(5000.0 * 1_048_576.0));
        assert!(quotas.iter().all(|quota| quota.quota.is_none()), "{quotas:?}");
        assert!(highest_throughput().as_mib() >= 12_800.0);
    }
}
