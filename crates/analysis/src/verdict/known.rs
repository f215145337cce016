//! What is known of limits before anything is measured: from the plan, and from what the user or
//! the command line put into the record. Numbers with their origin in words; none is built in.
//!
//! What this program set itself is certain. What the user says (`--known`) is a hypothesis: it
//! raises the odds of a limit whose measured ceiling equals it, and lowers them otherwise.

use metrics::run_record::ExperimentRecord;
use workload::plan::TargetSpec;

use super::Limit;

/// Environment entries that name a limit begin so: `known.vm_egress` is `2000000000 bytes/s,
/// Standard_D32s_v5`.
pub const ENVIRONMENT: &str = "known.";

/// The entry with the number of the host's processors.
pub const CPU_COUNT: &str = "cpu.count";

/// The entry with the file system of a directory.
pub const FILESYSTEM: &str = "filesystem.type";

/// The entry with the shortest round-trip time of a NULL call to the server, in nanoseconds.
pub const NULL_ROUND_TRIP: &str = "target.null_round_trip_ns";

/// Whether an entry of the environment says what limits a rate: scaling experiments keep it with
/// the entries that begin with [`ENVIRONMENT`].
pub fn is_of_use(name: &str) -> bool {
    [CPU_COUNT, FILESYSTEM, NULL_ROUND_TRIP].contains(&name)
}

/// Slots of a connection of our NFS client where its URL does not say.
const SLOTS: f64 = 128.0;

/// What the volume that `run` serves itself, from memory and over loopback, does not have.
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

/// What a directory on one of them does not have. The device may be rented, with limits of its
/// own: those are the storage itself and its operations per second.
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

/// A limit whose amount is known, or said to be.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownLimit {
    /// Which.
    pub limit: Limit,
    /// How much: bytes per second, or for slots requests on one connection, or operations per
    /// second.
    pub value: f64,
    /// From where, in words.
    pub origin: String,
    /// This program set it itself.
    pub certain: bool,
}

/// All that is known beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Limits.
    pub limits: Vec<KnownLimit>,
    /// Processors of the host.
    pub processors: Option<u32>,
    /// Requests that our own client has outstanding on one connection at most.
    pub client_slots: Option<f64>,
    /// Shortest round-trip time of a NULL call, in seconds: the network without the storage.
    pub null_round_trip_s: Option<f64>,
    /// What the target cannot be limited by, because it has no such thing.
    pub absent: Vec<Limit>,
    /// The number of connections can be set from here: it is our own client.
    pub own_client: bool,
}

impl Known {
    /// Of a record.
    pub fn of(record: &ExperimentRecord) -> Known {
        Known::before(&record.environment, &record.plan.target)
    }

    /// Before anything is measured.
    ///
    /// * `environment`: as in the record, `(name, value)`; only `cpu.count`, `filesystem.type`,
    ///   `target.null_round_trip_ns` and entries that begin with `known.` matter
    /// * `target`: what is measured
    pub fn before(environment: &[(String, String)], target: &TargetSpec) -> Known {
        let number = |name: &str| value_of(environment, name).and_then(|text| text.parse().ok());
        let mut known = Known {
            limits: environment.iter().filter_map(entry).collect(),
            processors: number(CPU_COUNT).map(|count: f64| count as u32).filter(|n| *n > 0),
            null_round_trip_s: number(NULL_ROUND_TRIP).map(|ns| ns / 1e9),
            own_client: target.is_nfs(),
            ..Known::default()
        };
        match target {
            TargetSpec::Emulated { volume, options, .. } => {
                let value = volume.throughput_limit_bytes_per_s as f64;
                let quota = units::Bytes::new(volume.quota_bytes);
                let origin = format!("{quota} x {}", volume.service_level);
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
                let filesystem = value_of(environment, FILESYSTEM);
                if filesystem.is_some_and(|name| OF_THIS_HOST.contains(&name)) {
                    known.absent = NOT_OF_THIS_HOST.to_vec();
                }
            }
        }
        known
    }

    /// What is known of `limit`.
    pub fn limit(&self, limit: Limit) -> Option<&KnownLimit> {
        self.limits.iter().find(|one| one.limit == limit)
    }

    /// Bytes per second of a volume's limit that is certain.
    pub fn certain_volume(&self) -> Option<f64> {
        self.limit(Limit::VolumeThroughput).filter(|one| one.certain).map(|one| one.value)
    }

    /// The target does nothing: only this host is measured.
    pub fn is_null(&self) -> bool {
        self.absent.len() + 1 == Limit::ALL.len()
    }
}

fn value_of<'r>(environment: &'r [(String, String)], name: &str) -> Option<&'r str> {
    environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn entry((name, value): &(String, String)) -> Option<KnownLimit> {
    let code = name.strip_prefix(ENVIRONMENT)?;
    let limit = Limit::ALL.into_iter().find(|limit| limit.code() == code)?;
    let (amount, rest) = value.split_once(' ').unwrap_or((value, ""));
    let value = amount.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)?;
    let origin = rest.split_once(", ").map_or("as given", |(_, origin)| origin).to_owned();
    Some(KnownLimit { limit, value, origin, certain: false })
}

/// The option `slots` of a URL.
fn slots(options: &str) -> f64 {
    let of = |option: &str| option.strip_prefix("slots=").and_then(|value| value.parse().ok());
    options.split('&').find_map(of).unwrap_or(SLOTS)
}
