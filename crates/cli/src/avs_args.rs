//! The arguments of `avs`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cloud::avs::{Avs, Host, Policy};
use cloud::price::{Prices, Usd};
use cloud::row::Status;
use sizing::avs::HOURS_PER_MONTH;
use sizing::avs::ask::Ratio;
use sizing::avs::machine::Power;
use units::{Bytes, BytesPerSec, OpsPerSec, ParseError, Percent};

use crate::size_args::unknown;

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
    #[arg(long, value_name = "PATH", required = true)]
    pub(crate) rvtools: PathBuf,

    /// A workbook or CSV file of Live Optics with the sheet `VM Performance`.
    #[arg(long, value_name = "FILE", help_heading = LOAD)]
    pub(crate) live_optics: Option<PathBuf>,

    /// Which of Live Optics' figures counts.
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "peak", help_heading = LOAD)]
    pub(crate) load: LoadSense,

    /// Operations per second of each machine without a measured load, for example 50/s.
    #[arg(long, value_name = "RATE", value_parser = operations, help_heading = LOAD)]
    pub(crate) iops_per_vm: Option<u64>,

    /// Throughput of each machine without a measured load, for example 2MiB/s.
    #[arg(long, value_name = "THROUGHPUT", value_parser = throughput, help_heading = LOAD)]
    pub(crate) throughput_per_vm: Option<u64>,

    /// Bytes of one operation, where operations are known and throughput is not.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "8KiB",
        value_parser = size,
        help_heading = LOAD
    )]
    pub(crate) transfer_size: Bytes,

    /// Share of reads among all operations.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "70%",
        value_parser = share,
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

    /// In which sense a machine's storage counts.
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
    #[arg(long, value_name = "COUNT", value_parser = ratio, help_heading = COUNTED)]
    pub(crate) vcpus_per_core: Option<Ratio>,

    /// The kind of host.
    #[arg(
        long,
        value_name = "HOST",
        default_value = "AV36P",
        value_parser = host,
        help_heading = BOUGHT
    )]
    pub(crate) host: Host,

    /// What a host costs: 5000/month, 6.85/hour or 60000/year, in US dollars.
    ///
    /// There is no list price of hosts among the facts; without this savings are told in hosts.
    #[arg(long, value_name = "PRICE", value_parser = host_price, help_heading = BOUGHT)]
    pub(crate) host_price: Option<Usd>,

    /// So many hosts beside datastores on files, and no other number.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = BOUGHT
    )]
    pub(crate) hosts: Option<u64>,

    /// How vSAN keeps data safe: raid1, raid5, raid6, raid1-ftt2, raid1-ftt3 or raid0.
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "raid1",
        value_parser = policy,
        help_heading = BOUGHT
    )]
    pub(crate) policy: Policy,

    /// By how much vSAN makes data smaller: 1.5 where 1.5 TB take 1 TB.
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        value_parser = saving,
        help_heading = BOUGHT
    )]
    pub(crate) dedup: u64,

    /// What vSAN's own format takes.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0%",
        value_parser = share,
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
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = BOUGHT)]
    pub(crate) datastore_size: Option<Bytes>,

    /// Space of a datastore beside what lies on it; without it what the service
    /// advises for snapshots of a week.
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = BOUGHT)]
    pub(crate) headroom: Option<Percent>,

    /// The region of the list prices, for example westeurope; `none` for no prices.
    #[arg(
        long,
        value_name = "REGION",
        default_value = "eastus",
        value_parser = region,
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

fn host(name: &str) -> Result<Host, String> {
    let avs = Avs::embedded();
    let rows = avs.hosts.iter().filter(|host| host.origin.status == Status::Current);
    let names: Vec<&str> = rows.map(|host| host.name.as_str()).collect();
    avs.host(name).cloned().ok_or_else(|| unknown_of("host", name, &names))
}

fn policy(name: &str) -> Result<Policy, String> {
    let avs = Avs::embedded();
    let rows = avs.policies.iter().filter(|policy| policy.origin.status == Status::Current);
    let names: Vec<&str> = rows.map(|policy| policy.name.as_str()).collect();
    avs.policy(name).cloned().ok_or_else(|| unknown_of("policy", name, &names))
}

fn region(name: &str) -> Result<String, String> {
    let prices = Prices::embedded();
    match (name, prices.storage(name)) {
        ("none", _) => Ok(name.to_owned()),
        (_, Some(found)) => Ok(found.region.clone()),
        (_, None) => {
            let mut names = prices.regions();
            names.push("none");
            Err(unknown_of("region with known prices", name, &names))
        }
    }
}

/// `there is no such host; there are AV36, AV36P; did you mean `AV36`?`
fn unknown_of(what: &str, name: &str, names: &[&str]) -> String {
    format!("there is no such {what}; {}", unknown(name, names))
}

