//! The flags of `tune` and their help.

use clap::Args;
use units::{BytesPerSec, OpsPerSec, ParseError, Percent, parse_duration};
use workload::reach::Wanted;

use crate::run_args::RunArguments;

pub(crate) const TUNE_EXAMPLES: &str = "\
Examples:
  fourcorners tune --want 100MiB/s     of an emulated volume
  fourcorners tune /mnt/vol1 --want 200MiB/s --transfer-size 64KiB
  fourcorners tune /mnt/vol1 --want 3200/s --transfer-size 8KiB --pattern random
  fourcorners tune nfs://filer/vol1 -o nconnect=8 --want 1GiB/s --hosts 3";

const TUNING: &str = "Tuning";
const LOAD: &str = "Load";
const QUICK: &str =
    "Measure each concurrency for 3 s after 1 s of warm-up; the numbers are rougher";

/// Arguments of `tune`. Those of `run` that say which experiment and how often are not shown: they
/// are refused in words.
#[derive(Debug, Args)]
#[command(
    mut_arg("workload", |flag| flag.hide(true)),
    mut_arg("profile", |flag| flag.hide(true)),
    mut_arg("repeats", |flag| flag.hide(true)),
    mut_arg("until", |flag| flag.hide(true)),
    mut_arg("explain", |flag| flag.hide(true)),
    mut_arg("quick", |flag| flag.help(QUICK).long_help(QUICK)),
)]
pub(crate) struct TuneArguments {
    /// The rate to reach, with its unit: 200MiB/s, or 3200/s for operations.
    #[arg(long, value_name = "RATE", value_parser = wanted, help_heading = TUNING)]
    pub(crate) want: Wanted,

    /// A rate this much below what is wanted still counts as reached.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "3%",
        value_parser = within,
        help_heading = TUNING
    )]
    pub(crate) within: Percent,

    /// An objective: the mean response time at which the rate is wanted, for example 2ms.
    #[arg(long, value_name = "DURATION", value_parser = objective, help_heading = TUNING)]
    pub(crate) response_time_at_most: Option<u64>,

    /// The most operations that are tried at a time, over all workers.
    ///
    /// Without it, over NFS as many as the connections have slots for (`-o slots=`, 128 for each),
    /// elsewhere 1024.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = TUNING
    )]
    pub(crate) outstanding_at_most: Option<u32>,

    /// Deal the concurrency that is found out over so many hosts, in the settings that are printed.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = TUNING
    )]
    pub(crate) hosts: u32,

    /// Bytes moved by one operation, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "64KiB", help_heading = LOAD)]
    pub(crate) transfer_size: String,

    /// Share of reads among the operations; the rest are writes.
    #[arg(long, value_name = "SHARE", default_value = "100%", help_heading = LOAD)]
    pub(crate) read: String,

    /// Where operations go: sequential, random, or as in an experiment file.
    #[arg(long, value_name = "PATTERN", default_value = "sequential", help_heading = LOAD)]
    pub(crate) pattern: String,

    /// The most workers that share the operations.
    ///
    /// Only as many are used as share them evenly: 7 operations go to 7 workers or to 1. Without
    /// `-o nconnect=` each has a connection of its own.
    #[arg(long, value_name = "COUNT", default_value = "1", help_heading = LOAD)]
    pub(crate) workers: String,

    /// Connections to an NFS export or the emulated volume; the same as `-o nconnect=`.
    ///
    /// The response time of one operation at a time is measured over one of them.
    #[arg(long, value_name = "COUNT", help_heading = LOAD)]
    pub(crate) nconnect: Option<String>,

    /// Number of files.
    #[arg(long, value_name = "COUNT", default_value = "4", help_heading = LOAD)]
    pub(crate) files: String,

    /// Size of each file; without it 256MiB, and 64MiB on the emulated volume.
    #[arg(long, value_name = "SIZE", help_heading = LOAD)]
    pub(crate) file_size: Option<String>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

const UNITS: &str = "a rate with its unit: `200MiB/s` (or MB/s, decimal) for throughput, `3200/s` \
                     or `3.2k ops/s` for operations";

/// A rate whose unit says what it counts. A number alone could be either.
fn wanted(text: &str) -> Result<Wanted, String> {
    let wrong = |why: &str| format!("{why}; wanted {UNITS}");
    let lower = text.trim().to_ascii_lowercase();
    let number_end = lower.find(|c: char| !(c.is_ascii_digit() || "._".contains(c)));
    let unit = number_end.map_or("", |end| lower[end..].trim());
    let parsed = if unit.is_empty() {
        return Err(wrong("without a unit it could be operations or bytes"));
    } else if unit.ends_with("ops") || unit.ends_with("ops/s") || matches!(unit, "/s" | "k/s") {
        let rate: OpsPerSec =
            text.parse().map_err(|error: ParseError| wrong(&error.to_string()))?;
        Wanted::Rate { ops_per_s: rate.get() }
    } else if unit.ends_with("b/s") {
        let rate: BytesPerSec = text.parse().map_err(|_| wrong("this is no throughput"))?;
        Wanted::Throughput { bytes_per_s: rate.get() }
    } else {
        return Err(wrong("this unit does not say what is counted in which time"));
    };
    match parsed {
        Wanted::Throughput { bytes_per_s: n } | Wanted::Rate { ops_per_s: n } if n <= 0.0 => {
            Err(wrong("nothing is wanted"))
        }
        parsed => Ok(parsed),
    }
}

/// Below half of what is wanted nobody would call it reached.
fn within(text: &str) -> Result<Percent, String> {
    let share: Percent = text.parse().map_err(|error: ParseError| error.to_string())?;
    match share.permille() {
        0..=500 => Ok(share),
        _ => Err("wanted a share from `0%` to `50%`".to_owned()),
    }
}

fn objective(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(time.as_nanos()) {
        Ok(ns) if ns > 0 => Ok(ns),
        _ => Err("wanted a duration above 0, such as `2ms`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_rate_says_what_it_counts() {
        let mib = |count: f64| Ok(Wanted::Throughput { bytes_per_s: count * 1_048_576.0 });
        let ops = |ops_per_s: f64| Ok(Wanted::Rate { ops_per_s });
        assert_eq!(wanted("200MiB/s"), mib(200.0));
        assert_eq!(wanted("1.5 GiB/s"), mib(1536.0));
        assert_eq!(wanted("200MB/s"), Ok(Wanted::Throughput { bytes_per_s: 2e8 }));
        assert_eq!(wanted("3200/s"), ops(3200.0));
        assert_eq!(wanted("3.2k/s"), ops(3200.0));
        assert_eq!(wanted("3200 iops"), ops(3200.0));
        assert_eq!(wanted("10k ops/s"), ops(10_000.0));
        for (text, why) in [
            ("200", "operations or bytes"),
            ("200MiB", "which time"),
            ("200M/s", "which time"),
            ("0", "operations or bytes"),
            ("0MiB/s", "nothing is wanted"),
            ("0/s", "nothing is wanted"),
            ("fast", "which time"),
            ("-5/s", "which time"),
            ("1.2.3/s", "wanted"),
        ] {
            let said = wanted(text).unwrap_err();
            assert!(said.contains(why) && said.contains("`200MiB/s`"), "{text}: {said}");
        }
    }

    #[test]
    fn tolerance_and_objective_have_limits() {
        assert_eq!(within("3%").map(Percent::permille), Ok(30));
        assert!(within("60%").is_err());
        assert_eq!(objective("2ms"), Ok(2_000_000));
        assert!(objective("0").is_err());
        assert!(objective("2").is_err());
    }
}
