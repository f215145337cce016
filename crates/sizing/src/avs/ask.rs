//! What is asked, and by which facts it is answered.

use cloud::avs::{Avs, Host, Policy};
use cloud::catalog::Catalog;
use cloud::price::{StoragePrices, Usd};
use predict::Parameters;

use crate::avs::machine::Power;
use crate::avs::profile::Profile;

/// What is asked of a sizing.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Machines in which state count.
    pub powers: Vec<Power>,
    /// The kind of host.
    pub host: Host,
    /// How vSAN keeps data safe.
    pub policy: Policy,
    /// How many virtual processors share a core; `None` where nobody knows.
    pub vcpus_per_core: Option<Ratio>,
    /// What stays on vSAN beside datastores on files.
    pub on_vsan: OnVsan,
    /// By how much vSAN's deduplication and compression make data smaller, in thousandths: 1,500
    /// where 1.5 TB take 1 TB.
    pub saving_permille: u64,
    /// What vSAN's own format takes of it, in thousandths.
    pub format_permille: u64,
    /// Space of a datastore beside what lies on it, in hundredths of that; `None`: as in the facts.
    pub headroom_percent: Option<u64>,
    /// So many datastores, and no other number.
    pub datastores: Option<u64>,
    /// No datastore larger than so many GiB.
    pub datastore_gib_max: Option<u64>,
    /// So many hosts where there are datastores on files, and no other number.
    pub hosts: Option<u64>,
    /// Hosts of each cluster whose processors and memory are kept free; `None`: as in the facts.
    pub spare_hosts: Option<u64>,
    /// What a host costs in a month.
    pub host_month: Option<Usd>,
    /// Loads by class, of machines of which no load was measured.
    pub profile: Option<Profile>,
    /// Operations per second of each machine of which no load was measured, and which is of no
    /// class.
    pub ops_per_machine: Option<u64>,
    /// Bytes per second of each machine of which no load was measured, and which is of no class.
    pub bytes_per_s_per_machine: Option<u64>,
    /// Bytes of one operation, where operations are known, throughput is not, and no class says.
    pub transfer_bytes: u64,
    /// The share of reads among all operations, in thousandths, where no class says.
    pub read_permille: u64,
}

/// What stays on vSAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnVsan {
    /// As much as it can hold, the machines with the least load for their size first: what vSAN
    /// gives is not among the facts, what datastores on files give is.
    Coldest,
    /// Nothing.
    Nothing,
}

/// Virtual processors to cores, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// So many virtual processors …
    pub vcpus: u64,
    /// … on so many cores, above 0.
    pub cores: u64,
    /// Who says so: `sheet vHost: 812 vCPUs on 144 cores`.
    pub source: String,
}

/// By what it is answered.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// About hosts and datastores.
    pub avs: &'a Avs,
    /// About pools and volumes.
    pub catalog: &'a Catalog,
    /// What connections, hosts, endpoints and volumes were found to give.
    pub parameters: &'a Parameters,
    /// List prices of the region; `None` where it is not known or not asked for.
    pub prices: Option<StoragePrices<'a>>,
}

/// Why there is nothing to size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No machine is left.
    #[error("size machines: none is left of {all}: {dropped}; ask for others with --power")]
    NobodyLeft {
        /// Rows of the inventory.
        all: usize,
        /// How many were left out, and why.
        dropped: String,
    },
    /// No machine says what it stores.
    #[error(
        "size machines: no machine has a figure for its storage in the wanted sense; use \
         --storage {other}"
    )]
    NoStorage {
        /// The other sense.
        other: &'static str,
    },
}
