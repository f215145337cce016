//! The table of `volume serve` and `volume stat`: flags and their help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::{Bytes, BytesPerSec, parse_duration};
use volume::delay::Distribution;

pub(crate) const VOLUME_EXAMPLES: &str = "\
Examples:
  fourcorners volume serve             a volume of 1 TiB, limited to 64 MiB/s
  fourcorners volume stat              what the service saw";

/// Where a service answers questions about itself unless it is told otherwise, and where `stat`
/// asks.
pub(crate) const METRICS: &str = "127.0.0.1:20490";

/// What can be done with volumes.
#[derive(Debug, Subcommand)]
pub(crate) enum VolumeCommand {
    /// Serve emulated volumes over NFSv3 until Ctrl-C.
    ///
    /// Volumes behave as those of a cloud's file service: the quota and the service level give the
    /// throughput limit, and requests beyond it are delayed, never refused. They are in memory and
    /// gone at the end, unless --data says where they are kept. With --config an account with
    /// pools, volumes and endpoints is served, and SIGHUP reads the file again: quotas and levels
    /// change at once, with I/O running; what breaks a rule is refused and told, and changes
    /// nothing.
    ///
    /// NFS, MOUNT and the portmapper answer on the same port, so no other service is needed.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArguments),
    /// Show what a service saw: operations, bytes and delays.
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

    /// The volume's size.
    #[arg(long, value_name = "SIZE", default_value = "1TiB", help_heading = ONE)]
    pub(crate) quota: Bytes,

    /// What the volume is built as: regular or large. A breakthrough volume needs --config.
    ///
    /// Without it a volume is regular up to 100 TiB and large beyond.
    #[arg(long, value_name = "KIND", value_parser = kind_of_one_endpoint, help_heading = ONE)]
    pub(crate) kind: Option<VolumeKind>,

    /// The service level: with the quota it gives the throughput limit.
    ///
    /// 16, 64 or 128 MiB/s for each TiB; flexible has 128 MiB/s, or what --throughput says.
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "premium", help_heading = ONE)]
    pub(crate) level: Level,

    /// Assign a throughput limit, as in a pool of the QoS type manual, for example 200MiB/s.
    #[arg(long, value_name = "RATE", value_parser = throughput, help_heading = ONE)]
    pub(crate) throughput: Option<KibPerSec>,

    /// Where the volume is served; port 0 is any that is free.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:2049",
        help_heading = ONE
    )]
    pub(crate) address: SocketAddr,

    /// Limit each network flow (connection), for example 50MiB/s.
    #[arg(long, value_name = "RATE", value_parser = throughput, help_heading = ONE)]
    pub(crate) flow_throughput: Option<KibPerSec>,

    /// Enforce no limit at all, to measure the service itself.
    #[arg(long, conflicts_with_all = ["throughput", "flow_throughput"], help_heading = ONE)]
    pub(crate) no_limits: bool,

    /// How long storage takes to read: 500us, or 300us,2ms for median and p99 (lognormal).
    #[arg(long, value_name = "DURATION", value_parser = delay, help_heading = ONE)]
    pub(crate) read_delay: Option<Distribution>,

    /// How long storage takes to write: 500us, or 300us,2ms for median and p99 (lognormal).
    #[arg(long, value_name = "DURATION", value_parser = delay, help_heading = ONE)]
    pub(crate) write_delay: Option<Distribution>,

    /// Memory that all volumes together may take; without it, half of this host's.
    ///
    /// Beyond it writes are answered NFS3ERR_NOSPC, and a line says so. Files are sparse: only what
    /// was written takes memory.
    #[arg(long, value_name = "SIZE", help_heading = SERVICE)]
    pub(crate) memory: Option<Bytes>,

    /// Keep volumes in this directory, which must be new, empty or of an earlier service.
    ///
    /// What COMMIT and stable writes acknowledged survives a kill of the service and a loss of
    /// power.
    #[arg(long, value_name = "DIR", help_heading = SERVICE)]
    pub(crate) data: Option<PathBuf>,

    /// Where /metrics (Prometheus) and /stat.json answer over HTTP; `none` for nowhere.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = METRICS,
        value_parser = metrics,
        help_heading = SERVICE
    )]
    pub(crate) metrics: Metrics,

    /// Let the portmapper answer at this port too, usually 111, for clients that ask there, over
    /// TCP and UDP.
    #[arg(long, value_name = "PORT", help_heading = SERVICE)]
    pub(crate) portmapper: Option<u16>,

    /// Connections that are served at once; more are refused, with a line that says so.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 16_384,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = SERVICE
    )]
    pub(crate) connections_max: u32,
}

/// Service levels as the service names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    Standard,
    Premium,
    Ultra,
    Flexible,
}

impl Level {
    pub(crate) const fn service_level(self) -> ServiceLevel {
        match self {
            Level::Standard => ServiceLevel::Standard,
            Level::Premium => ServiceLevel::Premium,
            Level::Ultra => ServiceLevel::Ultra,
            Level::Flexible => ServiceLevel::Flexible,
        }
    }
}

/// Where questions are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metrics {
    Nowhere,
    At(SocketAddr),
}

fn metrics(text: &str) -> Result<Metrics, String> {
    if text == "none" {
        return Ok(Metrics::Nowhere);
    }
    let wrong = |_| format!("write an address with its port, such as {METRICS}, or `none`");
    text.parse().map(Metrics::At).map_err(wrong)
}

/// A kind of volume, as `--kind` takes it.
pub(crate) fn kind(text: &str) -> Result<VolumeKind, String> {
    let unknown = || "there are regular, large and breakthrough".to_owned();
    VolumeKind::named(&text.to_lowercase()).ok_or_else(unknown)
}

/// A kind of volume that has one endpoint.
fn kind_of_one_endpoint(text: &str) -> Result<VolumeKind, String> {
    match kind(text)? {
        VolumeKind::Breakthrough => Err("a breakthrough volume has several endpoints, which only \
                                         a file can describe (--config)"
            .to_owned()),
        kind => Ok(kind),
    }
}

/// Whole KiB/s, as the service has them.
pub(crate) fn throughput(text: &str) -> Result<KibPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    KibPerSec::whole(rate).ok_or_else(|| "write whole KiB/s above 0, such as 64MiB/s".to_owned())
}

fn delay(text: &str) -> Result<Distribution, String> {
    let ns = |text: &str| {
        let duration = parse_duration(text.trim()).map_err(|error| error.to_string())?;
        u64::try_from(duration.as_nanos()).map_err(|_| "the duration is too long".to_owned())
    };
    match text.split_once(',') {
        None => Ok(Distribution::Constant { ns: ns(text)? }),
        Some((median, p99)) => Distribution::lognormal(ns(median)?, ns(p99)?)
            .ok_or_else(|| "the median is 0 or above the p99".to_owned()),
    }
}

/// Arguments of `volume stat`.
#[derive(Debug, Args)]
pub(crate) struct StatArguments {
    /// The address that the service was given with --metrics.
    #[arg(value_name = "ADDRESS:PORT", default_value = METRICS)]
    pub(crate) address: SocketAddr,

    /// The form in which it is shown.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) format: StatFormat,

    /// Ask again and again at this interval, and show rates, until Ctrl-C; for example 1s.
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

/// Forms of what a service saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatFormat {
    /// A table of volumes, network flows and clients.
    Text,
    /// Everything, in JSON.
    Json,
    /// Everything, as Prometheus reads it.
    Prometheus,
}
