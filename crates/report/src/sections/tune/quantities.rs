//! The numbers of a tuning with their units.

use analysis::estimate::Estimate;
use analysis::tune::findings::{Tried, TuneFindings};
use units::{Percent, counted, thousands};
use workload::reach::RequiredRate;

use crate::number::{TimeUnit, mib, plain};
use crate::results::plus_minus;

/// The requirement as the user wrote it, and in operations per second.
pub(super) fn requirement(tune: &TuneFindings) -> String {
    let rate = format!("{} ops/s", rate(tune.target_rate.get()));
    match tune.reach.required {
        RequiredRate::Throughput { bytes_per_s } => {
            format!("{} MiB/s ({rate})", exactly(bytes_per_s / 1_048_576.0))
        }
        RequiredRate::Rate { .. } => rate,
    }
}

pub(super) fn time_unit(tune: &TuneFindings) -> TimeUnit {
    let objective = tune.reach.response_time_max_ns.map(|ns| ns as f64);
    TimeUnit::of(tune.tried.iter().map(|tried| tried.response_ns.value).chain(objective))
}

/// `3,310 ops/s ± 0.4 %, 207 MiB/s, mean response time 2.11 ms`; without MiB/s if no data moved.
pub(super) fn measured(tried: &Tried, unit: TimeUnit) -> String {
    let rate = rate_of(tried.rate);
    let throughput = tried.throughput.map(|one| format!(", {} MiB/s", mib(one.value)));
    let response = unit.with_symbol(tried.response_ns.value);
    format!("{rate}{}, mean response time {response}", throughput.unwrap_or_default())
}

pub(super) fn rate_of(estimate: Estimate) -> String {
    format!("{} ops/s{}", rate(estimate.value), plus_minus(estimate))
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

/// A number with at least this many decimals, and as many more as a small number needs for three
/// digits.
pub(super) fn digits(value: f64, decimals: usize) -> String {
    let mut decimals = decimals;
    while value > 0.0 && decimals < 12 && value * 10f64.powi(decimals as i32) < 100.0 {
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

/// A number from the user, without trailing zeros.
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

pub(super) fn files(count: u64) -> String {
    counted(count, "file")
}
