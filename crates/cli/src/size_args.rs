//! The flags of `size` and their help.

use std::path::PathBuf;

use clap::Args;
use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::region::Feature;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use commands::size;
use commands::size::schedule_text::{self, WrittenSchedule, level_named};
use commands::units_load::Units;
use sizing::need::{Demand, POOLS_MAX, Part, Protocol};
use units::{Bytes, BytesPerSec, OpsPerSec, ParseError, Percent, Share, parse_duration, unknown};

use crate::record_args::{OUTPUT, StoreArguments};

pub(crate) const SIZE_EXAMPLES: &str = "\
Examples:
  fourcorners size --throughput 950MiB/s --capacity 4TiB
  fourcorners size --iops 60000 --read 70% --capacity 4TiB --response-time 2ms
  fourcorners size --throughput 2GiB/s --capacity 20TiB --read 0% --vm D32s_v5
  fourcorners size --from-run last --growth 30% --headroom 20%
  fourcorners size --profile eda-like --metric 500
  fourcorners size --schedule peak=5TiB@08-18,off=4TiB --capacity 1.1TiB
  fourcorners size --part data=4TiB,704MiB/s --part log=512GiB,256MiB/s --json";

const NEED: &str = "Requirements";
const DECIDED: &str = "Constraints";
const PRICE: &str = "Pricing";

