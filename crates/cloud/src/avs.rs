//! Azure VMware Solution: hosts, storage policies, limits and what is planned with, from
//! `data/avs.toml`. What its datastores gave when they were measured is in `data/published.toml`.
//!
//! Not for: prices of hosts, which no document that we have states, nor for how many are needed.

use crate::catalog::{CatalogError, Row, rows};
use crate::reason::RowRef;
use crate::row::{Dimension, Origin, Status};

const FILE: &str = "avs.toml";
/// The rows that the product goes by.
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
    /// What vSAN can write on, in 10^9 bytes; its cache does not count.
    pub raw_gb: u64,
    /// Where from.
    pub origin: Origin,
}

/// How vSAN keeps data safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `raid1`
    pub name: String,
    /// Of so many parts that are written …
    pub parts: u64,
    /// … so many are data.
    pub data: u64,
    /// Hosts that a cluster needs for it.
    pub hosts_min: u64,
    /// Where from.
    pub origin: Origin,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $dimension:ident;)*) => {
        /// What a limit is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AvsLimit { $($(#[$doc])* $variant,)* }

        impl AvsLimit {
            /// All of them.
            pub const ALL: &[AvsLimit] = &[$(AvsLimit::$variant,)*];

            /// As the data write it.
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
    /// Hosts of each cluster whose processors and memory are kept free for one that fails.
    SpareHostsPerCluster = "spare_hosts_per_cluster" in Count;
    /// Memory of the first cluster that is reserved for the service's own machines.
    ManagementMemory = "management_memory" in Gib;
    /// The share of vSAN that may be used.
    VsanUsedMax = "vsan_used_max" in Percent;
    /// Datastores without a support request.
    DatastoresDefault = "datastores_default" in Count;
    /// Datastores with one.
    DatastoresMax = "datastores_max" in Count;
    /// Datastores to begin with.
    DatastoresRecommended = "datastores_recommended" in Count;
    /// Operations per second of 8 KiB that one machine is planned for on one datastore.
    MachineOpsPerDatastore = "machine_ops_per_datastore" in Count;
    /// Throughput that one machine is planned for on one datastore.
    MachineThroughputPerDatastore = "machine_throughput_per_datastore" in KibPerSec;
    /// The most operations per second that one machine was seen to reach.
    MachineOpsMax = "machine_ops_max" in Count;
    /// The most throughput that one machine was seen to reach.
    MachineThroughputMax = "machine_throughput_max" in KibPerSec;
    /// Datastores over which one machine was spread for that.
    MachineDatastoresMax = "machine_datastores_max" in Count;
    /// Space of a datastore beside what lies on it, for snapshots.
    DatastoreHeadroom = "datastore_headroom" in Percent;
}

/// A limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// What it is about.
    pub name: AvsLimit,
    /// In the unit that belongs to the name: things, hundredths, or KiB/s.
    pub value: u64,
    /// Where from.
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
    /// The rows that are part of the binary.
    pub fn embedded() -> Avs {
        Avs::parse(AVS).expect("a test reads the embedded rows")
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// The first thing that is wrong with it; a limit without, or a host or policy with two,
    /// current rows.
    pub fn parse(text: &str) -> Result<Avs, CatalogError> {
        let mut avs = Avs::default();
        rows(text, |table, row| avs.add(table, row))?;
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

    /// The current row of a kind of host, whatever the case of its name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        let current = |host: &&Host| host.origin.status == Status::Current;
        self.hosts.iter().filter(current).find(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// The current row of a policy.
    pub fn policy(&self, name: &str) -> Option<&Policy> {
        let current = |policy: &&Policy| policy.origin.status == Status::Current;
        self.policies.iter().filter(current).find(|policy| policy.name.eq_ignore_ascii_case(name))
    }

    /// The current number of a limit, in its unit.
    pub fn limit(&self, name: AvsLimit) -> u64 {
        self.row(name).value
    }

    /// The row of that number.
    pub fn limit_row(&self, name: AvsLimit) -> RowRef {
        RowRef::new(FILE, format!("limit {}", name.name()), &self.row(name).origin)
    }

    fn row(&self, name: AvsLimit) -> &LimitRow {
        let current = |row: &&LimitRow| row.name == name && row.origin.status == Status::Current;
        self.limits.iter().find(current).expect("`parse` demands one current row of each")
    }

    fn add(&mut self, table: &str, row: &mut Row) -> Result<(), String> {
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
            _ => return Err("an unknown table".to_owned()),
        }
        Ok(())
    }
}

impl Host {
    /// What vSAN of one host can write on, in bytes.
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

fn unit(row: &mut Row, wanted: &str) -> Result<(), String> {
    match row.text("unit")? {
        unit if unit == wanted => Ok(()),
        unit => Err(format!("wrong unit `{unit}`")),
    }
}

fn above_0(row: &mut Row, key: &str) -> Result<u64, String> {
    match row.number(key)? {
        0 => Err(format!("`{key}` is 0")),
        number => Ok(number),
    }
}

fn one_current<'a>(
    of: &str,
    origins: impl Iterator<Item = &'a Origin>,
) -> Result<(), CatalogError> {
    match origins.filter(|origin| origin.status == Status::Current).count() {
        1 => Ok(()),
        rows => Err(CatalogError::NotOneCurrent { of: of.to_owned(), rows }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rows_are_read_and_superseded_ones_are_not_gone_by() {
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
    fn a_row_that_cannot_be_is_refused() {
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
