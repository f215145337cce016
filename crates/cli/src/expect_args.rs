//! The flags of `expect` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cloud::figure::{Access, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;
use commands::predict::Load;
use commands::predict::published_comparison::UserOverrides;
use units::{Bytes, BytesPerSec, ParseError, Percent};

use crate::published_args::vm;
use crate::record_args::{OUTPUT, StoreArguments};
use crate::volume_args;

pub(crate) const EXPECT_EXAMPLES: &str = "\
Examples:
  fourcorners expect --vm D32s_v3 --protocol nfsv3 --nconnect 16
  fourcorners expect --vm D32s_v5 --clients 6 --transfer-size 8KiB --read 70%
  fourcorners expect --client esxi --clients 4 --volumes 4 --full
  fourcorners expect --run last --vm D32s_v5";

const CONFIGURATION: &str = "Configuration";
const LOAD: &str = "Load";

/// Arguments of `expect`.
#[derive(Debug, Args)]
pub(crate) struct ExpectArguments {
    /// The VM size of the clients: D32s_v5. Default: that of the configuration, or unknown.
    #[arg(long, value_name = "SIZE", value_parser = vm, help_heading = CONFIGURATION)]
    pub(crate) vm: Option<VmSize>,

    /// The client: Linux, or a VMware host, which has one connection to each volume.
    #[arg(long, value_enum, default_value_t = ClientKind::Linux, help_heading = CONFIGURATION)]
    pub(crate) client: ClientKind,

    /// How the volumes are accessed: nfsv3 or smb. Default: nfsv3, or that of --run.
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol, help_heading = CONFIGURATION)]
    pub(crate) protocol: Option<Protocol>,

    /// Number of clients that send at the same time. Default: 1, or the hosts of --run.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) clients: Option<u32>,

    /// Connections of each client. Default: 1, or those of --run.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) nconnect: Option<u32>,

    /// Number of volumes that share the load. Default: 1, or the targets of --run.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) volumes: Option<u32>,

    /// Kind of the volumes: regular, large or breakthrough. Default: regular.
    #[arg(long, value_name = "KIND", value_parser = volume_args::kind,
          help_heading = CONFIGURATION)]
    pub(crate) kind: Option<VolumeKind>,

    /// Throughput limit of each volume: 1280MiB/s. Default: none, or that of --run.
    #[arg(long, value_name = "RATE", value_parser = limit,
          allow_hyphen_values = true, help_heading = CONFIGURATION)]
    pub(crate) limit: Option<BytesPerSec>,

    /// Bytes per operation: the transfer size, also called block size.
    ///
    /// Without this, --read and --pattern, the four corners are shown: 8 KiB random and 64 KiB
    /// sequential, reads and writes.
    #[arg(long, value_name = "SIZE", value_parser = size,
          allow_hyphen_values = true, help_heading = LOAD)]
    pub(crate) transfer_size: Option<Bytes>,

    /// Share of reads among operations.
    #[arg(long, value_name = "SHARE",
          allow_hyphen_values = true, help_heading = LOAD)]
    pub(crate) read: Option<Percent>,

    /// Access pattern: random or sequential.
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = LOAD)]
    pub(crate) pattern: Option<Access>,

    /// Compare the figures with a measured run: its ID from `list`, or `last`.
    ///
    /// Transfer size, share of reads and pattern are those of the load point of each variant with
    /// the highest rate; VM size, connections, limits, and the numbers of clients and volumes are
    /// those of the record unless given here.
    #[arg(long, value_name = "ID", conflicts_with_all = ["transfer_size", "read", "pattern"],
          help_heading = LOAD)]
    pub(crate) run: Option<String>,

    /// How many figures to show for each load.
    #[arg(long, value_name = "COUNT",
          allow_hyphen_values = true, default_value_t = 3, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) top: u32,

    /// Show everything: evidence, the calculation of every number with its sources, assumptions.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Print JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Also write an HTML page (.html) or Markdown (.md).
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl ExpectArguments {
    pub(crate) fn configuration(&self) -> UserOverrides {
        UserOverrides {
            vm: self.vm.clone(),
            protocol: self.protocol,
            nconnect: self.nconnect.map(u64::from),
            limit: self.limit,
            esxi: self.client == ClientKind::Esxi,
            hosts: self.clients.map(u64::from),
            volumes: self.volumes.map(u64::from),
            kind: self.kind,
        }
    }

    pub(crate) fn load(&self) -> Load {
        Load {
            transfer_bytes: self.transfer_size.map(Bytes::get),
            read: self.read,
            access: self.pattern,
        }
    }
}

/// Clients with published figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientKind {
    /// The Linux NFS client.
    Linux,
    /// VMware hosts, as in Azure VMware Solution.
    Esxi,
}

fn protocol(text: &str) -> Result<Protocol, String> {
    let name = text.to_lowercase();
    Protocol::named(&name).ok_or_else(|| match name.starts_with("nfs") {
        true => {
            "there are published figures for nfsv3 and smb; for other versions of NFS use nfsv3"
                .to_owned()
        }
        false => "there are nfsv3 and smb".to_owned(),
    })
}

fn pattern(text: &str) -> Result<Access, String> {
    Access::named(&text.to_lowercase()).ok_or_else(|| "there are random and sequential".to_owned())
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: ParseError| error.to_string())?;
    if size.get() > 0 { Ok(size) } else { Err("expected a size above 0".to_owned()) }
}

fn limit(text: &str) -> Result<BytesPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    if rate.get() > 0.0 { Ok(rate) } else { Err("expected a throughput above 0".to_owned()) }
}