/// Arguments of `size`.
#[derive(Debug, Args)]
pub(crate) struct SizeArguments {
    /// Required throughput, reads and writes together: 950MiB/s, or 8Gbit/s.
    #[arg(
        long,
        value_name = "THROUGHPUT",
        value_parser = throughput,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) throughput: Option<KibPerSec>,

    /// Required capacity of the volumes, snapshots included: 4TiB.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = capacity_gib,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) capacity: Option<u64>,

    /// Required operations per second (IOPS): 60000.
    ///
    /// If --throughput is also given, each requirement must be met separately: this rate with small
    /// transfers, and that throughput with transfers of 64 KiB.
    #[arg(
        long,
        value_name = "RATE",
        value_parser = ops_per_s,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) iops: Option<u64>,

    /// Bytes per operation (transfer size, block size); default: 8KiB with --iops, otherwise 64KiB.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = transfer_size,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) transfer_size: Option<u64>,

    /// Share of reads; the rest are writes, which the hosts' egress limits.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "100%", help_heading = NEED)]
    pub(crate) read: Percent,

    /// Required mean response time (latency): 2ms.
    #[arg(
        long,
        alias = "latency",
        value_name = "DURATION",
        value_parser = response_time,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) response_time: Option<u64>,

    /// A part of the data with separate volumes; may be repeated, instead of the above.
    ///
    /// All parts are in use at the same time. With manual QoS they share a pool whose throughput is
    /// split: --part data=4TiB,704MiB/s --part log=512GiB,256MiB/s.
    #[arg(
        long,
        value_name = "NAME=SIZE,THROUGHPUT",
        value_parser = part,
        conflicts_with_all = ["throughput", "capacity", "iops"],
        help_heading = NEED
    )]
    pub(crate) part: Vec<Part>,

    /// Take throughput, mix and transfer sizes from a measured run: its ID from `list`, or `last`.
    ///
    /// The load point of each variant with the highest throughput is used; the design must meet
    /// each of them separately. Without --capacity the volumes hold the record's files.
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["throughput", "iops", "transfer_size", "read", "part", "schedule"],
        help_heading = NEED
    )]
    pub(crate) from_run: Option<String>,

    /// Take the demand from a profile, for a number of units of its business metric (--metric): eda-like.
    ///
    /// The operations by kind, the bytes, the capacity and the response time that the profile states
    /// for one unit, times the number of units. `fourcorners profiles` lists the profiles; an
    /// experiment file with [metric] works as well.
    #[arg(
        long,
        value_name = "NAME|FILE",
        requires = "metric",
        conflicts_with_all = ["throughput", "iops", "transfer_size", "read", "part", "from_run", "schedule"],
        help_heading = NEED
    )]
    pub(crate) profile: Option<String>,

    /// The number of units for --profile, such as job sets or users: 500.
    ///
    /// With the name of the metric, "job sets=500", another metric of the profile is refused.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = metric_units,
        allow_hyphen_values = true,
        requires = "profile",
        help_heading = NEED
    )]
    pub(crate) metric: Option<Units>,

    /// Compute quota and service level over the week: peak=5TiB@08-18,off=4TiB.
    ///
    /// Phases are NAME=SIZE[:LEVEL][@[DAY-DAY/]HH-HH], one of them without hours for the rest of
    /// the week: week=8TiB:ultra@mon-fri,weekend=8TiB:premium. --capacity is then the data in the
    /// volume, --throughput what at least one phase must deliver. Phases without a level use each
    /// level of --level.
    #[arg(
        long,
        value_name = "PHASE,...",
        value_parser = schedule_text::parse,
        conflicts_with_all = ["iops", "part", "clients", "vm", "growth", "headroom", "peered",
                               "previews", "pools", "top", "response_time", "transfer_size",
                               "mean", "cool", "cool_moved", "backup", "snapshots",
                               "replicate_to", "reserved", "require"],
        help_heading = NEED
    )]
    pub(crate) schedule: Option<WrittenSchedule>,

    /// Minimum time before a volume may move back to a lower service level: 7d.
    ///
    /// Default: the time in the service's current documentation.
    #[arg(long, value_name = "DURATION", value_parser = cool_down, requires = "schedule",
          allow_hyphen_values = true,
          help_heading = DECIDED)]
    pub(crate) cool_down: Option<u64>,

    /// Growth of all requirements: 30%.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          allow_hyphen_values = true, help_heading = NEED)]
    pub(crate) growth: Share,

    /// Share of every throughput to leave unused: 20%.
    ///
    /// 950 MiB/s with 20% headroom requires 950 / 0.8 = 1,187.5 MiB/s.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = NEED)]
    pub(crate) headroom: Percent,

    /// The region: westeurope, or "West Europe"; default: that of the configuration, or eastus.
    #[arg(long, value_name = "NAME", help_heading = DECIDED)]
    pub(crate) region: Option<String>,

    /// Features that the region must have: large-volumes, availability-zones.
    ///
    /// A region without one of them is refused, with the nearest regions that have it. Features
    /// that other options need (--cool, --backup, --level flexible, --protocol datastores) are
    /// always checked.
    #[arg(long, value_name = "FEATURE,...", value_parser = feature, value_delimiter = ',',
          help_heading = DECIDED)]
    pub(crate) require: Vec<Feature>,

    /// How hosts access the volumes: nfsv3, nfsv4.1, smb, or datastores.
    ///
    /// For datastores the hosts are those of Azure VMware Solution (--vm AV36P), each with one
    /// connection to each volume.
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol, default_value = "nfsv3",
          help_heading = DECIDED)]
    pub(crate) protocol: Protocol,

    /// Number of hosts, if it is fixed; adds them to the cost.
    ///
    /// Without this and --vm, clients are not part of the cost, because they usually exist already:
    /// the output then names the fewest that can carry the load.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = DECIDED,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) clients: Option<u32>,

    /// VM size of the hosts, if it is fixed; adds them to the cost: Standard_D32s_v5.
    #[arg(long, value_name = "NAME", help_heading = DECIDED)]
    pub(crate) vm: Option<String>,

    /// Allowed service levels: standard, premium, ultra, flexible.
    #[arg(long, value_name = "LEVEL,...", value_parser = level_named, value_delimiter = ',',
          help_heading = DECIDED)]
    pub(crate) level: Vec<ServiceLevel>,

    /// Allow features in preview: breakthrough volumes.
    #[arg(long, help_heading = DECIDED)]
    pub(crate) previews: bool,

    /// The most Flexible pools. Each pool includes some throughput at no charge, so several can be
    /// cheaper than one, but are more to manage.
    #[arg(long, value_name = "COUNT", default_value_t = POOLS_MAX, help_heading = DECIDED,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pools: u64,

    /// Hours per month for which everything runs and is charged.
    #[arg(long, value_name = "COUNT", default_value_t = 730, help_heading = PRICE,
          value_parser = clap::value_parser!(u32).range(1..=744))]
    pub(crate) hours: u32,

    /// Share of the traffic that crosses a network peering: 100%.
    ///
    /// Every byte is charged twice, out of one network and into the other.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = PRICE)]
    pub(crate) peered: Percent,

    /// Mean throughput over the month as a share of the required one, for traffic charges.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "100%", requires = "peered", help_heading = PRICE)]
    pub(crate) mean: Percent,

    /// Share of the capacity in the cool tier: 60%.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = PRICE)]
    pub(crate) cool: Percent,

    /// Share of the cool tier that is read or written per month: 20%.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          requires = "cool", allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) cool_moved: Share,

    /// Retained backups: 6TiB.
    #[arg(long, value_name = "SIZE", value_parser = capacity_gib, allow_hyphen_values = true,
          help_heading = PRICE)]
    pub(crate) backup: Option<u64>,

    /// Space for snapshots, as a share of the data: 20%.
    ///
    /// Snapshots count against the quota: --capacity 4TiB --snapshots 20% requires 4.8 TiB.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) snapshots: Share,

    /// Replicate the volumes to this region, with pools of the same size there.
    #[arg(long, value_name = "REGION", help_heading = PRICE)]
    pub(crate) replicate_to: Option<String>,

    /// How often the replica is updated: 10min, hour, or day.
    #[arg(long, value_name = "INTERVAL", value_parser = interval, default_value = "hour",
          requires = "replicate_to", help_heading = PRICE)]
    pub(crate) replicate_every: ReplicationInterval,

    /// Share of the data that changes per day and is replicated: 3%.
    ///
    /// Default: a seventh of the space that the vendor recommends for a week of snapshots.
    #[arg(long, value_name = "SHARE", value_parser = growth, requires = "replicate_to",
          allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) daily_change: Option<Share>,

    /// Service level of the replica; default: that of the volumes.
    #[arg(long, value_name = "LEVEL", value_parser = level_named, requires = "replicate_to",
          help_heading = PRICE)]
    pub(crate) replica_level: Option<ServiceLevel>,

    /// Reserve capacity for a term: 1y or 3y.
    ///
    /// Reservations are in units of 100 TiB and 1 PiB of a level; the rest is pay as you go.
    /// Flexible capacity cannot be reserved.
    #[arg(long, value_name = "TERM", value_parser = term, help_heading = PRICE)]
    pub(crate) reserved: Option<ReservationTerm>,

    /// How many designs to list.
    #[arg(long, value_name = "COUNT", default_value_t = 5, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,

    /// Show everything: evidence, the calculation of every number with its sources, assumptions.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Print JSON, with all designs.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Also write an HTML page (.html) or Markdown (.md).
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl SizeArguments {
    pub(crate) fn options(&self) -> size::Options {
        size::Options {
            throughput: self.throughput,
            capacity: self.capacity,
            iops: self.iops,
            transfer_size: self.transfer_size,
            read: self.read,
            response_time: self.response_time,
            part: self.part.clone(),
            from_run: self.from_run.clone(),
            profile: self.profile.clone(),
            metric: self.metric.clone(),
            cool_down: self.cool_down,
            growth: self.growth,
            headroom: self.headroom,
            region: self.region.clone(),
            require: self.require.clone(),
            protocol: self.protocol,
            clients: self.clients,
            vm: self.vm.clone(),
            level: self.level.clone(),
            previews: self.previews,
            pools: self.pools,
            hours: self.hours,
            peered: self.peered,
            mean: self.mean,
            cool: self.cool,
            cool_moved: self.cool_moved,
            backup: self.backup,
            snapshots: self.snapshots,
            replicate_to: self.replicate_to.clone(),
            replicate_every: self.replicate_every,
            daily_change: self.daily_change,
            replica_level: self.replica_level,
            reserved: self.reserved,
        }
    }
}

