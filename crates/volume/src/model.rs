//! The account model: an account with capacity pools and volumes, and the throughput limits that
//! follow.
//!
//! For: plain values. Not for: rules (`rules.rs`) or changes (`live.rs`). The structure is that of
//! Azure NetApp Files: account > pool (one service level, one QoS type) > volume.

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::Bytes;

/// An account: the pools and volumes of one customer in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Most capacity of all pools together.
    pub capacity_quota: Bytes,
    /// Minimum time from a move to a higher service level to a move to a lower one, in seconds.
    pub cool_down_s: u64,
    /// Pools, with unique names.
    pub pools: Vec<Pool>,
    /// Volumes of all pools, with unique names.
    pub volumes: Vec<Volume>,
}

/// A capacity pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its service level.
    pub level: ServiceLevel,
    /// Its size.
    pub size: Bytes,
    /// How its throughput is divided among its volumes.
    pub qos: QosType,
    /// Its purchased throughput, at service level Flexible only.
    pub throughput: Option<KibPerSec>,
}

/// Network features of a volume. They determine the minimum size of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFeatures {
    /// The default.
    Standard,
    /// The older kind.
    Basic,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its name, and that of its export.
    pub name: String,
    /// The name of its pool.
    pub pool: String,
    /// Regular, large or breakthrough mode.
    pub kind: VolumeKind,
    /// Its network features.
    pub network: NetworkFeatures,
    /// Its size.
    pub quota: Bytes,
    /// Its assigned throughput, in a manual pool only.
    pub throughput: Option<KibPerSec>,
    /// The names of its endpoints: one, or several in breakthrough mode.
    pub endpoints: Vec<String>,
}

impl Account {
    /// The pool with this name.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// The volume with this name.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }

    /// The volumes of a pool.
    pub fn volumes_of<'a>(&'a self, pool: &'a str) -> impl Iterator<Item = &'a Volume> {
        self.volumes.iter().filter(move |volume| volume.pool == pool)
    }

    /// A volume's limit for reads and writes together; `None` if the service states none, or if its
    /// pool does not exist.
    ///
    /// # Panics
    /// The account breaks a rule about this volume (`rules.rs`).
    pub fn throughput_limit(&self, catalog: &Catalog, volume: &Volume) -> Option<KibPerSec> {
        let settings = volume.settings(self.pool(&volume.pool)?);
        catalog.volume_limit(&settings).expect("the account keeps the rules").throughput
    }
}

impl Pool {
    /// The throughput of all its volumes together; `None` at level Flexible if none is purchased.
    pub fn throughput_total(&self, catalog: &Catalog) -> Option<KibPerSec> {
        match catalog.pool_throughput(self.level, whole_gib(self.size)) {
            PoolThroughput::BySize(throughput) => Some(throughput),
            PoolThroughput::Bought { .. } => self.throughput,
        }
    }
}

impl Volume {
    /// The settings that determine its throughput limit in a pool.
    pub(crate) const fn settings(&self, pool: &Pool) -> VolumeSettings {
        let Volume { kind, quota, throughput: assigned, .. } = *self;
        VolumeSettings { level: pool.level, kind, qos: pool.qos, quota, assigned }
    }
}

/// A size in GiB, rounded down. Sizes of accounts that keep the rules are multiples of 1 GiB.
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
    fn in_a_manual_pool_the_limit_is_the_assigned_throughput() {
        let catalog = Catalog::embedded();
        let account = account(ServiceLevel::Ultra, QosType::Manual);
        let limit = account.throughput_limit(&catalog, &account.volumes[0]);
        assert_eq!(limit, KibPerSec::from_mib(64));
        let total = account.pools[0].throughput_total(&catalog);
        assert_eq!(total, KibPerSec::from_mib(512));
    }

    #[test]
    fn a_flexible_pool_has_its_purchased_throughput() {
        let account = account(ServiceLevel::Flexible, QosType::Manual);
        let total = account.pools[0].throughput_total(&Catalog::embedded());
        assert_eq!(total, KibPerSec::from_mib(128));
    }
}
