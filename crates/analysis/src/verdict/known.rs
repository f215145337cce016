//! Limits known before measuring, from the plan and the record's environment. None is built in.
//!
//! A limit that this program set is certain. One that the user gives (`--known`) is a hypothesis:
//! it raises the odds of a limit whose measured ceiling matches, and lowers them otherwise.

use metrics::run_record::ExperimentRecord;
use units::Bytes;
use workload::limit::{PriorKnowledge, StatedLimit};
use workload::plan::{EmulatedVolume, TargetSpec};

use super::Limit;
use crate::workload_signature::WorkloadSignature;

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
    /// Several emulated volumes with unequal limits, of which the amount is the mean.
    UnequalVolumes,
    /// The user, by an amount or by a name such as a size of virtual machine.
    Given(Option<String>),
}

impl Origin {
    /// The name that the user gave.
    pub fn name(&self) -> Option<&str> {
        match self {
            Origin::Given(name) => name.as_deref(),
            Origin::Volume { .. } | Origin::Volumes | Origin::UnequalVolumes => None,
        }
    }
}

/// Everything known beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Limits that are the same for every load point.
    pub limits: Vec<KnownLimit>,
    /// Throughput limit of each target in bytes per second, by its position in the plan, if this program
    /// set them; otherwise empty.
    pub volume_limits: Vec<f64>,
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
        Known::before(&record.environment.prior, &record.plan.targets)
    }

    /// Before measuring.
    ///
    /// * `prior`: from the record's environment or the plan
    /// * `targets`: those of the plan, at least one, all of the same kind
    pub fn before(prior: &PriorKnowledge, targets: &[TargetSpec]) -> Known {
        let mut known = Known {
            limits: prior.stated_limits.iter().cloned().map(KnownLimit::from).collect(),
            processors: prior.processors.map(u32::from),
            null_round_trip_s: prior.null_round_trip_ns.map(|ns| ns as f64 / 1e9),
            own_client: targets[0].capabilities().own_client,
            client_slots: client_slots(targets),
            ..Known::default()
        };
        match &targets[0] {
            TargetSpec::Emulated { .. } => {
                let volumes: Vec<&EmulatedVolume> = targets.iter().filter_map(emulated).collect();
                known.limits.retain(|one| one.limit != Limit::VolumeThroughput);
                known.limits.extend(limit_of_each(&volumes));
                known.volume_limits =
                    volumes.iter().map(|one| one.throughput_limit_bytes_per_s as f64).collect();
                known.absent = NOT_EMULATED.to_vec();
            }
            TargetSpec::Nfs { .. } => {}
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

    /// The limits of a load point. If its volumes have unequal limits, it is their mean, because amounts
    /// are compared for each volume.
    ///
    /// An offered rate is divided among the volumes before the smallest is full, so the rate that is not
    /// met follows from no limit alone: then nothing is known.
    pub fn limits_of(&self, work: &WorkloadSignature) -> Vec<KnownLimit> {
        let mut limits = self.limits.clone();
        let is_unequal = self.volume_limits.windows(2).any(|pair| pair[0] != pair[1]);
        if is_unequal
            && work.closed
            && let Some(sum) = self.certain_throughput(work)
        {
            limits.push(KnownLimit {
                limit: Limit::VolumeThroughput,
                value: sum / work.targets.len() as f64,
                origin: Origin::UnequalVolumes,
                certain: true,
            });
        }
        limits
    }

    /// Bytes per second of the certain limits of all targets that a load point uses, if known. Every
    /// worker sends to one target, so no target waits for another, and all reach their limits together.
    pub(crate) fn certain_throughput(&self, work: &WorkloadSignature) -> Option<f64> {
        let limit = |target: &u32| self.volume_limits.get(*target as usize).copied();
        work.targets.iter().map(limit).sum::<Option<f64>>().filter(|sum| *sum > 0.0)
    }

    /// The known amount of a limit.
    pub fn limit(&self, limit: Limit) -> Option<&KnownLimit> {
        self.limits.iter().find(|one| one.limit == limit)
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

fn emulated(target: &TargetSpec) -> Option<&EmulatedVolume> {
    match target {
        TargetSpec::Emulated { volume, .. } => Some(volume),
        TargetSpec::Directory { .. } | TargetSpec::Nfs { .. } | TargetSpec::Null => None,
    }
}

/// The certain limit of each volume; `None` if they are unequal.
fn limit_of_each(volumes: &[&EmulatedVolume]) -> Option<KnownLimit> {
    let (first, others) = volumes.split_first()?;
    let bytes_per_s = |one: &EmulatedVolume| one.throughput_limit_bytes_per_s;
    let kind = |one: &EmulatedVolume| (one.quota_bytes, one.service_level.clone());
    if others.iter().any(|one| bytes_per_s(one) != bytes_per_s(first)) {
        return None;
    }
    let origin = match others.iter().all(|one| kind(one) == kind(first)) {
        true => Origin::Volume {
            quota: Bytes::new(first.quota_bytes),
            level: first.service_level.clone(),
        },
        false => Origin::Volumes,
    };
    let value = bytes_per_s(first) as f64;
    Some(KnownLimit { limit: Limit::VolumeThroughput, value, origin, certain: true })
}

/// Slots per connection of the built-in client; `None` without it, or if they differ between targets.
fn client_slots(targets: &[TargetSpec]) -> Option<f64> {
    let of_target = |target: &TargetSpec| match target {
        TargetSpec::Emulated { options, .. } => Some(slots(options)),
        TargetSpec::Nfs { url, .. } => {
            Some(slots(url.split_once('?').map_or("", |(_, options)| options)))
        }
        TargetSpec::Directory { .. } | TargetSpec::Null => None,
    };
    let first = of_target(targets.first()?);
    first.filter(|_| targets.iter().all(|target| of_target(target) == first))
}

/// The option `slots` of a URL.
fn slots(options: &str) -> f64 {
    let of = |option: &str| option.strip_prefix("slots=").and_then(|value| value.parse().ok());
    options.split('&').find_map(of).unwrap_or(SLOTS)
}
