//! The flags of `size` and their help.

use std::path::PathBuf;

use clap::Args;
use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::region::Feature;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use sizing::need::{Demand, POOLS_MAX, Part, Protocol};
use units::{Bytes, OpsPerSec, ParseError, Percent, parse_duration, unknown};

use crate::record_args::StoreArguments;
use crate::schedule_args::WrittenSchedule;

pub(crate) const SIZE_EXAMPLES: &str = "\
Examples:
  fourcorners size --throughput 950MiB/s --capacity 4TiB
  fourcorners size --iops 60000 --read 70% --capacity 4TiB --response-time 2ms
  fourcorners size --throughput 2GiB/s --capacity 20TiB --read 0% --vm D32s_v5
  fourcorners size --from-run last --growth 30% --headroom 20%
  fourcorners size --schedule peak=5TiB@08-18,off=4TiB --capacity 1.1TiB
  fourcorners size --part data=4TiB,704MiB/s --part log=512GiB,256MiB/s --json";

const NEED: &str = "What is needed";
const DECIDED: &str = "What is decided";
const PRICE: &str = "What it may cost";
const OUTPUT: &str = "Output";

/// Arguments of `size`.
#[derive(Debug, Args)]
pub(crate) struct SizeArguments {
    /// The throughput, reads and writes together: 950MiB/s, or 8Gbit/s.
    #[arg(
        long,
        value_name = "THROUGHPUT",
        value_parser = throughput,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) throughput: Option<KibPerSec>,

    /// What the volumes must hold, with its snapshots: 4TiB.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = capacity_gib,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) capacity: Option<u64>,

    /// Operations per second: 60000.
    ///
    /// With --throughput as well each of both is to be carried by itself: this rate of small
    /// transfers, and that throughput of transfers of 64 KiB.
    #[arg(
        long,
        value_name = "RATE",
        value_parser = ops_per_s,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) iops: Option<u64>,

    /// Bytes moved by one operation; without it 8KiB with --iops, 64KiB otherwise.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = transfer_size,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) transfer_size: Option<u64>,

    /// Share of reads; the rest are writes, which the hosts' egress bounds.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "100%", help_heading = NEED)]
    pub(crate) read: Percent,

    /// The mean response time that is wanted: 2ms.
    #[arg(
        long,
        alias = "latency",
        value_name = "DURATION",
        value_parser = response_time,
        allow_hyphen_values = true,
        help_heading = NEED
    )]
    pub(crate) response_time: Option<u64>,

    /// A part of the data with volumes of its own; may be given many times, instead of the above.
    ///
    /// All parts are in use at the same time. With manual QoS they share a pool whose throughput
    /// is split: --part data=4TiB,704MiB/s --part log=512GiB,256MiB/s.
    #[arg(
        long,
        value_name = "NAME=SIZE,THROUGHPUT",
        value_parser = part,
        conflicts_with_all = ["throughput", "capacity", "iops"],
        help_heading = NEED
    )]
    pub(crate) part: Vec<Part>,

    /// Take rates, mix and transfer sizes from what was measured: the ID of a record, as `list`
    /// shows it, or `last`.
    ///
    /// Of each variant the load point with the largest throughput counts, and each of them is to
    /// be carried by itself. Without --capacity the volumes hold the record's files.
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["throughput", "iops", "transfer_size", "read", "part", "schedule"],
        help_heading = NEED
    )]
    pub(crate) from_run: Option<String>,

    /// Quota and level over the week, instead of a design: peak=5TiB@08-18,off=4TiB.
    ///
    /// Phases as NAME=SIZE[:LEVEL][@[DAY-DAY/]HH-HH], one of them without hours for the rest of
    /// the week: week=8TiB:ultra@mon-fri,weekend=8TiB:premium. --capacity is then what is stored
    /// in the volume, --throughput what some phase has to give. Without a level, each level of
    /// --level.
    #[arg(
        long,
        value_name = "PHASE,...",
        value_parser = crate::schedule_args::parse,
        conflicts_with_all = ["iops", "part", "clients", "vm", "growth", "headroom", "peered",
                               "previews", "pools", "top", "response_time", "transfer_size",
                               "mean", "cool", "cool_moved", "backup", "snapshots",
                               "replicate_to", "reserved", "require"],
        help_heading = NEED
    )]
    pub(crate) schedule: Option<WrittenSchedule>,

    /// How long the service makes a move to a lower level wait after one to a higher: 7d.
    ///
    /// Without it, what the service's current documents say.
    #[arg(long, value_name = "DURATION", value_parser = cool_down, requires = "schedule",
          allow_hyphen_values = true,
          help_heading = DECIDED)]
    pub(crate) cool_down: Option<u64>,

    /// By how much all of it will grow: 30%.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          allow_hyphen_values = true, help_heading = NEED)]
    pub(crate) growth: u64,

    /// The share of every throughput that is bought and left unused: 20%.
    ///
    /// 950 MiB/s with 20% of headroom are 950 / 0.8 = 1,187.5 MiB/s to be bought.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = NEED)]
    pub(crate) headroom: Percent,

    /// The region: westeurope, or "West Europe"; without it eastus.
    #[arg(long, value_name = "NAME", help_heading = DECIDED)]
    pub(crate) region: Option<String>,

    /// Features that the region must have: large-volumes, availability-zones.
    ///
    /// A region without one of them is refused, with the nearest that have it. What other options
    /// need (--cool, --backup, --level flexible, --protocol datastores) is checked without this.
    #[arg(long, value_name = "FEATURE,...", value_parser = feature, value_delimiter = ',',
          help_heading = DECIDED)]
    pub(crate) require: Vec<Feature>,

    /// How hosts reach the volumes: nfsv3, nfsv4.1, smb, or datastores.
    ///
    /// With datastores the hosts are those of Azure VMware Solution (--vm AV36P), each of which has
    /// one connection to each volume.
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol, default_value = "nfsv3",
          help_heading = DECIDED)]
    pub(crate) protocol: Protocol,

    /// The number of hosts, if it is fixed.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, help_heading = DECIDED,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) clients: Option<u32>,

    /// The size of the hosts, if it is fixed: Standard_D32s_v5.
    #[arg(long, value_name = "NAME", help_heading = DECIDED)]
    pub(crate) vm: Option<String>,

    /// Service levels that may be used: standard, premium, ultra, flexible.
    #[arg(long, value_name = "LEVEL,...", value_parser = level, value_delimiter = ',',
          help_heading = DECIDED)]
    pub(crate) level: Vec<ServiceLevel>,

    /// Use what is in preview too: breakthrough volumes.
    #[arg(long, help_heading = DECIDED)]
    pub(crate) previews: bool,

    /// The most Flexible pools: each has some throughput that is not paid for, so several pools
    /// can be cheaper than one, and are more to manage.
    #[arg(long, value_name = "COUNT", default_value_t = POOLS_MAX, help_heading = DECIDED,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pools: u64,

    /// Hours of a month for which everything runs and is paid.
    #[arg(long, value_name = "COUNT", default_value_t = 730, help_heading = PRICE,
          value_parser = clap::value_parser!(u32).range(1..=744))]
    pub(crate) hours: u32,

    /// The share of the traffic that crosses from one peered network into another: 100%.
    ///
    /// Every byte is paid on its way out of one and into the other.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = PRICE)]
    pub(crate) peered: Percent,

    /// The mean throughput over the month as a share of the wanted, for what is paid by traffic.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "100%", requires = "peered", help_heading = PRICE)]
    pub(crate) mean: Percent,

    /// The share of the capacity that lies in the cool tier: 60%.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          default_value = "0%", help_heading = PRICE)]
    pub(crate) cool: Percent,

    /// The share of what lies in the cool tier that is read or written in a month: 20%.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          requires = "cool", allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) cool_moved: u64,

    /// What backups keep: 6TiB.
    #[arg(long, value_name = "SIZE", value_parser = capacity_gib, allow_hyphen_values = true,
          help_heading = PRICE)]
    pub(crate) backup: Option<u64>,

    /// Room for snapshots, as a share of the data: 20%.
    ///
    /// Snapshots count against the quota: --capacity 4TiB --snapshots 20% needs 4.8 TiB.
    #[arg(long, value_name = "SHARE", value_parser = growth, default_value = "0%",
          allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) snapshots: u64,

    /// Replicate the volumes to this region, with pools of the same size there.
    #[arg(long, value_name = "REGION", help_heading = PRICE)]
    pub(crate) replicate_to: Option<String>,

    /// How often the replica is updated: 10min, hour, or day.
    #[arg(long, value_name = "INTERVAL", value_parser = interval, default_value = "hour",
          requires = "replicate_to", help_heading = PRICE)]
    pub(crate) replicate_every: ReplicationInterval,

    /// The share of the data that changes in a day and is replicated: 3%.
    ///
    /// Without it a seventh of the room that the vendor recommends for a week of snapshots.
    #[arg(long, value_name = "SHARE", value_parser = growth, requires = "replicate_to",
          allow_hyphen_values = true, help_heading = PRICE)]
    pub(crate) daily_change: Option<u64>,

    /// The service level of the replica; without it that of the volumes.
    #[arg(long, value_name = "LEVEL", value_parser = level, requires = "replicate_to",
          help_heading = PRICE)]
    pub(crate) replica_level: Option<ServiceLevel>,

    /// Reserve capacity for a term: 1y or 3y.
    ///
    /// Reservations are made in units of 100 TiB and 1 PiB of a level; the rest is paid as you go.
    /// Flexible capacity cannot be reserved.
    #[arg(long, value_name = "TERM", value_parser = term, help_heading = PRICE)]
    pub(crate) reserved: Option<ReservationTerm>,

    /// How many designs are shown.
    #[arg(long, value_name = "COUNT", default_value_t = 3, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: u32,

    /// Show the arithmetic, and the rows of data with source and date that it rests on.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) explain: bool,

    /// Print JSON, with all designs.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write a page as well; its ending says which: .html or .md.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

