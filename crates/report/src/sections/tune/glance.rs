//! A tuning at one glance: below its answer the calculation, the settings for other load generators,
//! and the measurements.

use analysis::Findings;
use analysis::tune::arithmetic::Arithmetic;
use analysis::tune::findings::{HostShare, TuneFindings};
use analysis::tune::limit::LevelQuota;
use units::Nanos;

use super::quantities::{operations, rate};
use super::settings::NO_JOB;
use super::{measurements, on_hosts, paced_at};
use crate::number::{mib, percent, plain};
use crate::prose::wrap;
use crate::settings::experiment;
use crate::table::terminal;

/// Appends the lines below the answer.
pub(crate) fn write(findings: &Findings, tune: &TuneFindings, width: usize, out: &mut String) {
    if let Some(arithmetic) = &tune.arithmetic {
        wrap(&calculation(tune, arithmetic), "  ", "    ", width, out);
    }
    if let Some(line) = quotas(tune) {
        wrap(&line, "  ", "    ", width, out);
    }
    for line in settings(findings, tune) {
        wrap(&line, "  ", "    ", width, out);
    }
    if !tune.tried.is_empty() {
        out.push('\n');
        terminal::write(&measurements(tune), width, out);
    }
}

/// `Little's law: 3,200 ops/s × 1.91 ms = 6.10, so 7 operations; 6 gave 90 %, 7 gave 110 %.`
fn calculation(tune: &TuneFindings, arithmetic: &Arithmetic) -> String {
    let share = |achieved: f64| percent(achieved / tune.target_rate.get());
    let mut text = format!(
        "Little's law: {} ops/s × {} = {}, so {}",
        rate(arithmetic.rate.get()),
        Nanos(arithmetic.response.0),
        plain(arithmetic.outstanding),
        operations(arithmetic.outstanding_whole),
    );
    if let Some(enough) = tune.outcome.enough() {
        let less = tune.tried.iter().rfind(|tried| tried.outstanding < enough.outstanding);
        let gave = less
            .into_iter()
            .chain([&enough])
            .map(|tried| format!("{} gave {}", tried.outstanding, share(tried.rate.value)));
        text.push_str(&format!("; {}", gave.collect::<Vec<_>>().join(", ")));
        if let Some(paced) = &tune.paced {
            text.push_str(&format!(", {} {}", paced_at(tune), share(paced.rate.value)));
        }
    }
    text.push('.');
    text
}

/// `Lowest quota for 200 MiB/s: premium 3.13 TiB, ultra 1.56 TiB.`
fn quotas(tune: &TuneFindings) -> Option<String> {
    let of_level = |one: &LevelQuota| Some(format!("{} {}", one.level, one.quota?));
    let levels: Vec<String> = tune.quotas.iter().filter_map(of_level).collect();
    let throughput = mib(tune.target_throughput?.get());
    let levels = (!levels.is_empty()).then(|| levels.join(", "))?;
    Some(format!("Lowest quota for {throughput} MiB/s: {levels}."))
}

/// The concurrency as options of other load generators, for each kind of host.
fn settings(findings: &Findings, tune: &TuneFindings) -> Vec<String> {
    let Some(settings) = &tune.settings else { return Vec::new() };
    let connections = tune.outcome.enough().and_then(|enough| {
        let point = findings.load_points.get(enough.load_point)?;
        // A measured number is that of all hosts together.
        let hosts = findings.fleet.as_ref().and_then(|fleet| {
            fleet.load_points.get(enough.load_point).map(|point| point.hosts.len() as u32)
        });
        let hosts = hosts.unwrap_or(1).max(1);
        let of_each = point.signature.connections.map(|count| count.div_ceil(hosts));
        settings.connections.or(of_each)
    });
    let of_share = |share: &HostShare| {
        let jobs =
            if share.workers > 1 { format!(" --numjobs={}", share.workers) } else { String::new() };
        let each = |rate: f64| (rate / f64::from(share.workers)).ceil();
        let paced = share.rate.map(|rate| format!(" --rate_iops={}", each(rate.get())));
        format!(
            "fio{}: `--iodepth={}{jobs}{}`; Vdbench: `threads={}`",
            on_hosts(&settings.shares, share),
            share.queue_depth,
            paced.unwrap_or_default(),
            share.outstanding,
        )
    };
    let on_names = |share: &HostShare| {
        let set = experiment::concurrency(share).into_iter();
        let set: Vec<String> = set.map(|(key, value)| format!("`{key} = {value}`")).collect();
        format!("fourcorners{}: {}", on_hosts(&settings.shares, share), set.join(", "))
    };
    let measured = connections.map(|count| format!("; nconnect: {count} measured"));
    let lines = settings.shares.iter().map(|share| {
        let line = if tune.stream.is_on_names() { on_names(share) } else { of_share(share) };
        format!("{line}{}", measured.as_deref().unwrap_or_default())
    });
    let no_job = tune.stream.is_on_names().then(|| NO_JOB.to_owned());
    lines.chain(no_job).collect()
}
