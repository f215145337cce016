//! The arguments of `avs`.

mod values;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cloud::avs::{Host, Policy};
use cloud::price::Usd;
use commands::size::avs::AvsOptions;
use sizing::avs::OnVsan as AvsOnVsan;
use sizing::avs::ask::Ask;
use sizing::avs::machine::Power;
use sizing::avs::ratio::Ratio;
use sizing::avs::senses::{self, Senses};
use units::{Bytes, Percent, Share};

use crate::record_args::OUTPUT;

pub(crate) const AVS_USAGE: &str = "\
fourcorners avs [OPTIONS] --rvtools <PATH>
       fourcorners avs --print-profile <NAME>";

pub(crate) const AVS_EXAMPLES: &str = "\
Examples:
  fourcorners avs --rvtools export.xlsx
  fourcorners avs --rvtools export.xlsx --iops-per-vm 50/s
  fourcorners avs --print-profile avd-medium > loads.toml
  fourcorners avs --rvtools export.xlsx --profile loads.toml
  fourcorners avs --rvtools export.xlsx --host AV64 --host-price 5000/month
  fourcorners avs --rvtools csv-set/ --live-optics measured.xlsx --policy raid5
  fourcorners avs --rvtools export.xlsx --report avs.html";

const COUNTED: &str = "Inventory";
const LOAD: &str = "Load (not part of RVTools exports)";
const BOUGHT: &str = "Design";

/// Arguments of `avs`.
#[derive(Debug, Args)]
pub(crate) struct AvsArguments {
    /// The export of RVTools: a workbook (.xlsx), a CSV file, or a directory of CSV files.
    ///
    /// A workbook of Live Optics works too.
    #[arg(long, value_name = "PATH", required_unless_present = "print_profile")]
    pub(crate) rvtools: Option<PathBuf>,

    /// A workbook or CSV file of Live Optics with the sheet `VM Performance`.
    #[arg(long, value_name = "FILE", help_heading = LOAD)]
    pub(crate) live_optics: Option<PathBuf>,

    /// Which figure of Live Optics to use.
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "peak", help_heading = LOAD)]
    pub(crate) load: LoadSense,

    /// Loads by class for VMs without a measured load: a file, or the name of a built-in profile.
    ///
    /// Patterns over a VM's name, folder, cluster, operating system or any column of vInfo define
    /// the classes. `--print-profile` prints a file to start from.
    #[arg(long, value_name = "FILE|NAME", help_heading = LOAD)]
    pub(crate) profile: Option<PathBuf>,

    /// Print a built-in profile as a file and exit.
    #[arg(
        long,
        value_name = "NAME",
        help_heading = LOAD,
        conflicts_with_all = ["rvtools", "profile"]
    )]
    pub(crate) print_profile: Option<String>,

    /// IOPS of each VM without a measured load and a class, for example 50/s.
    #[arg(long, value_name = "RATE", value_parser = values::operations, help_heading = LOAD)]
    pub(crate) iops_per_vm: Option<u64>,

    /// Throughput of each VM without a measured load and a class, for example 2MiB/s.
    #[arg(long, value_name = "THROUGHPUT", value_parser = values::throughput, help_heading = LOAD)]
    pub(crate) throughput_per_vm: Option<u64>,

    /// Bytes per operation (transfer size, block size) if only IOPS are known and no class sets it.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "8KiB",
        value_parser = values::size,
        help_heading = LOAD
    )]
    pub(crate) transfer_size: Bytes,

    /// Share of reads among operations if no class sets it.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "70%",
        help_heading = LOAD
    )]
    pub(crate) read: Percent,

    /// Power states of the VMs to include.
    #[arg(
        long,
        value_name = "STATE",
        value_enum,
        value_delimiter = ',',
        default_value = "on",
        help_heading = COUNTED
    )]
    pub(crate) power: Vec<PowerState>,

    /// Which figure to use for a VM's storage; guest requires the sheet vPartition.
    #[arg(long, value_name = "SENSE", value_enum, default_value = "in-use", help_heading = COUNTED)]
    pub(crate) storage: StorageSense,

    /// Which figure to use for a VM's memory; consumed requires the sheet vMemory.
    #[arg(
        long,
        value_name = "SENSE",
        value_enum,
        default_value = "provisioned",
        help_heading = COUNTED
    )]
    pub(crate) memory: MemorySense,

    /// Virtual CPUs per core; default: that of the sheet vHost.
    #[arg(long, value_name = "COUNT", value_parser = values::ratio, help_heading = COUNTED)]
    pub(crate) vcpus_per_core: Option<Ratio>,

    /// The host type.
    #[arg(
        long,
        value_name = "HOST",
        default_value = "AV36P",
        value_parser = values::host,
        help_heading = BOUGHT
    )]
    pub(crate) host: Host,

    /// Price of a host: 5000/month, 6.85/hour or 60000/year, in US dollars.
    ///
    /// There is no list price of hosts in the data; without a price, savings are in hosts.
    #[arg(long, value_name = "PRICE", value_parser = values::host_price, help_heading = BOUGHT)]
    pub(crate) host_price: Option<Usd>,

    /// Exactly this many hosts in designs with Azure NetApp Files, spare ones included.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = BOUGHT
    )]
    pub(crate) hosts: Option<u64>,

    /// Hosts of each cluster to keep free for a failure; default: as many as the service keeps
    /// free.
    #[arg(long, value_name = "COUNT", value_parser = values::spare, help_heading = BOUGHT)]
    pub(crate) spare_hosts: Option<u64>,

    /// The vSAN storage policy: raid1, raid5, raid6, raid1-ftt2, raid1-ftt3 or raid0.
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "raid1",
        value_parser = values::policy,
        help_heading = BOUGHT
    )]
    pub(crate) policy: Policy,

    /// Reduction of data by vSAN (deduplication, compression): 1.5 if 1.5 TB take 1 TB.
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        value_parser = values::saving,
        help_heading = BOUGHT
    )]
    pub(crate) dedup: Share,

    /// Overhead of the vSAN on-disk format.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0%",
        help_heading = BOUGHT
    )]
    pub(crate) format_overhead: Percent,

    /// What stays on vSAN in designs with Azure NetApp Files.
    #[arg(long, value_name = "WHAT", value_enum, default_value = "coldest", help_heading = BOUGHT)]
    pub(crate) on_vsan: OnVsan,

    /// Exactly this many Azure NetApp Files datastores.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = BOUGHT
    )]
    pub(crate) datastores: Option<u64>,

    /// The largest datastore.
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = BOUGHT)]
    pub(crate) datastore_size: Option<Bytes>,

    /// Free space of a datastore; default: what the service recommends for a week of snapshots.
    #[arg(long, value_name = "SHARE", help_heading = BOUGHT)]
    pub(crate) headroom: Option<Percent>,

    /// The region of the list prices, for example westeurope; `none` for no prices. Default: that of
    /// the configuration, or eastus.
    #[arg(
        long,
        value_name = "REGION",
        default_value = "eastus",
        value_parser = values::region,
        help_heading = BOUGHT
    )]
    pub(crate) region: String,

    /// Show everything: evidence, the calculation of every number with its sources, assumptions.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Print JSON, with every reason and the datastore of every VM.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Also write an HTML page (.html) or Markdown (.md).
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,

    /// Write the datastore of each VM as CSV.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) placement: Option<PathBuf>,
}

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

