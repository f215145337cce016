//! The verdict on a whole experiment in a few words, for a list of experiments.

use analysis::Findings;
use analysis::verdict::{Answer, Limit};

/// `volume limit`, `no limit reached`, `not enough data`, `hosts lost`; `None` where nothing was judged. Limits of
/// several curves are separated by commas, and limits that the data cannot tell apart by slashes.
pub fn in_list(findings: &Findings) -> Option<String> {
    if let Some(tune) = &findings.tune {
        let words = if tune.outcome.is_reached() { "rate reached" } else { "rate not reached" };
        return Some(words.to_owned());
    }
    let mut limits: Vec<String> = Vec::new();
    for verdict in findings.answers() {
        if let Answer::Limited { by, .. } = &verdict.answer {
            let names: Vec<&str> = by.iter().map(|limit| short(*limit)).collect();
            let names = names.join("/");
            if !limits.contains(&names) {
                limits.push(names);
            }
        }
    }
    if !limits.is_empty() {
        return Some(limits.join(", "));
    }
    if findings.answers().next().is_none() {
        let is_lossy = findings.load_points.iter().any(|point| !point.is_whole());
        return is_lossy.then(|| "hosts lost".to_owned());
    }
    let is_free = findings.answers().all(|verdict| verdict.answer == Answer::NotReached);
    Some(if is_free { "no limit reached" } else { "not enough data" }.to_owned())
}

const fn short(of: Limit) -> &'static str {
    match of {
        Limit::VolumeThroughput => "volume limit",
        Limit::Endpoint => "endpoint limit",
        Limit::NetworkFlow => "flow limit",
        Limit::VmEgress => "VM egress",
        Limit::Link => "link",
        Limit::ClientCpu => "host CPU",
        Limit::ClientSlots => "client slots",
        Limit::ServerSlots => "server slots",
        Limit::ServerCpu => "server CPU",
        Limit::Disk => "storage media",
        Limit::OperationsPerSecond => "IOPS limit",
    }
}
