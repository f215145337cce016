//! The flags of `expect` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cloud::figure::{Access, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;
use units::{Bytes, BytesPerSec, ParseError, Percent};

use crate::beside_args::vm;
use crate::record_args::{OUTPUT, StoreArguments};
use crate::volume_args;

pub(crate) const EXPECT_EXAMPLES: &str = "\
Examples:
  fourcorners expect --vm D32s_v3 --protocol nfsv3 --nconnect 16
  fourcorners expect --vm D32s_v5 --clients 6 --transfer-size 8KiB --read 70%
  fourcorners expect --client esxi --clients 4 --volumes 4 --explain
  fourcorners expect --run last --vm D32s_v5";

const CONFIGURATION: &str = "Configuration";
const LOAD: &str = "Load";

/// Arguments of `expect`.
#[derive(Debug, Args)]
pub(crate) struct ExpectArguments {
    /// The size of the machines: D32s_v5.
    #[arg(long, value_name = "SIZE", value_parser = vm, help_heading = CONFIGURATION)]
    pub(crate) vm: Option<VmSize>,

    /// The client: Linux's, or that of VMware's hosts, which have one connection to each volume.
    #[arg(long, value_enum, default_value_t = ClientKind::Linux, help_heading = CONFIGURATION)]
    pub(crate) client: ClientKind,

    /// How the volumes are reached: nfsv3 or smb; nfsv3 without it, or what --run had.
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol, help_heading = CONFIGURATION)]
    pub(crate) protocol: Option<Protocol>,

    /// Machines that send at the same time.
    #[arg(long, value_name = "COUNT",
          allow_hyphen_values = true, default_value_t = 1, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) clients: u32,

    /// Connections of each machine; 1 without it, or what --run had.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) nconnect: Option<u32>,

    /// Volumes that share the load.
    #[arg(long, value_name = "COUNT",
          allow_hyphen_values = true, default_value_t = 1, help_heading = CONFIGURATION,
          value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) volumes: u32,

    /// What the volumes are built as: regular, large or breakthrough.
    #[arg(long, value_name = "KIND", value_parser = volume_args::kind, default_value = "regular",
          help_heading = CONFIGURATION)]
    pub(crate) kind: VolumeKind,

    /// The throughput limit of each volume: 1280MiB/s. Without it none, or what --run knew.
    #[arg(long, value_name = "RATE", value_parser = limit,
          allow_hyphen_values = true, help_heading = CONFIGURATION)]
    pub(crate) limit: Option<BytesPerSec>,

    /// Bytes moved by one operation.
    ///
    /// Without this, --read and --pattern the four corners are shown: 8 KiB random and 64 KiB
    /// sequential, all reads and all writes.
    #[arg(long, value_name = "SIZE", value_parser = size,
          allow_hyphen_values = true, help_heading = LOAD)]
    pub(crate) transfer_size: Option<Bytes>,

    /// Share of reads among the operations.
    #[arg(long, value_name = "SHARE",
          allow_hyphen_values = true, help_heading = LOAD)]
    pub(crate) read: Option<Percent>,

    /// Where operations go: random or sequential.
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = LOAD)]
    pub(crate) pattern: Option<Access>,

    /// Set a measured run beside the figures: its ID as `list` shows it, or `last`.
    ///
    /// Transfer size, share of reads and pattern are those of the load point of each variant with
    /// the largest rate; VM size, connections and limits those of the record unless given here.
    #[arg(long, value_name = "ID", conflicts_with_all = ["transfer_size", "read", "pattern"],
          help_heading = LOAD)]
    pub(crate) run: Option<String>,

    /// How many figures are shown for each load.
    #[arg(long, value_name = "COUNT",
          allow_hyphen_values = true, default_value_t = 3, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) top: u32,

    /// Show the arithmetic, and the rows of data that each number rests on.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) explain: bool,

    /// Print JSON.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write it as a page (.html) or as Markdown (.md) too.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Clients that figures were published of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientKind {
    /// Linux's NFS client.
    Linux,
    /// Hosts of VMware's, as in Azure VMware Solution.
    Esxi,
}

fn protocol(text: &str) -> Result<Protocol, String> {
    let name = text.to_lowercase();
    Protocol::named(&name).ok_or_else(|| match name.starts_with("nfs") {
        true => "figures were published of nfsv3 and smb; of NFS the nearest are those of nfsv3"
            .to_owned(),
        false => "there are nfsv3 and smb".to_owned(),
    })
}

fn pattern(text: &str) -> Result<Access, String> {
    Access::named(&text.to_lowercase()).ok_or_else(|| "there are random and sequential".to_owned())
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: ParseError| error.to_string())?;
    if size.get() > 0 { Ok(size) } else { Err("an operation moves something".to_owned()) }
}

fn limit(text: &str) -> Result<BytesPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    if rate.get() > 0.0 { Ok(rate) } else { Err("a limit is above 0".to_owned()) }
}
