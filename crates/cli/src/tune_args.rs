//! The flags of `tune` and their help.

use clap::Args;
use commands::tune;
use units::{BytesPerSec, OpsPerSec, ParseError, Percent, parse_duration};
use workload::reach::RequiredRate;

use crate::run_args::RunArguments;

pub(crate) const TUNE_EXAMPLES: &str = "\
Examples:
  fourcorners tune --target-rate 100MiB/s     on an emulated volume
  fourcorners tune /mnt/vol1 --target-rate 200MiB/s --transfer-size 64KiB
  fourcorners tune /mnt/vol1 --target-rate 3200/s --transfer-size 8KiB --pattern random
  fourcorners tune /mnt/vol1 --target-rate 20k/s --mix create=50%,unlink=50%
  fourcorners tune /mnt/vol1 --target-rate 20k/s -w builds.toml
  fourcorners tune nfs://filer/vol1 -o nconnect=8 --target-rate 1GiB/s --clients 3";

const TUNING: &str = "Tuning";
const LOAD: &str = "Load";
const QUICK: &str =
    "Measure each concurrency for 3 s after 1 s of warm-up; results are less precise";
const WORKLOAD: &str = "The experiment file (TOML) whose load is tuned: its only stream. Its queue \
                        depth, rate, [search] and [metric] have no effect";
const PROFILE: &str = "The built-in profile with one stream whose load is tuned; see `fourcorners \
                       profiles`";

/// Arguments of `tune`. Arguments of `run` that a tuning decides are hidden and refused with a
/// message.
#[derive(Debug, Args)]
#[command(
    mut_arg("workload", |flag| flag.help(WORKLOAD).long_help(WORKLOAD)),
    mut_arg("profile", |flag| flag.help(PROFILE).long_help(PROFILE)),
    mut_arg("repeats", |flag| flag.hide(true)),
    mut_arg("working_set", |flag| flag.hide(true)),
    mut_arg("until", |flag| flag.hide(true)),
    mut_arg("explain", |flag| flag.hide(true)),
    mut_arg("quick", |flag| flag.help(QUICK).long_help(QUICK)),
)]
pub(crate) struct TuneArguments {
    /// The rate to reach, with its unit: 200MiB/s, or 3200/s for operations (IOPS).
    #[arg(
        long,
        alias = "want",
        value_name = "RATE",
        value_parser = target_rate,
        help_heading = TUNING
    )]
    pub(crate) target_rate: RequiredRate,

    /// How far below the target a rate still counts as reached.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "3%",
        value_parser = within,
        help_heading = TUNING
    )]
    pub(crate) within: Percent,

    /// The mean response time (latency) to reach the rate with, for example 2ms.
    #[arg(
        long,
        alias = "response-time-at-most",
        value_name = "DURATION",
        value_parser = objective,
        help_heading = TUNING
    )]
    pub(crate) response_time: Option<u64>,

    /// The most outstanding operations to try, over all workers.
    ///
    /// Default: over NFS the slots of all connections (`-o slots=`, 128 each), otherwise 1024.
    #[arg(
        long,
        alias = "outstanding-at-most",
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = TUNING
    )]
    pub(crate) queue_depth_max: Option<u32>,

    /// Split the printed settings across this many client hosts; default: the hosts that measure.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = TUNING
    )]
    pub(crate) clients: Option<u32>,

    /// Bytes per operation (transfer size, block size), a multiple of 512; default: 64KiB.
    #[arg(long, value_name = "SIZE", help_heading = LOAD)]
    pub(crate) transfer_size: Option<String>,

    /// Share of reads among operations; the rest are writes; default: 100%.
    #[arg(long, value_name = "SHARE", help_heading = LOAD)]
    pub(crate) read: Option<String>,

    /// Access pattern: sequential (the default), random, or as in an experiment file.
    #[arg(long, value_name = "PATTERN", help_heading = LOAD)]
    pub(crate) pattern: Option<String>,

    /// Operations on names instead: a kind, or kinds with their shares (create=50%,unlink=50%).
    ///
    /// The kinds are those of `mix` in an experiment file: create, open, stat, access, setattr,
    /// lookup, lookup_missing, readdir, readdirplus, unlink, rename, link, symlink, readlink,
    /// mkdir, rmdir, read_file, write_file, append, truncate, copy and statfs. Names are removed as
    /// often as they are added. They use a tree of 20,000 empty files in 100 directories; --files,
    /// --file-size and `--set names.KEY=VALUE` change it.
    #[arg(long, value_name = "KINDS", help_heading = LOAD)]
    pub(crate) mix: Option<String>,

    /// The most workers that share the operations; default: 1.
    ///
    /// Only as many are used as share them evenly: 7 operations use 7 workers or 1. Without `-o
    /// nconnect=` each has a separate connection.
    #[arg(long, value_name = "COUNT", help_heading = LOAD)]
    pub(crate) workers: Option<String>,

    /// Connections to an NFS export or the emulated volume; the same as `-o nconnect=`.
    ///
    /// The latency at queue depth 1 is measured over one of them.
    #[arg(long, value_name = "COUNT", help_heading = LOAD)]
    pub(crate) nconnect: Option<String>,

    /// Number of files; default: 4, or 20,000 with --mix.
    #[arg(long, value_name = "COUNT", help_heading = LOAD)]
    pub(crate) files: Option<String>,

    /// Size of each file; default: 256MiB, or 64MiB on the emulated volume, or 0 with --mix.
    #[arg(long, value_name = "SIZE", help_heading = LOAD)]
    pub(crate) file_size: Option<String>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