fn operations(text: &str) -> Result<u64, String> {
    let rate: OpsPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    whole(rate.get(), "operations per second")
}

fn throughput(text: &str) -> Result<u64, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    whole(rate.get(), "bytes per second")
}

/// More than any machine does, and far from where sums of them no longer fit.
const RATE_MAX: f64 = 1e12;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
fn whole(rate: f64, what: &str) -> Result<u64, String> {
    match rate.ceil() {
        rate if (1.0..=RATE_MAX).contains(&rate) => Ok(rate as u64),
        _ => Err(format!("wanted from 1 to {RATE_MAX:.0} {what}")),
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: ParseError| error.to_string())?;
    match size.get() {
        512.. => Ok(size),
        _ => Err("wanted at least 512 bytes".to_owned()),
    }
}

fn share(text: &str) -> Result<Percent, String> {
    text.parse().map_err(|error: ParseError| error.to_string())
}

/// `4` or `4.5`: exact, in thousandths.
fn thousandths(text: &str, least: u64, most: u64) -> Option<u64> {
    let amount = Usd::parse(text.trim())?.micros();
    (amount.is_multiple_of(1000) && (least..=most).contains(&(amount / 1000)))
        .then_some(amount / 1000)
}

fn ratio(text: &str) -> Result<Ratio, String> {
    let wanted = "wanted how many share a core, such as `4` or `4.5`";
    let vcpus = thousandths(text, 1, 64_000).ok_or(wanted)?;
    let divisor = greatest_divisor(vcpus, 1000);
    let source = "--vcpus-per-core".to_owned();
    Ok(Ratio { vcpus: vcpus / divisor, cores: 1000 / divisor, source })
}

/// Euclid's.
fn greatest_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

fn saving(text: &str) -> Result<u64, String> {
    let wanted = "wanted a factor from `1` to `10`, such as `1.5`";
    thousandths(text, 1000, 10_000).ok_or_else(|| wanted.to_owned())
}

fn host_price(text: &str) -> Result<Usd, String> {
    let wanted = "wanted a price with its time, such as `5000/month`, `6.85/hour` or `60000/year`";
    let (amount, time) = text.trim().trim_start_matches('$').split_once('/').ok_or(wanted)?;
    let amount = Usd::parse(&amount.replace([',', '_'], "")).ok_or(wanted)?;
    let month = match time.trim() {
        "month" => amount,
        "hour" => amount.times(HOURS_PER_MONTH),
        "year" => Usd::from_micros(amount.micros() / 12),
        _ => return Err(wanted.to_owned()),
    };
    match month {
        Usd::ZERO => Err(wanted.to_owned()),
        month => Ok(month),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_its_time() {
        assert_eq!(host_price("5000/month"), Ok(Usd::from_micros(5_000_000_000)));
        assert_eq!(host_price("$5,000/month"), Ok(Usd::from_micros(5_000_000_000)));
        assert_eq!(host_price("6.85/hour"), Ok(Usd::from_micros(5_000_500_000)));
        assert_eq!(host_price("60000/year"), Ok(Usd::from_micros(5_000_000_000)));
        for text in ["5000", "0/month", "-5/month", "5000/week", "much/month", ""] {
            assert!(host_price(text).unwrap_err().contains("`5000/month`"), "{text}");
        }
    }

    #[test]
    fn a_ratio_is_exact() {
        let parts = |text| ratio(text).map(|ratio| (ratio.vcpus, ratio.cores));
        assert_eq!(parts("4"), Ok((4, 1)));
        assert_eq!(parts("4.5"), Ok((9, 2)));
        assert_eq!(parts("0.001"), Ok((1, 1000)));
        for text in ["0", "-1", "65", "4.0001", "four"] {
            assert!(parts(text).is_err(), "{text}");
        }
        assert_eq!(saving("1.5"), Ok(1500));
        assert!(saving("0.5").is_err());
    }

    #[test]
    fn the_closest_name_is_told() {
        assert!(host("AV36Q").unwrap_err().contains("was `AV36` meant?"));
        assert!(host("av36p").is_ok());
        assert!(policy("raid-6").unwrap_err().contains("was `raid6` meant?"));
        assert!(region("estus").unwrap_err().contains("was `eastus` meant?"));
        assert_eq!(region("WestEurope").as_deref(), Ok("westeurope"));
    }

    #[test]
    fn rates_below_one_and_beyond_all_machines_are_refused() {
        assert_eq!(operations("50/s"), Ok(50));
        assert_eq!(throughput("2MiB/s"), Ok(2 << 20));
        assert!(operations("0").is_err());
        assert!(operations("-5/s").is_err());
        assert!(throughput("1000000TiB/s").is_err());
    }
}