fn message(error: ParseError) -> String {
    error.to_string()
}

/// A throughput in whole KiB/s, rounded up; above 0.
fn throughput(text: &str) -> Result<KibPerSec, String> {
    let is_rate = text.trim().ends_with("/s") || text.trim().ends_with("bps");
    let rate = text.parse::<BytesPerSec>().ok().map(BytesPerSec::get);
    let rate = rate.filter(|rate| is_rate && *rate <= u64::MAX as f64);
    let rate =
        rate.ok_or("expected a throughput with its unit, such as `950MiB/s` or `8Gbit/s`")?;
    let bytes = rate.ceil() as u64;
    match bytes.div_ceil(1024) {
        0 => Err("expected a throughput above 0".to_owned()),
        kib => Ok(KibPerSec::new(kib)),
    }
}

/// `500`, or `job sets=500`.
fn metric_units(text: &str) -> Result<Units, String> {
    const UNITS_MAX: u64 = 1_000_000_000;
    let (metric, count) = match text.split_once('=') {
        Some((name, count)) => (Some(name.trim().to_owned()), count),
        None => (None, text),
    };
    let count: Option<u64> = count.trim().replace('_', "").parse().ok();
    match count.filter(|count| (1..=UNITS_MAX).contains(count)) {
        Some(count) => Ok(Units { count, metric }),
        None => {
            Err("expected a whole number of units from 1 to 1,000,000,000, such as `500`"
                .to_owned())
        }
    }
}

