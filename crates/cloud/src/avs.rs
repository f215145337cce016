//! Azure VMware Solution: hosts, storage policies, limits and planning values, from `data/avs.toml`.
//! Measurements of its datastores are in `data/published.toml`.
//!
//! Not for: prices of hosts, which no known document states, or the number of hosts.

use crate::reason::RowRef;
use crate::row::{Dimension, Origin, Status};
use crate::row_reader::{Row, RowsError, rows};

const FILE: &str = "avs.toml";
/// The embedded rows.
const AVS: &str = include_str!("../../../data/avs.toml");

/// A kind of host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// `AV36P`
    pub name: String,
    /// Processor cores.
    pub cores: u64,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// Capacity tier of vSAN, in 10^9 bytes, without its cache.
    pub raw_gb: u64,
    /// Its source.
    pub origin: Origin,
}

/// A storage policy of vSAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `raid1`
    pub name: String,
    /// Parts written, including redundancy.
    pub parts: u64,
    /// Parts of data among them.
    pub data: u64,
    /// Smallest cluster that supports it, in hosts.
    pub hosts_min: u64,
    /// Its source.
    pub origin: Origin,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $dimension:ident;)*) => {
        /// The name of a limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AvsLimit { $($(#[$doc])* $variant,)* }

        impl AvsLimit {
            /// All values.
            pub const ALL: &[AvsLimit] = &[$(AvsLimit::$variant,)*];

            /// The name in the data.
            pub const fn name(self) -> &'static str {
                match self { $(AvsLimit::$variant => $name,)* }
            }

            const fn dimension(self) -> Dimension {
                match self { $(AvsLimit::$variant => Dimension::$dimension,)* }
            }
        }
    };
}

limits! {
    /// The smallest cluster.
    HostsPerClusterMin = "hosts_per_cluster_min" in Count;
    /// The largest cluster.
    HostsPerClusterMax = "hosts_per_cluster_max" in Count;
    /// Hosts of a private cloud.
    HostsPerCloudMax = "hosts_per_cloud_max" in Count;
    /// Clusters of a private cloud.
    ClustersPerCloudMax = "clusters_per_cloud_max" in Count;
    /// Hosts per cluster whose processors and memory are reserved for a host failure.
    SpareHostsPerCluster = "spare_hosts_per_cluster" in Count;
    /// Memory of the first cluster that is reserved for the service's management machines.
    ManagementMemory = "management_memory" in Gib;
    /// The usable share of vSAN.
    VsanUsedMax = "vsan_used_max" in Percent;
    /// Datastores without a support request.
    DatastoresDefault = "datastores_default" in Count;
    /// Datastores with a support request.
    DatastoresMax = "datastores_max" in Count;
    /// Recommended number of datastores to start with.
    DatastoresRecommended = "datastores_recommended" in Count;
    /// Planned operations per second (8 KiB) of one machine on one datastore.
    MachineOpsPerDatastore = "machine_ops_per_datastore" in Count;
    /// Planned throughput of one machine on one datastore.
    MachineThroughputPerDatastore = "machine_throughput_per_datastore" in KibPerSec;
    /// Highest measured operations per second of one machine.
    MachineOpsMax = "machine_ops_max" in Count;
    /// Highest measured throughput of one machine.
    MachineThroughputMax = "machine_throughput_max" in KibPerSec;
    /// Datastores of one machine in these measurements.
    MachineDatastoresMax = "machine_datastores_max" in Count;
    /// Additional space of a datastore for snapshots.
    DatastoreHeadroom = "datastore_headroom" in Percent;
}

/// A limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// Its name.
    pub name: AvsLimit,
    /// In the unit of the name: a count, GiB, percent, or KiB/s.
    pub value: u64,
    /// Its source.
    pub origin: Origin,
}

/// Every row, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Avs {
    /// Kinds of hosts.
    pub hosts: Vec<Host>,
    /// Storage policies.
    pub policies: Vec<Policy>,
    /// Limits.
    pub limits: Vec<LimitRow>,
}