fn say(error: ParseError) -> String {
    error.to_string()
}

/// A throughput in whole KiB/s, rounded up; above 0.
fn throughput(text: &str) -> Result<KibPerSec, String> {
    let bits = [("Gbit/s", 1_000_000_000.0), ("Mbit/s", 1_000_000.0), ("Mbps", 1_000_000.0)];
    let of_bits = bits.into_iter().find_map(|(unit, factor)| {
        let number: f64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor / 8.0)
    });
    let bytes = match of_bits {
        Some(bytes) if bytes.is_finite() && (0.0..1e18).contains(&bytes) => bytes.ceil() as u64,
        Some(_) => return Err("a throughput above 0".to_owned()),
        None => {
            let size = text.trim();
            let size = size.strip_suffix("/s").ok_or_else(|| {
                "a throughput with its unit, such as `950MiB/s` or `8Gbit/s`".to_owned()
            })?;
            let parsed = size.parse::<Bytes>();
            parsed.map_err(|_| "a throughput such as `950MiB/s` or `8Gbit/s`".to_owned())?.get()
        }
    };
    match bytes.div_ceil(1024) {
        0 => Err("a throughput above 0".to_owned()),
        kib => Ok(KibPerSec::new(kib)),
    }
}

/// A capacity in whole GiB, rounded up; above 0.
fn capacity_gib(text: &str) -> Result<u64, String> {
    let bytes: Bytes = text.parse().map_err(say)?;
    match bytes.get().div_ceil(1 << 30) {
        0 => Err("a capacity above 0".to_owned()),
        gib => Ok(gib),
    }
}