/// A capacity in whole GiB, rounded up; above 0.
fn capacity_gib(text: &str) -> Result<u64, String> {
    let bytes: Bytes = text.parse().map_err(message)?;
    match bytes.get().div_ceil(1 << 30) {
        0 => Err("expected a capacity above 0".to_owned()),
        gib => Ok(gib),
    }
}

fn ops_per_s(text: &str) -> Result<u64, String> {
    let rate: OpsPerSec = text.parse().map_err(message)?;
    match rate.get() {
        rate if rate > 0.0 && rate < 1e15 => Ok(rate.ceil() as u64),
        _ => Err("expected a rate above 0".to_owned()),
    }
}

fn transfer_size(text: &str) -> Result<u64, String> {
    let bytes: Bytes = text.parse().map_err(message)?;
    match bytes.get() {
        512..=16_777_216 => Ok(bytes.get()),
        _ => Err("expected a size from 512 bytes to 16 MiB".to_owned()),
    }
}

fn response_time(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(message)?;
    match u64::try_from(time.as_nanos()) {
        Ok(ns) if ns > 0 => Ok(ns),
        _ => Err("expected a duration above 0, such as `2ms`".to_owned()),
    }
}

/// In whole seconds, rounded up.
fn cool_down(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(message)?;
    Ok(time.as_nanos().div_ceil(1_000_000_000) as u64)
}

