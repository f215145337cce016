//! What a customer has: an account with capacity pools and volumes, and each volume's throughput
//! limit.
//!
//! For: saying what is wanted, as plain values, and what follows from it. Not for: whether it is
//! allowed (`rules.rs`), nor for changing it while it runs (`live.rs`). The shape is that of Azure
//! NetApp Files: account > pool (one service level, one QoS type) > volume.

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
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

    /// A volume's limit for reads and writes together; `None` where the service states none, or
    /// where there is no such pool.
    ///
    /// # Panics
    /// The account breaks a rule about this volume (`rules.rs`).
    pub fn throughput_limit(&self, catalog: &Catalog, volume: &Volume) -> Option<KibPerSec> {
        let settings = volume.settings(self.pool(&volume.pool)?);
        catalog.volume_limit(&settings).expect("the account keeps the rules").throughput
    }
}

impl Pool {
    /// What all its volumes may have together.
    pub fn throughput_total(&self, catalog: &Catalog) -> Option<KibPerSec> {
        match catalog.pool_throughput(self.level, whole_gib(self.size)) {
            PoolThroughput::BySize(throughput) => Some(throughput),
            PoolThroughput::Bought { .. } => self.throughput,
        }
    }
}

impl Volume {
    /// What its throughput limit depends on, in this pool.
    pub(crate) const fn settings(&self, pool: &Pool) -> VolumeSettings {
        let Volume { kind, quota, throughput: assigned, .. } = *self;
        VolumeSettings { level: pool.level, kind, qos: pool.qos, quota, assigned }
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

    #[test]
    fn in_an_auto_pool_the_limit_follows_from_quota_kind_and_level() {
        let catalog = Catalog::embedded();
        let mut account = account(ServiceLevel::Ultra, QosType::Auto);
        let limit_of = |account: &Account| account.throughput_limit(&catalog, &account.volumes[0]);
        account.volumes[0].quota = Bytes::gib(100 << 10);
        assert_eq!(limit_of(&account), KibPerSec::from_mib(4500));
        account.volumes[0].kind = VolumeKind::Large;
        assert_eq!(limit_of(&account), KibPerSec::from_mib(12_800));
        account.volumes[0].kind = VolumeKind::Breakthrough;
        assert_eq!(limit_of(&account), None);
        account.volumes[0].pool = "elsewhere".to_owned();
        assert_eq!(limit_of(&account), None);
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
