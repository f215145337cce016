//! The configuration of a single volume, without a file.
//!
//! For: command-line flags, and the volume that `run` measures by default. Pool and account are as
//! large as the volume needs. Not for: several volumes (`config.rs`).

use std::net::SocketAddr;

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::config::{Config, Endpoint, REFILL_INTERVAL_NS, ServiceLimits};
use crate::delay::{DelayModel, Distance, Distribution};
use crate::export_rules::ExportRules;
use crate::model::{Account, NetworkFeatures, Pool, Volume};
use crate::rules::{Breach, check};

/// A volume with its limits and delays.
#[derive(Clone, Debug, PartialEq)]
pub struct OneVolume {
    /// Its name. Its export is `/` and the name.
    pub name: String,
    /// Regular, large or breakthrough mode.
    pub kind: VolumeKind,
    /// Its size.
    pub quota: Bytes,
    /// The service level of its pool.
    pub level: ServiceLevel,
    /// Its throughput limit, in a manual pool. Without it the limit follows from the quota, in an
    /// auto pool.
    pub throughput: Option<KibPerSec>,
    /// The address of its endpoint; port 0 is any free port.
    pub address: SocketAddr,
    /// Throughput limit of each network flow.
    pub flow_throughput: Option<KibPerSec>,
    /// Whether limits are in force.
    pub enforced: bool,
    /// The delay of reads.
    pub read: Distribution,
    /// The delay of writes.
    pub write: Distribution,
}

impl OneVolume {
    /// The configuration with only this volume.
    ///
    /// # Errors
    /// All rules that it breaks.
    pub fn config(&self, catalog: &Catalog) -> Result<Config, Vec<Breach>> {
        let limit = |name| catalog.limit(name);
        let pool = self.pool(catalog);
        let manual = pool.qos == QosType::Manual;
        let throughput = self.throughput.or(pool.throughput).filter(|_| manual);
        let account = Account {
            name: "account".to_owned(),
            capacity_quota: Bytes::gib(limit(LimitName::RegionCapacityMax)).max(pool.size),
            cool_down_s: limit(LimitName::LevelCoolDown),
            volumes: vec![Volume {
                name: self.name.clone(),
                pool: pool.name.clone(),
                kind: self.kind,
                network: NetworkFeatures::Standard,
                quota: self.quota,
                throughput,
                endpoints: vec!["endpoint".to_owned()],
            }],
            pools: vec![pool],
        };
        let broken = check(catalog, &account);
        if !broken.is_empty() {
            return Err(broken);
        }
        Ok(Config {
            account,
            endpoints: vec![Endpoint {
                name: "endpoint".to_owned(),
                address: self.address,
                distance: Distance::Near,
                throughput: None,
                ops: None,
            }],
            ops: vec![None],
            rules: vec![ExportRules::default()],
            limits: ServiceLimits {
                flow_throughput: self.flow_throughput,
                flow_ops: None,
                burst_ns: REFILL_INTERVAL_NS * limit(LimitName::BurstOfRefill) / 100,
                outstanding_per_connection: limit(LimitName::OutstandingPerConnectionMax),
                enforced: self.enforced,
            },
            delay: DelayModel {
                seed: 1,
                far_read: self.read.clone(),
                far_write: self.write.clone(),
                read: self.read.clone(),
                write: self.write.clone(),
            },
        })
    }

    /// A pool that is large enough for the quota and for the throughput.
    fn pool(&self, catalog: &Catalog) -> Pool {
        let limit = |name| catalog.limit(name);
        let required = self.throughput.unwrap_or(KibPerSec::new(0));
        let for_throughput = Bytes::gib(catalog.least_size_gib(self.level, required));
        let least = Bytes::gib(limit(LimitName::PoolSizeMin));
        let step = Bytes::gib(limit(LimitName::PoolSizeStep));
        let size = self.quota.max(for_throughput).max(least).get();
        let is_purchased = catalog.level(self.level).throughput.is_none();
        let manual = self.throughput.is_some() || is_purchased;
        Pool {
            name: "pool".to_owned(),
            level: self.level,
            size: Bytes::new(size.checked_next_multiple_of(step.get()).unwrap_or(size)),
            qos: if manual { QosType::Manual } else { QosType::Auto },
            throughput: is_purchased.then(|| catalog.least_purchase(required)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(level: ServiceLevel, quota: Bytes, throughput: Option<u64>) -> Result<String, String> {
        limit_of(VolumeKind::Regular, level, quota, throughput)
    }

    fn limit_of(
        kind: VolumeKind,
        level: ServiceLevel,
        quota: Bytes,
        throughput: Option<u64>,
    ) -> Result<String, String> {
        let catalog = Catalog::embedded();
        let one = OneVolume {
            name: "vol1".to_owned(),
            kind,
            quota,
            level,
            throughput: throughput.and_then(KibPerSec::from_mib),
            address: "127.0.0.1:0".parse().unwrap(),
            flow_throughput: None,
            enforced: true,
            read: Distribution::Constant { ns: 0 },
            write: Distribution::Constant { ns: 0 },
        };
        let config = one.config(&catalog).map_err(|broken| broken[0].to_string())?;
        let volume = &config.account.volumes[0];
        Ok(config.account.throughput_limit(&catalog, volume).unwrap().to_string())
    }

    #[test]
    fn the_limit_follows_from_the_quota_unless_a_throughput_is_given() {
        use ServiceLevel::{Flexible, Premium, Standard, Ultra};
        for (level, gib, throughput, expected) in [
            (Premium, 1 << 10, None, "64 MiB/s"),
            (Premium, 100, None, "6.25 MiB/s"),
            (Standard, 100 << 10, None, "1,600 MiB/s"),
            (Premium, 100, Some(4500), "4,500 MiB/s"),
            (Ultra, 50 << 10, Some(1), "1 MiB/s"),
            (Flexible, 100, None, "128 MiB/s"),
            (Flexible, 100, Some(4000), "4,000 MiB/s"),
        ] {
            let actual = limit(level, Bytes::gib(gib), throughput);
            assert_eq!(actual.as_deref(), Ok(expected), "{level} {gib} GiB {throughput:?}");
        }
    }

    #[test]
    fn a_large_volume_has_the_limit_of_its_kind() {
        let ultra = |gib, throughput| {
            limit_of(VolumeKind::Large, ServiceLevel::Ultra, Bytes::gib(gib), throughput)
        };
        assert_eq!(ultra(100 << 10, None).as_deref(), Ok("12,800 MiB/s"));
        assert_eq!(ultra(200 << 10, Some(6000)).as_deref(), Ok("6,000 MiB/s"));
        assert!(ultra(1 << 10, None).unwrap_err().contains("a large volume has at least"));
    }

    #[test]
    fn a_quota_or_throughput_that_no_pool_can_provide_is_refused_with_the_rule() {
        for (quota, throughput) in [(Bytes::gib(1), None), (Bytes::gib(200 << 10), None)] {
            let broken = limit(ServiceLevel::Premium, quota, throughput).unwrap_err();
            assert!(broken.starts_with("volume `vol1`: "), "{broken}");
        }
        let broken = limit(ServiceLevel::Premium, Bytes::gib(1024), Some(5000)).unwrap_err();
        assert!(broken.contains("4,500 MiB/s"), "{broken}");
    }
}
