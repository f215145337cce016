//! The flags of `volume serve` and `volume stat` and their help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use commands::measure::known_limit::assigned_throughput;
use commands::measure::run_metrics::parse_address;
use commands::size::schedule_text::level_named;
use units::{Bytes, parse_duration};
use volume::delay::Distribution;
use volume::one_volume::OneVolume;

pub(crate) const VOLUME_EXAMPLES: &str = "\
Examples:
  fourcorners volume serve             a volume of 1 TiB, limited to 64 MiB/s
  fourcorners volume stat              its counters";

/// The default address of metrics.
pub(crate) const METRICS: &str = "127.0.0.1:20490";

/// Commands for emulated volumes.
#[derive(Debug, Subcommand)]
pub(crate) enum VolumeCommand {
    /// Serve emulated volumes over NFSv3 until Ctrl-C.
    ///
    /// Volumes behave like those of Azure NetApp Files: quota and service level determine the
    /// throughput limit, and requests above it are delayed, never refused. Volumes are in memory
    /// and lost at the end, unless --data names a directory. With --config the service has an
    /// account with pools, volumes and endpoints, and SIGHUP reloads the file: quotas and levels
    /// change immediately, during I/O; a file that breaks a rule is refused and changes nothing.
    ///
    /// NFS, MOUNT and the portmapper share one port, so no other service is needed.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArguments),
    /// Show the counters of a service: operations, bytes and delays.
    #[command(after_help = STAT_EXAMPLES)]
    Stat(StatArguments),
}

const SERVE_EXAMPLES: &str = "\
Examples:
  fourcorners volume serve
  fourcorners volume serve --quota 4TiB --level ultra --read-delay 500us
  fourcorners volume serve --throughput 200MiB/s --flow-throughput 50MiB/s
  fourcorners volume serve --no-limits --metrics none
  fourcorners volume serve --config volumes.toml";

const STAT_EXAMPLES: &str = "\
Examples:
  fourcorners volume stat
  fourcorners volume stat --watch 1s
  fourcorners volume stat 127.0.0.1:20490 --format json";

const ONE: &str = "One volume";
const SERVICE: &str = "Service";

/// Arguments of `volume serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The file that describes account, pools, volumes and endpoints (TOML).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "name", "quota", "kind", "level", "throughput", "address", "flow_throughput",
            "no_limits", "read_delay", "write_delay",
        ]
    )]
    pub(crate) config: Option<PathBuf>,

    /// The volume's name; its export is /NAME.
    #[arg(long, value_name = "NAME", default_value = "vol1", help_heading = ONE)]
    pub(crate) name: String,

    /// The volume's quota.
    #[arg(long, value_name = "SIZE", default_value = "1TiB", help_heading = ONE)]
    pub(crate) quota: Bytes,

    /// The volume's kind: regular or large. A breakthrough volume requires --config.
    ///
    /// Default: regular up to 100 TiB and large above.
    #[arg(long, value_name = "KIND", value_parser = kind_of_one_endpoint, help_heading = ONE)]
    pub(crate) kind: Option<VolumeKind>,

    /// The service level: standard, premium, ultra or flexible.
    ///
    /// With the quota it determines the throughput limit: 16, 64 or 128 MiB/s per TiB; flexible has
    /// 128 MiB/s, or --throughput.
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = level_named,
        default_value = "premium",
        help_heading = ONE
    )]
    pub(crate) level: ServiceLevel,

    /// Assign a throughput limit, as in a pool with manual QoS, for example 200MiB/s.
    #[arg(long, value_name = "RATE", value_parser = assigned_throughput, help_heading = ONE)]
    pub(crate) throughput: Option<KibPerSec>,

    /// The address to listen on; port 0 is any free port.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:2049",
        help_heading = ONE
    )]
    pub(crate) address: SocketAddr,

    /// Limit each network flow (connection), for example 50MiB/s.
    #[arg(long, value_name = "RATE", value_parser = assigned_throughput, help_heading = ONE)]
    pub(crate) flow_throughput: Option<KibPerSec>,

    /// Enforce no limits, to measure the service itself.
    #[arg(long, conflicts_with_all = ["throughput", "flow_throughput"], help_heading = ONE)]
    pub(crate) no_limits: bool,

    /// Storage latency of reads: 500us, or 300us,2ms for median and p99 (lognormal).
    #[arg(long, value_name = "DURATION", value_parser = delay, help_heading = ONE)]
    pub(crate) read_delay: Option<Distribution>,

    /// Storage latency of writes: 500us, or 300us,2ms for median and p99 (lognormal).
    #[arg(long, value_name = "DURATION", value_parser = delay, help_heading = ONE)]
    pub(crate) write_delay: Option<Distribution>,

    /// The most memory for all volumes; default: half of the host's.
    ///
    /// Above it writes fail with NFS3ERR_NOSPC, and a line is logged. Files are sparse: only
    /// written blocks use memory.
    #[arg(long, value_name = "SIZE", help_heading = SERVICE)]
    pub(crate) memory: Option<Bytes>,

    /// Store volumes in this directory, which must be new, empty or of an earlier service.
    ///
    /// Data that COMMIT and stable writes acknowledged survives a kill of the service and a power
    /// loss.
    #[arg(long, value_name = "DIR", help_heading = SERVICE)]
    pub(crate) data: Option<PathBuf>,

    /// Where /metrics (Prometheus) and /stat.json are served over HTTP; `none` to disable.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = METRICS,
        value_parser = metrics,
        help_heading = SERVICE
    )]
    pub(crate) metrics: Metrics,

    /// Also serve the portmapper on this port over TCP and UDP, usually 111.
    #[arg(long, value_name = "PORT", help_heading = SERVICE)]
    pub(crate) portmapper: Option<u16>,

    /// The most connections; more are refused, and a line is logged.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 16_384,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = SERVICE
    )]
    pub(crate) connections_max: u32,
}

