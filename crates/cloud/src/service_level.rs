//! Service levels, QoS types, kinds of volumes, and the rate between size and throughput.
//!
//! `throughput = size in GiB x KiB/s per GiB`, exact in whole numbers. Limits of volumes and pools
//! follow in `volume_limit.rs` and `pool_throughput.rs`; enforcing them is the volume service's.

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

/// Throughput that each GiB gives: KiB/s per GiB, which is MiB/s per TiB. Prints as
/// `64 KiB/s per GiB`, and with `{:#}` as `64 MiB/s per TiB`.
///
/// Only this crate multiplies by it: a volume's limit has a ceiling too, and a quota has a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KibPerSecPerGib(u64);

impl KibPerSecPerGib {
    /// `rate` KiB/s for each GiB; `None` for 0, which would be no service.
    pub const fn new(rate: u64) -> Option<KibPerSecPerGib> {
        if rate == 0 { None } else { Some(KibPerSecPerGib(rate)) }
    }

    /// The number itself, for tests that work limits out on their own.
    pub const fn kib_per_sec_per_gib(self) -> u64 {
        self.0
    }

    /// The throughput of a size, without any ceiling.
    pub(crate) const fn throughput(self, size_gib: u64) -> KibPerSec {
        KibPerSec::new(self.0.saturating_mul(size_gib))
    }

    /// The least whole GiB whose throughput is at least `required`.
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
    fn the_size_for_a_throughput_is_the_least_that_gives_it() {
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
