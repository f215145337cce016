//! Numbers of a tuning in words, with their units.

use analysis::estimate::Estimate;
use analysis::tune::findings::{Tried, TuneFindings};
use units::{Percent, counted, thousands};
use workload::reach::Wanted;

use crate::number::{half_width, mib, plain};

/// What is wanted, as it was said and in operations per second.
pub(super) fn wanted(tune: &TuneFindings) -> String {
    let rate = format!("{} ops/s", rate(tune.wanted_ops_per_s));
    match tune.reach.wanted {
        Wanted::Throughput { bytes_per_s } => {
            format!("{} MiB/s ({rate})", exactly(bytes_per_s / 1_048_576.0))
        }
        Wanted::Rate { .. } => rate,
    }
}

/// `3,310 ops/s +- 0.4 %, 207 MiB/s, mean response time 2.11 ms`.
pub(super) fn measured(tried: &Tried) -> String {
    format!(
        "{}, {} MiB/s, mean response time {}",
        rate_of(&tried.rate),
        mib(tried.throughput.value),
        time(tried.response_ns.value)
    )
}

pub(super) fn rate_of(estimate: &Estimate) -> String {
    match estimate.relative() {
        Some(relative) => format!("{} ops/s (+- {})", rate(estimate.value), half_width(relative)),
        None => format!("{} ops/s", rate(estimate.value)),
    }
}

pub(super) fn rate(ops_per_s: f64) -> String {
    plain(ops_per_s)
}

pub(super) fn within(tune: &TuneFindings) -> String {
    Percent::from_permille(tune.reach.within_permille)
        .unwrap_or_default()
        .to_string()
        .replace(' ', "")
}

pub(super) fn time(ns: f64) -> String {
    units::Nanos(ns).to_string()
}

/// A number with at least so many decimals, and more where it is small, so that three digits are
/// left.
pub(super) fn digits(value: f64, decimals: usize) -> String {
    let mut decimals = decimals;
    while value > 0.0 && decimals < 12 && value * 10f64.powi(decimals as i32) < 100.0 {
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

/// A number that a user gave, without a tail of zeros.
pub(super) fn exactly(value: f64) -> String {
    match value.fract() == 0.0 && value >= 0.0 {
        true => thousands(value as u64),
        false => format!("{value:.3}").trim_end_matches('0').to_owned(),
    }
}

pub(super) fn operations(count: u64) -> String {
    counted(count, "operation")
}

pub(super) fn hosts(count: u64) -> String {
    counted(count, "host")
}

pub(super) fn workers(count: u32) -> String {
    counted(u64::from(count), "worker")
}

pub(super) fn files(count: u32) -> String {
    counted(u64::from(count), "file")
}
