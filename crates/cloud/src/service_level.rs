//! Service levels, QoS types, kinds of volumes, and the rate between size and throughput.
//!
//! `throughput = size in GiB x KiB/s per GiB`, exact in whole numbers. Limits of volumes and pools are
//! in `volume_limit.rs` and `pool_throughput.rs`.

use std::fmt;

use crate::throughput::KibPerSec;

/// The service level of a capacity pool. Later levels have more throughput for the same size, except
/// `Flexible`, whose throughput is bought separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceLevel {
    /// The lowest throughput per size.
    Standard,
    /// Four times Standard.
    Premium,
    /// Twice Premium.
    Ultra,
    /// Throughput is bought separately from size; manual QoS only.
    Flexible,
}

impl ServiceLevel {
    /// All values.
    pub const ALL: [ServiceLevel; 4] = [
        ServiceLevel::Standard,
        ServiceLevel::Premium,
        ServiceLevel::Ultra,
        ServiceLevel::Flexible,
    ];

    /// The name in data and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            ServiceLevel::Standard => "standard",
            ServiceLevel::Premium => "premium",
            ServiceLevel::Ultra => "ultra",
            ServiceLevel::Flexible => "flexible",
        }
    }

    /// The level with this name.
    pub fn named(name: &str) -> Option<ServiceLevel> {
        ServiceLevel::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for ServiceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the throughput of a pool is distributed to its volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QosType {
    /// By quota.
    Auto,
    /// Assigned to each volume; their sum is at most the pool's.
    Manual,
}

impl QosType {
    /// All values.
    pub const ALL: [QosType; 2] = [QosType::Auto, QosType::Manual];

    /// The name in data and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            QosType::Auto => "auto",
            QosType::Manual => "manual",
        }
    }

    /// The type with this name.
    pub fn named(name: &str) -> Option<QosType> {
        QosType::ALL.into_iter().find(|qos| qos.name() == name)
    }
}

/// The kind of a volume, which cannot change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// A regular volume, at an endpoint that it may share.
    Regular,
    /// A large volume, with its own endpoint.
    Large,
    /// A large volume spread over several endpoints, with no stated throughput limit.
    Breakthrough,
}

impl VolumeKind {
    /// All values.
    pub const ALL: [VolumeKind; 3] =
        [VolumeKind::Regular, VolumeKind::Large, VolumeKind::Breakthrough];

    /// The name in data and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            VolumeKind::Regular => "regular",
            VolumeKind::Large => "large",
            VolumeKind::Breakthrough => "breakthrough",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<VolumeKind> {
        VolumeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Throughput per size: KiB/s per GiB, which equals MiB/s per TiB. Prints as `64 KiB/s per GiB`, and
/// with `{:#}` as `64 MiB/s per TiB`.
///
/// Only this crate multiplies by it, because limits also have ceilings, and quotas have a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KibPerSecPerGib(u64);

impl KibPerSecPerGib {
    /// `rate` KiB/s per GiB; `None` for 0.
    pub const fn new(rate: u64) -> Option<KibPerSecPerGib> {
        if rate == 0 { None } else { Some(KibPerSecPerGib(rate)) }
    }

    /// The number itself, for tests that compute limits independently.
    pub const fn kib_per_sec_per_gib(self) -> u64 {
        self.0
    }

    /// The throughput of a size, without any ceiling.
    pub(crate) const fn throughput(self, size_gib: u64) -> KibPerSec {
        KibPerSec::new(self.0.saturating_mul(size_gib))
    }

    /// The smallest size, in whole GiB, whose throughput is at least `required`.
    pub(crate) const fn size_gib(self, required: KibPerSec) -> u64 {
        required.get().div_ceil(self.0)
    }
}

impl fmt::Display for KibPerSecPerGib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            false => write!(f, "{} KiB/s per GiB", self.0),
            true => write!(f, "{} MiB/s per TiB", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
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
    fn a_size_gives_the_required_throughput_and_the_next_smaller_one_does_not() {
        let premium = KibPerSecPerGib::new(64).unwrap();
        for kib in 1..1000 {
            let gib = premium.size_gib(KibPerSec::new(kib));
            assert!(premium.throughput(gib).get() >= kib);
            assert!(premium.throughput(gib - 1).get() < kib);
        }
        assert_eq!(KibPerSecPerGib::new(0), None);
        assert_eq!(format!("{premium}, {premium:#}"), "64 KiB/s per GiB, 64 MiB/s per TiB");
    }
}