impl ServeArguments {
    /// The volume that the flags describe.
    pub(crate) fn volume(&self, catalog: &Catalog) -> OneVolume {
        let no_delay = Distribution::Constant { ns: 0 };
        OneVolume {
            name: self.name.clone(),
            kind: self.kind.unwrap_or_else(|| catalog.usual_kind(self.quota)),
            quota: self.quota,
            level: self.level,
            throughput: self.throughput,
            address: self.address,
            flow_throughput: self.flow_throughput,
            enforced: !self.no_limits,
            read: self.read_delay.clone().unwrap_or_else(|| no_delay.clone()),
            write: self.write_delay.clone().unwrap_or(no_delay),
        }
    }
}

/// Where metrics are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metrics {
    Nowhere,
    At(SocketAddr),
}

fn metrics(text: &str) -> Result<Metrics, String> {
    if text == "none" {
        return Ok(Metrics::Nowhere);
    }
    parse_address(text).map(Metrics::At).map_err(|error| format!("{error}, or `none`"))
}

/// A kind of volume, as `--kind` takes it.
pub(crate) fn kind(text: &str) -> Result<VolumeKind, String> {
    let unknown = || "there are regular, large and breakthrough".to_owned();
    VolumeKind::named(&text.to_lowercase()).ok_or_else(unknown)
}

/// A kind of volume that has one endpoint.
fn kind_of_one_endpoint(text: &str) -> Result<VolumeKind, String> {
    match kind(text)? {
        VolumeKind::Breakthrough => {
            Err("a breakthrough volume has several endpoints; describe it \
             in a file (--config)"
                .to_owned())
        }
        kind => Ok(kind),
    }
}

fn delay(text: &str) -> Result<Distribution, String> {
    let ns = |text: &str| {
        let duration = parse_duration(text.trim()).map_err(|error| error.to_string())?;
        u64::try_from(duration.as_nanos()).map_err(|_| "the duration is too long".to_owned())
    };
    match text.split_once(',') {
        None => Ok(Distribution::Constant { ns: ns(text)? }),
        Some((median, p99)) => Distribution::lognormal(ns(median)?, ns(p99)?)
            .ok_or_else(|| "the median must be above 0 and at most the p99".to_owned()),
    }
}

/// Arguments of `volume stat`.
#[derive(Debug, Args)]
pub(crate) struct StatArguments {
    /// The --metrics address of the service.
    #[arg(value_name = "ADDRESS:PORT", default_value = METRICS)]
    pub(crate) address: SocketAddr,

    /// The output format.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) format: StatFormat,

    /// Repeat at this interval and show rates, until Ctrl-C; for example 1s.
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    pub(crate) watch: Option<std::time::Duration>,
}

fn interval(text: &str) -> Result<std::time::Duration, String> {
    let interval = parse_duration(text).map_err(|error| error.to_string())?;
    if interval.as_millis() < 10 {
        return Err("the shortest interval is 10ms".to_owned());
    }
    Ok(interval)
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatFormat {
    /// A table of volumes, network flows and clients.
    Text,
    /// Everything, as JSON.
    Json,
    /// Everything, in Prometheus format.
    Prometheus,
}
