//! The arguments of `avs`.

mod values;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cloud::avs::{Host, Policy};
use cloud::price::Usd;
use sizing::avs::ask::Ratio;
use sizing::avs::machine::Power;
use units::{Bytes, Percent};

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
  fourcorners avs --rvtools export.xlsx --explain --report avs.html";

const COUNTED: &str = "What counts";
const LOAD: &str = "Load, which RVTools does not know";
const BOUGHT: &str = "What is bought";
const OUTPUT: &str = "Output";

/// Arguments of `avs`.
#[derive(Debug, Args)]
pub(crate) struct AvsArguments {
    /// The export of RVTools: a workbook (.xlsx), one CSV file, or a directory with a CSV set.
    ///
    /// A workbook of Live Optics is read too.
    #[arg(long, value_name = "PATH", required_unless_present = "print_profile")]
    pub(crate) rvtools: Option<PathBuf>,

    /// A workbook or CSV file of Live Optics with the sheet `VM Performance`.
    #[arg(long, value_name = "FILE", help_heading = LOAD)]
    pub(crate) live_optics: Option<PathBuf>,

    /// Which of Live Optics' figures counts.
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "peak", help_heading = LOAD)]
    pub(crate) load: LoadSense,

    /// Loads by class, of machines without a measured load: a file, or a built-in profile's name.
    ///
    /// Classes are told by patterns over a machine's name, folder, cluster, operating system or
    /// any other column of vInfo. `--print-profile` prints a file to begin with.
    #[arg(long, value_name = "FILE|NAME", help_heading = LOAD)]
    pub(crate) profile: Option<PathBuf>,

    /// Print a built-in profile as a file, and do nothing else.
    #[arg(
        long,
        value_name = "NAME",
        help_heading = LOAD,
        conflicts_with_all = ["rvtools", "profile"]
    )]
    pub(crate) print_profile: Option<String>,

    /// Operations per second of each machine without a measured load and without a class, for
    /// example 50/s.
    #[arg(long, value_name = "RATE", value_parser = values::operations, help_heading = LOAD)]
    pub(crate) iops_per_vm: Option<u64>,

    /// Throughput of each machine without a measured load and without a class, for example 2MiB/s.
    #[arg(long, value_name = "THROUGHPUT", value_parser = values::throughput, help_heading = LOAD)]
    pub(crate) throughput_per_vm: Option<u64>,

    /// Bytes of one operation, where operations are known, throughput is not, and no class says.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "8KiB",
        value_parser = values::size,
        help_heading = LOAD
    )]
    pub(crate) transfer_size: Bytes,

    /// Share of reads among all operations, where no class says.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "70%",
        help_heading = LOAD
    )]
    pub(crate) read: Percent,

    /// Machines in which power states count.
    #[arg(
        long,
        value_name = "STATE",
        value_enum,
        value_delimiter = ',',
        default_value = "on",
        help_heading = COUNTED
    )]
    pub(crate) power: Vec<PowerState>,

    /// In which sense a machine's storage counts; guest needs the sheet vPartition.
    #[arg(long, value_name = "SENSE", value_enum, default_value = "in-use", help_heading = COUNTED)]
    pub(crate) storage: StorageSense,

    /// In which sense a machine's memory counts; consumed needs the sheet vMemory.
    #[arg(
        long,
        value_name = "SENSE",
        value_enum,
        default_value = "provisioned",
        help_heading = COUNTED
    )]
    pub(crate) memory: MemorySense,

    /// Virtual processors that share a core; without it as the sheet vHost has it.
    #[arg(long, value_name = "COUNT", value_parser = values::ratio, help_heading = COUNTED)]
    pub(crate) vcpus_per_core: Option<Ratio>,

    /// The kind of host.
    #[arg(
        long,
        value_name = "HOST",
        default_value = "AV36P",
        value_parser = values::host,
        help_heading = BOUGHT
    )]
    pub(crate) host: Host,

    /// What a host costs: 5000/month, 6.85/hour or 60000/year, in US dollars.
    ///
    /// There is no list price of hosts among the facts; without this savings are told in hosts.
    #[arg(long, value_name = "PRICE", value_parser = values::host_price, help_heading = BOUGHT)]
    pub(crate) host_price: Option<Usd>,

    /// So many hosts beside datastores on files, spare ones with them, and no other number.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = BOUGHT
    )]
    pub(crate) hosts: Option<u64>,

    /// Hosts of each cluster that are kept free for one that fails; without it as many as the
    /// service keeps free.
    #[arg(long, value_name = "COUNT", value_parser = values::spare, help_heading = BOUGHT)]
    pub(crate) spare_hosts: Option<u64>,

    /// How vSAN keeps data safe: raid1, raid5, raid6, raid1-ftt2, raid1-ftt3 or raid0.
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "raid1",
        value_parser = values::policy,
        help_heading = BOUGHT
    )]
    pub(crate) policy: Policy,

    /// By how much vSAN makes data smaller: 1.5 where 1.5 TB take 1 TB.
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        value_parser = values::saving,
        help_heading = BOUGHT
    )]
    pub(crate) dedup: u64,

    /// What vSAN's own format takes.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0%",
        help_heading = BOUGHT
    )]
    pub(crate) format_overhead: Percent,

    /// What stays on vSAN beside datastores on files.
    #[arg(long, value_name = "WHAT", value_enum, default_value = "coldest", help_heading = BOUGHT)]
    pub(crate) on_vsan: OnVsan,

    /// So many datastores on files, and no other number.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = BOUGHT
    )]
    pub(crate) datastores: Option<u64>,

    /// No datastore larger than this.
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = BOUGHT)]
    pub(crate) datastore_size: Option<Bytes>,

    /// Space of a datastore beside what lies on it; without it what the service
    /// advises for snapshots of a week.
    #[arg(long, value_name = "SHARE", help_heading = BOUGHT)]
    pub(crate) headroom: Option<Percent>,

    /// The region of the list prices, for example westeurope; `none` for no prices.
    #[arg(
        long,
        value_name = "REGION",
        default_value = "eastus",
        value_parser = values::region,
        help_heading = BOUGHT
    )]
    pub(crate) region: String,

    /// Show the arithmetic of every number, and the facts it rests on.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) explain: bool,

    /// Print JSON, with every reason and the place of every machine.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write a page too: FILE.html, or FILE.md.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,

    /// Write which machine lies on which datastore, as CSV.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) placement: Option<PathBuf>,
}

/// Whether a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PowerState {
    /// It runs.
    On,
    /// It does not.
    Off,
    /// It was put aside with its memory.
    Suspended,
}

/// Senses of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StorageSense {
    /// What it holds on datastores now, with snapshots and swap.
    InUse,
    /// Disks and swap at their full size.
    Provisioned,
    /// What its guest's file systems hold, where the sheet vPartition says it; else as `in-use`.
    Guest,
}

/// Senses of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemorySense {
    /// What it was given.
    Provisioned,
    /// What it holds of its host's.
    Consumed,
}

/// Senses of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadSense {
    /// The most that was seen.
    Peak,
    /// The mean.
    Mean,
}

/// What stays on vSAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnVsan {
    /// As much as it holds, the machines with the least load for their size first.
    Coldest,
    /// Nothing.
    Nothing,
}

impl PowerState {
    /// As the sizing has it.
    pub(crate) const fn power(self) -> Power {
        match self {
            PowerState::On => Power::On,
            PowerState::Off => Power::Off,
            PowerState::Suspended => Power::Suspended,
        }
    }
}
