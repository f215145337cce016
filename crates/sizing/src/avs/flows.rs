//! How many datastores carry a load from so many hosts.
//!
//! A host has one connection to each datastore, so what all get grows with hosts times datastores.
//! A number is taken as given only where it was shown: so many hosts and datastores as were
//! measured together, as often as both are there. What lies between measurements may carry more;
//! that is what `predict` is for.

use cloud::avs::{Avs, Measured};
use cloud::reason::Reason;
use cloud::row::Status;
use units::thousands;

use crate::avs::counted;

/// What is asked of datastores, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Operations per second, where they are known.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, where they are known.
    pub bytes_per_s: Option<u64>,
}

/// What so many hosts with so many datastores were shown to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    /// The measurement that says so.
    pub by: &'a Measured,
    /// How often it is there.
    pub times: u64,
    /// Its number, so many times.
    pub value: u64,
}

/// Random operations of 8 KiB per second.
pub fn ops_per_s(avs: &Avs, hosts: u64, datastores: u64) -> Option<Shown<'_>> {
    shown(avs, hosts, datastores, |measured| Some(measured.ops_per_s))
}

/// Sequential bytes per second.
pub fn bytes_per_s(avs: &Avs, hosts: u64, datastores: u64) -> Option<Shown<'_>> {
    shown(avs, hosts, datastores, |measured| measured.throughput.map(|rate| rate.bytes_per_s()))
}

/// The least number of datastores, up to `most`, that carries the load, with the measurement.
///
/// # Errors
/// The most that was shown, where that is not enough.
pub fn datastores_for(
    avs: &Avs,
    hosts: u64,
    load: Load,
    most: u64,
) -> Result<(u64, Vec<Reason>), Reason> {
    let mut needed = 1;
    let mut reasons = Vec::new();
    if let Some(ops) = load.ops_per_s {
        let carries = |count| ops_per_s(avs, hosts, count);
        let (count, reason) = least(hosts, ops, most, "ops/s", 1, carries)?;
        needed = needed.max(count);
        reasons.push(reason);
    }
    if let Some(bytes) = load.bytes_per_s {
        let carries = |count| bytes_per_s(avs, hosts, count);
        let (count, reason) = least(hosts, bytes, most, "MiB/s", 1 << 20, carries)?;
        needed = needed.max(count);
        reasons.push(reason);
    }
    Ok((needed, reasons))
}

fn least<'a>(
    hosts: u64,
    wanted: u64,
    most: u64,
    unit: &str,
    in_unit: u64,
    carries: impl Fn(u64) -> Option<Shown<'a>>,
) -> Result<(u64, Reason), Reason> {
    let amount = |value: u64| format!("{} {unit}", thousands(value.div_ceil(in_unit)));
    let enough = |count: &u64| carries(*count).is_some_and(|shown| shown.value >= wanted);
    let found = (1..=most).find(enough);
    let count = found.unwrap_or(most);
    let Some(shown) = carries(count) else {
        return Err(Reason::asked(format!(
            "nothing was measured with so few as {}",
            counted(hosts, "host")
        )));
    };
    let block = format!(
        "{} x {} with {}, which gave {}",
        shown.times,
        counted(shown.by.hosts, "host"),
        counted(shown.by.datastores, "datastore"),
        amount(shown.value / shown.times)
    );
    let rows = [shown.by.row()];
    match found {
        Some(count) => {
            let text = format!(
                "{} from {}: {} ({block})",
                amount(wanted),
                counted(hosts, "host"),
                counted(count, "datastore")
            );
            Ok((count, Reason::from_rows(text, rows)))
        }
        None => {
            let text = format!(
                "{} from {}: the most that was shown is {} ({block})",
                amount(wanted),
                counted(hosts, "host"),
                amount(shown.value)
            );
            Err(Reason::from_rows(text, rows))
        }
    }
}

/// The best of all measurements, each as often as its hosts and datastores are there.
fn shown(
    avs: &Avs,
    hosts: u64,
    datastores: u64,
    number: impl Fn(&Measured) -> Option<u64>,
) -> Option<Shown<'_>> {
    avs.measured
        .iter()
        .filter(|measured| measured.origin.status == Status::Current)
        .filter_map(|measured| {
            let times = (hosts / measured.hosts).min(datastores / measured.datastores);
            let value = number(measured)?.saturating_mul(times);
            (times > 0).then_some(Shown { by: measured, times, value })
        })
        .max_by_key(|shown| shown.value)
}