fn ops_per_s(text: &str) -> Result<u64, String> {
    let rate: OpsPerSec = text.parse().map_err(say)?;
    match rate.get() {
        rate if rate > 0.0 && rate < 1e15 => Ok(rate.ceil() as u64),
        _ => Err("a rate above 0".to_owned()),
    }
}

fn transfer_size(text: &str) -> Result<u64, String> {
    let bytes: Bytes = text.parse().map_err(say)?;
    match bytes.get() {
        512..=16_777_216 => Ok(bytes.get()),
        _ => Err("a size from 512 bytes to 16 MiB".to_owned()),
    }
}

fn response_time(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(say)?;
    match u64::try_from(time.as_nanos()) {
        Ok(ns) if ns > 0 => Ok(ns),
        _ => Err("a duration above 0, such as `2ms`".to_owned()),
    }
}

/// In whole seconds, rounded up.
fn cool_down(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(say)?;
    Ok(time.as_nanos().div_ceil(1_000_000_000) as u64)
}

/// In thousandths. Growth may be more than all that is there.
fn growth(text: &str) -> Result<u64, String> {
    let wrong = || "a share from `0%` to `10000%`".to_owned();
    let (number, has_unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let share: f64 = number.parse().map_err(|_| wrong())?;
    match share {
        share if !has_unit && share > 0.0 && share < 1.0 => {
            Err("with the unit it is clear what is meant: `30%`".to_owned())
        }
        share if (0.0..=10_000.0).contains(&share) => Ok((share * 10.0).round() as u64),
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

pub(crate) fn level(text: &str) -> Result<ServiceLevel, String> {
    let lower = text.to_ascii_lowercase();
    let names = ServiceLevel::ALL.map(ServiceLevel::name);
    ServiceLevel::named(&lower).ok_or_else(|| unknown(text, &names))
}

/// `data=4TiB,704MiB/s`
fn part(text: &str) -> Result<Part, String> {
    let wanted = "a part such as `data=4TiB,704MiB/s`";
    let (name, amounts) = text.split_once('=').ok_or(wanted)?;
    let (size, rate) = amounts.split_once(',').ok_or(wanted)?;
    if name.trim().is_empty() {
        return Err(wanted.to_owned());
    }
    let throughput = throughput(rate)?;
    let demand = Demand {
        throughput,
        transfer_bytes: 64 << 10,
        read_permille: 1000,
        access: Access::Sequential,
    };
    Ok(Part {
        name: name.trim().to_owned(),
        capacity_gib: capacity_gib(size)?,
        demands: vec![demand],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units_and_are_above_nothing() {
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
        assert_eq!(growth("30%"), Ok(300));
        assert_eq!(growth("250%"), Ok(2500));
        assert!(growth("-1%").is_err() && growth("much").is_err());
        assert!(transfer_size("0").is_err());
    }

    #[test]
    fn names_are_taken_as_people_write_them_and_others_answered_with_what_there_is() {
        assert_eq!(protocol("NFSv4.1"), Ok(Protocol::Nfs41));
        assert_eq!(protocol("nfs3"), Ok(Protocol::Nfs3));
        assert!(protocol("cifs").unwrap_err().contains("nfsv3, nfsv4.1, smb, datastores"));
        assert_eq!(level("Premium"), Ok(ServiceLevel::Premium));
        assert_eq!(term("3Y"), Ok(ReservationTerm::ThreeYears));
        assert!(term("2y").unwrap_err().contains("there are 1y, 3y"));
        assert_eq!(interval("10min"), Ok(ReplicationInterval::TenMinutes));
        assert!(interval("week").unwrap_err().contains("10min, hour, day"));
        assert_eq!(feature("large-volumes"), Ok(Feature::LargeVolumes));
        assert!(feature("large-volume").unwrap_err().contains("did you mean `large-volumes`?"));
        assert!(level("premum").unwrap_err().contains("did you mean `premium`?"));
        let log = part("log=512GiB,256MiB/s").unwrap();
        assert_eq!((log.name.as_str(), log.capacity_gib), ("log", 512));
        assert!(part("log=512GiB").unwrap_err().contains("such as"));
    }
}