impl TuneArguments {
    pub(crate) fn options(&self) -> tune::Options {
        tune::Options {
            target_rate: self.target_rate,
            within: self.within,
            response_time_max_ns: self.response_time,
            outstanding_max: self.queue_depth_max,
            clients: self.clients,
            transfer_size: self.transfer_size.clone(),
            read: self.read.clone(),
            pattern: self.pattern.clone(),
            mix: self.mix.clone(),
            workers: self.workers.clone(),
            nconnect: self.nconnect.clone(),
            files: self.files.clone(),
            file_size: self.file_size.clone(),
        }
    }
}

const UNITS: &str = "a rate with its unit: `200MiB/s` (or MB/s, decimal) for throughput, `3200/s` \
                     or `3.2k ops/s` for operations";

/// A rate with its unit: a number without one could be bytes or operations.
fn target_rate(text: &str) -> Result<RequiredRate, String> {
    let wrong = |why: &str| format!("{why}; expected {UNITS}");
    let lower = text.trim().to_ascii_lowercase();
    let number_end = lower.find(|c: char| !(c.is_ascii_digit() || "._".contains(c)));
    let unit = number_end.map_or("", |end| lower[end..].trim());
    let parsed = if unit.is_empty() {
        return Err(wrong("without a unit this could be operations or bytes"));
    } else if unit.ends_with("ops") || unit.ends_with("ops/s") || matches!(unit, "/s" | "k/s") {
        let rate: OpsPerSec =
            text.parse().map_err(|error: ParseError| wrong(&error.to_string()))?;
        RequiredRate::Rate { ops_per_s: rate.get() }
    } else if unit.ends_with("b/s") {
        let rate: BytesPerSec = text.parse().map_err(|_| wrong("this is not a throughput"))?;
        RequiredRate::Throughput { bytes_per_s: rate.get() }
    } else {
        return Err(wrong("the unit must be bytes or operations per second"));
    };
    match parsed {
        RequiredRate::Throughput { bytes_per_s: n } | RequiredRate::Rate { ops_per_s: n }
            if n <= 0.0 =>
        {
            Err(wrong("the rate is 0"))
        }
        parsed => Ok(parsed),
    }
}

/// At most 50 %: less than half of a rate is not reached.
fn within(text: &str) -> Result<Percent, String> {
    let share: Percent = text.parse().map_err(|error: ParseError| error.to_string())?;
    match share.permille() {
        0..=500 => Ok(share),
        _ => Err("expected a share from `0%` to `50%`".to_owned()),
    }
}

fn objective(text: &str) -> Result<u64, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(time.as_nanos()) {
        Ok(ns) if ns > 0 => Ok(ns),
        _ => Err("expected a duration above 0, such as `2ms`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_rate_has_a_unit() {
        let mib = |count: f64| Ok(RequiredRate::Throughput { bytes_per_s: count * 1_048_576.0 });
        let ops = |ops_per_s: f64| Ok(RequiredRate::Rate { ops_per_s });
        assert_eq!(target_rate("200MiB/s"), mib(200.0));
        assert_eq!(target_rate("1.5 GiB/s"), mib(1536.0));
        assert_eq!(target_rate("200MB/s"), Ok(RequiredRate::Throughput { bytes_per_s: 2e8 }));
        assert_eq!(target_rate("3200/s"), ops(3200.0));
        assert_eq!(target_rate("3.2k/s"), ops(3200.0));
        assert_eq!(target_rate("3200 iops"), ops(3200.0));
        assert_eq!(target_rate("10k ops/s"), ops(10_000.0));
        for (text, why) in [
            ("200", "operations or bytes"),
            ("200MiB", "per second"),
            ("200M/s", "per second"),
            ("0", "operations or bytes"),
            ("0MiB/s", "the rate is 0"),
            ("0/s", "the rate is 0"),
            ("fast", "per second"),
            ("-5/s", "per second"),
            ("1.2.3/s", "expected"),
        ] {
            let message = target_rate(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
            assert!(message.contains("`200MiB/s`"), "{text}: {message}");
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