impl Avs {
    /// The embedded rows.
    pub fn embedded() -> Avs {
        Avs::parse(AVS).expect("a test reads the embedded rows")
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All problems of the text; a limit without, or a host or policy with two,
    /// current rows.
    pub fn parse(text: &str) -> Result<Avs, RowsError> {
        let mut avs = Avs::default();
        rows(text, FILE, |table, row| avs.add(table, row))?;
        for limit in AvsLimit::ALL {
            let rows = avs.limits.iter().filter(|row| row.name == *limit).map(|row| &row.origin);
            one_current(limit.name(), rows)?;
        }
        for host in &avs.hosts {
            let rows = avs.hosts.iter().filter(|row| row.name == host.name);
            one_current(&host.name, rows.map(|row| &row.origin))?;
        }
        for policy in &avs.policies {
            let rows = avs.policies.iter().filter(|row| row.name == policy.name);
            one_current(&policy.name, rows.map(|row| &row.origin))?;
        }
        Ok(avs)
    }

    /// The current row of a kind of host; case is ignored.
    pub fn host(&self, name: &str) -> Option<&Host> {
        let current = |host: &&Host| host.origin.status == Status::Current;
        self.hosts.iter().filter(current).find(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// The current row of a policy.
    pub fn policy(&self, name: &str) -> Option<&Policy> {
        let current = |policy: &&Policy| policy.origin.status == Status::Current;
        self.policies.iter().filter(current).find(|policy| policy.name.eq_ignore_ascii_case(name))
    }

    /// The current value of a limit, in its unit.
    pub fn limit(&self, name: AvsLimit) -> u64 {
        self.row(name).value
    }

    /// The current row of a limit.
    pub fn limit_row(&self, name: AvsLimit) -> RowRef {
        RowRef::new(FILE, format!("limit {}", name.name()), &self.row(name).origin)
    }

    fn row(&self, name: AvsLimit) -> &LimitRow {
        let current = |row: &&LimitRow| row.name == name && row.origin.status == Status::Current;
        self.limits.iter().find(current).expect("`parse` requires one current row of each")
    }

    fn add(&mut self, table: &str, row: &mut Row<'_, '_>) -> Result<(), String> {
        match table {
            "host" => {
                unit(row, "GiB and GB")?;
                self.hosts.push(Host {
                    name: row.text("name")?,
                    cores: above_0(row, "cores")?,
                    memory_gib: above_0(row, "memory")?,
                    raw_gb: above_0(row, "raw")?,
                    origin: row.origin()?,
                });
            }
            "policy" => {
                let (data, parts) = (above_0(row, "data")?, above_0(row, "parts")?);
                if data > parts {
                    return Err("more `data` than `parts`".to_owned());
                }
                let (name, hosts_min) = (row.text("name")?, above_0(row, "hosts_min")?);
                let origin = row.origin()?;
                self.policies.push(Policy { name, parts, data, hosts_min, origin });
            }
            "limit" => {
                let named =
                    |name: &str| AvsLimit::ALL.iter().copied().find(|limit| limit.name() == name);
                let name = row.named("name", named)?;
                let value = row.quantity(name.dimension())?;
                let origin = row.origin()?;
                self.limits.push(LimitRow { name, value, origin });
            }
            _ => return Err("unknown table".to_owned()),
        }
        Ok(())
    }
}

impl Host {
    /// Capacity tier of vSAN, in bytes.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_gb.saturating_mul(1_000_000_000)
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("host {}", self.name), &self.origin)
    }
}

impl Policy {
    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("policy {}", self.name), &self.origin)
    }
}

fn unit(row: &mut Row<'_, '_>, expected: &str) -> Result<(), String> {
    match row.text("unit")? {
        unit if unit == expected => Ok(()),
        unit => Err(format!("wrong unit `{unit}`")),
    }
}

fn above_0(row: &mut Row<'_, '_>, key: &str) -> Result<u64, String> {
    match row.number(key)? {
        0 => Err(format!("`{key}` is 0")),
        number => Ok(number),
    }
}

fn one_current<'a>(of: &str, origins: impl Iterator<Item = &'a Origin>) -> Result<(), RowsError> {
    match origins.filter(|origin| origin.status == Status::Current).count() {
        1 => Ok(()),
        rows => Err(RowsError::NotOneCurrent { of: of.to_owned(), rows }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rows_are_read_and_superseded_ones_are_not_used() {
        let avs = Avs::parse(AVS).unwrap();
        let host = avs.host("av36").unwrap();
        assert_eq!((host.cores, host.memory_gib, host.raw_gb), (36, 576, 15_200));
        assert_eq!(avs.host("AV99"), None);
        assert_eq!(avs.limit(AvsLimit::DatastoresDefault), 8);
        assert_eq!(avs.limit(AvsLimit::DatastoresMax), 256);
        assert_eq!(avs.limit(AvsLimit::MachineThroughputPerDatastore), 1700 * 1024);
        let raid6 = avs.policy("raid6").unwrap();
        assert_eq!((raid6.data, raid6.parts, raid6.hosts_min), (2, 3, 6));
        assert_eq!(avs.limit_row(AvsLimit::VsanUsedMax).row, "limit vsan_used_max");
        assert!(avs.hosts.iter().any(|host| host.origin.status == Status::Superseded));
    }

    #[test]
    fn an_invalid_row_is_refused() {
        let problem = |from: &str, to: &str| {
            assert!(AVS.contains(from), "{from}");
            Avs::parse(&AVS.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(problem("cores = 36", "cores = 0").contains("`cores` is 0"));
        assert!(problem("cores = 36", "cores = -1").contains("negative"));
        assert!(problem("cores = 36", "kores = 36").contains("`cores` is missing"));
        assert!(problem("GiB and GB", "GB").contains("wrong unit"));
        assert!(problem("data = 3", "data = 5").contains("more `data` than `parts`"));
        assert!(problem("hosts_per_cluster_min", "hosts_min").contains("`name` is unknown"));
        assert!(problem("\"percent\"", "\"count\"").contains("wrong unit"));
        assert!(problem("date = \"2025-12-19\"\n", "").contains("`date` is missing"));
        assert!(problem("[[policy]]", "[[rule]]").contains("unknown table"));
    }

    #[test]
    fn a_limit_or_host_without_exactly_one_current_row_is_refused() {
        let twice = AVS.replace("status = \"superseded\"", "status = \"current\"");
        let error = Avs::parse(&twice).unwrap_err().to_string();
        assert!(error.contains("has 2 current rows"), "{error}");
        let gone = AVS.replace("\"vsan_used_max\"", "\"hosts_per_cluster_min\"");
        assert!(Avs::parse(&gone).is_err());
    }
}
