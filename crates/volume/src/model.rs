//! What a customer has: an account with capacity pools and volumes, and each volume's throughput
//! limit.
//!
//! For: saying what is wanted, as plain values, and what follows from it. Not for: whether it is
//! allowed (`rules.rs`), nor for changing it while it runs (`live.rs`). The shape is that of Azure
//! NetApp Files: account > pool (one service level, one QoS type) > volume.

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;

/// Everything of one customer in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// What it is called.
    pub name: String,
    /// The most that all pools together may have.
    pub capacity_quota: Bytes,
    /// From a move to a higher service level until a move to a lower one, in seconds.
    pub cool_down_s: u64,
    /// Pools; their names differ.
    pub pools: Vec<Pool>,
    /// Volumes of all pools; their names differ.
    pub volumes: Vec<Volume>,
}

/// Capacity of one service level, out of which volumes are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// What it is called.
    pub name: String,
    /// What it is bought as.
    pub level: ServiceLevel,
    /// How large it is.
    pub size: Bytes,
    /// How its throughput is given to volumes.
    pub qos: QosType,
    /// What is bought apart from the size; with the level Flexible, and only there.
    pub throughput: Option<KibPerSec>,
}

/// Network features of a volume; they decide how small its pool may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFeatures {
    /// What is usual now.
    Standard,
    /// What was before.
    Basic,
}

/// What clients mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// What it is called; its export too.
    pub name: String,
    /// The name of its pool.
    pub pool: String,
    /// What it is built as.
    pub kind: VolumeKind,
    /// Of its network.
    pub network: NetworkFeatures,
    /// Its size.
    pub quota: Bytes,
    /// What is assigned to it; in a manual pool, and only there.
    pub throughput: Option<KibPerSec>,
    /// The names of its endpoints: one, or several in breakthrough mode.
    pub endpoints: Vec<String>,
}

impl Account {
    /// The pool of this name.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// The volume of this name.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }

    /// The volumes of a pool.
    pub fn volumes_of<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = &'a Volume> {
        self.volumes.iter().filter(move |volume| volume.pool == pool)
    }

    /// A volume's limit for reads and writes together; `None` where the service states none.
    ///
    /// In an auto pool it is `quota x throughput per GiB`, but never above the ceiling of its kind
    /// and level; in a manual pool what was assigned.
    pub fn throughput_limit(&self, catalog: &Catalog, volume: &Volume) -> Option<KibPerSec> {
        let pool = self.pool(&volume.pool)?;
        if pool.qos == QosType::Manual {
            return volume.throughput;
        }
        // The service states no limit for this kind.
        let ceiling = catalog.ceiling(pool.level, volume.kind)?;
        let by_quota = catalog.level(pool.level).throughput?.limit(whole_gib(volume.quota));
        Some(by_quota.min(ceiling))
    }
}

impl Pool {
    /// What all its volumes may have together.
    pub fn throughput_total(&self, catalog: &Catalog) -> Option<KibPerSec> {
        match catalog.level(self.level).throughput {
            Some(rate) => Some(rate.limit(whole_gib(self.size))),
            None => self.throughput,
        }
    }
}

/// Whole GiB of a size; sizes that are no multiple are refused before it matters.
pub(crate) const fn whole_gib(size: Bytes) -> u64 {
    size.get() >> 30
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of 4 TiB with one volume of 1 TiB.
    fn account(level: ServiceLevel, qos: QosType) -> Account {
        let throughput = (qos == QosType::Manual).then(|| KibPerSec::new(64 << 10));
        Account {
            name: "lab".to_owned(),
            capacity_quota: Bytes::gib(5000 << 10),
            cool_down_s: 24 * 3600,
            pools: vec![Pool {
                name: "pool1".to_owned(),
                level,
                size: Bytes::gib(4 << 10),
                qos,
                throughput: (level == ServiceLevel::Flexible).then(|| KibPerSec::new(128 << 10)),
            }],
            volumes: vec![Volume {
                name: "vol1".to_owned(),
                pool: "pool1".to_owned(),
                kind: VolumeKind::Regular,
                network: NetworkFeatures::Standard,
                quota: Bytes::gib(1 << 10),
                throughput,
                endpoints: vec!["ep1".to_owned()],
            }],
        }
    }

    fn limit_of(quota_gib: u64, level: ServiceLevel, kind: VolumeKind) -> Option<String> {
        let mut account = account(level, QosType::Auto);
        account.volumes[0].quota = Bytes::gib(quota_gib);
        account.volumes[0].kind = kind;
        let limit = account.throughput_limit(&Catalog::embedded(), &account.volumes[0]);
        limit.map(|limit| limit.to_string())
    }

    #[test]
    fn in_an_auto_pool_the_quota_gives_the_limit_up_to_the_ceiling() {
        use ServiceLevel::{Premium, Standard, Ultra};
        use VolumeKind::{Breakthrough, Large, Regular};
        for (gib, level, kind, limit) in [
            (100, Premium, Regular, Some("6.25 MiB/s")),
            (1 << 10, Premium, Regular, Some("64 MiB/s")),
            (2 << 10, Premium, Regular, Some("128 MiB/s")),
            (5 << 10, Premium, Regular, Some("320 MiB/s")),
            (15_200, Premium, Regular, Some("950 MiB/s")),
            (71_999, Premium, Regular, Some("4,499.9375 MiB/s")),
            (72_000, Premium, Regular, Some("4,500 MiB/s")),
            (100 << 10, Premium, Regular, Some("4,500 MiB/s")),
            (100 << 10, Standard, Regular, Some("1,600 MiB/s")),
            (50 << 10, Standard, Large, Some("800 MiB/s")),
            (500 << 10, Ultra, Large, Some("12,800 MiB/s")),
            (500 << 10, Ultra, Breakthrough, None),
        ] {
            assert_eq!(limit_of(gib, level, kind).as_deref(), limit, "{gib} GiB {level}");
        }
    }

    #[test]
    fn in_a_manual_pool_the_limit_is_what_was_assigned() {
        let catalog = Catalog::embedded();
        let account = account(ServiceLevel::Ultra, QosType::Manual);
        let limit = account.throughput_limit(&catalog, &account.volumes[0]);
        assert_eq!(limit, KibPerSec::from_mib(64));
        let total = account.pools[0].throughput_total(&catalog);
        assert_eq!(total, KibPerSec::from_mib(512));
    }

    #[test]
    fn a_flexible_pool_has_what_was_bought() {
        let account = account(ServiceLevel::Flexible, QosType::Manual);
        let total = account.pools[0].throughput_total(&Catalog::embedded());
        assert_eq!(total, KibPerSec::from_mib(128));
    }
}