/// Growth may exceed 100 %.
fn growth(text: &str) -> Result<Share, String> {
    let wrong = || "expected a share from `0%` to `10000%`".to_owned();
    let (number, has_unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let share: f64 = number.parse().map_err(|_| wrong())?;
    match share {
        share if !has_unit && share > 0.0 && share < 1.0 => {
            Err("expected a share with its unit, such as `30%`".to_owned())
        }
        share if (0.0..=10_000.0).contains(&share) => {
            Ok(Share::from_permille((share * 10.0).round() as u64))
        }
        _ => Err(wrong()),
    }
}

fn protocol(text: &str) -> Result<Protocol, String> {
    let known = Protocol::ALL.iter().copied();
    let lower = text.to_ascii_lowercase();
    let bare = |name: &str| name.replace(['v', '.'], "");
    known
        .clone()
        .find(|p| bare(p.name()) == bare(&lower))
        .ok_or_else(|| unknown(text, &known.map(Protocol::name).collect::<Vec<_>>()))
}

fn feature(text: &str) -> Result<Feature, String> {
    let names = Feature::ALL.iter().map(|one| one.name().replace('_', "-"));
    let names: Vec<String> = names.collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    Feature::named(text).ok_or_else(|| unknown(text, &known))
}

fn interval(text: &str) -> Result<ReplicationInterval, String> {
    let known = ReplicationInterval::ALL;
    let found = known.into_iter().find(|one| one.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| unknown(text, &known.map(ReplicationInterval::name)))
}

fn term(text: &str) -> Result<ReservationTerm, String> {
    let known = ReservationTerm::ALL;
    let found = known.into_iter().find(|one| one.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| unknown(text, &known.map(ReservationTerm::name)))
}

/// `data=4TiB,704MiB/s`
fn part(text: &str) -> Result<Part, String> {
    let expected = "expected a part such as `data=4TiB,704MiB/s`";
    let (name, amounts) = text.split_once('=').ok_or(expected)?;
    let (size, rate) = amounts.split_once(',').ok_or(expected)?;
    if name.trim().is_empty() {
        return Err(expected.to_owned());
    }
    let throughput = throughput(rate)?;
    let demand = Demand {
        throughput,
        transfer_bytes: 64 << 10,
        read: units::Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    Ok(Part {
        name: name.trim().to_owned(),
        capacity_gib: capacity_gib(size)?,
        demands: vec![demand],
        inodes: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units_and_are_above_0() {
        assert_eq!(throughput("950MiB/s").map(KibPerSec::get), Ok(972_800));
        assert_eq!(throughput("16000Mbit/s").map(KibPerSec::get), Ok(1_953_125));
        assert_eq!(throughput("16 Gbit/s").map(KibPerSec::get), Ok(1_953_125));
        for wrong in ["950", "950MiB", "-5MiB/s", "0MiB/s", "fast", "-1Gbit/s", "NaNGbit/s"] {
            assert!(throughput(wrong).is_err(), "{wrong}");
        }
        assert_eq!(capacity_gib("4TiB"), Ok(4096));
        assert_eq!(capacity_gib("1"), Ok(1));
        assert!(capacity_gib("0").is_err() && capacity_gib("-4TiB").is_err());
        assert_eq!(ops_per_s("60k"), Ok(60_000));
        assert!(ops_per_s("-1").is_err() && ops_per_s("0").is_err());
        assert_eq!(growth("30%"), Ok(Share::from_percent(30)));
        assert_eq!(growth("250%"), Ok(Share::from_percent(250)));
        assert!(growth("-1%").is_err() && growth("much").is_err());
        assert!(transfer_size("0").is_err());
        assert_eq!(metric_units("500"), Ok(Units { count: 500, metric: None }));
        let named = Units { count: 5, metric: Some("job sets".to_owned()) };
        assert_eq!(metric_units("job sets=5"), Ok(named));
        for wrong in ["0", "-5", "1.5", "many", "job sets", "2000000000"] {
            assert!(metric_units(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_case_insensitive_and_unknown_ones_list_the_known() {
        assert_eq!(protocol("NFSv4.1"), Ok(Protocol::Nfs41));
        assert_eq!(protocol("nfs3"), Ok(Protocol::Nfs3));
        assert!(protocol("cifs").unwrap_err().contains("nfsv3, nfsv4.1, smb, datastores"));
        assert_eq!(level_named("Premium"), Ok(ServiceLevel::Premium));
        assert_eq!(term("3Y"), Ok(ReservationTerm::ThreeYears));
        assert!(term("2y").unwrap_err().contains("there are 1y, 3y"));
        assert_eq!(interval("10min"), Ok(ReplicationInterval::TenMinutes));
        assert!(interval("week").unwrap_err().contains("10min, hour, day"));
        assert_eq!(feature("large-volumes"), Ok(Feature::LargeVolumes));
        assert!(feature("large-volume").unwrap_err().contains("did you mean `large-volumes`?"));
        assert!(level_named("premum").unwrap_err().contains("did you mean `premium`?"));
        let log = part("log=512GiB,256MiB/s").unwrap();
        assert_eq!((log.name.as_str(), log.capacity_gib), ("log", 512));
        assert!(part("log=512GiB").unwrap_err().contains("such as"));
    }
}