impl AvsArguments {
    /// The options for the inventory at `rvtools`.
    pub(crate) fn options(&self, rvtools: &Path) -> AvsOptions {
        AvsOptions {
            rvtools: rvtools.to_owned(),
            live_optics: self.live_optics.clone(),
            profile: self.profile.clone(),
            senses: Senses {
                storage: self.storage.sense(),
                memory: self.memory.sense(),
                load: self.load.sense(),
            },
            region: self.region.clone(),
            ask: self.ask(),
        }
    }

    fn ask(&self) -> Ask {
        Ask {
            powers: self.power.iter().map(|power| power.power()).collect(),
            host: self.host.clone(),
            policy: self.policy.clone(),
            vcpus_per_core: self.vcpus_per_core.clone(),
            on_vsan: match self.on_vsan {
                OnVsan::Coldest => AvsOnVsan::Coldest,
                OnVsan::Nothing => AvsOnVsan::Nothing,
            },
            saving: self.dedup,
            format: self.format_overhead.into(),
            headroom_percent: self.headroom.map(|share| u64::from(share.permille()).div_ceil(10)),
            datastores: self.datastores,
            datastore_gib_max: self.datastore_size.map(|size| size.get() / GIB),
            hosts: self.hosts,
            spare_hosts: self.spare_hosts,
            host_month: self.host_price,
            profile: None,
            ops_per_machine: self.iops_per_vm,
            bytes_per_s_per_machine: self.throughput_per_vm,
            transfer_bytes: self.transfer_size.get(),
            read: self.read.into(),
        }
    }
}

/// Power states of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PowerState {
    /// Running.
    On,
    /// Powered off.
    Off,
    /// Suspended.
    Suspended,
}

/// Figures for storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StorageSense {
    /// Used space on datastores, with snapshots and swap.
    InUse,
    /// Disks and swap at their full size.
    Provisioned,
    /// Used space in the guest's file systems, if the sheet vPartition has it; otherwise as
    /// `in-use`.
    Guest,
}

/// Figures for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemorySense {
    /// The configured memory.
    Provisioned,
    /// The host memory in use.
    Consumed,
}

/// Figures for a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadSense {
    /// The maximum.
    Peak,
    /// The mean.
    Mean,
}

/// What stays on vSAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnVsan {
    /// As much as fits, the VMs with the least load per size first.
    Coldest,
    /// Nothing.
    Nothing,
}

impl PowerState {
    const fn power(self) -> Power {
        match self {
            PowerState::On => Power::On,
            PowerState::Off => Power::Off,
            PowerState::Suspended => Power::Suspended,
        }
    }
}

impl StorageSense {
    const fn sense(self) -> senses::StorageSense {
        match self {
            StorageSense::InUse => senses::StorageSense::InUse,
            StorageSense::Provisioned => senses::StorageSense::Provisioned,
            StorageSense::Guest => senses::StorageSense::Guest,
        }
    }
}

impl MemorySense {
    const fn sense(self) -> senses::MemorySense {
        match self {
            MemorySense::Provisioned => senses::MemorySense::Provisioned,
            MemorySense::Consumed => senses::MemorySense::Consumed,
        }
    }
}

impl LoadSense {
    const fn sense(self) -> senses::LoadSense {
        match self {
            LoadSense::Peak => senses::LoadSense::Peak,
            LoadSense::Mean => senses::LoadSense::Mean,
        }
    }
}
