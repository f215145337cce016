//! Service levels, and the one formula between quota and throughput.
//!
//! `limit = quota in GiB x KiB/s per GiB`, exact in whole numbers. How a limit is enforced is not
//! here; that is the volume service's `qos.rs`.

use std::fmt;

use crate::throughput::KibPerSec;

/// What a capacity pool is bought as. Later levels give more throughput for the same size, save for
/// `Flexible`, whose throughput is bought apart from the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceLevel {
    /// The least throughput per size.
    Standard,
    /// Four times Standard.
    Premium,
    /// Twice Premium.
    Ultra,
    /// Throughput bought apart from size; manual QoS only.
    Flexible,
}

impl ServiceLevel {
    /// All of them.
    pub const ALL: [ServiceLevel; 4] = [
        ServiceLevel::Standard,
        ServiceLevel::Premium,
        ServiceLevel::Ultra,
        ServiceLevel::Flexible,
    ];

    /// As data and configuration write it.
    pub const fn name(self) -> &'static str {
        match self {
            ServiceLevel::Standard => "standard",
            ServiceLevel::Premium => "premium",
            ServiceLevel::Ultra => "ultra",
            ServiceLevel::Flexible => "flexible",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<ServiceLevel> {
        ServiceLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for ServiceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the throughput of a pool is given to its volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QosType {
    /// By quota.
    Auto,
    /// Assigned to each volume; their sum is at most the pool's.
    Manual,
}

impl QosType {
    /// All of them.
    pub const ALL: [QosType; 2] = [QosType::Auto, QosType::Manual];

    /// As data and configuration write it.
    pub const fn name(self) -> &'static str {
        match self {
            QosType::Auto => "auto",
            QosType::Manual => "manual",
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<QosType> {
        QosType::ALL.into_iter().find(|qos| qos.name() == name)
    }
}

/// What a volume is built as; it cannot become another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// The usual one, behind an endpoint that it may share.
    Regular,
    /// Larger, with an endpoint of its own.
    Large,
    /// A large volume spread over several endpoints, with no stated throughput limit.
    Breakthrough,
}

impl VolumeKind {
    /// All of them.
    pub const ALL: [VolumeKind; 3] =
        [VolumeKind::Regular, VolumeKind::Large, VolumeKind::Breakthrough];

    /// As data and configuration write it.
    pub const fn name(self) -> &'static str {
        match self {
            VolumeKind::Regular => "regular",
            VolumeKind::Large => "large",
            VolumeKind::Breakthrough => "breakthrough",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<VolumeKind> {
        VolumeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Throughput that each GiB of quota gives: KiB/s per GiB, which is MiB/s per TiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KibPerSecPerGib(u64);

impl KibPerSecPerGib {
    /// `rate` KiB/s for each GiB; `None` for 0, which would be no service.
    pub const fn new(rate: u64) -> Option<KibPerSecPerGib> {
        if rate == 0 { None } else { Some(KibPerSecPerGib(rate)) }
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The limit of a quota.
    ///
    /// * `quota_gib` — the volume's size (or a manual pool's) in GiB
    ///
    /// Source: "16/64/128 KiB/s per GiB" (NetApp white paper, 2019), equal
    /// to the MiB/s per TiB of the service's documentation.
    pub const fn limit(self, quota_gib: u64) -> KibPerSec {
        KibPerSec::new(self.0.saturating_mul(quota_gib))
    }

    /// The least whole GiB of quota whose limit is at least `wanted`.
    pub const fn quota_gib_for(self, wanted: KibPerSec) -> u64 {
        wanted.get().div_ceil(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for level in ServiceLevel::ALL {
            assert_eq!(ServiceLevel::named(level.name()), Some(level));
        }
        for qos in QosType::ALL {
            assert_eq!(QosType::named(qos.name()), Some(qos));
        }
        for kind in VolumeKind::ALL {
            assert_eq!(VolumeKind::named(kind.name()), Some(kind));
        }
        assert_eq!(ServiceLevel::named("extreme"), None);
    }

    #[test]
    fn the_quota_for_a_limit_is_the_least_that_gives_it() {
        let premium = KibPerSecPerGib::new(64).unwrap();
        for kib in 1..1000 {
            let gib = premium.quota_gib_for(KibPerSec::new(kib));
            assert!(premium.limit(gib).get() >= kib);
            assert!(premium.limit(gib - 1).get() < kib);
        }
        assert_eq!(KibPerSecPerGib::new(0), None);
    }
}
