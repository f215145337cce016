//! Limits known before measuring, from the plan and the record's environment. None is built in.
//!
//! A limit that this program set is certain. One that the user gives (`--known`) is a hypothesis:
//! it raises the odds of a limit whose measured ceiling matches, and lowers them otherwise.

use metrics::run_record::ExperimentRecord;
use units::Bytes;
use workload::limit::{PriorKnowledge, StatedLimit};
use workload::plan::{EmulatedVolume, TargetSpec};

use super::Limit;

/// Default slots per connection of the built-in NFS client.
const SLOTS: f64 = 128.0;

/// Limits that do not exist for the emulated volume, which is served from memory over loopback.
const NOT_EMULATED: [Limit; 7] = [
    Limit::NetworkFlow,
    Limit::Endpoint,
    Limit::VmEgress,
    Limit::Link,
    Limit::ServerSlots,
    Limit::Disk,
    Limit::OperationsPerSecond,
];

/// File systems on this host's own block devices, or in its memory.
const OF_THIS_HOST: [&str; 9] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "ramfs"];

/// Limits that do not exist for a directory on one of them. The device may be rented with limits on
/// throughput and operations, which count as storage media and operations per second.
const NOT_OF_THIS_HOST: [Limit; 8] = [
    Limit::VolumeThroughput,
    Limit::NetworkFlow,
    Limit::Endpoint,
    Limit::VmEgress,
    Limit::Link,
    Limit::ClientSlots,
    Limit::ServerSlots,
    Limit::ServerCpu,
];

/// A limit with a known or given amount.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownLimit {
    /// The limit.
    pub limit: Limit,
    /// Bytes per second; requests on one connection for slots; or operations per second.
    pub value: f64,
    /// Its source.
    pub origin: Origin,
    /// Whether this program set it.
    pub certain: bool,
}

/// The source of a known limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The emulated volume.
    Volume {
        /// Its quota.
        quota: Bytes,
        /// Its service level.
        level: String,
    },
    /// Several emulated volumes with equal limits, but different quotas and service levels.
    Volumes,
    /// The user, by an amount or by a name such as a size of virtual machine.
    Given(Option<String>),
}

impl Origin {
    /// The name that the user gave.
    pub fn name(&self) -> Option<&str> {
        match self {
            Origin::Given(name) => name.as_deref(),
            Origin::Volume { .. } | Origin::Volumes => None,
        }
    }
}

/// Everything known beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Limits.
    pub limits: Vec<KnownLimit>,
    /// Number of processors of the host.
    pub processors: Option<u32>,
    /// Slots per connection of the built-in client.
    pub client_slots: Option<f64>,
    /// Shortest round-trip time of a NULL call, in seconds: the network without storage.
    pub null_round_trip_s: Option<f64>,
    /// Limits that do not exist for the target.
    pub absent: Vec<Limit>,
    /// Whether the built-in client is used, which can change its number of connections.
    pub own_client: bool,
}

impl Known {
    /// From a record.
    pub fn of(record: &ExperimentRecord) -> Known {
        let mut known = Known::before(&record.environment.prior, record.plan.target());
        let volume = |target: &TargetSpec| match target {
            TargetSpec::Emulated { volume, .. } => Some(volume.clone()),
            _ => None,
        };
        let volumes: Vec<EmulatedVolume> = record.plan.targets.iter().filter_map(volume).collect();
        let is_like_first = |one: &EmulatedVolume| {
            one.throughput_limit_bytes_per_s == volumes[0].throughput_limit_bytes_per_s
        };
        // Of several volumes, one limit is that of each only if it is the same.
        if !volumes.iter().all(is_like_first) {
            known.limits.retain(|one| !one.certain);
        }
        let is_one_kind = volumes.iter().all(|one| {
            (one.quota_bytes, &one.service_level)
                == (volumes[0].quota_bytes, &volumes[0].service_level)
        });
        if !is_one_kind {
            for one in known.limits.iter_mut().filter(|one| one.certain) {
                one.origin = Origin::Volumes;
            }
        }
        known
    }

    /// Before measuring.
    ///
    /// * `prior`: from the record's environment or the plan
    /// * `target`: the target
    pub fn before(prior: &PriorKnowledge, target: &TargetSpec) -> Known {
        let mut known = Known {
            limits: prior.stated_limits.iter().cloned().map(KnownLimit::from).collect(),
            processors: prior.processors.map(u32::from),
            null_round_trip_s: prior.null_round_trip_ns.map(|ns| ns as f64 / 1e9),
            own_client: target.capabilities().own_client,
            ..Known::default()
        };
        match target {
            TargetSpec::Emulated { volume, options, .. } => {
                let value = volume.throughput_limit_bytes_per_s as f64;
                let quota = Bytes::new(volume.quota_bytes);
                let origin = Origin::Volume { quota, level: volume.service_level.clone() };
                known.limits.retain(|one| one.limit != Limit::VolumeThroughput);
                let limit = Limit::VolumeThroughput;
                known.limits.push(KnownLimit { limit, value, origin, certain: true });
                known.client_slots = Some(slots(options));
                known.absent = NOT_EMULATED.to_vec();
            }
            TargetSpec::Nfs { url, .. } => {
                let options = url.split_once('?').map_or("", |(_, options)| options);
                known.client_slots = Some(slots(options));
            }
            TargetSpec::Null => {
                let others = Limit::ALL.into_iter().filter(|limit| *limit != Limit::ClientCpu);
                known.absent = others.collect();
            }
            TargetSpec::Directory { .. } => {
                let filesystem = prior.filesystem.as_deref();
                if filesystem.is_some_and(|name| OF_THIS_HOST.contains(&name)) {
                    known.absent = NOT_OF_THIS_HOST.to_vec();
                }
            }
        }
        known
    }

    /// The known amount of a limit.
    pub fn limit(&self, limit: Limit) -> Option<&KnownLimit> {
        self.limits.iter().find(|one| one.limit == limit)
    }

    /// Bytes per second of the limit of each volume, if certain.
    pub fn certain_volume(&self) -> Option<f64> {
        self.limit(Limit::VolumeThroughput).filter(|one| one.certain).map(|one| one.value)
    }

    /// Whether the target is `null:`, which measures only this host.
    pub fn is_null(&self) -> bool {
        self.absent.len() + 1 == Limit::ALL.len()
    }
}

impl From<StatedLimit> for KnownLimit {
    fn from(StatedLimit { limit, value, origin }: StatedLimit) -> KnownLimit {
        let origin = Origin::Given(Some(origin));
        KnownLimit { limit, value, origin, certain: false }
    }
}

/// The option `slots` of a URL.
fn slots(options: &str) -> f64 {
    let of = |option: &str| option.strip_prefix("slots=").and_then(|value| value.parse().ok());
    options.split('&').find_map(of).unwrap_or(SLOTS)
}
