//! The options of a sizing, and the facts it uses.

use cloud::avs::{Avs, Host, Policy};
use cloud::catalog::Catalog;
use cloud::price::{StoragePrices, Usd};
use predict::Parameters;
use units::Share;

use crate::avs::machine::Power;
use crate::avs::profile::Profile;
use crate::avs::ratio::Ratio;

/// The options of a sizing.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Power states of the machines to size.
    pub powers: Vec<Power>,
    /// The kind of host.
    pub host: Host,
    /// The storage policy of vSAN.
    pub policy: Policy,
    /// Virtual processors per core; `None` if unknown.
    pub vcpus_per_core: Option<Ratio>,
    /// What stays on vSAN if there are datastores.
    pub on_vsan: OnVsan,
    /// Data reduction by vSAN deduplication and compression: 150 % if 1.5 TB take 1 TB.
    pub saving: Share,
    /// Overhead of vSAN's on-disk format.
    pub format: Share,
    /// Free space of a datastore in percent of its data; `None` for that of the facts.
    pub headroom_percent: Option<u64>,
    /// The exact number of datastores, if required.
    pub datastores: Option<u64>,
    /// Largest datastore in GiB.
    pub datastore_gib_max: Option<u64>,
    /// The exact number of hosts of designs with datastores, if required.
    pub hosts: Option<u64>,
    /// Spare hosts of each cluster; `None` for that of the facts.
    pub spare_hosts: Option<u64>,
    /// Monthly cost of a host.
    pub host_month: Option<Usd>,
    /// Loads by class, for machines without a measured load.
    pub profile: Option<Profile>,
    /// Operations per second of each machine without a measured load and without a class.
    pub ops_per_machine: Option<u64>,
    /// Bytes per second of each machine without a measured load and without a class.
    pub bytes_per_s_per_machine: Option<u64>,
    /// Transfer size, if operations are known, throughput is not, and no class gives it.
    pub transfer_bytes: u64,
    /// The share of reads, if no class gives it.
    pub read: Share,
}

/// What stays on vSAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnVsan {
    /// As much as fits, machines with the least load for their size first: the facts have no
    /// performance figures for vSAN.
    Coldest,
    /// Nothing.
    Nothing,
}

/// The facts of a sizing.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// About hosts and datastores.
    pub avs: &'a Avs,
    /// About pools and volumes.
    pub catalog: &'a Catalog,
    /// Parameters of the model.
    pub parameters: &'a Parameters,
    /// List prices of the region; `None` without a known region.
    pub prices: Option<StoragePrices<'a>>,
}

/// Why nothing can be sized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No machine is selected.
    #[error("size machines: all {all} are left out: {dropped}; select others with --power")]
    NoMachines {
        /// Rows of the inventory.
        all: usize,
        /// How many were left out, by reason.
        dropped: String,
    },
    /// No machine has a figure for its storage.
    #[error("size machines: no machine has this figure for its storage; use --storage {other}")]
    NoStorage {
        /// The other senses.
        other: &'static str,
    },
}
