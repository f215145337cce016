//! What stops a rate from rising, as far as a tuning alone can tell it, and what would not.

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;
use workload::plan::{EmulatedVolume, TargetSpec};

use crate::bottleneck::{Limit, LimitFinding};
use crate::tune::findings::Tried;

/// A saturation this near to a known limit is that limit, as a share of it.
const NEAR: f64 = 0.05;
/// From this share of a processor on, a worker has no more to give.
const BUSY: f64 = 0.90;

/// What stopped the rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The throughput limit of a volume whose settings are known.
    ThroughputLimit {
        /// The limit, in bytes per second.
        bytes_per_s: f64,
        /// The service level, as the service calls it.
        level: String,
        /// Its quota, in bytes.
        quota_bytes: u64,
    },
    /// The generator: a worker used all of its processor.
    Generator {
        /// The share that it used, 0 to 1.
        busy: f64,
    },
    /// The null target: nothing but the generator was measured.
    Ceiling,
    /// What the attribution of limits found; the finding as a place in `Findings::limits`.
    Attributed {
        /// The finding.
        finding: usize,
        /// What it says.
        limit: Limit,
        /// Its probability, 0 to 1.
        confidence: f64,
    },
    /// Not told by these figures.
    Unknown,
}

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

/// What stopped a rate that saturated at `top`. What is set and what is seen directly goes before
/// what is concluded.
pub(super) fn stop(target: &TargetSpec, top: &Tried, limits: &[LimitFinding]) -> Stop {
    let attributed = limits.iter().position(|limit| limit.load_points.contains(&top.load_point));
    match directly(target, top.throughput.value, top.worker_busy) {
        Stop::Unknown => attributed.map_or(Stop::Unknown, |finding| {
            let LimitFinding { limit, confidence, .. } = limits[finding];
            match limit {
                Limit::Unknown | Limit::NotReached => Stop::Unknown,
                limit => Stop::Attributed { finding, limit, confidence },
            }
        }),
        stop => stop,
    }
}

fn directly(target: &TargetSpec, bytes_per_s: f64, worker_busy: Option<f64>) -> Stop {
    match (target, worker_busy) {
        (TargetSpec::Null, _) => Stop::Ceiling,
        (TargetSpec::Emulated { volume, .. }, _) if is_at_limit(volume, bytes_per_s) => {
            Stop::ThroughputLimit {
                bytes_per_s: volume.throughput_limit_bytes_per_s as f64,
                level: volume.service_level.clone(),
                quota_bytes: volume.quota_bytes,
            }
        }
        (_, Some(busy)) if busy >= BUSY => Stop::Generator { busy },
        _ => Stop::Unknown,
    }
}

fn is_at_limit(volume: &EmulatedVolume, bytes_per_s: f64) -> bool {
    let limit = volume.throughput_limit_bytes_per_s as f64;
    limit > 0.0 && (bytes_per_s - limit).abs() <= NEAR * limit
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

    #[test]
    fn a_limit_is_named_only_where_it_was_met() {
        let volume = EmulatedVolume {
            service_level: "Ultra".to_owned(),
            quota_bytes: 1 << 40,
            throughput_limit_bytes_per_s: 128 << 20,
            read_delay_ns: 400_000,
            write_delay_ns: 300_000,
            memory_bytes: 1 << 30,
        };
        let target = TargetSpec::Emulated { volume, connections: None, options: String::new() };
        let at = |mib: f64, busy| directly(&target, mib * 1_048_576.0, busy);
        assert!(matches!(at(127.0, Some(0.99)), Stop::ThroughputLimit { .. }));
        assert_eq!(at(90.0, Some(0.99)), Stop::Generator { busy: 0.99 });
        assert_eq!(at(90.0, Some(0.3)), Stop::Unknown);
        assert_eq!(directly(&TargetSpec::Null, 1.0, None), Stop::Ceiling);
    }
}
