//! What each service level would have to be given for a rate.

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
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

/// For each service level that gives throughput by quota, the least quota that gives
/// `wanted_bytes_per_s`: wanted KiB/s over the level's KiB/s per GiB, up to whole GiB.
///
/// Source: the rows of `cloud`; the formula is [`cloud::service_level::KibPerSecPerGib`]'s.
pub fn quotas(wanted_bytes_per_s: f64) -> Vec<LevelQuota> {
    let catalog = Catalog::embedded();
    let wanted = KibPerSec::new((wanted_bytes_per_s / 1024.0).ceil() as u64);
    let of = |level: ServiceLevel| {
        let per_gib = catalog.level(level).throughput?;
        let ceiling = catalog.ceiling(level, VolumeKind::Regular);
        let can = ceiling.is_none_or(|most| wanted <= most);
        Some(LevelQuota {
            level: level.name(),
            quota_bytes: can.then(|| Bytes::gib(per_gib.quota_gib_for(wanted)).get()),
            ceiling_bytes_per_s: ceiling.map(KibPerSec::bytes_per_s),
        })
    };
    ServiceLevel::ALL.into_iter().filter_map(of).collect()
}

/// The most throughput that any volume of the service is said to get, in bytes per second.
pub fn most_bytes_per_s() -> u64 {
    let catalog = Catalog::embedded();
    let of = |level| {
        let kinds = VolumeKind::ALL.into_iter();
        kinds.filter_map(|kind| catalog.ceiling(level, kind)).max().map(KibPerSec::bytes_per_s)
    };
    ServiceLevel::ALL.into_iter().filter_map(of).max().unwrap_or(u64::MAX)
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
    fn beyond_the_ceiling_of_a_level_no_quota_helps() {
        let quotas = quotas(5000.0 * 1_048_576.0);
        assert!(quotas.iter().all(|quota| quota.quota_bytes.is_none()), "{quotas:?}");
        assert!(most_bytes_per_s() >= 12_800 << 20);
    }
}
